// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Sampling/Sampler.h"

#include "Row.h"

#include <cassert>
#include <cmath>
#include <optional>
#include <ranges>

using namespace corten;
using namespace corten::sampling;

/// So many are looked at one by one, and so many are sorted; with more, passes
/// over all of them are faster.
static constexpr size_t kFewCandidates = 2048;
static constexpr size_t kFewLargest = 128;
/// Below this, the most probable token is all that is left.
static constexpr double kLeastTemperature = 1e-4;

static double sumOf(std::span<const Candidate> candidates) {
  double sum = 0;
  for (const Candidate &candidate : candidates)
    sum += candidate.value;
  return sum;
}

/// As many of the candidates as have so much together, the most probable ones.
static void keepNucleus(std::vector<Candidate> &candidates, double wanted) {
  auto low = candidates.begin(), high = candidates.end();
  while (high - low > 64) {
    auto middle = low + (high - low) / 2;
    std::nth_element(low, middle, high, comesBefore);
    double part = sumOf({low, middle});
    if (part >= wanted) {
      high = middle;
    } else {
      wanted -= part;
      low = middle;
    }
  }
  std::sort(low, high, comesBefore);
  for (; low != high && wanted > 0; ++low)
    wanted -= low->value;
  candidates.erase(low, candidates.end());
}

TokenSampler::TokenSampler(Options options)
    : options(std::move(options)), row(std::make_unique<Row>()) {}

TokenSampler::~TokenSampler() = default;

double TokenSampler::factor() const {
  return 1 / std::max(options.temperature, kLeastTemperature);
}

bool TokenSampler::limitsCount() const {
  return options.topK > 0 && options.topK < row->values().size();
}

void TokenSampler::change(std::span<float> values) {
  auto repetition = float(options.repetitionPenalty);
  changed.clear();
  for (auto [token, count] : counts) {
    if (size_t(token) >= values.size())
      continue;
    float &value = values[size_t(token)];
    changed.emplace_back(size_t(token), value);
    value = value > 0 ? value / repetition : value * repetition;
    if (count != 0)
      value -= float(options.presencePenalty +
                     options.frequencyPenalty * double(count));
  }
  for (auto [token, added] : options.bias) {
    if (size_t(token) >= values.size())
      continue;
    changed.emplace_back(size_t(token), values[size_t(token)]);
    values[size_t(token)] += float(added);
  }
}

/// Makes the row what the model said.
void TokenSampler::changeBack() {
  for (auto [token, value] : std::views::reverse(changed))
    row->ownValues()[token] = value;
  row->look();
}

/// Candidates have logits, and get weights.
void TokenSampler::weighCandidates(std::vector<Candidate> &candidates) const {
  for (Candidate &candidate : candidates)
    candidate.value =
        float(std::exp((double(candidate.value) - row->peak()) * factor()));
}

/// Candidates have weights, the most probable one 1.
int64_t TokenSampler::drawFrom(std::vector<Candidate> candidates,
                               double number) const {
  if (options.minP > 0)
    std::erase_if(candidates, [&](const Candidate &candidate) {
      return candidate.value < options.minP;
    });
  double wanted = number * sumOf(candidates);
  for (const Candidate &candidate : candidates) {
    wanted -= candidate.value;
    if (wanted < 0)
      return candidate.token;
  }
  // Rounding led past the end.
  return candidates.empty() ? int64_t(row->mostProbable())
                            : candidates.back().token;
}

/// The few that there are to draw from, with weights, if their logits say that
/// they are few.
std::optional<std::vector<Candidate>> TokenSampler::fewByLogits() const {
  std::vector<Candidate> few;
  if (limitsCount()) {
    if (options.topK > kFewLargest)
      return std::nullopt;
    few = row->largest(options.topK);
    weighCandidates(few);
    if (options.topP < 1)
      keepNucleus(few, options.topP * sumOf(few));
    std::ranges::sort(few, {}, &Candidate::token);
  } else if (options.topP == 1 && options.minP > 0) {
    float least = row->peak() + float(std::log(options.minP) / factor());
    if (row->countFrom(least) > kFewCandidates)
      return std::nullopt;
    few = row->from(least);
    weighCandidates(few);
  } else {
    return std::nullopt;
  }
  return few;
}

/// The same, if their weights say so.
std::optional<std::vector<Candidate>>
TokenSampler::fewByWeights(double total) const {
  double low = row->leftOut(options.topP, total);
  if (limitsCount() || options.topP == 1 ||
      row->countFrom(row->leastFor(low)) > kFewCandidates)
    return std::nullopt;
  std::vector<Candidate> few = row->weightsFrom(low);
  keepNucleus(few, options.topP * total);
  std::ranges::sort(few, {}, &Candidate::token);
  return few;
}

int64_t TokenSampler::choose(const Logits &logits, double number) {
  sum.reset();
  row->read(logits, changes());
  if (changes())
    change(row->ownValues());
  row->look();
  // Without a finite logit there are no probabilities.
  if (options.temperature == 0 || !std::isfinite(row->peak()))
    return int64_t(row->mostProbable());
  if (std::optional<std::vector<Candidate>> few = fewByLogits())
    return drawFrom(std::move(*few), number);
  bool isLimited = limitsCount() || options.topP < 1 || options.minP > 0;
  double total = row->weigh(float(factor()), isLimited);
  sum = total;
  if (std::optional<std::vector<Candidate>> few = fewByWeights(total))
    return drawFrom(std::move(*few), number);
  if (limitsCount())
    total = row->keepLargest(options.topK);
  if (options.topP < 1)
    total = row->keepNucleus(options.topP, total);
  if (options.minP > 0)
    total = row->keepFrom(float(options.minP));
  return int64_t(row->draw(number * total));
}

/// `sum` is that of all weights, where the largest one is 1.
static TokenLogprobs describe(const Row &row, double sum, int64_t token,
                              size_t count) {
  double total = double(row.peak()) + std::log(sum);
  TokenLogprobs result{double(row.values()[size_t(token)]) - total, {}};
  for (const Candidate &candidate : row.largest(count))
    result.top.emplace_back(candidate.token, double(candidate.value) - total);
  return result;
}

std::pair<int64_t, TokenLogprobs>
TokenSampler::chooseAndDescribe(const Logits &logits, double number,
                                size_t count) {
  int64_t token = choose(logits, number);
  if (changes())
    changeBack();
  bool isWeighed = sum && !changes() && factor() == 1;
  double all = isWeighed ? *sum : row->weigh(1, false);
  return {token, describe(*row, all, token, count)};
}

TokenLogprobs sampling::tokenLogprobs(const Logits &logits, int64_t token,
                                      size_t count) {
  assert(token >= 0 && size_t(token) < logits.count && "no such token");
  static thread_local Row row;
  row.read(logits, false);
  row.look();
  double sum = row.weigh(1, false);
  return describe(row, sum, token, count);
}
