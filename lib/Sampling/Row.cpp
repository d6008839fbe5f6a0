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

static void toFloats(const Logits &logits, size_t start, size_t count,
                     float *to) {
  if (logits.type == ElementType::F16) {
    sampling::toFloats(static_cast<const Float16 *>(logits.data) + start, count,
                       to);
  } else if (logits.type == ElementType::BF16) {
    sampling::toFloats(static_cast<const BFloat16 *>(logits.data) + start,
                       count, to);
  } else {
    assert(logits.type == ElementType::F32 && "no type of logits");
    std::copy_n(static_cast<const float *>(logits.data) + start, count, to);
  }
}

void Row::read(const Logits &logits, bool isChanged) {
  assert(logits.count != 0 && "there are no logits");
  unread.reset();
  if (logits.type == ElementType::F32 && !isChanged) {
    row = {static_cast<const float *>(logits.data), logits.count};
    return;
  }
  own.resize(logits.count);
  row = own;
  if (isChanged)
    ::toFloats(logits, 0, own.size(), own.data());
  else
    unread = logits;
}

void Row::look() {
  size_t blocks = (row.size() + kBlock - 1) / kBlock;
  blockPeaks.resize(blocks);
  for (size_t i = 0; i != blocks; ++i) {
    if (unread)
      ::toFloats(*unread, i * kBlock, blockSize(i), own.data() + i * kBlock);
    blockPeaks[i] = largestOf(row.data() + i * kBlock, blockSize(i));
  }
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
  weights.resize(isKept ? row.size() : 0);
  kept = weights;
  std::array<float, kBlock> unkept;
  double total = 0;
  for (size_t block = 0; block != blockSums.size(); ++block) {
    size_t start = block * kBlock;
    blockSums[block] =
        double(weighBlock(row.data() + start, blockSize(block), most, scale,
                          isKept ? kept.data() + start : unkept.data()));
    total += blockSums[block];
  }
  return total;
}

float Row::leastFor(double bound) const {
  // With some to spare for rounding.
  return float(double(most) + std::log(bound) / double(scale) - 1e-3);
}

size_t Row::countFrom(float logit) const {
  return kBlock * size_t(std::ranges::count_if(
                      blockPeaks, [&](float peak) { return peak >= logit; }));
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

//===----------------------------------------------------------------------===//
// The edge of what is kept
//===----------------------------------------------------------------------===//
//
// What weights from a bound on have falls as the bound grows. A few of them say
// about where it passes what is wanted; those around there are put side by
// side, and bounds close in among them, until so few are left that they can be
// sorted. Positive numbers are ordered as their bits are, and bits are about
// their logarithm.

/// Larger than all weights.
static constexpr uint32_t kTop = std::bit_cast<uint32_t>(1.0f) + 1;

/// Whether so few are worth being put side by side.
static bool isSmallPart(double count, size_t all) {
  return count * 4 < double(all);
}

static double unitOf(bool isCount, float weight) {
  return isCount ? 1.0 : double(weight);
}

static double measureFrom(bool isCount, std::span<const float> weights,
                          uint32_t bound) {
  auto least = std::bit_cast<float>(bound);
  return isCount ? double(countFrom(weights.data(), weights.size(), least))
                 : sumFrom(weights.data(), weights.size(), least, nullptr);
}

/// Bounds that some of the weights say the edge is between, most likely; as
/// bits.
std::pair<uint32_t, uint32_t> Row::guessEdge(const Goal &goal) const {
  constexpr size_t kSome = 256;
  // How far the share of so many is from that of all, at most in most rows.
  constexpr double kSpread = 0.08;
  bool isCount = goal.measure == Measure::Count;
  std::array<float, kSome> some;
  size_t count = 0;
  double total = 0;
  for (size_t i = 0; i != kSome; ++i) {
    float weight = kept[i * kept.size() / kSome];
    if (weight < goal.low)
      continue;
    some[count++] = weight;
    total += unitOf(isCount, weight);
  }
  auto first = some.begin(), last = some.begin() + ptrdiff_t(count);
  std::sort(first, last, std::greater<>());
  double share = goal.wanted / goal.total, sum = 0;
  uint32_t low = std::bit_cast<uint32_t>(goal.low), high = kTop;
  for (; first != last; ++first) {
    if (sum < (share - kSpread) * total)
      high = std::bit_cast<uint32_t>(*first);
    sum += unitOf(isCount, *first);
    if (sum >= (share + kSpread) * total) {
      low = std::bit_cast<uint32_t>(*first);
      break;
    }
  }
  return {low, std::max(high, low)};
}

/// Puts those within bounds, as bits, into `near`.
Row::Bracket Row::gather(const Goal &goal, uint32_t low, uint32_t high,
                         double atHigh) {
  near = {room.data(),
          gatherBetween(kept.data(), kept.size(), std::bit_cast<float>(low),
                        std::bit_cast<float>(high), room.data())};
  bool isCount = goal.measure == Measure::Count;
  return {low, high, atHigh + measureFrom(isCount, near, low), atHigh};
}

/// All from a bound on: of a small part of the row that is the only pass over
/// all of it.
Row::Bracket Row::gatherFrom(const Goal &goal, uint32_t low) {
  Bracket bracket = gather(goal, low, kTop, 0);
  auto least = std::bit_cast<uint32_t>(goal.low);
  return bracket.atLow < goal.wanted && low != least
             ? gather(goal, least, kTop, 0)
             : bracket;
}

/// Bounds of the edge, with all weights between them in `near`.
Row::Bracket Row::gatherEdge(const Goal &goal) {
  bool isCount = goal.measure == Measure::Count;
  room.resize(kept.size() + kGatherSlack);
  auto [low, high] = guessEdge(goal);
  if (isCount && isSmallPart(goal.wanted, kept.size()))
    return gatherFrom(goal, low);
  double atHigh = high == kTop ? 0 : measureFrom(isCount, kept, high);
  if (atHigh >= goal.wanted)
    return gather(goal, high, kTop, 0);
  Bracket bracket = gather(goal, low, high, atHigh);
  if (bracket.atLow >= goal.wanted)
    return bracket;
  return gather(goal, std::bit_cast<uint32_t>(goal.low), low, bracket.atLow);
}

void Row::narrow(const Goal &goal, Bracket &bracket) const {
  constexpr double kFew = 64;
  bool isCount = goal.measure == Measure::Count;
  auto &[low, high, atLow, atHigh] = bracket;
  double above = atHigh;
  for (int pass = 0; high - low > 1; ++pass) {
    if (atLow - atHigh <= kFew * unitOf(isCount, std::bit_cast<float>(low)))
      return;
    double share = (atLow - goal.wanted) / (atLow - atHigh);
    // Halves now and then, should the sums lead astray.
    bool isInside = share > 0 && share < 1;
    if (pass % 4 == 3 || !isInside)
      share = 0.5;
    uint32_t middle = std::clamp(low + uint32_t(share * double(high - low)),
                                 low + 1, high - 1);
    double found = above + measureFrom(isCount, near, middle);
    (found >= goal.wanted ? low : high) = middle;
    (found >= goal.wanted ? atLow : atHigh) = found;
  }
}

Candidate Row::edgeOf(const Goal &goal) {
  bool isCount = goal.measure == Measure::Count;
  Bracket bracket = gatherEdge(goal);
  // There is nothing to leave out.
  if (bracket.atLow <= goal.wanted)
    return {std::bit_cast<float>(bracket.low), int32_t(kept.size()) - 1};
  narrow(goal, bracket);
  auto from = std::bit_cast<float>(bracket.low);
  if (bracket.high - bracket.low > 1) {
    auto to = std::bit_cast<float>(bracket.high);
    std::span<float> few = near.first(
        gatherBetween(near.data(), near.size(), from, to, near.data()));
    std::ranges::sort(few, std::greater<>());
    for (auto next = few.begin(); next != few.end();) {
      auto equal = next;
      from = *equal;
      next = std::find_if(equal, few.end(),
                          [&](float weight) { return weight != from; });
      bracket.atLow =
          bracket.atHigh + unitOf(isCount, from) * double(next - equal);
      if (bracket.atLow >= goal.wanted)
        break;
      if (next != few.end())
        bracket.atHigh = bracket.atLow;
    }
  }
  // Some of those that are equal may be left out.
  double unit = unitOf(isCount, from);
  double needed = std::ceil((goal.wanted - bracket.atHigh) / unit);
  double available = std::round((bracket.atLow - bracket.atHigh) / unit);
  if (needed >= available)
    return {from, int32_t(kept.size()) - 1};
  return nthEqual(from, size_t(std::max(needed, 1.0)));
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

double Row::keepTo(const Candidate &edge) {
  size_t after = size_t(edge.token) + 1;
  dropEqual(kept.data() + after, kept.size() - after, edge.value);
  return keepFrom(edge.value);
}

/// The same, side by side.
double Row::keepApart(const Candidate &edge) {
  size_t equal = size_t(edge.token) + 1;
  apart.resize(kept.size() + kGatherSlack);
  auto least = std::bit_cast<uint32_t>(edge.value);
  size_t count = gatherBetween(kept.data(), equal, edge.value,
                               std::bit_cast<float>(kTop), apart.data());
  count += gatherBetween(kept.data() + equal, kept.size() - equal,
                         std::bit_cast<float>(least + 1),
                         std::bit_cast<float>(kTop), apart.data() + count);
  leastApart = edge;
  kept = {apart.data(), count};
  blockSums.resize((count + kBlock - 1) / kBlock);
  return keepFrom(edge.value);
}

/// Where one of those that are looked at is in the row.
size_t Row::tokenAt(size_t place) const {
  if (kept.data() == weights.data())
    return place;
  size_t equal = size_t(leastApart.token) + 1;
  for (size_t start = 0, end = 0; start != weights.size(); start = end) {
    end = std::min(start + kBlock, start < equal ? equal : weights.size());
    auto least = std::bit_cast<uint32_t>(leastApart.value);
    auto bound = std::bit_cast<float>(start < equal ? least : least + 1);
    size_t count =
        sampling::countFrom(weights.data() + start, end - start, bound);
    for (size_t i = start; place < count && i != end; ++i)
      if (weights[i] >= bound && place-- == 0)
        return i;
    place -= count;
  }
  return mostProbable();
}

double Row::keepLargest(size_t count) {
  // Nobody draws one of no weight.
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  Goal goal{Measure::Count, double(count), double(kept.size()), kLeast};
  if (isSmallPart(goal.wanted, kept.size())) {
    Candidate edge = edgeOf(goal);
    return keepApart(edge);
  }
  size_t total = sampling::countFrom(kept.data(), kept.size(), kLeast);
  if (total <= count)
    return keepFrom(kLeast);
  goal.total = double(total);
  return keepTo(edgeOf(goal));
}

double Row::keepNucleus(double share, double total) {
  auto low = std::max(float(leftOut(share, total)), keptFrom);
  return keepTo(edgeOf({Measure::Sum, share * total, total, low}));
}

double Row::keepFrom(float least) {
  keptFrom = std::max(keptFrom, least);
  return sumFrom(kept.data(), kept.size(), keptFrom, blockSums.data());
}

size_t Row::draw(double wanted) const {
  std::optional<size_t> last;
  for (size_t block = 0; block != blockSums.size() && !last; ++block) {
    if (!(wanted < blockSums[block])) {
      wanted -= blockSums[block];
      continue;
    }
    size_t start = block * kBlock;
    size_t count = blockSize(block);
    std::array<float, kBlock> again;
    const float *own = again.data();
    if (kept.empty()) {
      weighBlock(row.data() + start, count, most, scale, again.data());
    } else {
      own = kept.data() + start;
      count = std::min(kBlock, kept.size() - start);
    }
    // Rounding may lead past the end of the block.
    for (size_t i = 0; i != count && wanted >= 0; ++i) {
      if (own[i] == 0 || own[i] < keptFrom)
        continue;
      last = start + i;
      wanted -= double(own[i]);
    }
  }
  return last ? tokenAt(*last) : mostProbable();
}
