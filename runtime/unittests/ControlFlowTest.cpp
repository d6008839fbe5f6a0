// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks in blocks: branches, loops, calls, and sizes that data decide.

#include "Plans.h"

using namespace corten::runtime;
using plan::StepKind;
using plan::SymbolSource;

/// A block of [n] tensors that calls one kernel on two of its inputs.
static BlockBuilder binary(PlanBuilder &plan, const std::string &kernel,
                           int numInputs, int a, int b) {
  BlockBuilder block = plan.block();
  int32_t n = block.extentOf(0, 0);
  std::vector<int32_t> inputs;
  for (int i = 0; i != numInputs; ++i)
    inputs.push_back(block.input({n}));
  int32_t result = block.arena({n});
  block.kernel(kernel, {inputs[size_t(a)], inputs[size_t(b)]}, {result});
  block.block().outputs = {result};
  return block;
}

TEST(ControlFlow, Branches) {
  PlanBuilder plan;
  BlockBuilder sum = binary(plan, "Add", 2, 0, 1);
  // The other branch returns what it was given.
  BlockBuilder same = plan.block();
  int32_t m = same.extentOf(0, 0);
  same.input({m});
  same.block().outputs = {same.input({m})};
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(1, 0);
  int32_t flag = main.input({}, ElementType::Bool);
  int32_t x = main.input({n});
  int32_t t = main.arena({n});
  main.kernel("Mul", {x, x}, {t});
  int32_t chosen = main.returned({n});
  main.control(StepKind::If, {sum.index, same.index}, {flag, x, t}, {chosen});
  // Memory of `t` must not be taken for this before `chosen` is read.
  int32_t other = main.arena({n});
  main.kernel("Sub", {x, x}, {other});
  int32_t y = main.output({n});
  main.kernel("Add", {chosen, other}, {y});
  plan.function("main", main, {"flag", "x"});
  std::shared_ptr<Model> model = loaded(plan);
  ASSERT_TRUE(model);
  Call call(model, model->functions()[0]);
  Owned<bool> condition({}, {1});
  Owned<float> given({3}, {2, 3, 4});
  EXPECT_OK(call.setInput(0, condition.tensor));
  EXPECT_OK(call.setInput(1, given.tensor));
  for (int i = 0; i != 3; ++i) {
    condition.elements[0] = true;
    EXPECT_OK(call.run());
    EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 6, 12, 20);
    condition.elements[0] = false;
    EXPECT_OK(call.run());
    EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 4, 9, 16);
  }
}

TEST(ControlFlow, CallsInCalls) {
  PlanBuilder plan;
  BlockBuilder square = binary(plan, "Mul", 1, 0, 0);
  BlockBuilder twice = plan.block();
  int32_t m = twice.extentOf(0, 0);
  int32_t a = twice.input({m});
  int32_t b = twice.returned({m});
  int32_t c = twice.returned({m});
  twice.control(StepKind::Call, {square.index}, {a}, {b});
  twice.control(StepKind::Call, {square.index}, {b}, {c});
  twice.block().outputs = {c, a};
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(0, 0);
  int32_t x = main.input({n});
  int32_t y = main.output({n});
  int32_t z = main.output({n});
  // Into memory of this block: copied.
  main.control(StepKind::Call, {twice.index}, {x}, {y, z});
  plan.function("main", main, {"x"});
  std::shared_ptr<Model> model = loaded(plan);
  ASSERT_TRUE(model);
  Call call(model, model->functions()[0]);
  Owned<float> given({2}, {2, 3});
  EXPECT_OK(call.setInput(0, given.tensor));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 16, 81);
  EXPECT_NUMBERS(numbersOf(call.output(1).tensor()), 2, 3);
}

/// A condition that goes on while the first input, a number, is less than the
/// last, and hands on `count` inputs of [n], or of [], from the first on.
static BlockBuilder lessThan(PlanBuilder &plan,
                             const std::vector<bool> &isScalar) {
  BlockBuilder block = plan.block();
  std::vector<int32_t> inputs;
  int32_t n = -1;
  for (size_t i = 0; i != isScalar.size(); ++i) {
    if (!isScalar[i] && n == -1)
      n = block.extentOf(int32_t(i), 0);
    inputs.push_back(block.input(isScalar[i] ? Sizes{} : Sizes{n}));
  }
  int32_t limit = block.input({});
  int32_t flag = block.arena({}, ElementType::Bool);
  block.kernel("Greater", {limit, inputs[0]}, {flag});
  block.block().outputs = {flag};
  for (int32_t input : inputs)
    block.block().outputs.push_back(input);
  return block;
}

TEST(ControlFlow, LoopsCarryValues) {
  // i, a, b = i + 1, b, a + b: what is handed on unchanged lies in the memory
  // of the other frame.
  PlanBuilder plan;
  int32_t one = plan.constant({1.0f});
  BlockBuilder condition = lessThan(plan, {true, false, false});
  BlockBuilder body = plan.block();
  int32_t m = body.extentOf(1, 0);
  int32_t i = body.input({});
  int32_t a = body.input({m});
  int32_t b = body.input({m});
  body.input({});
  int32_t next = body.arena({});
  int32_t sum = body.arena({m});
  body.kernel("Add", {i, body.constant(one, {})}, {next});
  body.kernel("Add", {a, b}, {sum});
  body.block().outputs = {next, b, sum};
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(1, 0);
  int32_t start = main.input({});
  int32_t x = main.input({n});
  int32_t limit = main.input({});
  int32_t count = main.returned({});
  int32_t first = main.returned({n});
  int32_t second = main.returned({n});
  main.control(StepKind::While, {condition.index, body.index},
               {start, x, x, limit}, {count, first, second});
  main.block().outputs = {count, first, second};
  plan.function("main", main, {"start", "x", "limit"});
  std::shared_ptr<Model> model = loaded(plan);
  ASSERT_TRUE(model);
  Call call(model, model->functions()[0]);
  Owned<float> begin({}, {0});
  Owned<float> given({2}, {1, 10});
  Owned<float> end({}, {0});
  EXPECT_OK(call.setInput(0, begin.tensor));
  EXPECT_OK(call.setInput(1, given.tensor));
  EXPECT_OK(call.setInput(2, end.tensor));
  double a0 = 1;
  double b0 = 1;
  for (int steps = 0; steps != 9; ++steps) {
    end.elements[0] = float(steps);
    EXPECT_OK(call.run());
    EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), double(steps));
    EXPECT_NUMBERS(numbersOf(call.output(1).tensor()), a0, 10 * a0);
    EXPECT_NUMBERS(numbersOf(call.output(2).tensor()), b0, 10 * b0);
    a0 = std::exchange(b0, a0 + b0);
  }
}

TEST(ControlFlow, LoopsOfGrowingTensors) {
  // i, x = i + 1, concat(x, x[0:1])
  PlanBuilder plan;
  int32_t one = plan.constant({1.0f});
  BlockBuilder condition = lessThan(plan, {true, false});
  BlockBuilder body = plan.block();
  int32_t m = body.extentOf(1, 0);
  int32_t i = body.input({});
  int32_t x = body.input({m});
  body.input({});
  int32_t next = body.arena({});
  body.kernel("Add", {i, body.constant(one, {})}, {next});
  int32_t unit = body.fixed(1);
  int32_t longer = body.arena({body.add(m, unit)});
  body.kernel("Copy", {x}, {body.view(longer, {m})});
  body.kernel("Copy", {body.view(x, {unit})},
              {body.view(longer, {unit}, {}, m)});
  body.block().outputs = {next, longer};
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(1, 0);
  int32_t start = main.input({});
  int32_t given = main.input({n});
  int32_t limit = main.input({});
  int32_t count = main.returned({});
  // How long it is, the loop says.
  int32_t k = main.symbol("k", SymbolSource::Extent,
                          int32_t(main.block().values.size()), 0, 0);
  int32_t result = main.returned({k});
  main.control(StepKind::While, {condition.index, body.index},
               {start, given, limit}, {count, result});
  int32_t y = main.output({k});
  main.kernel("Relu", {result}, {y});
  plan.function("main", main, {"start", "x", "limit"});
  std::shared_ptr<Model> model = loaded(plan);
  ASSERT_TRUE(model);
  Call call(model, model->functions()[0]);
  Owned<float> begin({}, {0});
  Owned<float> first({2}, {7, 8});
  Owned<float> end({}, {0});
  EXPECT_OK(call.setInput(0, begin.tensor));
  EXPECT_OK(call.setInput(1, first.tensor));
  EXPECT_OK(call.setInput(2, end.tensor));
  for (int steps : {0, 3, 20, 1}) {
    end.elements[0] = float(steps);
    EXPECT_OK(call.run());
    std::vector<double> wanted = {7, 8};
    wanted.resize(size_t(2 + steps), 7);
    EXPECT_EQ(numbersOf(call.output(0).tensor()), wanted);
  }
}

TEST(ControlFlow, SizesThatDataDecide) {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(0, 0);
  int32_t x = main.input({n});
  int32_t unit = main.fixed(1);
  int32_t found = main.arena({n, unit}, ElementType::SI32);
  main.kernel("NonZero", {x}, {found});
  int32_t k = main.symbol("k", SymbolSource::Extent, found, 0, 0, 0, 4);
  int32_t indices = main.view(found, {k, unit});
  int32_t chosen = main.arena({k});
  main.kernel("GatherNd", {x, indices}, {chosen});
  int32_t y = main.output({k});
  main.kernel("Mul", {chosen, chosen}, {y});
  main.block().outputs.push_back(indices);
  plan.function("main", main, {"x"});
  std::shared_ptr<Model> model = loaded(plan);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->functions()[0].outputs()[0].describe(), "f32[k]");
  Call call(model, model->functions()[0]);
  Owned<float> given({6}, {0, 2, 0, 3, 4, 0});
  EXPECT_OK(call.setInput(0, given.tensor));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 4, 9, 16);
  EXPECT_NUMBERS(numbersOf<int32_t>(call.output(1).tensor()), 1, 3, 4);
  EXPECT_EQ(call.report().numStages, 2);
  given.elements[4] = 0;
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 4, 9);
  for (int i = 0; i != 6; ++i)
    given.elements[i] = 0;
  EXPECT_OK(call.run());
  EXPECT_EQ(call.output(0).tensor().size(), 0);
  for (int i = 0; i != 6; ++i)
    given.elements[i] = float(i + 1);
  EXPECT_FAULT(call.run(), "the size 'k' is 6, and has to be from 0 to 4");
}

TEST(ControlFlow, SizesThatAreElements) {
  PlanBuilder plan;
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(0, 0);
  int32_t x = main.input({n});
  int32_t size = main.input({main.fixed(2)}, ElementType::SI64);
  int32_t k = main.symbol("k", SymbolSource::Element, size, 1);
  int32_t y = main.output({k});
  main.kernel("Relu", {main.view(x, {k})}, {y});
  plan.function("main", main, {"x", "size"});
  std::shared_ptr<Model> model = loaded(plan);
  ASSERT_TRUE(model);
  Call call(model, model->functions()[0]);
  Owned<float> given({3}, {1, 2, 3});
  Owned<int64_t> wanted({2}, {9, 2});
  EXPECT_OK(call.setInput(0, given.tensor));
  EXPECT_OK(call.setInput(1, wanted.tensor));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 1, 2);
  wanted.elements[1] = 4;
  EXPECT_FAULT(call.run(), "reaches out of its memory");
  wanted.elements[1] = -1;
  EXPECT_FAULT(call.run(), "the size 'k' is -1");
}

TEST(ControlFlow, SizesThatAreArguments) {
  PlanBuilder plan;
  BlockBuilder repeat = plan.block();
  int32_t times = repeat.symbol("t", SymbolSource::Argument, 0, 0);
  repeat.block().size_arguments = 1;
  int32_t one = repeat.input({});
  int32_t many = repeat.arena({times});
  repeat.kernel("Fill", {one}, {many});
  repeat.block().outputs = {many};
  BlockBuilder main = plan.block();
  int32_t n = main.extentOf(0, 0);
  int32_t x = main.input({n});
  int32_t twice = main.mul(n, main.fixed(2));
  int32_t result = main.returned({twice});
  main.control(StepKind::Call, {repeat.index}, {main.view(x, {})}, {result},
               {twice});
  main.block().outputs = {result};
  plan.function("main", main, {"x"});
  std::shared_ptr<Model> model = loaded(plan);
  ASSERT_TRUE(model);
  Call call(model, model->functions()[0]);
  Owned<float> given({2}, {3, 4});
  EXPECT_OK(call.setInput(0, given.tensor));
  EXPECT_OK(call.run());
  EXPECT_NUMBERS(numbersOf(call.output(0).tensor()), 3, 3, 3, 3);
}
