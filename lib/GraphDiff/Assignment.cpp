// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assignment.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <tuple>

using namespace corten;

using Pairs = std::vector<std::pair<unsigned, unsigned>>;

/// The exact solution takes the third power of this in steps.
static constexpr size_t kMaxExact = 48;

/// Adds up the scores of each pair; sorted by source, then target.
static std::vector<AssignmentScore>
summed(std::vector<AssignmentScore> scores) {
  llvm::sort(scores, [](const auto &lhs, const auto &rhs) {
    return std::tie(lhs.source, lhs.target) < std::tie(rhs.source, rhs.target);
  });
  std::vector<AssignmentScore> result;
  for (const AssignmentScore &entry : scores) {
    if (!result.empty() && result.back().source == entry.source &&
        result.back().target == entry.target)
      result.back().score += entry.score;
    else
      result.push_back(entry);
  }
  return result;
}

static void assignGreedily(std::vector<AssignmentScore> scores, Pairs &pairs) {
  llvm::sort(scores, [](const auto &lhs, const auto &rhs) {
    return std::tie(rhs.score, lhs.source, lhs.target) <
           std::tie(lhs.score, rhs.source, rhs.target);
  });
  llvm::DenseMap<unsigned, unsigned> sources, targets;
  for (const AssignmentScore &entry : scores)
    if (!sources.contains(entry.source) && !targets.contains(entry.target)) {
      sources[entry.source] = entry.target;
      targets[entry.target] = entry.source;
      pairs.emplace_back(entry.source, entry.target);
    }
}

/// The Hungarian method with potentials, on a square table in which what has no
/// score is worth nothing.
static void assignExactly(const std::vector<AssignmentScore> &scores,
                          size_t size, Pairs &pairs) {
  llvm::DenseMap<unsigned, unsigned> rowOf, columnOf;
  std::vector<unsigned> rows, columns;
  std::vector<std::vector<long>> cost(size + 1, std::vector<long>(size + 1));
  for (const AssignmentScore &entry : scores) {
    auto [row, newRow] = rowOf.try_emplace(entry.source, rows.size() + 1);
    if (newRow)
      rows.push_back(entry.source);
    auto [column, newColumn] =
        columnOf.try_emplace(entry.target, columns.size() + 1);
    if (newColumn)
      columns.push_back(entry.target);
    cost[row->second][column->second] = -static_cast<long>(entry.score);
  }

  constexpr long kInfinity = std::numeric_limits<long>::max() / 4;
  std::vector<long> rowPotential(size + 1), columnPotential(size + 1);
  std::vector<size_t> rowAt(size + 1), previous(size + 1);
  for (size_t row = 1; row <= size; ++row) {
    rowAt[0] = row;
    size_t column = 0;
    std::vector<long> slack(size + 1, kInfinity);
    std::vector<bool> visited(size + 1);
    do {
      visited[column] = true;
      size_t current = rowAt[column], next = 0;
      long delta = kInfinity;
      for (size_t j = 1; j <= size; ++j) {
        if (visited[j])
          continue;
        long reduced =
            cost[current][j] - rowPotential[current] - columnPotential[j];
        if (reduced < slack[j]) {
          slack[j] = reduced;
          previous[j] = column;
        }
        if (slack[j] < delta) {
          delta = slack[j];
          next = j;
        }
      }
      for (size_t j = 0; j <= size; ++j) {
        if (visited[j]) {
          rowPotential[rowAt[j]] += delta;
          columnPotential[j] -= delta;
        } else {
          slack[j] -= delta;
        }
      }
      column = next;
    } while (rowAt[column] != 0);
    for (; column != 0; column = previous[column])
      rowAt[column] = rowAt[previous[column]];
  }
  for (size_t column = 1; column <= columns.size(); ++column)
    if (rowAt[column] <= rows.size() && cost[rowAt[column]][column] < 0)
      pairs.emplace_back(rows[rowAt[column] - 1], columns[column - 1]);
}

Pairs corten::assign(std::vector<AssignmentScore> scores) {
  scores = summed(std::move(scores));
  // Nodes compete only with those that they share a candidate with. Sources
  // have even numbers there, targets odd ones.
  llvm::EquivalenceClasses<unsigned> components;
  for (const AssignmentScore &entry : scores)
    components.unionSets(2 * entry.source, 2 * entry.target + 1);
  llvm::DenseMap<unsigned, size_t> numberOf;
  std::vector<std::vector<AssignmentScore>> groups;
  for (const AssignmentScore &entry : scores) {
    auto [number, isNew] = numberOf.try_emplace(
        components.getLeaderValue(2 * entry.source), groups.size());
    if (isNew)
      groups.emplace_back();
    groups[number->second].push_back(entry);
  }

  Pairs pairs;
  for (std::vector<AssignmentScore> &group : groups) {
    std::vector<unsigned> targets;
    size_t numSources = 0;
    for (size_t i = 0; i < group.size(); ++i) {
      numSources += i == 0 || group[i].source != group[i - 1].source;
      targets.push_back(group[i].target);
    }
    llvm::sort(targets);
    size_t numTargets = std::distance(targets.begin(), llvm::unique(targets));
    size_t size = std::max(numSources, numTargets);
    if (size <= kMaxExact)
      assignExactly(group, size, pairs);
    else
      assignGreedily(std::move(group), pairs);
  }
  llvm::sort(pairs);
  return pairs;
}
