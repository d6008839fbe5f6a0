// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What models remember, and what functions share.

#include "Plans.h"
#include "SamplePlans.h"

#include <set>

using namespace corten::runtime;

static State created(const Model &model, std::vector<int64_t> shape) {
  auto state = model.createState("s", shape);
  EXPECT_TRUE(state);
  return std::move(*state);
}

TEST(States, AreZeroAndAddUp) {
  std::shared_ptr<Model> model = loaded(straightLine());
  ASSERT_TRUE(model);
  auto state = model->createState("s");
  ASSERT_TRUE(state);
  EXPECT_NUMBERS(numbersOf(state->tensor()), 0, 0, 0);
  Call call(model, model->functions()[0]);
  Owned<float> x({2, 3}, {1, 2, 3, 10, 20, 30});
  EXPECT_OK(call.setInput(0, x.tensor));
  EXPECT_FAULT(call.run(), "needs the state 's', f32[3]");
  EXPECT_OK(call.setState("s", *state));
  EXPECT_OK(call.run());
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(state->tensor()), 22, 44, 66);
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 2, 0, 6, 11, 18, 33);

  auto fork = state->copy();
  ASSERT_TRUE(fork);
  state->reset();
  EXPECT_NUMBERS(numbersOf(state->tensor()), 0, 0, 0);
  EXPECT_OK(call.setState("s", *fork));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(fork->tensor()), 33, 66, 99);
  EXPECT_NUMBERS(numbersOf(state->tensor()), 0, 0, 0);
  // A column of something.
  Owned<float> columns({3, 2}, {1, 0, 2, 0, 3, 0});
  int64_t shape[] = {3};
  int64_t strides[] = {2};
  EXPECT_OK(fork->write(columns.tensor.view(shape, strides)));
  EXPECT_NUMBERS(numbersOf(fork->tensor()), 1, 2, 3);
  EXPECT_FAULT(fork->write(columns.tensor), "cannot become f32[3, 2]");
}

TEST(States, AreSharedByFunctions) {
  std::shared_ptr<Model> model = loaded(preparedConstants());
  ASSERT_TRUE(model);
  State state = created(*model, {1, 2});
  Owned<float> x({1, 2}, {1, 10});
  Call first(model, *model->function("first"));
  Call second(model, *model->function("second"));
  for (Call *call : {&first, &second}) {
    EXPECT_OK(call->setInput("x", x.tensor));
    EXPECT_OK(call->setState("s", state));
  }
  EXPECT_OK(first.run());
  // By the transposed matrix.
  EXPECT_NUMBERS(numbersOf(first.output(0).tensor()), 21, 43);
  EXPECT_OK(first.run());
  EXPECT_NUMBERS(numbersOf(state.tensor()), 42, 86);
  EXPECT_OK(second.run());
  EXPECT_NUMBERS(numbersOf(state.tensor()), 21, 43);
}

TEST(States, Faults) {
  std::shared_ptr<Model> model = loaded(preparedConstants());
  ASSERT_TRUE(model);
  auto why = [&](std::string_view name,
                 std::optional<std::span<const int64_t>> shape) {
    auto state = model->createState(name, shape);
    return state ? "it was made" : state.takeError().message();
  };
  int64_t flat[] = {2};
  int64_t wide[] = {1, 3};
  int64_t huge[] = {int64_t(1) << 62, 2};
  EXPECT_MENTIONS(why("t", flat), "no function has a state 't'");
  EXPECT_MENTIONS(why("s", {}), "'s' is f32[n, 2]: say which shape");
  EXPECT_MENTIONS(why("s", flat), "another number of axes");
  EXPECT_MENTIONS(why("s", wide), "axis 1 cannot be 3");
  EXPECT_MENTIONS(why("s", huge), "cannot have an extent");
  // Its shape has to be that of the other input.
  State state = created(*model, {3, 2});
  Call call(model, *model->function("first"));
  Owned<float> x({1, 2}, {1, 10});
  EXPECT_OK(call.setInput("x", x.tensor));
  EXPECT_OK(call.setState("s", state));
  EXPECT_FAULT(call.run(), "state 's' is f32[3, 2], and has to be f32[1, 2]");
  EXPECT_FAULT(call.setState("t", state), "has no state 't'; it has 's'");
}

TEST(States, ThatDifferBetweenFunctions) {
  PlanBuilder plan = preparedConstants();
  plan.plan.blocks[2]->values[1]->type = uint8_t(ElementType::SI32);
  EXPECT_MENTIONS(faultOf(plan.file()), "the state 's' is");
}

TEST(States, OfSeveralSizes) {
  // As functions that were made for caches of several lengths.
  PlanBuilder plan;
  for (int64_t extent : {2, 3}) {
    BlockBuilder main = plan.block();
    int32_t n = main.fixed(extent);
    int32_t x = main.input({n});
    int32_t state = main.input({n});
    main.kernel("Add", {x, state}, {main.output({n})});
    main.kernel("Add", {state, x}, {state});
    plan.function(extent == 2 ? "small" : "large", main, {"x"}, {"s"});
  }
  std::shared_ptr<Model> model = loaded(plan);
  ASSERT_TRUE(model);
  const Function &large = *model->function("large");
  auto unknown = model->createState("s");
  ASSERT_FALSE(unknown);
  EXPECT_MENTIONS(unknown.takeError().message(),
                  "is f32[2] in one function and f32[3] in another: say which");
  int64_t four[] = {4};
  auto neither = model->createState("s", four);
  ASSERT_FALSE(neither);
  EXPECT_MENTIONS(neither.takeError().message(), "axis 0 cannot be 4");
  State small = created(*model, {2});
  auto state = model->createState(large.states()[0]);
  ASSERT_TRUE(state);
  Call call(model, large);
  Owned<float> x({3}, {1, 2, 3});
  EXPECT_OK(call.setInput(0, x.tensor));
  EXPECT_OK(call.setState("s", small));
  EXPECT_FAULT(call.run(), "state 's' is f32[2], and has to be f32[3]");
  EXPECT_OK(call.setState("s", *state));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(state->tensor()), 1, 2, 3);
}

TEST(States, OneCallAtATime) {
  // The observer is called while the call has the state.
  std::shared_ptr<Model> model = loaded(straightLine());
  State state = std::move(*model->createState("s"));
  Owned<float> x({1, 3}, {1, 2, 3});
  Call inner(model, model->functions()[0]);
  Call outer(model, model->functions()[0]);
  for (Call *call : {&inner, &outer}) {
    EXPECT_OK(call->setInput(0, x.tensor));
    EXPECT_OK(call->setState("s", state));
  }
  int seen = 0;
  outer.setObserver([&](const StepEvent &) {
    ++seen;
    EXPECT_FAULT(inner.run(), "the state 's' is in use by another call");
  });
  EXPECT_OK(outer.run());
  EXPECT_EQ(seen, 4);
  EXPECT_OK(inner.run());
  {
    auto lock = state.lock();
    ASSERT_TRUE(lock);
    EXPECT_FAULT(inner.run(), "the state 's' is in use by another call");
    EXPECT_FAULT(state.lock().takeError(), "the state 's' is in use by a call");
  }
  EXPECT_OK(inner.run());
}

TEST(Observer, SeesEveryStep) {
  std::shared_ptr<Model> model = loaded(straightLine());
  State state = std::move(*model->createState("s"));
  Owned<float> x({1, 3}, {1, 2, 3});
  Call call(model, model->functions()[0]);
  EXPECT_OK(call.setInput(0, x.tensor));
  EXPECT_OK(call.setState("s", state));
  std::vector<std::string> steps;
  call.setObserver([&](const StepEvent &event) {
    steps.push_back(std::string(event.step) + " " +
                    event.outputs[0].describe() + " " +
                    std::string(event.location));
    EXPECT_GE(event.nanoseconds, 0);
    EXPECT_EQ(event.depth, 0);
  });
  EXPECT_OK(call.run());
  EXPECT_EQ(steps, (std::vector<std::string>{
                       "Add f32[1, 3] model.py:12", "Tile f32[1, 3] ",
                       "ReduceSum f32[1, 3] ", "Add f32[3] "}));
}

TEST(Observer, SaysWhatAStepIsMadeOf) {
  PlanBuilder plan = straightLine();
  auto origin = std::make_unique<plan::OriginT>();
  origin->module_ = "layers.0";
  origin->operations = {7, 12};
  plan.plan.origins.push_back(std::move(origin));
  plan.plan.blocks[0]->steps[1]->origin = 0;
  std::shared_ptr<Model> model = loaded(plan);
  ASSERT_TRUE(model);
  State state = std::move(*model->createState("s"));
  Owned<float> x({2, 3}, {1, 2, 3, 4, 5, 6});
  Call call(model, model->functions()[0]);
  EXPECT_OK(call.setInput(0, x.tensor));
  EXPECT_OK(call.setState("s", state));
  std::vector<std::string> modules;
  std::vector<double> arithmetic;
  std::vector<int64_t> bytes;
  std::set<const void *> identities;
  call.setObserver([&](const StepEvent &event) {
    modules.emplace_back(event.module);
    arithmetic.push_back(event.arithmetic);
    bytes.push_back(event.bytes());
    identities.insert(event.identity);
    EXPECT_TRUE(event.isKernel);
    EXPECT_EQ(event.operations.size(), event.module.empty() ? 0u : 2u);
  });
  EXPECT_OK(call.run());
  EXPECT_OK(call.run());
  EXPECT_EQ(identities.size(), 4u);
  modules.resize(4);
  arithmetic.resize(4);
  bytes.resize(4);
  EXPECT_EQ(modules, (std::vector<std::string>{"", "layers.0", "", ""}));
  // Two rows of three: added, one instruction each, summed, added again.
  EXPECT_EQ(arithmetic, (std::vector<double>{6, 6, 6, 3}));
  // The row that is added to both counts once.
  EXPECT_EQ(bytes, (std::vector<int64_t>{60, 48, 36, 36}));
}
