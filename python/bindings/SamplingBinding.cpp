// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice of a token from a row of logits. A row has as many as the
// vocabulary, of which few matter: each pass over all of them is simple enough
// to be vectorized, and what is sorted is what is left.

#include "Bindings.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <span>
#include <unordered_map>

namespace nb = nanobind;

#if defined(__x86_64__)
#define CORTEN_CLONES                                                          \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CORTEN_CLONES
#endif

namespace {

using Logits = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A token, and how large its logit or its weight is.
struct Candidate {
  float value;
  int32_t token;
};

constexpr size_t kBlock = 128;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
/// Below this, the most probable token is all that is left.
constexpr double kLeastTemperature = 1e-4;

} // namespace

//===----------------------------------------------------------------------===//
// Passes over all
//===----------------------------------------------------------------------===//

CORTEN_CLONES static void fromHalf(const uint16_t *from, size_t count,
                                   float *to) {
  constexpr uint32_t kInfinite = 0x7c00u << 13;
  for (size_t i = 0; i != count; ++i) {
    uint32_t magnitude = (from[i] & 0x7fffu) << 13;
    // The exponents have other zeros; subnormal ones become normal.
    auto bits =
        std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
    bits |= magnitude >= kInfinite ? 0x7f800000u : 0u;
    to[i] = std::bit_cast<float>(bits | (from[i] & 0x8000u) << 16);
  }
}

CORTEN_CLONES static void fromBrain(const uint16_t *from, size_t count,
                                    float *to) {
  for (size_t i = 0; i != count; ++i)
    to[i] = std::bit_cast<float>(uint32_t(from[i]) << 16);
}

CORTEN_CLONES static float largestOf(const float *values, size_t count) {
  constexpr size_t kLanes = 32;
  float lanes[kLanes];
  std::fill(lanes, lanes + kLanes, -kInfinity);
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (size_t lane = 0; lane != kLanes; ++lane)
      lanes[lane] =
          values[i + lane] > lanes[lane] ? values[i + lane] : lanes[lane];
  for (; i != count; ++i)
    lanes[0] = std::max(lanes[0], values[i]);
  for (size_t half = kLanes / 2; half != 0; half /= 2)
    for (size_t lane = 0; lane != half; ++lane)
      lanes[lane] = std::max(lanes[lane], lanes[lane + half]);
  return lanes[0];
}

/// 2 to the power of what is not positive, to about two units in the last
/// place; zero for what is no normal number.
[[gnu::always_inline]] static inline float powerOfTwo(float x) {
  constexpr float kRound = 12582912.0f; // 1.5 * 2^23
  constexpr float kLeast = -126.0f;
  float bounded = x > kLeast ? x : kLeast;
  float shifted = bounded + kRound;
  float rest = bounded - (shifted - kRound);
  // The Taylor series: the rest is at most a half.
  float sum = 1.5403530e-4f;
  sum = sum * rest + 1.3333558e-3f;
  sum = sum * rest + 9.6181291e-3f;
  sum = sum * rest + 5.5504109e-2f;
  sum = sum * rest + 2.4022651e-1f;
  sum = sum * rest + 6.9314718e-1f;
  sum = sum * rest + 1.0f;
  // The whole is in the lowest bits of what was shifted.
  uint32_t exponent = std::bit_cast<uint32_t>(shifted) + 127u;
  float result = sum * std::bit_cast<float>(exponent << 23);
  return x > kLeast ? result : 0.0f;
}

/// exp((value - peak) * factor) of each of a block; returns their sum, in an
/// order that does not depend on the machine.
CORTEN_CLONES static float weighBlock(const float *values, size_t count,
                                      float peak, float factor,
                                      float *weights) {
  constexpr size_t kLanes = 32;
  float binary = factor * std::numbers::log2e_v<float>;
  for (size_t i = 0; i != count; ++i)
    weights[i] = powerOfTwo((values[i] - peak) * binary);
  float lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (size_t lane = 0; lane != kLanes; ++lane)
      lanes[lane] += weights[i + lane];
  for (; i != count; ++i)
    lanes[0] += weights[i];
  for (size_t half = kLanes / 2; half != 0; half /= 2)
    for (size_t lane = 0; lane != half; ++lane)
      lanes[lane] += lanes[lane + half];
  return lanes[0];
}

//===----------------------------------------------------------------------===//
// A row
//===----------------------------------------------------------------------===//

static bool comesBefore(const Candidate &a, const Candidate &b) {
  return a.value != b.value ? a.value > b.value : a.token < b.token;
}

namespace {
/// A row of logits, with room that is used again.
class Row {
public:
  void read(const Logits &logits);
  /// To be called once the values are as they are to be.
  void look();

  std::span<float> values() { return row; }
  float peak() const { return most; }
  size_t mostProbable() const;
  /// The largest, in order.
  std::vector<Candidate> largest(size_t count) const;
  /// All that are at least so large.
  std::vector<Candidate> from(float bound) const;
  /// Probabilities but for a factor; returns their sum.
  double weigh(float factor);
  /// Those that are at least so probable, with their weights.
  std::vector<Candidate> weightsFrom(double bound) const;
  /// Where the running sum of weights passes this.
  size_t draw(double wanted) const;

private:
  using Weights = float[kBlock];

  /// Those of a block, and their sum.
  double weightsOf(size_t block, Weights &weights) const;
  size_t blockSize(size_t block) const {
    return std::min(kBlock, row.size() - block * kBlock);
  }

  std::vector<float> row;
  std::vector<float> blockPeaks;
  std::vector<double> blockSums;
  float most = -kInfinity;
  /// What logits are multiplied by before they become weights.
  float scale = 1;
};
} // namespace

void Row::read(const Logits &logits) {
  size_t count = logits.shape(0);
  if (count == 0)
    throw nb::value_error("there are no logits");
  row.resize(count);
  if (logits.dtype() == nb::dtype<float>()) {
    const auto *from = static_cast<const float *>(logits.data());
    std::copy(from, from + count, row.data());
  } else if (logits.dtype() ==
             nb::dlpack::dtype{uint8_t(nb::dlpack::dtype_code::Float), 16, 1}) {
    fromHalf(static_cast<const uint16_t *>(logits.data()), count, row.data());
  } else if (logits.dtype() == nb::dtype<uint16_t>()) {
    fromBrain(static_cast<const uint16_t *>(logits.data()), count, row.data());
  } else {
    throw nb::type_error("logits are float32, float16, or the bits of bfloat16 "
                         "as uint16");
  }
}

void Row::look() {
  size_t blocks = (row.size() + kBlock - 1) / kBlock;
  blockPeaks.resize(blocks);
  for (size_t i = 0; i != blocks; ++i)
    blockPeaks[i] = largestOf(row.data() + i * kBlock, blockSize(i));
  most = *std::ranges::max_element(blockPeaks);
}

size_t Row::mostProbable() const {
  auto block = std::ranges::find(blockPeaks, most) - blockPeaks.begin();
  auto found = std::ranges::find(row.begin() + block * ptrdiff_t(kBlock),
                                 row.end(), most);
  return found == row.end() ? 0 : size_t(found - row.begin());
}

std::vector<Candidate> Row::from(float bound) const {
  std::vector<Candidate> found;
  for (size_t block = 0; block != blockPeaks.size(); ++block) {
    if (!(blockPeaks[block] >= bound))
      continue;
    size_t start = block * kBlock;
    for (size_t i = start; i != start + blockSize(block); ++i)
      if (row[i] >= bound)
        found.push_back({row[i], int32_t(i)});
  }
  return found;
}

std::vector<Candidate> Row::largest(size_t count) const {
  count = std::min(count, row.size());
  if (count == 0)
    return {};
  // Of so many blocks each has one that is at least so large.
  float bound = -kInfinity;
  if (blockPeaks.size() >= count) {
    std::vector<float> peaks = blockPeaks;
    auto last = peaks.begin() + ptrdiff_t(count) - 1;
    std::nth_element(peaks.begin(), last, peaks.end(), std::greater<>());
    bound = *last;
  }
  std::vector<Candidate> found = from(bound);
  count = std::min(count, found.size());
  std::partial_sort(found.begin(), found.begin() + ptrdiff_t(count),
                    found.end(), comesBefore);
  found.resize(count);
  return found;
}

double Row::weigh(float factor) {
  scale = factor;
  blockSums.resize(blockPeaks.size());
  double total = 0;
  Weights unused;
  for (size_t block = 0; block != blockSums.size(); ++block) {
    blockSums[block] = weightsOf(block, unused);
    total += blockSums[block];
  }
  return total;
}

double Row::weightsOf(size_t block, Weights &weights) const {
  return double(weighBlock(row.data() + block * kBlock, blockSize(block), most,
                           scale, weights));
}

std::vector<Candidate> Row::weightsFrom(double bound) const {
  // With some to spare for rounding.
  auto least = float(double(most) + std::log(bound) / double(scale) - 1e-3);
  std::vector<Candidate> found;
  Weights weights;
  for (size_t block = 0; block != blockPeaks.size(); ++block) {
    if (blockPeaks[block] < least)
      continue;
    weightsOf(block, weights);
    for (size_t i = 0; i != blockSize(block); ++i)
      if (double(weights[i]) >= bound)
        found.push_back({weights[i], int32_t(block * kBlock + i)});
  }
  return found;
}

size_t Row::draw(double wanted) const {
  Weights weights;
  size_t last = mostProbable();
  for (size_t block = 0; block != blockSums.size(); ++block) {
    if (!(wanted < blockSums[block])) {
      wanted -= blockSums[block];
      continue;
    }
    weightsOf(block, weights);
    for (size_t i = 0; i != blockSize(block); ++i) {
      if (weights[i] == 0)
        continue;
      last = block * kBlock + i;
      wanted -= double(weights[i]);
      if (wanted < 0)
        return last;
    }
    // Rounding led past the end of the block.
    return last;
  }
  return last;
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

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

namespace {
struct Options {
  double temperature;
  size_t topK;
  double topP;
  double minP;
  double repetitionPenalty;
  double presencePenalty;
  double frequencyPenalty;
  std::map<int64_t, double> bias;
};

class TokenSampler {
public:
  explicit TokenSampler(Options options) : options(std::move(options)) {}

  void note(int64_t token, bool isGenerated) {
    counts[token] += isGenerated ? 1 : 0;
  }

  int64_t choose(const Logits &logits, double number);

private:
  void change(std::span<float> values) const;
  void weighCandidates(std::vector<Candidate> &candidates) const;
  int64_t drawFrom(std::vector<Candidate> candidates, double number) const;
  double factor() const {
    return 1 / std::max(options.temperature, kLeastTemperature);
  }

  Options options;
  Row row;
  /// The tokens that were there before, and how often they were generated.
  std::unordered_map<int64_t, int> counts;
};
} // namespace

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
        float(std::exp((double(candidate.value) - row.peak()) * factor()));
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
  return candidates.empty() ? int64_t(row.mostProbable())
                            : candidates.back().token;
}

int64_t TokenSampler::choose(const Logits &logits, double number) {
  row.read(logits);
  change(row.values());
  row.look();
  // Without a finite logit there are no probabilities.
  if (options.temperature == 0 || !std::isfinite(row.peak()))
    return int64_t(row.mostProbable());
  std::vector<Candidate> candidates;
  if (options.topK > 0 && options.topK < row.values().size()) {
    candidates = row.largest(options.topK);
    weighCandidates(candidates);
    if (options.topP < 1)
      keepNucleus(candidates, options.topP * sumOf(candidates));
  } else if (options.topP < 1) {
    double total = row.weigh(float(factor()));
    // What is left out at first has less together than may be left out.
    candidates = row.weightsFrom((1 - options.topP) * total /
                                 double(row.values().size()));
    keepNucleus(candidates, options.topP * total);
  } else if (options.minP > 0) {
    candidates =
        row.from(row.peak() + float(std::log(options.minP) / factor()));
    weighCandidates(candidates);
  } else {
    double total = row.weigh(float(factor()));
    return int64_t(row.draw(number * total));
  }
  return drawFrom(std::move(candidates), number);
}

/// The log-probability of a token, and the most probable ones with theirs.
static std::pair<double, std::vector<std::pair<int64_t, double>>>
tokenLogprobs(const Logits &logits, int64_t token, size_t count) {
  static thread_local Row row;
  row.read(logits);
  row.look();
  if (token < 0 || size_t(token) >= row.values().size())
    throw nb::index_error("there is no such token");
  double total = double(row.peak()) + std::log(row.weigh(1));
  std::vector<std::pair<int64_t, double>> top;
  for (const Candidate &candidate : row.largest(count))
    top.emplace_back(candidate.token, double(candidate.value) - total);
  return {double(row.values()[size_t(token)]) - total, std::move(top)};
}

void corten::bindings::bindSampling(nb::module_ &module) {
  nb::class_<TokenSampler>(module, "TokenSampler",
                           "Chooses tokens of one sequence.")
      .def(
          "__init__",
          [](TokenSampler *self, double temperature, size_t topK, double topP,
             double minP, double repetitionPenalty, double presencePenalty,
             double frequencyPenalty, std::map<int64_t, double> bias) {
            new (self) TokenSampler({temperature, topK, topP, minP,
                                     repetitionPenalty, presencePenalty,
                                     frequencyPenalty, std::move(bias)});
          },
          nb::kw_only(), nb::arg("temperature"), nb::arg("top_k"),
          nb::arg("top_p"), nb::arg("min_p"), nb::arg("repetition_penalty"),
          nb::arg("presence_penalty"), nb::arg("frequency_penalty"),
          nb::arg("bias"))
      .def("note", &TokenSampler::note, nb::arg("token"),
           nb::arg("is_generated"), "A token that penalties are to know.")
      .def("choose", &TokenSampler::choose, nb::arg("logits"),
           nb::arg("number"),
           "A token; `number`, from 0 to 1, decides which of the possible "
           "ones.");
  module.def("token_logprobs", &tokenLogprobs, nb::arg("logits"),
             nb::arg("token"), nb::arg("count"),
             "The log-probability of a token, and the most probable ones.");
}
