// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans are loaded and run: straight lines, sizes, views, memory.

#include "Plans.h"

using namespace corten::runtime;

/// y = relu(x + w) for x of [n, 3]; w is a constant row.
static PlanBuilder addAndRelu() {
  PlanBuilder plan;
  int32_t weight = plan.constant({1.0f, -2.0f, 3.0f});
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(0, 0, "n", 1, 1000);
  int32_t three = main.fixed(3);
  int32_t x = main.input({n, three});
  int32_t w =
      main.value(main.buffer(plan::Storage::Constant, weight), ElementType::F32,
                 {n, three}, {main.fixed(0), main.fixed(1)});
  int32_t sum = main.arena({n, three});
  int32_t y = main.output({n, three});
  main.kernel("Add", {x, w}, {sum}).location = 0;
  main.kernel("Relu", {sum}, {y});
  plan.plan.locations = {"model.py:12"};
  plan.function("main", main, {"x"});
  return plan;
}

TEST(Execution, StraightLine) {
  std::shared_ptr<Model> model = loaded(addAndRelu());
  ASSERT_TRUE(model);
  ASSERT_EQ(model->functions().size(), 1u);
  const Function &function = *model->function("main");
  EXPECT_EQ(function.inputs()[0].describe(), "f32[n, 3]");
  EXPECT_EQ(function.inputs()[0].axes[0].low, 1);
  EXPECT_EQ(function.inputs()[0].axes[0].high, 1000);
  EXPECT_EQ(function.outputs()[0].describe(), "f32[n, 3]");
  Call call(model, function);
  Owned<float> x({2, 3}, {1, 1, 1, -5, 5, -5});
  EXPECT_OK(call.setInput("x", x.tensor));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 2, 0, 4, 0, 3, 0);
  EXPECT_TRUE(call.output(0).ownsMemory());

  // Other sizes, the same call.
  Owned<float> longer({3, 3}, {0, 0, 0, 1, 1, 1, 2, 2, 2});
  EXPECT_OK(call.setInput(0, longer.tensor));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 1, 0, 3, 2, 0, 4, 3, 0, 5);
}

TEST(Execution, ResultsLiveAsLongAsTheyAreHeld) {
  Array kept;
  {
    std::shared_ptr<Model> model = loaded(addAndRelu());
    Call call(model, *model->function("main"));
    Owned<float> x({1, 3}, {1, 1, 1});
    EXPECT_OK(call.setInput(0, x.tensor));
    EXPECT_OK(call.run());
    kept = call.output(0);
    Owned<float> other({1, 3}, {7, 7, 7});
    EXPECT_OK(call.setInput(0, other.tensor));
    EXPECT_OK(call.run());
    EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 8, 5, 10);
  }
  EXPECT_NUMBERS(numbersOf(kept.tensor()), 2, 0, 4);
}

TEST(Execution, InputsHaveAnyStrides) {
  std::shared_ptr<Model> model = loaded(addAndRelu());
  Call call(model, *model->function("main"));
  // Columns of a [3, 2], and rows from the end.
  Owned<float> x({3, 2}, {1, 4, 2, 5, 3, 6});
  int permutation[] = {1, 0};
  EXPECT_OK(call.setInput(0, x.tensor.transposed(permutation)));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 2, 0, 6, 5, 3, 9);
  Owned<float> rows({2, 3}, {1, 2, 3, 4, 5, 6});
  int64_t shape[] = {2, 3};
  int64_t strides[] = {-3, 1};
  EXPECT_OK(call.setInput(0, rows.tensor.view(shape, strides, 3)));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 5, 3, 9, 2, 0, 6);
}

TEST(Execution, InputsNeedNotBeAligned) {
  std::shared_ptr<Model> model = loaded(addAndRelu());
  Call call(model, *model->function("main"));
  std::vector<char> bytes(64);
  float numbers[] = {1, 2, 3};
  std::memcpy(bytes.data() + 1, numbers, sizeof numbers);
  int64_t shape[] = {1, 3};
  EXPECT_OK(
      call.setInput(0, Tensor(ElementType::F32, bytes.data() + 1, shape)));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 2, 0, 6);
}

TEST(Execution, OutputsMayBeMemoryOfTheCaller) {
  std::shared_ptr<Model> model = loaded(addAndRelu());
  Call call(model, *model->function("main"));
  Owned<float> x({2, 3}, {1, 1, 1, 2, 2, 2});
  Owned<float> y({2, 3});
  EXPECT_OK(call.setInput(0, x.tensor));
  EXPECT_OK(call.setOutput("y0", y.tensor));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(y.numbers(), 2, 0, 4, 3, 0, 5);
  EXPECT_EQ(call.output(0).tensor().data, y.tensor.data);
  EXPECT_FALSE(call.output(0).ownsMemory());
  // Over its own input, and with strides.
  EXPECT_OK(call.setOutput(0, x.tensor));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(x.numbers(), 2, 0, 4, 3, 0, 5);
  Owned<float> columns({3, 2});
  int permutation[] = {1, 0};
  EXPECT_OK(call.setOutput(0, columns.tensor.transposed(permutation)));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(columns.numbers(), 3, 4, 0, 0, 7, 8);
  Owned<float> wrong({3, 3});
  EXPECT_OK(call.setOutput(0, wrong.tensor));
  EXPECT_FAULT(call.run(), "output 'y0' will be f32[2, 3], and the memory that "
                           "was given is f32[3, 3]");
}

TEST(Execution, FaultsOfCallers) {
  std::shared_ptr<Model> model = loaded(addAndRelu());
  EXPECT_EQ(model->function("other"), nullptr);
  Call call(model, *model->function("main"));
  EXPECT_FAULT(call.run(), "needs the input 'x', f32[n, 3]");
  Owned<float> x({2, 3}, {1, 1, 1, 2, 2, 2});
  EXPECT_FAULT(call.setInput("z", x.tensor), "has no input 'z'; it has 'x'");
  EXPECT_FAULT(call.setInput(1, x.tensor), "there is no input 1");
  Owned<int32_t> integers({2, 3});
  EXPECT_FAULT(call.setInput(0, integers.tensor),
               "input 'x' is si32[2, 3], and has to be f32[n, 3]");
  Owned<float> flat({6});
  EXPECT_FAULT(call.setInput(0, flat.tensor), "input 'x' is f32[6]");
  Owned<float> wide({2, 4});
  EXPECT_OK(call.setInput(0, wide.tensor));
  EXPECT_FAULT(call.run(), "input 'x' is f32[2, 4], and has to be f32[2, 3]");
  Owned<float> none({0, 3});
  EXPECT_OK(call.setInput(0, none.tensor));
  EXPECT_FAULT(call.run(), "has to be at least 1 and at most 1000 ('n')");
  int64_t shape[] = {2, 3};
  EXPECT_FAULT(call.setInput(0, Tensor(ElementType::F32, nullptr, shape)),
               "has no memory");
  // All is well afterwards.
  EXPECT_OK(call.setInput(0, x.tensor));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 2, 0, 4, 3, 0, 5);
}

TEST(Execution, SymbolsThatRepeat) {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(0, 0);
  int32_t x = main.input({n});
  int32_t twice = main.mul(n, main.fixed(2));
  int32_t z = main.input({twice});
  int32_t y = main.output({n});
  int32_t half = main.view(z, {n}, {main.fixed(2)}, main.fixed(1));
  main.kernel("Mul", {x, half}, {y});
  plan.function("main", main, {"x", "z"});
  std::shared_ptr<Model> model = loaded(plan);
  EXPECT_EQ(model->functions()[0].inputs()[1].describe(), "f32[(n*2)]");
  Call call(model, model->functions()[0]);
  Owned<float> first({2}, {2, 3});
  Owned<float> second({4}, {1, 2, 3, 4});
  EXPECT_OK(call.setInput(0, first.tensor));
  EXPECT_OK(call.setInput(1, second.tensor));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 4, 12);
  Owned<float> odd({3});
  EXPECT_OK(call.setInput(1, odd.tensor));
  EXPECT_FAULT(call.run(), "input 'z' is f32[3], and has to be f32[4]");
}

TEST(Execution, NothingIsEmpty) {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(0, 0);
  int32_t x = main.input({n});
  int32_t t = main.arena({n});
  int32_t y = main.output({n});
  main.kernel("Relu", {x}, {t});
  main.kernel("Relu", {t}, {y});
  plan.function("main", main, {"x"});
  std::shared_ptr<Model> model = loaded(plan);
  Call call(model, model->functions()[0]);
  int64_t shape[] = {0};
  EXPECT_OK(call.setInput(0, Tensor(ElementType::F32, nullptr, shape)));
  EXPECT_OK(call.run());
  EXPECT_EQ(call.output(0).tensor().size(), 0);
}

TEST(Execution, OutputsThatAreNotComputed) {
  PlanBuilder plan;
  int32_t number = plan.constant({5.0f, 6.0f});
  BlockBuilder main = plan.block();
  int32_t two = main.fixed(2);
  int32_t x = main.input({two, two});
  int32_t w = main.constant(number, {two});
  int32_t row = main.view(x, {two}, {main.fixed(2)}, main.fixed(1));
  main.block().outputs = {x, w, row};
  plan.function("main", main, {"x"});
  std::shared_ptr<Model> model = loaded(plan);
  Call call(model, model->functions()[0]);
  Owned<float> given({2, 2}, {1, 2, 3, 4});
  EXPECT_OK(call.setInput(0, given.tensor));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 1, 2, 3, 4);
  EXPECT_NUMBERS(numbersOf(call.output(1).tensor()), 5, 6);
  EXPECT_NUMBERS(numbersOf(call.output(2).tensor()), 2, 4);
  EXPECT_NE(call.output(0).tensor().data, given.tensor.data);
}

TEST(Execution, ErrorsOfStepsSayWhere) {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t two = main.fixed(2);
  int32_t table = main.input({two});
  int32_t indices = main.input({two}, ElementType::SI32);
  int32_t y = main.output({two});
  main.kernel("GatherAlongAxis", {table, indices}, {y}, {main.fixed(0)})
      .location = 0;
  plan.plan.locations = {"model.py:7"};
  plan.function("main", main, {"table", "indices"});
  std::shared_ptr<Model> model = loaded(plan);
  Call call(model, model->functions()[0]);
  Owned<float> numbers({2}, {1, 2});
  Owned<int32_t> wrong({2}, {0, 5});
  Owned<int32_t> right({2}, {1, 0});
  EXPECT_OK(call.setInput(0, numbers.tensor));
  EXPECT_OK(call.setInput(1, wrong.tensor));
  EXPECT_FAULT(call.run(), "model.py:7: GatherAlongAxis: index 5 is out of");
  EXPECT_OK(call.setInput(1, right.tensor));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 2, 1);
}

TEST(Execution, AssertionsOfThePrograms) {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t flag = main.input({}, ElementType::Bool);
  main.step(plan::StepKind::Assert, {flag}, {}).message = "x must be positive";
  plan.function("main", main, {"flag"});
  std::shared_ptr<Model> model = loaded(plan);
  Call call(model, model->functions()[0]);
  Owned<bool> isRight({}, {1});
  EXPECT_OK(call.setInput(0, isRight.tensor));
  EXPECT_OK(call.run());
  isRight.elements[0] = false;
  EXPECT_FAULT(call.run(), "x must be positive");
}

TEST(Execution, AssertionsTellOfNumbers) {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t flag = main.input({}, ElementType::Bool);
  int32_t number = main.input({}, ElementType::SI32);
  plan::StepT &step = main.step(plan::StepKind::Assert, {flag, number}, {});
  step.message = "the program requires n <= 3";
  step.names = {"n"};
  plan.function("main", main, {"flag", "n"});
  std::shared_ptr<Model> model = loaded(plan);
  Call call(model, model->functions()[0]);
  Owned<bool> isRight({}, {0});
  Owned<int32_t> n({}, {5});
  EXPECT_OK(call.setInput(0, isRight.tensor));
  EXPECT_OK(call.setInput(1, n.tensor));
  EXPECT_FAULT(call.run(), "the program requires n <= 3; n is 5");
}

/// Checked before anything is laid out: the view would begin outside.
TEST(Execution, AssertionsAboutSizes) {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(0, 0);
  int32_t two = main.fixed(2);
  int32_t x = main.input({n});
  int32_t last =
      main.view(x, {two}, {main.fixed(1)}, main.add(n, main.fixed(-2)));
  int32_t y = main.output({two});
  plan::StepT &step = main.step(plan::StepKind::Assert, {}, {});
  step.numbers = {main.size(plan::SizeKind::Less, 0, main.fixed(1), n), n};
  step.names = {"n"};
  step.message = "there must be two";
  step.location = 0;
  plan.plan.locations = {"model.py:3"};
  main.kernel("Relu", {last}, {y});
  plan.function("main", main, {"x"});
  std::shared_ptr<Model> model = loaded(plan);
  Call call(model, model->functions()[0]);
  Owned<float> one({1}, {1});
  EXPECT_OK(call.setInput(0, one.tensor));
  EXPECT_FAULT(call.run(), "model.py:3: there must be two; n is 1");
  Owned<float> three({3}, {1, 2, 3});
  EXPECT_OK(call.setInput(0, three.tensor));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 2, 3);
}

TEST(Execution, AssertionsWithoutConditions) {
  auto faultOfAssertion = [](std::vector<std::string> names, bool hasFlag) {
    PlanBuilder plan;
    BlockBuilder main = plan.block();
    int32_t flag = main.input({}, ElementType::Bool);
    int32_t number = main.input({}, ElementType::F32);
    main.step(plan::StepKind::Assert,
              hasFlag ? std::vector<int32_t>{flag, number}
                      : std::vector<int32_t>{},
              {})
        .names = std::move(names);
    plan.function("main", main, {"flag", "n"});
    return faultOf(plan.file());
  };
  EXPECT_MENTIONS(faultOfAssertion({}, false), "has no condition");
  EXPECT_MENTIONS(faultOfAssertion({}, true), "has no names for");
  EXPECT_MENTIONS(faultOfAssertion({"n"}, true), "has no names for");
}
