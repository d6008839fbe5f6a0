// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

using namespace corten;

using Table = std::map<std::pair<unsigned, unsigned>, unsigned>;

static std::vector<AssignmentScore> scoresOf(const Table &table) {
  std::vector<AssignmentScore> scores;
  for (const auto &[pair, score] : table)
    scores.push_back({pair.first, pair.second, score});
  return scores;
}

/// The sum of the scores of `pairs`, each of which must be in the table.
static unsigned worth(const std::vector<std::pair<unsigned, unsigned>> &pairs,
                      const Table &table) {
  std::set<unsigned> sources, targets;
  unsigned sum = 0;
  for (auto pair : pairs) {
    EXPECT_TRUE(sources.insert(pair.first).second);
    EXPECT_TRUE(targets.insert(pair.second).second);
    sum += table.at(pair);
  }
  return sum;
}

TEST(Assignment, IsTheBestOfAll) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    constexpr unsigned kSize = 5;
    Table table;
    for (unsigned i = 0; i < kSize; ++i)
      for (unsigned j = 0; j < kSize; ++j)
        if (random() % 3)
          table[{i, j}] = 1 + random() % 6;
    std::vector<unsigned> order(kSize);
    std::iota(order.begin(), order.end(), 0);
    unsigned best = 0;
    do {
      unsigned sum = 0;
      for (unsigned i = 0; i < kSize; ++i)
        if (auto found = table.find({i, order[i]}); found != table.end())
          sum += found->second;
      best = std::max(best, sum);
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_EQ(worth(assign(scoresOf(table)), table), best);
  }
}

TEST(Assignment, ScoresOfAPairAddUp) {
  // 0 and 0 have most in common, though in small pieces.
  auto pairs = assign({{0, 1, 2}, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}});
  EXPECT_EQ(pairs, (std::vector<std::pair<unsigned, unsigned>>{{0, 0}}));
}

TEST(Assignment, ManyAtOnce) {
  // Too many for the exact solution; each has one that is best for it.
  Table table;
  for (unsigned i = 0; i < 300; ++i) {
    table[{i, i}] = 3;
    table[{i, (i + 1) % 300}] = 1;
  }
  auto pairs = assign(scoresOf(table));
  ASSERT_EQ(pairs.size(), 300U);
  EXPECT_EQ(worth(pairs, table), 900U);
}

TEST(Assignment, Nothing) { EXPECT_TRUE(assign({}).empty()); }
