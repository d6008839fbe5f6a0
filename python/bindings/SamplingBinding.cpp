// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice of a token from a row of logits. A row has as many as the
// vocabulary, of which few matter: there are passes over all of them, and what
// is sorted is what is left.

#include "Bindings.h"
#include "SamplingPasses.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <span>
#include <unordered_map>

namespace nb = nanobind;
using namespace corten::bindings;

namespace {

using Logits = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A token, and how large its logit or its weight is.
struct Candidate {
  float value;
  int32_t token;
};

/// So many are sorted; with more, passes over all of them are faster.
constexpr size_t kFewCandidates = 2048;
/// Below this, the most probable token is all that is left.
constexpr double kLeastTemperature = 1e-4;

} // namespace

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
  /// They are read where they are, if they are floats that nobody changes, and
  /// must stay there as long as they are looked at.
  void read(const Logits &logits, bool isChanged);
  /// To be called once the values are as they are to be.
  void look();

  std::span<const float> values() const { return row; }
  /// Of a row that is changed.
  std::span<float> ownValues() { return own; }
  float peak() const { return most; }
  size_t mostProbable() const;
  /// The largest, in order.
  std::vector<Candidate> largest(size_t count) const;
  /// All that are at least so large.
  std::vector<Candidate> from(float bound) const;
  /// Probabilities but for a factor; returns their sum. They are kept, or made
  /// again where one is drawn.
  double weigh(float factor, bool isKept);
  /// Those that are at least so probable, with their weights.
  std::vector<Candidate> weightsFrom(double bound) const;
  /// How many there may be at most that are so probable.
  size_t countFrom(double bound) const;
  /// Weights that are smaller have less together than may be left out.
  double leftOut(double share, double total) const {
    return (1 - share) * total / double(row.size());
  }
  /// Keeps the largest weights that have this share together, and of those the
  /// ones that are large enough; returns their sum.
  double keepNucleus(double share, double total, float least);
  /// Where the running sum of what was kept passes this.
  size_t draw(double wanted) const;

private:
  size_t blockSize(size_t block) const {
    return std::min(kBlock, row.size() - block * kBlock);
  }

  /// The logit from which on weights have a bound.
  float leastFor(double bound) const;
  /// The smallest weight of the nucleus, and the last place of an equal one.
  Candidate edgeOf(double wanted, double total, double low) const;
  std::pair<uint32_t, uint32_t> guessEdge(double share) const;
  Candidate nthEqual(float value, size_t number) const;

  std::span<const float> row;
  std::vector<float> own;
  /// The weights; those that are smaller than this are left out. Empty: made
  /// again where they are needed.
  std::vector<float> kept;
  float keptFrom = 0;
  std::vector<float> blockPeaks;
  std::vector<double> blockSums;
  float most = -kInfinity;
  /// What logits are multiplied by before they become weights.
  float scale = 1;
};
} // namespace

void Row::read(const Logits &logits, bool isChanged) {
  size_t count = logits.shape(0);
  if (count == 0)
    throw nb::value_error("there are no logits");
  if (logits.dtype() == nb::dtype<float>() && !isChanged) {
    row = {static_cast<const float *>(logits.data()), count};
    return;
  }
  own.resize(count);
  row = own;
  if (logits.dtype() == nb::dtype<float>()) {
    const auto *from = static_cast<const float *>(logits.data());
    std::copy(from, from + count, own.data());
  } else if (logits.dtype() ==
             nb::dlpack::dtype{uint8_t(nb::dlpack::dtype_code::Float), 16, 1}) {
    fromHalf(static_cast<const uint16_t *>(logits.data()), count, own.data());
  } else if (logits.dtype() == nb::dtype<uint16_t>()) {
    fromBrain(static_cast<const uint16_t *>(logits.data()), count, own.data());
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

double Row::weigh(float factor, bool isKept) {
  scale = factor;
  keptFrom = 0;
  blockSums.resize(blockPeaks.size());
  kept.resize(isKept ? row.size() : 0);
  std::array<float, kBlock> weights;
  double total = 0;
  for (size_t block = 0; block != blockSums.size(); ++block) {
    size_t start = block * kBlock;
    blockSums[block] =
        double(weighBlock(row.data() + start, blockSize(block), most, scale,
                          isKept ? kept.data() + start : weights.data()));
    total += blockSums[block];
  }
  return total;
}

float Row::leastFor(double bound) const {
  // With some to spare for rounding.
  return float(double(most) + std::log(bound) / double(scale) - 1e-3);
}

size_t Row::countFrom(double bound) const {
  float least = leastFor(bound);
  return kBlock * size_t(std::ranges::count_if(
                      blockPeaks, [&](float peak) { return peak >= least; }));
}

std::vector<Candidate> Row::weightsFrom(double bound) const {
  float least = leastFor(bound);
  std::vector<Candidate> found;
  for (size_t block = 0; block != blockPeaks.size(); ++block) {
    if (blockPeaks[block] < least)
      continue;
    for (size_t i = block * kBlock, end = i + blockSize(block); i != end; ++i)
      if (double(kept[i]) >= bound)
        found.push_back({kept[i], int32_t(i)});
  }
  return found;
}

/// Bounds that some of the weights say the edge is between, most likely; as
/// bits.
std::pair<uint32_t, uint32_t> Row::guessEdge(double share) const {
  constexpr size_t kSome = 512;
  // How far the share of so many is from that of all, at most in most rows.
  constexpr double kSpread = 0.06;
  std::array<float, kSome> some;
  double total = 0;
  for (size_t i = 0; i != kSome; ++i)
    total += double(some[i] = kept[i * kept.size() / kSome]);
  std::ranges::sort(some, std::greater<>());
  float high = some.front(), low = some.back();
  double sum = 0;
  for (float weight : some) {
    if (sum < (share - kSpread) * total)
      high = weight;
    sum += double(weight);
    if (sum >= (share + kSpread) * total) {
      low = weight;
      break;
    }
  }
  return {std::bit_cast<uint32_t>(low), std::bit_cast<uint32_t>(high)};
}

// The sum of weights from a bound on falls as the bound grows. Bounds close in
// on where it passes what is wanted, until few are between them: that takes a
// handful of passes, and nothing is sorted but those few. Positive numbers are
// ordered as their bits are, and bits are about their logarithm.
Candidate Row::edgeOf(double wanted, double total, double lowBound) const {
  constexpr double kFew = 64;
  auto low = std::bit_cast<uint32_t>(float(lowBound));
  uint32_t high = std::bit_cast<uint32_t>(1.0f) + 1;
  double lowSum = total, highSum = 0;
  auto look = [&](uint32_t middle) {
    if (middle <= low || middle >= high)
      return;
    double sum = sumFrom(kept.data(), kept.size(), std::bit_cast<float>(middle),
                         nullptr);
    (sum >= wanted ? low : high) = middle;
    (sum >= wanted ? lowSum : highSum) = sum;
  };
  auto [guessedLow, guessedHigh] = guessEdge(wanted / total);
  look(guessedLow);
  look(guessedHigh);
  for (int pass = 0; high - low > 1; ++pass) {
    if (lowSum - highSum <= kFew * double(std::bit_cast<float>(low)))
      break;
    double share = (lowSum - wanted) / (lowSum - highSum);
    // Halves now and then, should the sums lead astray.
    if (pass % 4 == 3 || !(share > 0 && share < 1))
      share = 0.5;
    uint32_t middle = low + uint32_t(share * double(high - low));
    look(std::clamp(middle, low + 1, high - 1));
  }
  auto from = std::bit_cast<float>(low), to = std::bit_cast<float>(high);
  if (high - low == 1)
    return nthEqual(from, size_t(std::ceil((wanted - highSum) / from)));
  std::vector<Candidate> between;
  for (size_t start = 0; start < kept.size(); start += kBlock) {
    std::span<const float> block(kept.data() + start,
                                 std::min(kBlock, kept.size() - start));
    if (!hasBetween(block.data(), block.size(), from, to))
      continue;
    for (size_t i = 0; i != block.size(); ++i)
      if (block[i] >= from && block[i] < to)
        between.push_back({block[i], int32_t(start + i)});
  }
  std::ranges::sort(between, comesBefore);
  Candidate edge{to, int32_t(kept.size()) - 1};
  for (const Candidate &candidate : between) {
    if (highSum >= wanted)
      break;
    highSum += double(candidate.value);
    edge = candidate;
  }
  return edge;
}

/// The place of one of several equal ones, from 1 on; the last if there are
/// not so many.
Candidate Row::nthEqual(float value, size_t number) const {
  Candidate last{value, int32_t(kept.size()) - 1};
  for (size_t start = 0; start < kept.size(); start += kBlock) {
    size_t length = std::min(kBlock, kept.size() - start);
    size_t count = countEqual(kept.data() + start, length, value);
    if (count < number) {
      number -= count;
      continue;
    }
    for (size_t i = start; i != start + length; ++i)
      if (kept[i] == value && --number == 0)
        return {value, int32_t(i)};
  }
  return last;
}

double Row::keepNucleus(double share, double total, float least) {
  Candidate edge = edgeOf(share * total, total, leftOut(share, total));
  size_t after = size_t(edge.token) + 1;
  dropEqual(kept.data() + after, kept.size() - after, edge.value);
  float bound = std::max(edge.value, least);
  keptFrom = bound;
  return sumFrom(kept.data(), kept.size(), bound, blockSums.data());
}

size_t Row::draw(double wanted) const {
  size_t last = mostProbable();
  for (size_t block = 0; block != blockSums.size(); ++block) {
    if (!(wanted < blockSums[block])) {
      wanted -= blockSums[block];
      continue;
    }
    size_t start = block * kBlock;
    std::array<float, kBlock> again;
    const float *weights = kept.data() + start;
    if (kept.empty()) {
      weighBlock(row.data() + start, blockSize(block), most, scale,
                 again.data());
      weights = again.data();
    }
    for (size_t i = 0; i != blockSize(block); ++i) {
      if (weights[i] == 0 || weights[i] < keptFrom)
        continue;
      last = start + i;
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
  bool changes() const {
    return options.repetitionPenalty != 1 || options.presencePenalty != 0 ||
           options.frequencyPenalty != 0 || !options.bias.empty();
  }
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
  row.read(logits, changes());
  if (changes())
    change(row.ownValues());
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
    double total = row.weigh(float(factor()), true);
    double low = row.leftOut(options.topP, total);
    if (row.countFrom(low) > kFewCandidates) {
      double left = row.keepNucleus(options.topP, total, float(options.minP));
      return int64_t(row.draw(number * left));
    }
    candidates = row.weightsFrom(low);
    keepNucleus(candidates, options.topP * total);
    // In the order of tokens, as all other draws are.
    std::ranges::sort(candidates, {}, &Candidate::token);
  } else if (options.minP > 0) {
    candidates =
        row.from(row.peak() + float(std::log(options.minP) / factor()));
    weighCandidates(candidates);
  } else {
    double total = row.weigh(float(factor()), false);
    return int64_t(row.draw(number * total));
  }
  return drawFrom(std::move(candidates), number);
}

/// The log-probability of a token, and the most probable ones with theirs.
static std::pair<double, std::vector<std::pair<int64_t, double>>>
tokenLogprobs(const Logits &logits, int64_t token, size_t count) {
  static thread_local Row row;
  row.read(logits, false);
  row.look();
  if (token < 0 || size_t(token) >= row.values().size())
    throw nb::index_error("there is no such token");
  double total = double(row.peak()) + std::log(row.weigh(1, false));
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
