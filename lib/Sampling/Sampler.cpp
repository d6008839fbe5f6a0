// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Sampling/Sampler.h"

#include "Row.h"

#include <cassert>
#include <cmath>

using namespace corten;
using namespace corten::sampling;

/// So many are sorted; with more, passes over all of them are faster.
static constexpr size_t kFewCandidates = 2048;
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

void TokenSampler::change(std::span<float> values) const {
  auto repetition = float(options.repetitionPenalty);
  for (auto [token, count] : counts) {
    if (size_t(token) >= values.size())
      continue;
    float &value = values[size_t(token)];
    value = value > 0 ? value / repetition : value * repetition;
    if (count != 0)
      value -= float(options.presencePenalty +
                     options.frequencyPenalty * double(count));
  }
  for (auto [token, added] : options.bias)
    if (size_t(token) < values.size())
      values[size_t(token)] += float(added);
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

int64_t TokenSampler::choose(const Logits &logits, double number) {
  row->read(logits, changes());
  if (changes())
    change(row->ownValues());
  row->look();
  // Without a finite logit there are no probabilities.
  if (options.temperature == 0 || !std::isfinite(row->peak()))
    return int64_t(row->mostProbable());
  std::vector<Candidate> candidates;
  if (options.topK > 0 && options.topK < row->values().size()) {
    candidates = row->largest(options.topK);
    weighCandidates(candidates);
    if (options.topP < 1)
      keepNucleus(candidates, options.topP * sumOf(candidates));
  } else if (options.topP < 1) {
    double total = row->weigh(float(factor()), true);
    double low = row->leftOut(options.topP, total);
    if (row->countFrom(low) > kFewCandidates) {
      double left = row->keepNucleus(options.topP, total, float(options.minP));
      return int64_t(row->draw(number * left));
    }
    candidates = row->weightsFrom(low);
    keepNucleus(candidates, options.topP * total);
    // In the order of tokens, as all other draws are.
    std::ranges::sort(candidates, {}, &Candidate::token);
  } else if (options.minP > 0) {
    candidates =
        row->from(row->peak() + float(std::log(options.minP) / factor()));
    weighCandidates(candidates);
  } else {
    double total = row->weigh(float(factor()), false);
    return int64_t(row->draw(number * total));
  }
  return drawFrom(std::move(candidates), number);
}

TokenLogprobs sampling::tokenLogprobs(const Logits &logits, int64_t token,
                                      size_t count) {
  assert(token >= 0 && size_t(token) < logits.count && "no such token");
  static thread_local Row row;
  row.read(logits, false);
  row.look();
  double total = double(row.peak()) + std::log(row.weigh(1, false));
  TokenLogprobs result{double(row.values()[size_t(token)]) - total, {}};
  for (const Candidate &candidate : row.largest(count))
    result.top.emplace_back(candidate.token, double(candidate.value) - total);
  return result;
}
