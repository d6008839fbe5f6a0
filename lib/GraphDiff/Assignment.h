// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The assignment problem on a sparse table of scores.

#ifndef CORTEN_LIB_GRAPHDIFF_ASSIGNMENT_H
#define CORTEN_LIB_GRAPHDIFF_ASSIGNMENT_H

#include <utility>
#include <vector>

namespace corten {

/// How much speaks for a pair. Scores of one pair add up.
struct AssignmentScore {
  unsigned source;
  unsigned target;
  unsigned score;
};

/// Pairs with the largest sum of scores, each node in one of them at most, in
/// the order of the sources. Where many nodes compete with each other the best
/// pair comes first instead, then the best of what is left. Of equals, the ones
/// that come first are paired.
std::vector<std::pair<unsigned, unsigned>>
assign(std::vector<AssignmentScore> scores);

} // namespace corten

#endif // CORTEN_LIB_GRAPHDIFF_ASSIGNMENT_H
