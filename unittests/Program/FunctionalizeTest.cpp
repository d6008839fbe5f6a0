// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Functionalize.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace corten;
using llvm::StringRef;

namespace {

using NamedArguments = llvm::ArrayRef<std::pair<const char *, Argument>>;

/// Builds small programs; every tensor is f32[4, 6] unless it says otherwise.
class FunctionalizeTest : public ::testing::Test {
protected:
  Node &placeholder(StringRef name, InputSpec::Kind kind) {
    Node &node = builder.addNode(*graph, Node::Kind::Placeholder, name);
    node.results = builder.save(infoOf({4, 6}));
    if (graph == &builder.mainGraph()) {
      InputSpec spec;
      spec.kind = kind;
      spec.node = &node;
      builder.addInput(spec);
    }
    return node;
  }
  Node &input(StringRef name) {
    return placeholder(name, InputSpec::Kind::UserInput);
  }
  Node &buffer(StringRef name) {
    return placeholder(name, InputSpec::Kind::Buffer);
  }

  Node &call(StringRef name, StringRef op, NamedArguments arguments,
             llvm::ArrayRef<int64_t> shape = {4, 6},
             StringRef nameSpace = "aten") {
    llvm::SmallVector<Parameter> parameters;
    llvm::SmallVector<Argument> values;
    for (const auto &[parameter, value] : arguments) {
      parameters.push_back({builder.save(StringRef(parameter)), false, {}});
      values.push_back(value);
    }
    bool mutates = functionalName(op).has_value() && nameSpace == "aten";
    Node &node = builder.addNode(*graph, Node::Kind::Call, name);
    node.callee = builder.addOperator(nameSpace, op, parameters, mutates);
    node.arguments = builder.save(values);
    node.results = builder.save(infoOf(shape));
    return node;
  }
  Node &slice(StringRef name, const Node &self, int64_t start, int64_t end) {
    return call(name, "slice.Tensor",
                {{"self", Argument::node(&self)},
                 {"dim", Argument::integer(1)},
                 {"start", Argument::integer(start)},
                 {"end", Argument::integer(end)},
                 {"step", Argument::integer(1)}},
                {4, end - start});
  }
  Node &unary(StringRef name, StringRef op, const Node &self,
              llvm::ArrayRef<int64_t> shape = {4, 6}) {
    return call(name, op, {{"self", Argument::node(&self)}}, shape);
  }
  Node &copyTo(StringRef name, const Node &self, const Node &source) {
    return call(
        name, "copy_.default",
        {{"self", Argument::node(&self)}, {"src", Argument::node(&source)}});
  }

  void returns(std::initializer_list<const Node *> values) {
    for (const Node *value : values) {
      graph->outputs.push_back(Argument::node(value));
      if (graph != &builder.mainGraph())
        continue;
      OutputSpec spec;
      spec.value = Argument::node(value);
      builder.addOutput(spec);
    }
  }

  /// The program after the pass, one line per call: "name = op(operands)".
  std::string functional() {
    obstacle = functionalize(builder);
    if (obstacle)
      return "obstacle: " + obstacle->node->name.str() + " " + obstacle->reason;
    std::string text;
    for (const Node *node : builder.mainGraph().nodes)
      if (node->kind == Node::Kind::Call)
        text += describe(*node);
    text += "return";
    for (const OutputSpec &output : builder.outputs()) {
      text += " " + output.value.asNode()->name.str();
      if (output.mutated)
        text += "->" + output.mutated->name.str();
    }
    return text;
  }

  ProgramBuilder builder;
  Graph *graph = &builder.mainGraph();
  std::optional<Obstacle> obstacle;

private:
  ValueInfo infoOf(llvm::ArrayRef<int64_t> shape) {
    llvm::SmallVector<Size> sizes(shape.begin(), shape.end());
    ValueInfo info;
    info.kind = ValueInfo::Kind::Tensor;
    info.sizes = builder.save(sizes);
    return info;
  }

  static std::string describe(const Node &node) {
    std::string text =
        (node.name + " = " + node.callee->name.split('.').first + "(").str();
    StringRef separator;
    for (const Argument &argument : node.arguments) {
      if (argument.isValue())
        text += separator.str() + argument.asNode()->name.str();
      else if (argument.isInt())
        text += separator.str() + std::to_string(argument.asInt());
      else
        continue;
      separator = ", ";
    }
    return text + ")\n";
  }
};

TEST(FunctionalNameTest, InPlaceNames) {
  EXPECT_EQ(functionalName("add_.Tensor"), "add.Tensor");
  EXPECT_EQ(functionalName("copy_.default"), "copy.default");
  EXPECT_EQ(functionalName("__iand__.Tensor"), "__and__.Tensor");
  EXPECT_EQ(functionalName("pow_.Scalar"), "pow.Tensor_Scalar");
  EXPECT_EQ(functionalName("floor_divide_.Tensor"), "floor_divide.default");
  for (const char *name : {"add.Tensor", "__and__.Tensor", "getitem",
                           "slice.Tensor", "native_batch_norm.default"})
    EXPECT_EQ(functionalName(name), std::nullopt) << name;
}

TEST_F(FunctionalizeTest, AProgramWithoutWritesStays) {
  Node &x = input("x");
  Node &part = slice("part", x, 0, 3);
  returns({&part, &x});
  EXPECT_EQ(functional(), "part = slice(x, 1, 0, 3, 1)\n"
                          "return part x");
}

TEST_F(FunctionalizeTest, WhatNoOutputNeedsGoes) {
  Node &x = input("x");
  Node &unused = unary("unused", "exp.default", x);
  unary("neg_", "neg_.default", unused);
  returns({&x});
  EXPECT_EQ(functional(), "return x");
}

TEST_F(FunctionalizeTest, AWriteIsANewValueOfAllNames) {
  Node &x = input("x");
  Node &y = unary("y", "exp.default", x);
  Node &written = unary("relu_", "relu_.default", y);
  Node &after = unary("after", "cos.default", y);
  Node &also = unary("also", "sin.default", written);
  returns({&after, &also, &y});
  EXPECT_EQ(functional(), "y = exp(x)\n"
                          "relu_ = relu(y)\n"
                          "after = cos(relu_)\n"
                          "also = sin(relu_)\n"
                          "return after also relu_");
  EXPECT_TRUE(written.isStored);
}

TEST_F(FunctionalizeTest, AViewIsMadeAnewAfterAWriteToItsBase) {
  Node &x = input("x");
  Node &y = unary("y", "exp.default", x);
  Node &part = slice("part", y, 0, 3);
  Node &before = unary("before", "cos.default", part, {4, 3});
  unary("relu_", "relu_.default", y);
  Node &after = unary("after", "cos.default", part, {4, 3});
  returns({&before, &after, &part});
  EXPECT_EQ(functional(), "y = exp(x)\n"
                          "part = slice(y, 1, 0, 3, 1)\n"
                          "before = cos(part)\n"
                          "relu_ = relu(y)\n"
                          "slice = slice(relu_, 1, 0, 3, 1)\n"
                          "after = cos(slice)\n"
                          "return before after slice");
}

TEST_F(FunctionalizeTest, AWriteThroughViewsReachesTheBuffer) {
  Node &x = input("x");
  Node &cache = buffer("cache");
  Node &turned = call("turned", "transpose.int",
                      {{"self", Argument::node(&cache)},
                       {"dim0", Argument::integer(0)},
                       {"dim1", Argument::integer(1)}},
                      {6, 4});
  Node &row = call("row", "select.int",
                   {{"self", Argument::node(&turned)},
                    {"dim", Argument::integer(0)},
                    {"index", Argument::integer(2)}},
                   {4});
  copyTo("copy_", row, x);
  returns({&row});
  EXPECT_EQ(functional(),
            "turned = transpose(cache, 0, 1)\n"
            "row = select(turned, 0, 2)\n"
            "copy_ = copy(row, x)\n"
            "select_scatter = select_scatter(turned, copy_, 0, 2)\n"
            "permute = permute(select_scatter)\n"
            "return permute->cache copy_");
}

TEST_F(FunctionalizeTest, BuffersComeBeforeInputs) {
  Node &x = input("x");
  Node &count = buffer("count");
  unary("exp_", "exp_.default", x);
  unary("neg_", "neg_.default", count);
  returns({&x});
  EXPECT_EQ(functional(), "exp_ = exp(x)\n"
                          "neg_ = neg(count)\n"
                          "return neg_->count exp_->x exp_");
}

TEST_F(FunctionalizeTest, ACopyToItselfIsNoWrite) {
  Node &count = buffer("count");
  Node &more = unary("neg_", "neg_.default", count);
  copyTo("copy_", count, more);
  returns({});
  EXPECT_EQ(functional(), "neg_ = neg(count)\n"
                          "return neg_->count");
}

TEST_F(FunctionalizeTest, PartsOfASplitAreViews) {
  Node &x = input("x");
  Node &y = unary("y", "exp.default", x);
  Node &parts = call("parts", "split.Tensor",
                     {{"self", Argument::node(&y)},
                      {"split_size", Argument::integer(3)},
                      {"dim", Argument::integer(-1)}},
                     {4, 3});
  parts.returnsTuple = true;
  parts.results = builder.save({parts.results[0], parts.results[0]});
  auto pick = [&](StringRef name, int64_t index) -> Node & {
    return call(name, "getitem",
                {{"tuple", Argument::node(&parts)},
                 {"index", Argument::integer(index)}},
                {4, 3}, "_operator");
  };
  Node &second = pick("second", 1);
  unary("relu_", "relu_.default", second, {4, 3});
  // Picked after the write, so it must not be the part as it was before.
  Node &again = pick("again", -1);
  returns({&y, &again});
  EXPECT_EQ(functional(),
            "y = exp(x)\n"
            "parts = split(y, 3, -1)\n"
            "second = getitem(parts, 1)\n"
            "relu_ = relu(second)\n"
            "slice_scatter = slice_scatter(y, relu_, 1, 3, 6, 1)\n"
            "split = split(slice_scatter, 3, -1)\n"
            "getitem = getitem(split, 1)\n"
            "return slice_scatter getitem");
}

TEST_F(FunctionalizeTest, AReshapeThatCopiedIsNoView) {
  Node &x = input("x");
  Node &y = unary("y", "exp.default", x);
  Node &copied = unary("copied", "reshape.default", y, {24});
  Node &viewed = unary("viewed", "reshape.default", y, {24});
  viewed.sharesMemory = true;
  unary("relu_", "relu_.default", y);
  returns({&copied, &viewed});
  EXPECT_EQ(functional(), "y = exp(x)\n"
                          "copied = reshape(y)\n"
                          "relu_ = relu(y)\n"
                          "reshape = reshape(relu_)\n"
                          "return copied reshape");
}

TEST_F(FunctionalizeTest, ARegionWithoutGradientsDissolves) {
  Node &x = input("x");
  Node &y = unary("y", "exp.default", x);
  graph = &builder.addSubgraph("region");
  Node &operand = input("operand");
  // Its name is taken outside.
  Node &inner = unary("y", "cos_.default", operand);
  returns({&inner});
  const Graph *region = graph;
  graph = &builder.mainGraph();
  Node &wrapped = call("wrapped", "wrap_with_set_grad_enabled",
                       {{"enabled", Argument::boolean(false)},
                        {"graph", Argument::graph(region)},
                        {"operand", Argument::node(&y)}},
                       {4, 6}, "higher_order");
  wrapped.returnsTuple = true;
  Node &first = call(
      "first", "getitem",
      {{"tuple", Argument::node(&wrapped)}, {"index", Argument::integer(0)}},
      {4, 6}, "_operator");
  returns({&first, &y});
  EXPECT_EQ(functional(), "y = exp(x)\n"
                          "y_1 = cos(y)\n"
                          "return y_1 y_1");
}

TEST_F(FunctionalizeTest, RefusesWhatItCannotExpress) {
  Node &x = input("x");
  Node &wide = unary("wide", "expand.default", x, {3, 4, 6});
  unary("relu_", "relu_.default", wide, {3, 4, 6});
  returns({});
  EXPECT_EQ(functional(),
            "obstacle: relu_ writes through 'wide' (aten.expand.default)");
}

TEST_F(FunctionalizeTest, RefusesWritesNextToAnUnknownView) {
  Node &x = input("x");
  Node &odd = unary("odd", "some_view.default", x);
  odd.callee = builder.addOperator("aten", "some_view.default",
                                   odd.callee->parameters, false, true);
  unary("relu_", "relu_.default", x);
  returns({&odd});
  EXPECT_EQ(functional(), "obstacle: relu_ writes to memory that 'odd' "
                          "(aten.some_view.default) also refers to");
}

TEST_F(FunctionalizeTest, RefusesABranchThatWritesToItsInput) {
  Node &x = input("x");
  graph = &builder.addSubgraph("branch");
  Node &operand = input("operand");
  Node &inner = unary("neg_", "neg_.default", operand);
  returns({&inner});
  const Graph *branch = graph;
  graph = &builder.mainGraph();
  Node &chosen = call(
      "chosen", "cond",
      {{"graph", Argument::graph(branch)}, {"operand", Argument::node(&x)}},
      {4, 6}, "higher_order");
  returns({&chosen});
  EXPECT_EQ(functional(),
            "obstacle: neg_ a branch or loop body writes to its input");
}

TEST_F(FunctionalizeTest, RefusesAWriteToAConstant) {
  Node &table = placeholder("table", InputSpec::Kind::Constant);
  // A write that may be does not take the blame.
  Node &buffer = placeholder("buffer", InputSpec::Kind::Buffer);
  unary("neg_", "neg_.default", table);
  unary("neg__1", "neg_.default", buffer);
  returns({&table});
  EXPECT_EQ(functional(), "obstacle: neg_ writes to 'table', which is no "
                          "buffer (register_buffer makes it one)");
}

TEST_F(FunctionalizeTest, RefusesAWriteBesidesThoseThatTheSignatureLists) {
  Node &listed = placeholder("listed", InputSpec::Kind::Buffer);
  Node &written = placeholder("written", InputSpec::Kind::Buffer);
  unary("neg_", "neg_.default", written);
  builder.mainGraph().outputs.push_back(Argument::node(&listed));
  builder.addOutput(
      {OutputSpec::Kind::BufferMutation, Argument::node(&listed), &listed});
  EXPECT_EQ(functional(), "obstacle: neg_ writes to 'written' besides the new "
                          "values that the signature lists");
}

//===----------------------------------------------------------------------===//
// Programs that contradict themselves
//===----------------------------------------------------------------------===//

TEST_F(FunctionalizeTest, RefusesWritesThroughAxesThatATensorLacks) {
  using Axes = std::initializer_list<int64_t>;
  ProgramBuilder lists; // Each program has a builder of its own.
  auto list = [&](Axes axes) {
    llvm::SmallVector<Argument> values;
    for (int64_t axis : axes)
      values.push_back(Argument::integer(axis));
    return Argument::list(lists.save(values));
  };
  auto number = [](int64_t value) { return Argument::integer(value); };
  auto expectRefused = [&](const char *op, NamedArguments axes,
                           Axes shape = {4, 6}) {
    SCOPED_TRACE(op);
    builder = ProgramBuilder();
    graph = &builder.mainGraph();
    Node &x = input("x");
    Node &y = unary("y", "exp.default", x, shape);
    std::vector<std::pair<const char *, Argument>> arguments = {
        {"self", Argument::node(&y)}};
    llvm::append_range(arguments, axes);
    Node &view = call("view", op, arguments, shape);
    unary("relu_", "relu_.default", view, shape);
    returns({&y});
    EXPECT_EQ(functional(),
              std::string("obstacle: relu_ writes through 'view' (aten.") + op +
                  "), which permutes no tensor of rank " +
                  std::to_string(shape.size()));
  };
  expectRefused("permute.default", {{"dims", list({0, 0})}});
  expectRefused("permute.default", {{"dims", list({0})}});
  expectRefused("permute.default", {{"dims", list({0, 1000})}});
  expectRefused("permute.default", {{"dims", list({0})}}, {});
  expectRefused("transpose.int", {{"dim0", number(0)}, {"dim1", number(9)}});
  expectRefused("swapaxes.default",
                {{"axis0", number(-3)}, {"axis1", number(0)}});
  expectRefused("mT.default", {}, {});
  expectRefused("mT.default", {}, {4});
  for (const char *op : {"movedim.intlist", "moveaxis.intlist"}) {
    auto moved = [&](Axes from, Axes to) {
      expectRefused(op, {{"source", list(from)}, {"destination", list(to)}});
    };
    moved({1000}, {0});
    moved({0}, {-1000});
    moved({0, 1}, {0});
    moved({0}, {0, 1});
    moved({0, 0}, {0, 1});
  }
}

TEST_F(FunctionalizeTest, MovedAxesAreMovedBack) {
  Node &x = input("x");
  Node &cache = buffer("cache");
  Node &moved = call("moved", "movedim.int",
                     {{"self", Argument::node(&cache)},
                      {"source", Argument::integer(-1)},
                      {"destination", Argument::integer(0)}},
                     {6, 4});
  copyTo("copy_", moved, x);
  returns({});
  EXPECT_EQ(functional(), "moved = movedim(cache, -1, 0)\n"
                          "copy_ = copy(moved, x)\n"
                          "permute = permute(copy_)\n"
                          "return permute->cache");
}

TEST_F(FunctionalizeTest, RefusesPartsThatASplitLacks) {
  auto written = [&](int64_t axis, Argument index,
                     llvm::ArrayRef<int64_t> shape = {4, 3}) {
    builder = ProgramBuilder();
    graph = &builder.mainGraph();
    Node &x = input("x");
    Node &y = unary("y", "exp.default", x);
    Node &parts = call("parts", "split.Tensor",
                       {{"self", Argument::node(&y)},
                        {"split_size", Argument::integer(3)},
                        {"dim", Argument::integer(axis)}},
                       shape);
    parts.returnsTuple = true;
    Node &part = call("part", "getitem",
                      {{"tuple", Argument::node(&parts)}, {"index", index}},
                      shape, "_operator");
    unary("relu_", "relu_.default", part, shape);
    returns({&y});
    return functional();
  };
  std::string missing =
      "obstacle: part is a result that 'parts' (aten.split.Tensor) lacks";
  EXPECT_EQ(written(1, Argument::integer(1)), missing);
  EXPECT_EQ(written(1, Argument::integer(-2)), missing);
  EXPECT_EQ(written(1, Argument::integer(int64_t{1} << 32)), missing);
  std::string odd = "obstacle: relu_ writes through 'parts' "
                    "(aten.split.Tensor) into parts of another rank";
  EXPECT_EQ(written(9, Argument::integer(0)), odd);
  EXPECT_EQ(written(-9, Argument::integer(0)), odd);
  EXPECT_EQ(written(1, Argument::integer(0), {4}), odd);
  // What is no pick of a result is none of this pass's business.
  EXPECT_EQ(written(1, Argument::floating(1.5)).find("obstacle"),
            std::string::npos);
}

TEST_F(FunctionalizeTest, RefusesAPlaceBeyondAllMemory) {
  Node &x = input("x");
  Node &part = call("part", "narrow.default",
                    {{"self", Argument::node(&x)},
                     {"dim", Argument::integer(0)},
                     {"start", Argument::integer(int64_t{1} << 62)},
                     {"length", Argument::integer(int64_t{1} << 62)}});
  unary("relu_", "relu_.default", part);
  returns({&x});
  EXPECT_EQ(functional(), "obstacle: relu_ writes through 'part' "
                          "(aten.narrow.default) beyond all memory");
}

TEST_F(FunctionalizeTest, AGetitemOfNothingIsLeftAlone) {
  Node &x = input("x");
  Node &odd = call("odd", "getitem", {}, {4, 6}, "_operator");
  unary("relu_", "relu_.default", x);
  returns({&odd, &x});
  EXPECT_EQ(functional(), "odd = getitem()\n"
                          "relu_ = relu(x)\n"
                          "return relu_->x odd relu_");
}

TEST_F(FunctionalizeTest, RefusesAMeanWithoutAVariance) {
  auto training = [&](Argument variance) {
    builder = ProgramBuilder();
    graph = &builder.mainGraph();
    Node &x = input("x");
    Node &mean = buffer("mean");
    Node &y = call("y", "batch_norm.default",
                   {{"input", Argument::node(&x)},
                    {"weight", {}},
                    {"bias", {}},
                    {"running_mean", Argument::node(&mean)},
                    {"running_var", variance},
                    {"training", Argument::boolean(true)},
                    {"momentum", Argument::floating(0.1)},
                    {"eps", Argument::floating(1e-5)}});
    returns({&y});
    return functional();
  };
  std::string refused = "obstacle: y (aten.batch_norm.default) has no tensor "
                        "for each of its running statistics";
  EXPECT_EQ(training({}), refused);
  EXPECT_EQ(training(Argument::floating(1)), refused);
}

TEST_F(FunctionalizeTest, RefusesWritesToAndFromWhatIsNoTensor) {
  Node &x = input("x");
  Node &odd = unary("odd_", "odd_.default", x);
  odd.returnsTuple = true;
  odd.results = {};
  returns({&x});
  EXPECT_EQ(functional(), "obstacle: odd_ (aten.odd_.default) writes something "
                          "else than a tensor to one");
}

TEST(DecomposedTest, WhatADecompositionLeaves) {
  struct Case {
    const char *nameSpace, *name;
    bool mutates, sharesMemory, isDecomposed;
  };
  for (const Case &each : std::initializer_list<Case>{
           {"aten", "relu.default", false, false, true},
           {"aten", "linear.default", false, false, false},
           {"aten", "relu.default", true, false, false},
           {"aten", "reshape.default", false, false, true},
           {"aten", "reshape.default", false, true, false},
           {"aten", "type_as.default", false, true, true},
           {"higher_order", "wrap_with_autocast", false, false, false},
       })
    for (bool isNested : {false, true}) {
      ProgramBuilder builder;
      Graph &graph =
          isNested ? builder.addSubgraph("branch") : builder.mainGraph();
      builder.addNode(graph, Node::Kind::Placeholder, "x");
      Node &call = builder.addNode(graph, Node::Kind::Call, "y");
      call.callee =
          builder.addOperator(each.nameSpace, each.name, {}, each.mutates);
      call.sharesMemory = each.sharesMemory;
      auto hasLowering = [](const Operator &op) {
        return op.name != "linear.default";
      };
      EXPECT_EQ(isDecomposed(builder, hasLowering), each.isDecomposed)
          << each.name;
    }
}

/// A chain of views takes no stack.
TEST_F(FunctionalizeTest, ViewsOfViews) {
  Node &x = input("x");
  Node &y = unary("y", "exp.default", x);
  const Node *view = &y;
  for (unsigned depth = 0; depth < 100000; ++depth)
    view = &unary("view", "alias.default", *view);
  unary("relu_", "relu_.default", y);
  returns({view});
  EXPECT_FALSE(functionalize(builder));
  EXPECT_EQ(builder.mainGraph().nodes.size(), 100003U);
}

} // namespace
