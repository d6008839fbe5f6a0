// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Outline.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace corten;
using llvm::ArrayRef;
using llvm::StringRef;

namespace {

/// Builds a marked program of `f(...)` calls and looks at what became of it.
class OutlineTest : public testing::Test {
protected:
  OutlineTest() {
    auto schema = [&](ArrayRef<StringRef> names) {
      llvm::SmallVector<Parameter> parameters;
      for (StringRef name : names)
        parameters.push_back({name, false, {}});
      return parameters;
    };
    f = builder.addOperator("aten", "f.default", {});
    getItem = builder.addOperator("_operator", "getitem", {});
    add = builder.addOperator("_operator", "add", {});
    enterOp = builder.addOperator(kMarkNamespace, "enter.default",
                                  schema({"xs", "tag"}));
    exitOp = builder.addOperator(kMarkNamespace, "exit.default",
                                 schema({"xs", "token", "tag"}));
    graph = &builder.mainGraph();
  }

  ArrayRef<ValueInfo> tensor(ArrayRef<Size> sizes = {}) {
    ValueInfo info;
    info.kind = ValueInfo::Kind::Tensor;
    info.sizes = builder.save(sizes);
    return builder.save(ArrayRef(info));
  }
  ArrayRef<ValueInfo> symInt(unsigned symbol) {
    ValueInfo info;
    info.kind = ValueInfo::Kind::SymInt;
    info.sizes = builder.save(ArrayRef(Size::symbolic(symbol)));
    return builder.save(ArrayRef(info));
  }

  Node &input(StringRef name, ArrayRef<Size> sizes = {}) {
    Node &node = builder.addNode(*graph, Node::Kind::Placeholder, name);
    node.results = tensor(sizes);
    return node;
  }
  Node &call(StringRef name, const Operator *op, ArrayRef<Argument> arguments) {
    Node &node = builder.addNode(*graph, Node::Kind::Call, name);
    node.callee = op;
    node.arguments = builder.save(arguments);
    node.results = tensor();
    return node;
  }
  Node &compute(StringRef name, ArrayRef<const Node *> operands) {
    llvm::SmallVector<Argument> arguments;
    for (const Node *operand : operands)
      arguments.push_back(Argument::node(operand));
    return call(name, f, arguments);
  }
  Argument list(ArrayRef<const Node *> nodes) {
    llvm::SmallVector<Argument> arguments;
    for (const Node *node : nodes)
      arguments.push_back(Argument::node(node));
    return Argument::list(builder.save(arguments));
  }
  Node &enter(ArrayRef<const Node *> arguments, StringRef tag) {
    return call("enter", enterOp,
                {list(arguments), Argument::string(builder.save(tag))});
  }
  Node &exit(ArrayRef<const Node *> results, const Node &token,
             StringRef path) {
    Node &node = call("exit", exitOp,
                      {list(results), Argument::node(&token),
                       Argument::string(builder.save(path))});
    llvm::SmallVector<ValueInfo> infos;
    for (const Node *result : results)
      infos.push_back(result->info());
    node.results = builder.save(infos);
    node.returnsTuple = true;
    return node;
  }
  Node &pick(const Node &tuple, int64_t position) {
    return call("getitem", getItem,
                {Argument::node(&tuple), Argument::integer(position)});
  }

  std::string outline(ArrayRef<const Node *> outputs,
                      const std::vector<std::string> &paths) {
    for (const Node *output : outputs) {
      builder.mainGraph().outputs.push_back(Argument::node(output));
      builder.addOutput(
          {OutputSpec::Kind::UserOutput, Argument::node(output), nullptr});
    }
    std::vector<ExternalModule> modules;
    modules.reserve(paths.size());
    for (const std::string &path : paths)
      modules.push_back({path, path, std::nullopt});
    llvm::Error error = outlineModules(builder, std::move(modules));
    return llvm::toString(std::move(error));
  }

  /// "x, y -> f(x, y), ... -> f", for a graph.
  static std::string shape(const Graph &graph) {
    std::string text;
    auto label = [](const Node &node) { return nameAsOutput(node).str(); };
    auto name = [&](const Argument &argument) {
      return argument.isValue() ? label(*argument.asNode())
             : argument.isInt() ? std::to_string(argument.asInt())
                                : "@" + argument.asGraph()->name.str();
    };
    for (const Node *node : graph.nodes) {
      text += label(*node);
      if (node->kind == Node::Kind::Call) {
        text += "=" + node->callee->name.str() + "(";
        for (auto [i, argument] : llvm::enumerate(node->arguments))
          text += (i ? "," : "") + name(argument);
        text += ")";
      }
      text += " ";
    }
    text += "->";
    for (const Argument &output : graph.outputs)
      text += " " + name(output);
    return text;
  }
  std::string body(unsigned i) { return shape(*program.moduleCalls[i].body); }
  std::string main() { return shape(program.main); }

  ProgramBuilder builder;
  const Program &program = builder.building();
  Graph *graph;
  const Operator *f, *getItem, *add, *enterOp, *exitOp;
};

TEST_F(OutlineTest, WhatStandsBetweenTheMarksBecomesAGraph) {
  Node &x = input("x");
  Node &before = compute("before", {&x});
  Node &token = enter({&before}, "input|a.b");
  Node &inside = compute("inside", {&before});
  Node &out = pick(exit({&inside}, token, "a.b"), 0);
  Node &after = compute("after", {&out, &x});
  EXPECT_EQ(outline({&after}, {"a.b"}), "");
  EXPECT_EQ(body(0), "before inside=f.default(before) -> inside");
  EXPECT_EQ(main(), "x before=f.default(x) exit=module_call(@a.b,before) "
                    "getitem=getitem(exit,0) after=f.default(getitem,x) "
                    "-> after");
  EXPECT_EQ(program.moduleCalls[0].argumentNames,
            std::vector<StringRef>{"input"});
  EXPECT_EQ(program.moduleCalls[0].numResults, 1u);
}

TEST_F(OutlineTest, ArgumentsAreKeptUnusedAndTwice) {
  Node &x = input("x"), &y = input("y");
  Node &token = enter({&x, &y, &x}, "a,b,c|m");
  Node &inside = compute("inside", {&x});
  Node &out = pick(exit({&inside, &inside}, token, "m"), 1);
  EXPECT_EQ(outline({&out}, {"m"}), "");
  EXPECT_EQ(body(0), "x y x inside=f.default(x) -> inside inside");
  EXPECT_EQ(main(),
            "x y exit=module_call(@m,x,y,x) m_1=getitem(exit,1) -> m_1");
}

TEST_F(OutlineTest, WeightsMoveInsideAndStateDoesNot) {
  Node &w = input("w"), &state = input("state"), &x = input("x");
  builder.addInput({InputSpec::Kind::Parameter, &w, "m.w", 7, false});
  builder.addInput({InputSpec::Kind::Buffer, &state, "m.state", 8, false});
  builder.addInput({InputSpec::Kind::UserInput, &x, "", -1, false});
  Node &token = enter({&x}, "x|m");
  Node &next = compute("next", {&state, &x});
  Node &inside = compute("inside", {&next, &w});
  Node &out = pick(exit({&inside}, token, "m"), 0);
  builder.mainGraph().outputs.push_back(Argument::node(&next));
  builder.addOutput(
      {OutputSpec::Kind::BufferMutation, Argument::node(&next), &state});
  EXPECT_EQ(outline({&out}, {"m"}), "");
  EXPECT_EQ(body(0), "x state w next=f.default(state,x) "
                     "inside=f.default(next,w) -> inside next");
  EXPECT_EQ(main(),
            "w state x exit=module_call(@m,x,state) next=getitem(exit,1) "
            "m=getitem(exit,0) -> next m");
  const ModuleCall &call = program.moduleCalls[0];
  ASSERT_EQ(call.weights.size(), 1u);
  EXPECT_EQ(call.weights[0].first->name, "w");
  EXPECT_EQ(call.weights[0].second, 7);
  EXPECT_EQ(call.argumentNames.size(), 1u);
  EXPECT_EQ(call.numResults, 1u);
  EXPECT_EQ(program.outputs[0].value.asNode()->name, "next");
}

TEST_F(OutlineTest, InnerCallsComeFirst) {
  Node &x = input("x"), &y = input("y");
  Node &outer = enter({&x}, "x|p");
  Node &first = compute("first", {&x});
  Node &inner = enter({&first}, "x|p.c");
  // The inner module takes something that no call of the outer one gives it.
  Node &deep = compute("deep", {&first, &y});
  Node &middle = pick(exit({&deep}, inner, "p.c"), 0);
  Node &out = pick(exit({&middle}, outer, "p"), 0);
  // And something of the inner one is used outside of both.
  Node &after = compute("after", {&out, &deep, &first});
  EXPECT_EQ(outline({&after}, {"p", "p.c"}), "");
  ASSERT_EQ(program.moduleCalls.size(), 2u);
  EXPECT_EQ(body(0), "first y deep=f.default(first,y) -> deep");
  EXPECT_EQ(body(1), "x y first=f.default(x) exit=module_call(@p.c,first,y) "
                     "c=getitem(exit,0) c=getitem(exit,0) -> c c first");
  EXPECT_EQ(main(), "x y exit=module_call(@p,x,y) deep=getitem(exit,1) "
                    "first=getitem(exit,2) getitem=getitem(exit,0) "
                    "after=f.default(getitem,deep,first) -> after");
}

TEST_F(OutlineTest, CallsThatNothingNeedsGo) {
  Node &x = input("x");
  Node &token = enter({&x}, "x|m");
  Node &inside = compute("inside", {&x});
  pick(exit({&inside}, token, "m"), 0);
  Node &after = compute("after", {&x});
  EXPECT_EQ(outline({&after}, {"m"}), "");
  EXPECT_TRUE(program.moduleCalls.empty());
  EXPECT_EQ(main(), "x after=f.default(x) -> after");
}

TEST_F(OutlineTest, ACallForItsEffectIsKept) {
  Node &x = input("x");
  Node &token = enter({&x}, "x|m");
  Node &written = compute("written", {&x});
  exit({}, token, "m");
  Node &after = compute("after", {&written});
  EXPECT_EQ(outline({&after}, {"m"}), "");
  ASSERT_EQ(program.moduleCalls.size(), 1u);
  EXPECT_EQ(body(0), "x written=f.default(x) -> written");
  EXPECT_EQ(main(), "x exit=module_call(@m,x) written=getitem(exit,0) "
                    "after=f.default(written) -> after");
}

TEST_F(OutlineTest, AReturnedArgumentIsTakenFromTheCall) {
  Node &x = input("x");
  Node &one = enter({&x}, "x|m");
  exit({&x}, one, "m");
  Node &two = enter({&x}, "x|m");
  exit({&x}, two, "m");
  EXPECT_EQ(outline({&x}, {"m"}), "");
  ASSERT_EQ(program.moduleCalls.size(), 2u);
  EXPECT_EQ(body(0), "x -> x");
  EXPECT_EQ(program.moduleCalls[1].ordinal, 1u);
  EXPECT_EQ(main(), "x exit=module_call(@m,x) x=getitem(exit,0) "
                    "exit=module_call(@m,x) m=getitem(exit,0) -> m");
}

TEST_F(OutlineTest, SizesComeFromTheArguments) {
  unsigned n = builder.symbol("s0"), twice = builder.symbol("2*s0");
  Node &x = input("x", {Size(3), Size::symbolic(n)});
  Node &size = call("size", f, {Argument::node(&x)});
  size.results = symInt(n);
  Node &sum = call("sum", add, {Argument::node(&size), Argument::node(&size)});
  sum.results = symInt(twice);
  Node &token = enter({&x}, "x|m");
  Node &inner = call("inner", f, {Argument::node(&x)});
  inner.results = symInt(n);
  Node &inside = compute("inside", {&x, &sum, &inner});
  Node &out = pick(exit({&inside}, token, "m"), 0);
  Node &after = compute("after", {&out, &inner});
  EXPECT_EQ(outline({&after}, {"m"}), "");
  EXPECT_EQ(body(0), "x inner=sym_size.int(x,1) size=sym_size.int(x,1) "
                     "sum=add(size,size) inside=f.default(x,sum,inner) "
                     "-> inside");
  EXPECT_EQ(main(), "x size=f.default(x) sum=add(size,size) "
                    "exit=module_call(@m,x) inner=sym_size.int(x,1) "
                    "getitem=getitem(exit,0) after=f.default(getitem,inner) "
                    "-> after");
}

TEST_F(OutlineTest, BranchesAreOutlinedAndKnowTheirWeights) {
  Node &w = input("w"), &x = input("x");
  builder.addInput({InputSpec::Kind::Parameter, &w, "m.w", 3, false});
  builder.addInput({InputSpec::Kind::UserInput, &x, "", -1, false});
  Graph &branch = builder.addSubgraph("true_graph");
  graph = &branch;
  Node &inX = input("arg0"), &inW = input("arg1");
  Node &token = enter({&inX}, "x|m");
  Node &inside = compute("inside", {&inX, &inW});
  Node &out = pick(exit({&inside}, token, "m"), 0);
  branch.outputs.push_back(Argument::node(&out));
  graph = &builder.mainGraph();
  Node &cond = call("cond", f,
                    {Argument::node(&x), Argument::graph(&branch),
                     Argument::graph(&branch), list({&x, &w})});
  EXPECT_EQ(outline({&cond}, {"m"}), "");
  EXPECT_EQ(body(0), "arg0 arg1 inside=f.default(arg0,arg1) -> inside");
  ASSERT_EQ(program.moduleCalls[0].weights.size(), 1u);
  EXPECT_EQ(program.moduleCalls[0].weights[0].second, 3);
  EXPECT_EQ(shape(branch),
            "arg0 arg1 exit=module_call(@m,arg0) getitem=getitem(exit,0) "
            "-> getitem");
}

TEST_F(OutlineTest, TheRootKeepsTheNamesOfItsResults) {
  Node &x = input("x");
  Node &token = enter({&x}, "x|");
  Node &inside = compute("mul_2", {&x});
  Node &out = pick(exit({&inside}, token, ""), 0);
  EXPECT_EQ(outline({&out}, {""}), "");
  EXPECT_EQ(main(), "x exit=module_call(@,x) mul=getitem(exit,0) -> mul");
}

TEST_F(OutlineTest, OverlappingMarksAreAnError) {
  Node &x = input("x");
  Node &one = enter({&x}, "x|a");
  Node &two = enter({&x}, "x|b");
  Node &inside = compute("inside", {&x});
  Node &first = pick(exit({&inside}, one, "a"), 0);
  Node &second = pick(exit({&inside}, two, "b"), 0);
  EXPECT_NE(outline({&first, &second}, {"a", "b"}).find("module 'a'"),
            std::string::npos);
}

TEST_F(OutlineTest, MarksThatTheExportDidNotMakeAreAnError) {
  Node &x = input("x");
  Argument tag = Argument::string("x|a"), one = Argument::integer(1);
  Argument ones = Argument::list(builder.save(one));
  Node &token = call("enter", enterOp, {ones, tag});
  Node &out = pick(exit({&x}, token, "a"), 0);
  EXPECT_NE(outline({&out}, {"a"}).find("module 'a'"), std::string::npos);
}

TEST_F(OutlineTest, ATokenThatIsNoneIsAnError) {
  Node &x = input("x");
  Node &last = call("exit", exitOp,
                    {list({&x}), Argument::integer(1), Argument::string("a")});
  EXPECT_NE(outline({&last}, {"a"}).find("module 'a'"), std::string::npos);
}

TEST_F(OutlineTest, AMarkWithoutItsOtherIsAnError) {
  Node &x = input("x");
  Node &token = enter({&x}, "x|a");
  Node &out = compute("out", {&token});
  EXPECT_NE(outline({&out}, {"a"}).find("module 'a'"), std::string::npos);
}

TEST_F(OutlineTest, MarksOfAnUnknownModuleAreAnError) {
  Node &x = input("x");
  Node &token = enter({&x}, "x|other");
  Node &inside = compute("inside", {&x});
  Node &out = pick(exit({&inside}, token, "other"), 0);
  EXPECT_NE(outline({&out}, {"m"}).find("'other'"), std::string::npos);
}

TEST_F(OutlineTest, AMarkMustFitItsArguments) {
  Node &x = input("x");
  Node &token = enter({&x}, "x,y|m");
  Node &inside = compute("inside", {&x});
  Node &out = pick(exit({&inside}, token, "m"), 0);
  EXPECT_NE(outline({&out}, {"m"}).find("names 2 arguments"),
            std::string::npos);
}

} // namespace
