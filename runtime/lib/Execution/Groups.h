// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps that are run side by side. A kernel divides its own work where it is
// worth it; what is too small for that leaves all threads but one with nothing
// to do, unless there is other work that does not depend on it.

#ifndef CORTEN_RUNTIME_LIB_EXECUTION_GROUPS_H
#define CORTEN_RUNTIME_LIB_EXECUTION_GROUPS_H

#include "Program.h"

namespace corten::runtime::execution {

/// Steps of a group that follow each other on one thread.
struct Strand {
  /// In Groups::order.
  Range steps;
  double nanoseconds = 0;
};

/// Steps that follow each other in the plan. Those of different strands do not
/// depend on each other.
struct Group {
  int32_t first;
  /// Behind the last.
  int32_t end;
  /// The longest come first.
  Range strands;
  /// What its steps take one thread, and what several are about to win, in
  /// nanoseconds.
  double sum;
  double gain;
};

/// Of a frame. Keeps its lists, so that the next time nothing is allocated.
class Groups {
public:
  explicit Groups(const Block &block);

  /// What is known of the steps of a stage when groups are looked for.
  struct Facts {
    int threads;
    /// By step.
    std::span<const double> nanoseconds;
    /// As Block::slots.
    std::span<const Tensor> slots;
    /// By value.
    std::span<const int64_t> byteOffsets;
  };
  /// Finds those of a stage, and forgets those of the stages behind it.
  void find(size_t stage, const Facts &facts);

  size_t size() const { return groups.size(); }
  /// What all of them win, in nanoseconds.
  double gain() const { return totalGain; }
  const Group &operator[](size_t index) const { return groups[index]; }
  /// The number of the one that a step is in; -1: none.
  int32_t of(size_t step) const { return groupOf[step]; }
  /// Whether it is in one that begins with it.
  bool beginsAt(size_t step) const {
    return groupOf[step] != -1 &&
           groups[size_t(groupOf[step])].first == int32_t(step);
  }
  std::span<const Strand> strandsOf(const Group &group) const {
    return group.strands.of(strands);
  }
  std::span<const int32_t> stepsOf(const Strand &strand) const {
    return strand.steps.of(order);
  }

private:
  void add(int32_t step, const Facts &facts);
  void close(const Facts &facts);
  /// 0 if it is not worth it.
  double gainOf(const Facts &facts) const;
  bool arePartsApart(const Facts &facts);
  void keep(double gain);

  const Block &block;
  std::vector<Group> groups;
  double totalGain = 0;
  std::vector<Strand> strands;
  std::vector<int32_t> order;
  std::vector<int32_t> groupOf;

  // The steps that may become one.
  int32_t first = 0;
  int32_t end = 0;
  /// By step: which strand it would be in.
  std::vector<int32_t> strandOf;
  std::vector<double> strandTimes;
  struct Part {
    int32_t buffer;
    int32_t strand;
    uint32_t slot;
  };
  std::vector<Part> parts;
};

/// Whether two views of a buffer, which begin so many bytes behind it, are
/// known to have no element in common.
bool areApart(const Tensor &a, int64_t offsetOfA, const Tensor &b,
              int64_t offsetOfB);

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_GROUPS_H
