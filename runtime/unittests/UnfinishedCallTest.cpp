// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that fail, are cancelled or abandoned: states are as they were, and the
// model can be used on.

#include "Plans.h"
#include "SamplePlans.h"

#include <thread>

using namespace corten::runtime;

/// Two states that x is added to: one where it lies, before anything else, and
/// one by a copy, after all. y is what of x is not 0.
static PlanBuilder twoStates() {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t n = main.fixed(3);
  int32_t one = main.fixed(1);
  int32_t x = main.input({n});
  int32_t early = main.input({n});
  int32_t late = main.input({n});
  main.kernel("Add", {early, x}, {early});
  int32_t found = main.arena({n, one}, ElementType::SI32);
  main.kernel("NonZero", {x}, {found});
  int32_t k = main.symbol("k", plan::SymbolSource::Extent, found, 0, 1);
  int32_t sum = main.arena({n});
  main.kernel("Add", {late, x}, {sum});
  main.kernel("GatherNd", {x, main.view(found, {k, one})}, {main.output({k})});
  main.kernel("Copy", {sum}, {late});
  plan.function("main", main, {"x"}, {"early", "late"});
  return plan;
}
static constexpr int kSteps = 5;

namespace {
/// A call of such a plan, with states of its own.
struct Unfinished : testing::Test {
  void load(const PlanBuilder &plan, LoadOptions options = {}) {
    model = loaded(plan, std::move(options));
    ASSERT_TRUE(model);
    call.emplace(model, model->functions()[0]);
    ASSERT_FALSE(call->setInput(0, x.tensor));
    for (const Parameter &state : model->functions()[0].states()) {
      states.push_back(std::move(*model->createState(state)));
      ASSERT_FALSE(call->setState(state.name, states.back()));
    }
  }
  void expectStates(double first, double second, double third) const {
    for (const State &state : states)
      EXPECT_NUMBERS(numbersOf(state.tensor()), first, second, third);
  }
  /// The call is run as often as it was not.
  void expectUsable() {
    EXPECT_OK(call->run());
    EXPECT_FALSE(call->wasCancelled());
    expectStates(4, 0, 5);
    EXPECT_NUMBERS(numbersOf(call->output(0).tensor()), 4, 5);
  }

  Owned<float> x{{3}, {4, 0, 5}};
  std::shared_ptr<Model> model;
  std::vector<State> states;
  std::optional<Call> call;
};
} // namespace

TEST_F(Unfinished, WhenAResultDoesNotFit) {
  load(twoStates());
  Owned<float> y({3}, {0, 0, 0});
  EXPECT_OK(call->setOutput(0, y.tensor));
  EXPECT_FAULT(
      call->run(),
      "output 'y0' is f32[2], and the memory that was given is f32[3]");
  expectStates(0, 0, 0);
  Owned<float> right({2}, {0, 0});
  EXPECT_OK(call->setOutput(0, right.tensor));
  expectUsable();
}

TEST_F(Unfinished, WhenThereIsNoMemoryForAResult) {
  // It lies in the arena, so that it is copied.
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t n = main.fixed(3);
  int32_t many = main.fixed(1 << 16);
  int32_t x = main.input({n});
  int32_t state = main.input({n});
  int32_t y = main.arena({many});
  int32_t sum = main.arena({n});
  main.kernel("Fill", {main.view(x, {})}, {y});
  main.kernel("Add", {x, state}, {sum});
  main.kernel("Copy", {sum}, {state});
  main.block().outputs = {y};
  plan.function("main", main, {"x"}, {"s"});
  LoadOptions options;
  options.arenaLimit = (4 << 16) + 4096;
  load(plan, options);
  EXPECT_OK(call->run());
  expectStates(4, 0, 5);
  Array kept = call->output(0);
  EXPECT_FAULT(call->run(), "there is no memory for 262144 bytes");
  expectStates(4, 0, 5);
}

TEST_F(Unfinished, WhenThereAreTooManySteps) {
  for (uint64_t limit = 0; limit != kSteps; ++limit) {
    LoadOptions options;
    options.stepLimit = limit;
    states.clear();
    load(twoStates(), options);
    EXPECT_FAULT(call->run(), "more steps than the limit");
    expectStates(0, 0, 0);
  }
}

TEST_F(Unfinished, WhenASizeIsReadFromAStateAndWrong) {
  // After the copy, which is the last step, a stage begins.
  PlanBuilder plan;
  int32_t zeros = plan.constant({0.0f, 0.0f, 0.0f, 0.0f});
  BlockBuilder main = plan.block();
  int32_t one = main.fixed(1);
  int32_t count = main.input({one}, ElementType::SI32);
  int32_t state = main.input({one}, ElementType::SI32);
  main.kernel("Copy", {count}, {state});
  int32_t k = main.symbol("k", plan::SymbolSource::Element, state, 0, 0, 0, 4);
  main.block().outputs = {main.constant(zeros, {k})};
  plan.function("main", main, {"count"}, {"s"});
  model = loaded(plan);
  ASSERT_TRUE(model);
  State last = std::move(*model->createState("s"));
  Call call(model, model->functions()[0]);
  Owned<int32_t> given({1}, {3});
  EXPECT_OK(call.setInput(0, given.tensor));
  EXPECT_OK(call.setState("s", last));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf<int32_t>(last.tensor()), 3);
  *given.tensor.as<int32_t>() = 5;
  EXPECT_FAULT(call.run(), "'k' is 5, and has to be from 0 to 4");
  EXPECT_NUMBERS(numbersOf<int32_t>(last.tensor()), 3);
}

TEST_F(Unfinished, WhenABlockHasWritten) {
  PlanBuilder plan;
  BlockBuilder doubles = plan.block();
  int32_t twice = doubles.input({doubles.fixed(3)});
  doubles.kernel("Add", {twice, twice}, {twice});
  BlockBuilder main = plan.block();
  int32_t n = main.fixed(3);
  int32_t given = main.input({n});
  int32_t state = main.input({n});
  int32_t zero = main.arena({});
  int32_t isSet = main.arena({}, ElementType::Bool);
  main.kernel("Add", {state, given}, {state});
  main.control(plan::StepKind::Call, {doubles.index}, {state}, {});
  main.kernel("Sub", {main.view(given, {}), main.view(given, {})}, {zero});
  main.kernel("Greater", {main.view(given, {}), zero}, {isSet});
  main.step(plan::StepKind::Assert, {isSet}, {}).message = "x must be positive";
  plan.function("main", main, {"x"}, {"s"});
  load(plan);
  EXPECT_OK(call->run());
  expectStates(8, 0, 10);
  *x.tensor.as<float>() = -1;
  EXPECT_FAULT(call->run(), "x must be positive");
  expectStates(8, 0, 10);
}

TEST_F(Unfinished, WhenItIsCancelled) {
  for (int last = 1; last != kSteps; ++last) {
    states.clear();
    load(twoStates());
    int seen = 0;
    call->setObserver([&](const StepEvent &) {
      if (++seen == last)
        call->cancel();
    });
    EXPECT_FAULT(call->run(), "the call was cancelled");
    EXPECT_TRUE(call->wasCancelled());
    EXPECT_FALSE(call->wasRefused());
    EXPECT_EQ(seen, last);
    expectStates(0, 0, 0);
    expectUsable();
  }
}

TEST_F(Unfinished, NotWhenItIsCancelledTooLate) {
  // States are being written.
  load(twoStates());
  int seen = 0;
  call->setObserver([&](const StepEvent &) {
    if (++seen == kSteps)
      call->cancel();
  });
  expectUsable();
  EXPECT_OK(call->run());
}

TEST_F(Unfinished, WhenItIsCancelledBeforeItBegins) {
  load(twoStates());
  call->cancel();
  EXPECT_FAULT(call->run(), "the call was cancelled");
  expectStates(0, 0, 0);
  call->cancel();
  call->reset();
  EXPECT_OK(call->setInput(0, x.tensor));
  for (State &state : states)
    EXPECT_OK(call->setState(state.name(), state));
  expectUsable();
}

TEST(Cancel, EndsLoops) {
  PlanBuilder plan = controlFlow();
  // What is compared does not change.
  plan.plan.blocks[1]->outputs[0] = plan.plan.blocks[1]->inputs[0];
  std::shared_ptr<Model> model = loaded(plan);
  ASSERT_TRUE(model);
  Call call(model, model->functions()[0]);
  Owned<bool> flag({}, {true});
  Owned<float> x({2}, {1, 2});
  Owned<float> count({}, {1});
  EXPECT_OK(call.setInput(0, flag.tensor));
  EXPECT_OK(call.setInput(1, x.tensor));
  EXPECT_OK(call.setInput(2, count.tensor));
  std::atomic<bool> isRunning = false;
  call.setObserver([&](const StepEvent &event) {
    if (event.depth > 1)
      isRunning = true;
  });
  std::thread other([&] {
    while (!isRunning)
      std::this_thread::yield();
    call.cancel();
  });
  Error error = call.run();
  other.join();
  ASSERT_TRUE(error);
  EXPECT_EQ(error.message(), "the call was cancelled");
  *count.tensor.as<float>() = 0;
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 1, 2);
}

TEST_F(Unfinished, WhenItIsAbandoned) {
  load(twoStates());
  Call other(model, model->functions()[0]);
  EXPECT_OK(other.setInput(0, x.tensor));
  for (State &state : states)
    EXPECT_OK(other.setState(state.name(), state));
  EXPECT_OK(call->begin());
  EXPECT_FAULT(other.run(), "is in use by another call");
  call->abandon();
  expectStates(0, 0, 0);
  EXPECT_OK(call->begin());
  EXPECT_OK(call->finish());
  expectStates(4, 0, 5);
  // Also by whoever lets go of it.
  EXPECT_OK(call->begin());
  call.reset();
  expectStates(4, 0, 5);
  EXPECT_OK(other.run());
}
