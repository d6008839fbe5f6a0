// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds which node of one graph is which of another. Time is near-linear in the
// size of the graphs; the result depends on nothing but the graphs.

#ifndef CORTEN_GRAPHDIFF_MATCH_H
#define CORTEN_GRAPHDIFF_MATCH_H

#include "corten/GraphDiff/LabelledGraph.h"

namespace corten {

struct Matching {
  static constexpr int kNone = -1;

  /// The partner of each node, or kNone.
  std::vector<int> toTarget;
  std::vector<int> toSource;
  /// Pairs that are the same node all the same but differ in an attribute or in
  /// what they are made from, in the order of the source.
  std::vector<std::pair<unsigned, unsigned>> modified;
  /// Every node has a partner, no pair is modified, and so the graphs are one.
  bool isIsomorphic = false;
};

Matching match(const LabelledGraph &source, const LabelledGraph &target);

} // namespace corten

#endif // CORTEN_GRAPHDIFF_MATCH_H
