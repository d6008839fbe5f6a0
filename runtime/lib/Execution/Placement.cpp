// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Placement.h"

#include "corten/Runtime/Memory.h"

#include <algorithm>
#include <numeric>

using namespace corten::runtime;
using namespace corten::runtime::execution;

static int64_t align(int64_t bytes) {
  constexpr auto kUnit = int64_t(kMemoryAlignment);
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

/// The smallest gap in `taken` for so many bytes, or the end.
int64_t Placement::findGap(int64_t bytes) {
  std::ranges::sort(taken, {}, &Taken::begin);
  int64_t end = 0;
  int64_t best = -1;
  int64_t bestGap = INT64_MAX;
  for (const Taken &other : taken) {
    int64_t gap = other.begin - end;
    if (gap >= bytes && gap < bestGap) {
      best = end;
      bestGap = gap;
    }
    end = std::max(end, other.end);
  }
  return best == -1 ? end : best;
}

/// Adds what is placed of the groups of a piece to `taken`.
void Placement::takeGroups(const Piece &piece) {
  for (int32_t group : piece.groups) {
    if (group == -1)
      continue;
    // An entry is a place and which end of the piece it is of.
    for (int32_t entry = lastOfGroup[size_t(group)]; entry != -1;
         entry = beforeInGroup[size_t(entry / 2)][size_t(entry % 2)])
      taken.push_back(places[size_t(entry / 2)]);
  }
}

void Placement::addToGroups(const Piece &piece) {
  auto place = int32_t(places.size());
  std::array<int32_t, 2> before = {-1, -1};
  for (size_t i = 0; i != 2; ++i) {
    int32_t group = piece.groups[i];
    if (group == -1 || (i == 1 && group == piece.groups[0]))
      continue;
    before[i] = lastOfGroup[size_t(group)];
    lastOfGroup[size_t(group)] = 2 * place + int32_t(i);
  }
  beforeInGroup.push_back(before);
}

ArenaSizes Placement::place(const Block &block, std::span<const Piece> pieces,
                            size_t numGroups, std::span<int64_t> offsets) {
  ArenaSizes sizes;
  live.assign(block.steps.size() + 2, 0);
  for (const Piece &piece : pieces) {
    int64_t bytes = align(piece.bytes);
    sizes.sum += bytes;
    live[size_t(piece.first)] += bytes;
    live[size_t(piece.last) + 1] -= bytes;
  }
  int64_t now = 0;
  for (int64_t change : live) {
    now += change;
    sizes.lowerBound = std::max(sizes.lowerBound, now);
  }

  order.resize(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    const Piece &x = pieces[a];
    const Piece &y = pieces[b];
    return x.bytes != y.bytes ? x.bytes > y.bytes : a < b;
  });
  bool hasLists = block.conflicts.size() != 0;
  placed.assign(block.buffers.size() + block.steps.size(), -1);
  places.clear();
  lastOfGroup.assign(numGroups, -1);
  beforeInGroup.clear();
  for (size_t rank = 0; rank != order.size(); ++rank) {
    const Piece &piece = pieces[order[rank]];
    taken.clear();
    if (hasLists) {
      for (int32_t other : block.conflicts[size_t(piece.id)])
        if (placed[size_t(other)] != -1)
          taken.push_back(places[size_t(placed[size_t(other)])]);
      takeGroups(piece);
    } else {
      for (size_t i = 0; i != rank; ++i)
        if (pieces[order[i]].first <= piece.last &&
            piece.first <= pieces[order[i]].last)
          taken.push_back(places[i]);
    }
    int64_t bytes = align(piece.bytes);
    int64_t begin = findGap(bytes);
    offsets[size_t(piece.id)] = begin;
    placed[size_t(piece.id)] = int32_t(places.size());
    addToGroups(piece);
    places.push_back({begin, begin + bytes});
    sizes.planned = std::max(sizes.planned, begin + bytes);
  }
  return sizes;
}
