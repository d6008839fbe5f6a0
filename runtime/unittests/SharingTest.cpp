// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forks of states, which share memory until they write to it.

#include "Plans.h"

#include "../lib/Core/Sanitizers.h"

#include <fstream>
#include <numeric>
#include <sys/resource.h>
#include <thread>

using namespace corten::runtime;

/// How many elements a call adds to: eight pages.
static constexpr int64_t kWidth = 8192;
/// 16 MiB.
static constexpr int64_t kElements = int64_t(4) << 20;
static constexpr double kMiB = 1 << 20;

/// s[0, 0, :kWidth] += x
static PlanBuilder addsToAPart() {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t width = main.fixed(kWidth);
  int32_t x = main.input({width});
  int32_t state =
      main.input({main.extentOf(1, 0, "layers"), main.extentOf(1, 1, "rows"),
                  main.extentOf(1, 2, "n", kWidth)});
  int32_t part = main.view(state, {width});
  main.kernel("Add", {part, x}, {part});
  plan.function("main", main, {"x"}, {"s"});
  return plan;
}

static State created(const Model &model, std::vector<int64_t> shape) {
  auto state = model.createState("s", shape);
  EXPECT_TRUE(state);
  return std::move(*state);
}

static std::span<const float> elements(const State &state) {
  return {state.tensor().as<float>(), size_t(state.tensor().size())};
}

/// As no other page has them.
static void fill(State &state, float first = 1) {
  std::vector<float> values(size_t(state.tensor().size()));
  std::iota(values.begin(), values.end(), first);
  EXPECT_OK(state.write(
      Tensor(ElementType::F32, values.data(), state.tensor().shape())));
}

/// A state of 16 MiB, without zeros.
static State filled(const Model &model) {
  State state = created(model, {1, 1, kElements});
  fill(state);
  return state;
}

static State forked(const State &state) {
  auto fork = state.copy();
  EXPECT_TRUE(fork);
  return std::move(*fork);
}

/// Adds to the part that calls write to.
static void add(const std::shared_ptr<Model> &model, State &state, float by) {
  Call call(model, model->functions()[0]);
  std::vector<float> x(size_t(kWidth), by);
  int64_t shape[] = {kWidth};
  EXPECT_OK(call.setInput(0, Tensor(ElementType::F32, x.data(), shape)));
  EXPECT_OK(call.setState("s", state));
  EXPECT_OK(call.run());
}

/// Whether a state is what `filled` gave, with `by` added to the part.
static bool isFilled(const State &state, float by = 0) {
  std::span<const float> all = elements(state);
  for (size_t i = 0; i != all.size(); ++i)
    if (all[i] != float(i + 1) + (i < size_t(kWidth) ? by : 0))
      return false;
  return true;
}

/// The memory of the process in MiB; what is mapped several times counts once.
static double memory() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::string word;
  while (file >> word)
    if (word == "Pss:" && file >> word)
      return std::stod(word) / 1024;
  return -1;
}

/// Shadows of memory grow with what is read.
static bool canMeasure() { return !kHasThreadSanitizer && memory() >= 0; }

TEST(Sharing, ForksTakeNoMemory) {
  if (!canMeasure())
    GTEST_SKIP() << "nothing says how much memory it is";
  std::shared_ptr<Model> model = loaded(addsToAPart());
  State state = filled(*model);
  double before = memory();
  std::vector<State> forks;
  for (int i = 0; i != 8; ++i)
    forks.push_back(forked(state));
  forks.push_back(forked(forks.back()));
  for (const State &fork : forks)
    EXPECT_TRUE(isFilled(fork));
  EXPECT_TRUE(isFilled(state));
  // A copy would be 16. Tables of pages are not in the sum.
  EXPECT_LT(memory() - before, 2);
  // Each has the part that it writes to for itself.
  before = memory();
  for (State &fork : forks)
    add(model, fork, 1);
  EXPECT_LT(memory() - before, 2);
  EXPECT_TRUE(isFilled(state));
  for (const State &fork : forks)
    EXPECT_TRUE(isFilled(fork, 1));
  // It is there until the last one goes.
  before = memory();
  state = forked(forks[0]);
  forks.erase(forks.begin() + 1, forks.end());
  EXPECT_TRUE(isFilled(forks[0], 1));
  EXPECT_TRUE(isFilled(state, 1));
  EXPECT_LT(memory() - before, 2);
  before = memory();
  state = created(*model, {1, 1, kWidth});
  forks.clear();
  EXPECT_LT(memory() - before, -15);
}

TEST(Sharing, WhatWasNeverWrittenTakesNoMemory) {
  if (!canMeasure())
    GTEST_SKIP() << "nothing says how much memory it is";
  std::shared_ptr<Model> model = loaded(addsToAPart());
  double before = memory();
  State state = created(*model, {1, 1, 16 * kElements});
  add(model, state, 1);
  State fork = forked(state);
  State other = forked(fork);
  std::span<const float> all = elements(other);
  EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0.0), double(kWidth));
  // Of 256, where large pages are 2.
  EXPECT_LT(memory() - before, 8);
}

TEST(Sharing, WritesAreSeenByNobodyElse) {
  std::shared_ptr<Model> model = loaded(addsToAPart());
  State state = filled(*model);
  State fork = forked(state);
  add(model, state, 1);
  EXPECT_TRUE(isFilled(fork));
  add(model, fork, 2);
  EXPECT_TRUE(isFilled(state, 1));
  EXPECT_TRUE(isFilled(fork, 2));
  // Of what was written since, too.
  State second = forked(state);
  State third = forked(fork);
  add(model, state, 4);
  add(model, third, 8);
  EXPECT_TRUE(isFilled(state, 5));
  EXPECT_TRUE(isFilled(second, 1));
  EXPECT_TRUE(isFilled(fork, 2));
  EXPECT_TRUE(isFilled(third, 10));
  // All of it at once, and back.
  fill(second, 7);
  State fourth = forked(second);
  fill(second);
  EXPECT_TRUE(isFilled(second));
  EXPECT_EQ(elements(fourth)[0], 7);
  EXPECT_EQ(elements(fourth)[kElements - 1], 6 + kElements);
  state.reset();
  EXPECT_EQ(elements(state)[0], 0);
  EXPECT_EQ(elements(state)[kElements - 1], 0);
  add(model, state, 3);
  EXPECT_EQ(elements(state)[kWidth - 1], 3);
  State fifth = forked(state);
  EXPECT_EQ(elements(fifth)[kWidth - 1], 3);
  EXPECT_EQ(elements(fifth)[kWidth], 0);
  EXPECT_TRUE(isFilled(third, 10));
}

TEST(Sharing, ForkAfterForkAsInABeamSearch) {
  std::shared_ptr<Model> model = loaded(addsToAPart());
  // So small that what calls write is much of it, and ends within a page.
  constexpr int64_t kSmall = (int64_t(1) << 19) + 1234;
  State state = created(*model, {1, 1, kSmall});
  fill(state);
  std::vector<State> line;
  line.push_back(std::move(state));
  for (int i = 0; i != 20; ++i) {
    line.push_back(forked(line.back()));
    add(model, line.back(), 1);
  }
  for (size_t i = 0; i != line.size(); ++i)
    EXPECT_TRUE(isFilled(line[i], float(i))) << i;
}

TEST(Sharing, RowsAreTakenOver) {
  std::shared_ptr<Model> model = loaded(addsToAPart());
  constexpr int64_t kLength = int64_t(1) << 20;
  State state = created(*model, {2, 1, kLength});
  fill(state);
  State fork = forked(state);
  add(model, fork, 1);
  // What nobody has read does not count as mapped.
  EXPECT_TRUE(isFilled(state));
  EXPECT_TRUE(isFilled(fork, 1));
  double before = memory();
  State rows = created(*model, {2, 3, 2 * kLength});
  EXPECT_OK(rows.adopt(state, State::Row{1, 0, 2}));
  EXPECT_OK(rows.adopt(fork, State::Row{1, 0, 0}));
  auto at = [&](int64_t layer, int64_t row, int64_t i) {
    return elements(rows)[size_t(((layer * 3) + row) * 2 * kLength + i)];
  };
  for (int64_t layer : {0, 1})
    for (int64_t i = 0; i != kLength; ++i) {
      auto value = float(layer * kLength + i + 1);
      float added = layer == 0 && i < kWidth ? 1 : 0;
      ASSERT_EQ(at(layer, 2, i), value) << i;
      ASSERT_EQ(at(layer, 0, i), value + added) << i;
      ASSERT_EQ(at(layer, 1, i), 0);
      ASSERT_EQ(at(layer, 2, kLength + i), 0);
    }
  if (canMeasure()) {
    EXPECT_LT(memory() - before, 4) << "of 16";
  }
  // And out again; what was written there since comes with it.
  add(model, rows, 2);
  State one = created(*model, {2, 1, 2 * kLength});
  EXPECT_OK(one.adopt(rows, State::Row{1, 0, 0}));
  EXPECT_EQ(elements(one)[0], 4);
  EXPECT_EQ(elements(one)[kWidth], float(kWidth + 1));
  EXPECT_EQ(elements(one)[2 * kLength], float(kLength + 1));
  EXPECT_TRUE(isFilled(state));
  EXPECT_TRUE(isFilled(fork, 1));
}

TEST(Sharing, RowsThatDoNotFit) {
  std::shared_ptr<Model> model = loaded(addsToAPart());
  State state = created(*model, {1, 2, kWidth});
  State large = created(*model, {1, 2, kWidth + 1});
  EXPECT_FAULT(state.adopt(large), "has no room for that of f32[1, 2, 8193]");
  EXPECT_FAULT(large.adopt(state, State::Row{1, 2, 0}), "has no room");
  EXPECT_FAULT(large.adopt(state, State::Row{1, 0, -1}), "has no room");
  EXPECT_FAULT(large.adopt(state, State::Row{3, 0, 0}), "has no room");
  EXPECT_FAULT(state.adopt(state), "cannot take over itself");
  // Small ones that do are copied, what does not begin where pages do as well.
  fill(state);
  EXPECT_OK(large.adopt(state, State::Row{1, 1, 0}));
  EXPECT_EQ(elements(large)[0], kWidth + 1);
  EXPECT_EQ(elements(large)[kWidth - 1], 2 * kWidth);
  EXPECT_EQ(elements(large)[kWidth], 0);
  State odd = created(*model, {1, 2, kElements + 3});
  fill(odd);
  State fork = forked(odd);
  State to = created(*model, {1, 1, kElements + 5});
  EXPECT_OK(to.adopt(fork, State::Row{1, 1, 0}));
  for (int64_t i = 0; i != kElements + 5; ++i)
    ASSERT_EQ(elements(to)[size_t(i)],
              i < kElements + 3 ? elements(odd)[size_t(kElements + 3 + i)] : 0);
}

TEST(Sharing, ThreadsForkAtOnce) {
  std::shared_ptr<Model> model = loaded(addsToAPart());
  State state = created(*model, {1, 1, int64_t(1) << 20});
  fill(state);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t != 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i != 5; ++i) {
        State fork = forked(state);
        add(model, fork, float(t + 1));
        State second = forked(fork);
        add(model, fork, 1);
        wrong += !isFilled(second, float(t + 1));
        wrong += !isFilled(fork, float(t + 2));
        // Of what others are forking.
        wrong += !isFilled(state);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

/// As long as it lives, a limit of the process is another one.
class Limited {
public:
  Limited(decltype(RLIMIT_NOFILE) what, rlim_t most) : what(what) {
    EXPECT_EQ(getrlimit(what, &before), 0);
    rlimit limit = {most, before.rlim_max};
    EXPECT_EQ(setrlimit(what, &limit), 0);
  }
  ~Limited() { EXPECT_EQ(setrlimit(what, &before), 0); }

private:
  decltype(RLIMIT_NOFILE) what;
  rlimit before = {};
};

TEST(Sharing, WithoutFiles) {
  std::shared_ptr<Model> model = loaded(addsToAPart());
  for (auto [what, most] : {std::pair(RLIMIT_NOFILE, rlim_t(3)),
                            {RLIMIT_NOFILE, 8},
                            {RLIMIT_FSIZE, 1 << 20}}) {
    State state = filled(*model);
    {
      Limited limited(what, most);
      // With 8, some could be made, and none opened.
      State fork = forked(state);
      add(model, state, 1);
      EXPECT_TRUE(isFilled(fork));
      State second = forked(fork);
      add(model, second, 2);
      EXPECT_TRUE(isFilled(fork));
      EXPECT_TRUE(isFilled(second, 2));
    }
    State third = forked(state);
    add(model, third, 1);
    EXPECT_TRUE(isFilled(state, 1));
    EXPECT_TRUE(isFilled(third, 2));
  }
}

TEST(Sharing, ThereAreFilesLeftForOthers) {
  std::shared_ptr<Model> model = loaded(addsToAPart());
  Limited limited(RLIMIT_NOFILE, 64);
  std::vector<State> states;
  for (int i = 0; i != 40; ++i) {
    State state = created(*model, {1, 1, int64_t(1) << 19});
    fill(state);
    states.push_back(forked(state));
    states.push_back(std::move(state));
  }
  for (const State &state : states)
    EXPECT_TRUE(isFilled(state));
  EXPECT_TRUE(std::ifstream("/proc/self/status").is_open());
}

TEST(Sharing, WithinTheLimitOfMemory) {
  LoadOptions options;
  options.arenaLimit = size_t(40 * kMiB);
  std::shared_ptr<Model> model = loaded(addsToAPart(), options);
  for (int i = 0; i != 3; ++i) {
    State state = filled(*model);
    // There is no room for an image, and so it is copied.
    State fork = forked(state);
    auto third = state.copy();
    ASSERT_FALSE(third);
    EXPECT_MENTIONS(
        third.takeError().message(),
        "bytes of the state 's'; the memory limit is 41943040 bytes");
    add(model, fork, 1);
    EXPECT_TRUE(isFilled(state));
    EXPECT_TRUE(isFilled(fork, 1));
  }
  options.arenaLimit = size_t(50 * kMiB);
  model = loaded(addsToAPart(), options);
  for (int i = 0; i != 3; ++i) {
    State state = filled(*model);
    // With the image, those are 48, and all of it comes back.
    State fork = forked(state);
    add(model, fork, 1);
    EXPECT_FALSE(fork.copy());
    EXPECT_TRUE(isFilled(state));
  }
}
