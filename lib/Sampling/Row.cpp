// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Row.h"

#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <functional>

using namespace corten;
using namespace corten::sampling;
using runtime::BFloat16;
using runtime::ElementType;
using runtime::Float16;

void Row::read(const Logits &logits, bool isChanged) {
  assert(logits.count != 0 && "there are no logits");
  if (logits.type == ElementType::F32 && !isChanged) {
    row = {static_cast<const float *>(logits.data), logits.count};
    return;
  }
  own.resize(logits.count);
  row = own;
  if (logits.type == ElementType::F16) {
    toFloats(static_cast<const Float16 *>(logits.data), own.size(), own.data());
  } else if (logits.type == ElementType::BF16) {
    toFloats(static_cast<const BFloat16 *>(logits.data), own.size(),
             own.data());
  } else {
    assert(logits.type == ElementType::F32 && "no type of logits");
    std::copy_n(static_cast<const float *>(logits.data), own.size(),
                own.data());
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
    bool isInside = share > 0 && share < 1;
    if (pass % 4 == 3 || !isInside)
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
