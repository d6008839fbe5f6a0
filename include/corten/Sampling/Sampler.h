// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice of tokens by language models.

#ifndef CORTEN_SAMPLING_SAMPLER_H
#define CORTEN_SAMPLING_SAMPLER_H

#include "corten/Runtime/ElementType.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace corten::sampling {

class Row;
struct Candidate;

/// What a model says of the next token: a number for each, and at least one.
struct Logits {
  const void *data;
  size_t count;
  /// f32, f16 or bf16.
  runtime::ElementType type;
};

/// How tokens are chosen. What is not set does nothing.
struct Options {
  /// 0: always the most probable one.
  double temperature = 1;
  /// Of so many, the most probable ones; 0: of all.
  size_t topK = 0;
  /// Of as few as have this share together.
  double topP = 1;
  /// Of those that are at least so probable as the most probable one, times
  /// this.
  double minP = 0;
  /// What logits of tokens that were there before are divided by, or
  /// multiplied with if they are negative.
  double repetitionPenalty = 1;
  /// What is taken off those of generated ones, once and for each time.
  double presencePenalty = 0;
  double frequencyPenalty = 0;
  /// What is added to the logits of tokens.
  std::map<int64_t, double> bias = {};
};

struct TokenLogprobs {
  double token;
  /// The most probable tokens, in order.
  std::vector<std::pair<int64_t, double>> top;
};

/// Chooses the tokens of one sequence.
class TokenSampler {
public:
  explicit TokenSampler(Options options);
  ~TokenSampler();

  /// A token that penalties are to know.
  void note(int64_t token, bool isGenerated) {
    counts[token] += isGenerated ? 1 : 0;
  }

  /// A token; `number`, from 0 to 1, decides which of the possible ones. Draws
  /// follow the running sum in the order of tokens.
  int64_t choose(const Logits &logits, double number);
  /// With log-probabilities, as tokenLogprobs() says them of these logits, for
  /// less than both cost.
  std::pair<int64_t, TokenLogprobs>
  chooseAndDescribe(const Logits &logits, double number, size_t count);

private:
  bool changes() const {
    return options.repetitionPenalty != 1 || options.presencePenalty != 0 ||
           options.frequencyPenalty != 0 || !options.bias.empty();
  }
  void change(std::span<float> values);
  void changeBack();
  bool limitsCount() const;
  std::optional<std::vector<Candidate>> fewByLogits() const;
  std::optional<std::vector<Candidate>> fewByWeights(double total) const;
  void weighCandidates(std::vector<Candidate> &candidates) const;
  int64_t drawFrom(std::vector<Candidate> candidates, double number) const;
  /// What logits are multiplied by.
  double factor() const;

  Options options;
  std::unique_ptr<Row> row;
  /// The tokens that were there before, and how often they were generated.
  std::unordered_map<int64_t, int> counts;
  /// What the last change overwrote, in order.
  std::vector<std::pair<size_t, float>> changed;
  /// Of the weights of the last choice, if it needed them.
  std::optional<double> sum;
};

/// The log-probability of a token, which there must be, and of the most
/// probable ones.
TokenLogprobs tokenLogprobs(const Logits &logits, int64_t token, size_t count);

} // namespace corten::sampling

#endif // CORTEN_SAMPLING_SAMPLER_H
