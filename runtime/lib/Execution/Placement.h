// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the buffers of a stage lie in its arena: those that are never needed at
// the same time share memory.

#ifndef CORTEN_RUNTIME_LIB_EXECUTION_PLACEMENT_H
#define CORTEN_RUNTIME_LIB_EXECUTION_PLACEMENT_H

#include "Program.h"

namespace corten::runtime::execution {

/// What of an arena is needed from one step to another.
struct Piece {
  /// In Block::conflicts.
  int32_t id;
  int32_t first;
  int32_t last;
  int64_t bytes;
  /// The groups of steps that it begins and ends with; -1: none. It is needed
  /// as long as all else in them, whatever Block::conflicts says.
  std::array<int32_t, 2> groups = {-1, -1};
};

struct ArenaSizes {
  /// What the arena takes.
  int64_t planned = 0;
  /// What it would take if nothing shared memory.
  int64_t sum = 0;
  /// The most that is needed at once: no plan takes less.
  int64_t lowerBound = 0;
};

/// Places pieces, the largest first, each into the smallest gap that it fits
/// into. Keeps its lists, so that the next time nothing is allocated.
class Placement {
public:
  /// Writes offsets, which are aligned, to offsets[id].
  ArenaSizes place(const Block &block, std::span<const Piece> pieces,
                   size_t numGroups, std::span<int64_t> offsets);

private:
  struct Taken {
    int64_t begin;
    int64_t end;
  };
  int64_t findGap(int64_t bytes);
  void takeGroups(const Piece &piece);
  void addToGroups(const Piece &piece);

  std::vector<uint32_t> order;
  /// By id: the place among the pieces that are placed, or -1.
  std::vector<int32_t> placed;
  std::vector<Taken> taken;
  std::vector<Taken> places;
  std::vector<int64_t> live;
  /// Lists of what is placed of each group: the last one of it, and by piece
  /// and end of it the one before.
  std::vector<int32_t> lastOfGroup;
  std::vector<std::array<int32_t, 2>> beforeInGroup;
};

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_PLACEMENT_H
