// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Against what the definitions say, with a sort of everything and sums in
// double.

#include "corten/Sampling/Sampler.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using namespace corten::sampling;
using corten::runtime::BFloat16;
using corten::runtime::Float16;
using corten::runtime::kElementType;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
/// Around the size of a block, and that of a real vocabulary.
static constexpr size_t kSizes[] = {1, 5, 127, 128, 129, 5000, 151936};

static std::vector<float> normalRow(size_t size, float deviation = 3) {
  // NOLINTNEXTLINE(bugprone-random-generator-seed): the same every time
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> row(size);
  std::ranges::generate(row, [&] { return normal(random); });
  return row;
}

template <typename T> static Logits logitsOf(const std::vector<T> &row) {
  return {row.data(), row.size(), kElementType<T>};
}

/// The tokens, the most probable first; of equal ones the first.
static std::vector<int64_t> inOrder(const std::vector<float> &row) {
  std::vector<int64_t> tokens(row.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  std::ranges::sort(tokens, [&](int64_t a, int64_t b) {
    float first = row[size_t(a)], second = row[size_t(b)];
    return first != second ? first > second : a < b;
  });
  return tokens;
}

static double sumOf(const std::vector<double> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// The probability of each token.
static std::vector<double> probabilities(const std::vector<float> &row,
                                         const Options &options) {
  std::vector<int64_t> order = inOrder(row);
  std::vector<double> weights(row.size());
  size_t numLeft =
      options.topK ? std::min(options.topK, row.size()) : row.size();
  float peak = row[size_t(order.front())];
  for (size_t i = 0; i != numLeft; ++i)
    weights[size_t(order[i])] = std::exp(
        (double(row[size_t(order[i])]) - double(peak)) / options.temperature);
  double wanted = options.topP * sumOf(weights);
  double before = 0;
  for (int64_t token : order) {
    double &weight = weights[size_t(token)];
    double own = weight;
    if (before >= wanted || own < options.minP)
      weight = 0;
    before += own;
  }
  double total = sumOf(weights);
  for (double &weight : weights)
    weight /= total;
  return weights;
}

/// Draws follow the running sum of probabilities over tokens in their order.
static void expectDraws(const std::vector<float> &row, const Options &options) {
  std::vector<double> wanted = probabilities(row, options);
  std::vector<double> ends(wanted.size());
  std::partial_sum(wanted.begin(), wanted.end(), ends.begin());
  // How far sums of floats are from those of doubles, at most.
  constexpr double kRounding = 1e-4;
  TokenSampler sampler(options);
  for (int i = 0; i != 41; ++i) {
    double number = 0.0005 + 0.999 * i / 40;
    auto token = size_t(sampler.choose(logitsOf(row), number));
    ASSERT_LT(token, row.size());
    EXPECT_LE(ends[token] - wanted[token] - kRounding, number);
    EXPECT_GE(ends[token] + kRounding, number);
  }
}

TEST(SamplerTest, TheMostProbableOneIsTheFirstOfEqualOnes) {
  for (size_t size : kSizes) {
    std::vector<float> row = normalRow(size);
    for (size_t i = size / 2; i < size; i += 7)
      row[i] = 20;
    TokenSampler sampler({.temperature = 0});
    EXPECT_EQ(sampler.choose(logitsOf(row), 0), int64_t(size / 2));
  }
}

TEST(SamplerTest, DrawsFollowTheRunningSum) {
  for (size_t size : kSizes) {
    std::vector<float> row = normalRow(size);
    for (size_t i = 1; i < size; i += 3)
      row[i] = -kInfinity;
    expectDraws(row, {});
    expectDraws(row, {.temperature = 0.3});
  }
}

TEST(SamplerTest, OnlyThoseAreDrawnThatAreProbableEnough) {
  for (size_t size : kSizes)
    for (double minP : {0.2, 1e-6})
      expectDraws(normalRow(size, 1), {.minP = minP});
}

// Few of a row with large differences matter, nearly all of a flat one: these
// take different ways.
TEST(SamplerTest, TheNucleusIsTheSmallest) {
  for (float deviation : {0.0f, 0.1f, 3.0f})
    for (size_t size : {size_t{40}, size_t{5000}, size_t{50000}})
      for (double topP : {1e-9, 0.1, 0.5, 0.9, 0.999})
        for (double minP : {0.0, 0.5}) {
          SCOPED_TRACE(testing::Message()
                       << deviation << " " << size << " " << topP);
          expectDraws(normalRow(size, deviation), {.topP = topP, .minP = minP});
        }
}

// Few are sorted, many are found by passes.
TEST(SamplerTest, OfTheLargestEachIsPossibleAndNoOther) {
  for (float deviation : {0.0f, 0.5f, 30.0f})
    for (size_t size : kSizes)
      for (const Options &options :
           {Options{.topK = 1}, Options{.topK = 7}, Options{.topK = 128},
            Options{.topK = 129}, Options{.topK = 4999},
            Options{.topK = 20000, .topP = 0.9},
            Options{.topK = 75000, .topP = 0.3, .minP = 0.5},
            Options{.topK = 1000000}, Options{.topK = 30, .topP = 0.6},
            Options{.topK = 100, .topP = 0.9, .minP = 0.4}}) {
        SCOPED_TRACE(testing::Message()
                     << deviation << " " << size << " " << options.topK);
        expectDraws(normalRow(size, deviation), options);
      }
}

// What is looked at first says nothing of these rows.
TEST(SamplerTest, RowsWhoseLargestStandTogether) {
  constexpr size_t kSize = 60000;
  std::vector<float> row(kSize, -2);
  for (size_t i = 0; i != kSize; ++i)
    row[i] -= float(i % 97) * 0.01f;
  for (size_t i = 20001; i != 20200; ++i)
    row[i] = 3 + float(i % 13) * 0.01f;
  for (const Options &options :
       {Options{.topP = 0.2}, Options{.topP = 0.9}, Options{.topK = 150},
        Options{.topK = 300}, Options{.topK = 40000, .topP = 0.5},
        Options{.minP = 1e-3}, Options{.minP = 0.9}}) {
    SCOPED_TRACE(testing::Message() << options.topK << " " << options.topP);
    expectDraws(row, options);
  }
}

TEST(SamplerTest, PenaltiesAndBias) {
  std::vector<float> row = {4.0f, 3.9f, -1.0f, 3.0f};
  auto choose = [&](Options options, const std::vector<int64_t> &prompt,
                    const std::vector<int64_t> &generated) {
    options.temperature = 0;
    TokenSampler sampler(std::move(options));
    for (int64_t token : prompt)
      sampler.note(token, /*isGenerated=*/false);
    for (int64_t token : generated)
      sampler.note(token, /*isGenerated=*/true);
    return sampler.choose(logitsOf(row), 0);
  };
  EXPECT_EQ(choose({}, {0}, {}), 0);
  EXPECT_EQ(choose({.repetitionPenalty = 1.1}, {0}, {}), 1);
  EXPECT_EQ(choose({.repetitionPenalty = 2}, {0}, {1, 2}), 3);
  EXPECT_EQ(choose({.presencePenalty = 0.5}, {0}, {}), 0);
  EXPECT_EQ(choose({.presencePenalty = 0.5}, {}, {0}), 1);
  EXPECT_EQ(choose({.frequencyPenalty = 0.08}, {}, {0, 0, 0, 1}), 1);
  EXPECT_EQ(choose({.bias = {{2, 10.0}, {0, -5.0}}}, {}, {}), 2);
  // Tokens that there are no logits of, and the row as it was.
  EXPECT_EQ(choose({.repetitionPenalty = 2, .bias = {{9, 1.0}}}, {8}, {}), 0);
  EXPECT_EQ(row, (std::vector<float>{4.0f, 3.9f, -1.0f, 3.0f}));
}

template <typename T> static void expectReadAsItIs() {
  std::vector<float> row = normalRow(1000);
  std::vector<T> narrow(row.begin(), row.end());
  std::vector<float> rounded(narrow.begin(), narrow.end());
  for (int64_t token : {0, 7, 999}) {
    TokenLogprobs found = tokenLogprobs(logitsOf(narrow), token, 3);
    TokenLogprobs wanted = tokenLogprobs(logitsOf(rounded), token, 3);
    EXPECT_EQ(found.token, wanted.token);
    EXPECT_EQ(found.top, wanted.top);
  }
  std::vector<T> special = {T(std::numeric_limits<float>::quiet_NaN()),
                            T(0x1p-24f), T(-kInfinity), T(1000.0f),
                            T(kInfinity)};
  TokenSampler sampler({.temperature = 0});
  EXPECT_EQ(sampler.choose(logitsOf(special), 0), 4);
  special.pop_back();
  EXPECT_EQ(sampler.choose(logitsOf(special), 0), 3);
  special.pop_back();
  EXPECT_EQ(sampler.choose(logitsOf(special), 0), 1);
}

TEST(SamplerTest, HalfPrecisionIsExact) {
  expectReadAsItIs<Float16>();
  expectReadAsItIs<BFloat16>();
}

TEST(SamplerTest, Logprobs) {
  for (size_t size : kSizes) {
    std::vector<float> row = normalRow(size);
    std::vector<int64_t> order = inOrder(row);
    auto peak = double(row[size_t(order.front())]);
    double sum = 0;
    for (float logit : row)
      sum += std::exp(double(logit) - peak);
    auto wanted = [&](int64_t token) {
      return double(row[size_t(token)]) - peak - std::log(sum);
    };
    for (size_t count : {size_t{0}, size_t{3}, size_t{1000}}) {
      TokenLogprobs found =
          tokenLogprobs(logitsOf(row), int64_t(size / 2), count);
      EXPECT_NEAR(found.token, wanted(int64_t(size / 2)), 1e-5);
      ASSERT_EQ(found.top.size(), std::min(count, size));
      for (size_t i = 0; i != found.top.size(); ++i) {
        EXPECT_EQ(found.top[i].first, order[i]);
        EXPECT_NEAR(found.top[i].second, wanted(order[i]), 1e-5);
      }
    }
  }
}

/// Of the logits as the model gave them, whatever was chosen from.
template <typename T> static void expectDescribed(const Options &options) {
  for (size_t size : kSizes) {
    std::vector<float> row = normalRow(size, 0.5f);
    std::vector<T> logits(row.begin(), row.end());
    TokenSampler sampler(options), alone(options);
    for (TokenSampler *each : {&sampler, &alone}) {
      each->note(0, /*isGenerated=*/true);
      each->note(int64_t(size) - 1, /*isGenerated=*/false);
    }
    for (double number : {0.1, 0.9}) {
      auto [token, found] =
          sampler.chooseAndDescribe(logitsOf(logits), number, 20);
      EXPECT_EQ(token, alone.choose(logitsOf(logits), number));
      TokenLogprobs wanted = tokenLogprobs(logitsOf(logits), token, 20);
      EXPECT_EQ(found.token, wanted.token);
      EXPECT_EQ(found.top, wanted.top);
    }
  }
}

TEST(SamplerTest, ChoicesWithLogprobs) {
  std::map<int64_t, double> bias = {{0, 2.0}, {3, -1.0}, {70000, 9.0}};
  for (const Options &options :
       {Options{.temperature = 0}, Options{}, Options{.topK = 40},
        Options{.topP = 0.9}, Options{.temperature = 0.7, .topP = 0.9},
        Options{.temperature = 0.7, .minP = 0.1},
        Options{.repetitionPenalty = 1.5, .presencePenalty = 1, .bias = bias},
        Options{.topP = 0.9, .bias = bias},
        Options{.temperature = 0, .bias = bias}}) {
    expectDescribed<float>(options);
    expectDescribed<Float16>(options);
    expectDescribed<BFloat16>(options);
  }
}
