// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Groups.h"

#include "Layout.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::execution;

/// What takes longer is left to its kernel, which divides it.
static constexpr double kLongest = 12000;
/// What it takes to begin and to end a group.
static constexpr double kHandOver = 700;
/// What a group has to win: nanoseconds, and of the time of its steps.
static constexpr double kLeastGain = 1000;
static constexpr double kLeastShare = 0.15;

Groups::Groups(const Block &block)
    : block(block), groupOf(block.steps.size(), -1),
      strandOf(block.steps.size(), -1) {}

void Groups::find(size_t stage, const Facts &facts) {
  // Those of a stage come after those of the stages before it.
  while (!groups.empty() &&
         block.steps[size_t(groups.back().first)].stage >= int32_t(stage)) {
    strands.resize(groups.back().strands.first);
    groups.pop_back();
  }
  order.resize(strands.empty()
                   ? 0
                   : strands.back().steps.first + strands.back().steps.count);
  for (size_t later = stage; later != block.numStages(); ++later)
    for (int32_t step : block.stepsOfStage[later])
      groupOf[size_t(step)] = -1;
  first = end = 0;
  strandTimes.clear();
  for (int32_t step : block.stepsOfStage[stage])
    add(step, facts);
  close(facts);
  totalGain = 0;
  for (const Group &group : groups)
    totalGain += group.gain;
}

/// Adds a step to those before it, in the strand that it follows, or in a new
/// one. Those before it become a group first if it cannot be.
void Groups::add(int32_t step, const Facts &facts) {
  bool isStageStart = std::ranges::binary_search(block.stageStarts, step);
  if (step != end || isStageStart || step - first >= kFarthestBeside)
    close(facts);
  if (!block.steps[size_t(step)].canStandBeside ||
      facts.nanoseconds[size_t(step)] > kLongest)
    return close(facts);
  if (strandTimes.empty())
    first = step;
  int32_t strand = -1;
  int32_t last = -1;
  for (int32_t other : block.dependencies[size_t(step)]) {
    if (other < first)
      continue;
    // What needs several strands comes after all of them.
    if (strand != -1 && strand != strandOf[size_t(other)]) {
      close(facts);
      return add(step, facts);
    }
    strand = strandOf[size_t(other)];
    last = std::max(last, other);
  }
  // Beside the end of a single strand.
  if (strand != -1 && strandTimes.size() == 1 && last < step - 1) {
    strandTimes.clear();
    for (int32_t again = last + 1; again != step; ++again) {
      end = again;
      add(again, facts);
    }
    strand = -1;
  }
  if (strand == -1) {
    strand = int32_t(strandTimes.size());
    strandTimes.push_back(0);
  }
  strandOf[size_t(step)] = strand;
  strandTimes[size_t(strand)] += facts.nanoseconds[size_t(step)];
  end = step + 1;
}

/// Compared with one step after the other, each on one thread.
double Groups::gainOf(const Facts &facts) const {
  double longest = 0;
  double sum = 0;
  for (double time : strandTimes) {
    longest = std::max(longest, time);
    sum += time;
  }
  double gain = sum - std::max(longest, sum / facts.threads) - kHandOver;
  return gain < std::max(kLeastGain, kLeastShare * sum) ? 0 : gain;
}

/// Whether strands that write to one buffer write to different elements.
bool Groups::arePartsApart(const Facts &facts) {
  parts.clear();
  for (int32_t i = first; i != end; ++i) {
    const Step &step = block.steps[size_t(i)];
    for (uint32_t slot = step.outputs.first;
         slot != step.outputs.first + step.outputs.count; ++slot) {
      const Value &value = block.values[size_t(block.slots[slot])];
      if (!value.hasStrides)
        continue;
      auto offsetOf = [&](uint32_t which) {
        return facts.byteOffsets[size_t(block.slots[which])];
      };
      Part part = {value.buffer, strandOf[size_t(i)], slot};
      for (const Part &other : parts)
        if (other.buffer == part.buffer && other.strand != part.strand &&
            !areApart(facts.slots[other.slot], offsetOf(other.slot),
                      facts.slots[slot], offsetOf(slot)))
          return false;
      parts.push_back(part);
    }
  }
  return true;
}

void Groups::close(const Facts &facts) {
  if (strandTimes.size() > 1)
    if (double gain = gainOf(facts); gain > 0 && arePartsApart(facts))
      keep(gain);
  strandTimes.clear();
  first = end;
}

void Groups::keep(double gain) {
  Group group = {first, end, {}, 0, gain};
  group.strands = {uint32_t(strands.size()), uint32_t(strandTimes.size())};
  for (size_t i = 0; i != strandTimes.size(); ++i) {
    Range steps = {uint32_t(order.size()), 0};
    for (int32_t step = first; step != end; ++step)
      if (strandOf[size_t(step)] == int32_t(i))
        order.push_back(step);
    steps.count = uint32_t(order.size()) - steps.first;
    strands.push_back({steps, strandTimes[i]});
    group.sum += strandTimes[i];
  }
  std::ranges::sort(group.strands.of(strands), std::greater(),
                    &Strand::nanoseconds);
  for (int32_t step = first; step != end; ++step)
    groupOf[size_t(step)] = int32_t(groups.size());
  groups.push_back(group);
}

/// Counts places by the strides of both, the longest first, as digits: where
/// none of them overflows, different ones are different places.
bool execution::areApart(const Tensor &a, int64_t offsetOfA, const Tensor &b,
                         int64_t offsetOfB) {
  auto hullOfA = hullOf(a);
  auto hullOfB = hullOf(b);
  if (hullOfA && hullOfB &&
      (offsetOfA + hullOfA->second <= offsetOfB + hullOfB->first ||
       offsetOfB + hullOfB->second <= offsetOfA + hullOfA->first))
    return true;
  if (a.rank != b.rank || a.type != b.type)
    return false;
  std::array<int, kMaxRank> axes;
  for (int axis = 0; axis != a.rank; ++axis) {
    if (a.steps[axis] != b.steps[axis] || a.steps[axis] <= 0)
      return false;
    axes[size_t(axis)] = axis;
  }
  std::ranges::sort(axes.begin(), axes.begin() + a.rank, [&](int x, int y) {
    return a.steps[x] != a.steps[y] ? a.steps[x] > a.steps[y]
                                    : a.extents[x] > a.extents[y];
  });
  int64_t restOfA = offsetOfA / int64_t(byteSize(a.type));
  int64_t restOfB = offsetOfB / int64_t(byteSize(a.type));
  int64_t before = 0;
  bool isApart = false;
  for (int i = 0; i != a.rank; ++i) {
    int axis = axes[size_t(i)];
    int64_t step = a.steps[axis];
    int64_t digitOfA = restOfA / step;
    int64_t digitOfB = restOfB / step;
    restOfA %= step;
    restOfB %= step;
    int64_t endOfA = digitOfA + a.extents[axis];
    int64_t endOfB = digitOfB + b.extents[axis];
    if (i != 0 &&
        (before % step != 0 || std::max(endOfA, endOfB) > before / step))
      return false;
    isApart |= endOfA <= digitOfB || endOfB <= digitOfA;
    before = step;
  }
  return isApart || restOfA != restOfB;
}
