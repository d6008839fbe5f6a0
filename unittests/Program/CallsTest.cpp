// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Calls.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace corten;
using llvm::StringRef;

namespace {

using Given = std::vector<GivenArgument>;

class CallsTest : public ::testing::Test {
protected:
  CallsTest() {
    x = &tensor("x");
    y = &tensor("y");
    getItem = addCallee(builder, "_operator", "getitem");
  }
  static ValueInfo tensorInfo() {
    ValueInfo info;
    info.kind = ValueInfo::Kind::Tensor;
    return info;
  }
  Node &tensor(StringRef name) {
    Node &node = builder.addNode(graph, Node::Kind::Placeholder, name);
    node.results = builder.save(tensorInfo());
    return node;
  }
  /// An operator that a higher-order one calls.
  Callee wrapped(StringRef wrapper, StringRef schema) {
    return addCallee(builder, "lib", "f.default", parseSchema(schema, builder),
                     wrapperOf("higher_order", wrapper));
  }
  Node &add(StringRef name, const Callee &callee, const Given &given) {
    return *llvm::cantFail(calls.add(graph, name, callee, given));
  }
  Node &pick(StringRef name, const Node &call, int64_t position) {
    return add(
        name, getItem,
        {{{}, Argument::node(&call)}, {{}, Argument::integer(position)}});
  }
  void setResults(Node &call, const Callee &callee,
                  const std::vector<ValueInfo> &results) {
    llvm::cantFail(
        calls.setResults(call, callee, results, /*returnsTuple=*/true));
  }
  /// What is said of a call of the second version.
  std::string refusal(const Callee &callee, const Given &given) {
    llvm::Expected<Node *> added = calls.add(graph, "call", callee, given);
    return added ? "" : llvm::toString(added.takeError());
  }
  static Argument ref(const Node *node) { return Argument::node(node); }

  ProgramBuilder builder;
  Graph &graph = builder.mainGraph();
  CallBuilder calls{builder};
  Callee getItem;
  Node *x = nullptr, *y = nullptr;
};

TEST_F(CallsTest, TokensAreNoValues) {
  Callee callee =
      wrapped("with_effects", "lib::f(Tensor x) -> (Tensor, Tensor)");
  EXPECT_EQ(callee.wrapper.numArguments, 2U);
  Node &call = add("call", callee, {{{}, ref(x)}});
  ValueInfo token, value = tensorInfo();
  setResults(call, callee, {token, value, value});
  EXPECT_EQ(call.callee->printedName(), "lib.f.default");
  EXPECT_EQ(call.results.size(), 2U);
  EXPECT_TRUE(call.returnsTuple);

  Node &order = pick("order", call, 0);
  Node &second = pick("second", call, 2);
  EXPECT_TRUE(calls.isToken(order));
  EXPECT_FALSE(calls.isToken(second));
  EXPECT_EQ(second.arguments[1].asInt(), 1);
  EXPECT_FALSE(llvm::is_contained(graph.nodes, &order));
  EXPECT_TRUE(llvm::is_contained(graph.nodes, &second));

  calls.setOutputs(graph, {ref(&order), ref(&second), Argument::integer(3)});
  ASSERT_EQ(graph.outputs.size(), 2U);
  EXPECT_EQ(graph.outputs[0].asNode(), &second);
}

TEST_F(CallsTest, OtherCallsHaveNoTokens) {
  Callee callee =
      addCallee(builder, "lib", "f.default",
                parseSchema("lib::f(Tensor x) -> (Tensor, Tensor)", builder));
  Node &call = add("call", callee, {{{}, ref(x)}});
  ValueInfo value = tensorInfo();
  setResults(call, callee, {value, value});
  Node &first = pick("first", call, 0);
  EXPECT_FALSE(calls.isToken(first));
  EXPECT_EQ(first.arguments[1].asInt(), 0);
}

TEST_F(CallsTest, WhoWritesIsNamedByItsSchema) {
  StringRef schema = "lib::f(Tensor(a!) x) -> ()";
  Callee plain =
      addCallee(builder, "lib", "f.default", parseSchema(schema, builder));
  EXPECT_TRUE(plain.op->mutates);
  EXPECT_FALSE(wrapped("auto_functionalized", schema).op->mutates);
  EXPECT_TRUE(wrapped("with_effects", schema).op->mutates);
  EXPECT_TRUE(addCallee(builder, "aten", "add_.Tensor").op->mutates);
  EXPECT_FALSE(addCallee(builder, "lib", "add_.Tensor").op->mutates);
}

TEST_F(CallsTest, FunctionalCallsHaveTheArgumentsOfTheOperator) {
  StringRef schema = "lib::f(Tensor(a!) x, Tensor y, Tensor(b!)? z=None) -> ()";
  Node &first = add("first", wrapped("auto_functionalized", schema),
                    {{"x", ref(x)}, {"y", ref(y)}});
  EXPECT_EQ(first.arguments[0].asNode(), x);

  Callee callee = wrapped("auto_functionalized_v2", schema);
  Argument bases = Argument::list(builder.save({ref(y), ref(x)}));
  auto at = [](int64_t base) { return Argument::integer(base); };
  Node &both = add("both", callee,
                   {{"y", ref(y)},
                    {"_x_base_index", at(0)},
                    {"_x_alias", Argument::boolean(true)},
                    {"_z_base_index", at(1)},
                    {"_all_bases", bases}});
  EXPECT_EQ(both.arguments[0].asNode(), y);
  EXPECT_EQ(both.arguments[2].asNode(), x);

  Argument one = Argument::list(builder.save({ref(x)}));
  Node &none = add("none", callee,
                   {{"y", ref(y)},
                    {"_x_base_index", at(0)},
                    {"_z_base_index", {}},
                    {"_all_bases", one}});
  EXPECT_EQ(none.arguments[0].asNode(), x);
  EXPECT_TRUE(none.arguments[2].isNone());
}

TEST_F(CallsTest, PartsCannotBeWrittenTo) {
  Callee callee = wrapped("auto_functionalized_v2",
                          "lib::f(Tensor(a!) x, Tensor(b!) y) -> ()");
  Argument bases = Argument::list(builder.save({ref(x)}));
  auto at = [](int64_t base) { return Argument::integer(base); };
  std::string view = "call 'call': lib.f.default writes to 'x', which is a "
                     "view of another tensor; call clone() on it first and "
                     "copy the result back";
  EXPECT_EQ(refusal(callee, {{"_x_base_index", at(0)},
                             {"_x_alias", Argument::boolean(false)},
                             {"_all_bases", bases}}),
            view);
  EXPECT_EQ(refusal(callee, {{"_x_base_index", at(0)},
                             {"_x_slice_start", at(1)},
                             {"_all_bases", bases}}),
            view);
  StringRef twice =
      "call 'call': lib.f.default writes to one tensor through two names";
  EXPECT_EQ(refusal(callee, {{"_x_base_index", at(0)},
                             {"_y_base_index", at(0)},
                             {"_all_bases", bases}}),
            twice);
  EXPECT_EQ(refusal(callee, {{"_x_base_index", at(7)},
                             {"_y_base_index", at(0)},
                             {"_all_bases", bases}}),
            twice);
}

TEST_F(CallsTest, PickedResultsAreThere) {
  Callee callee =
      addCallee(builder, "lib", "f.default",
                parseSchema("lib::f(Tensor x) -> (Tensor, Tensor)", builder));
  Node &call = add("tuple", callee, {{{}, ref(x)}});
  setResults(call, callee, {tensorInfo(), tensorInfo()});
  auto at = [](int64_t position) { return Argument::integer(position); };
  EXPECT_EQ(pick("last", call, -1).arguments[1].asInt(), -1);
  std::vector<Given> wrong = {{{{}, ref(&call)}, {{}, at(2)}},
                              {{{}, ref(&call)}, {{}, at(-3)}},
                              {{{}, ref(x)}, {{}, at(0)}},
                              {{{}, ref(&call)}, {{}, Argument::floating(0)}},
                              {{{}, ref(&call)}},
                              {}};
  for (const Given &given : wrong)
    EXPECT_EQ(refusal(getItem, given),
              "call 'call': a result that there is not");
}

TEST_F(CallsTest, ResultsAreThoseOfTheSchema) {
  ValueInfo tensor = tensorInfo(), number, nothing;
  number.kind = ValueInfo::Kind::SymInt;
  using Infos = std::vector<ValueInfo>;
  auto refusalOf = [&](const char *returns, const Infos &results,
                       bool returnsTuple) {
    std::string schema = std::string("lib::f(Tensor x) -> ") + returns;
    Callee callee = addCallee(builder, "lib", "f.default",
                              parseSchema(builder.save(schema), builder));
    Node &call = add("call", callee, {{{}, ref(x)}});
    std::string message =
        llvm::toString(calls.setResults(call, callee, results, returnsTuple));
    if (message.empty()) {
      EXPECT_EQ(call.returnsTuple, returnsTuple);
      EXPECT_EQ(call.results.size(),
                std::max<size_t>(results.size(), returnsTuple ? 0 : 1));
    }
    return message;
  };
  struct Case {
    const char *returns;
    Infos results;
    bool returnsTuple;
    const char *message;
  };
  for (const Case &each : std::initializer_list<Case>{
           {"Tensor", {tensor}, false, ""},
           {"Tensor", {nothing}, false, ""},
           {"SymInt", {number}, false, ""},
           {"Any", {tensor}, false, ""},
           {"()", {}, false, ""},
           {"()", {nothing}, false, ""},
           {"(Tensor, SymInt)", {tensor, number}, true, ""},
           {"(Tensor, Tensor[])", {tensor, nothing}, true, ""},
           {"Tensor[]", {tensor, tensor}, true, ""},
           {"Tensor[]", {}, true, ""},
           {"Tensor", {}, false, "1 value, and not nothing"},
           {"Tensor", {tensor}, true, "1 value, and not a list of 1"},
           {"Tensor", {tensor, tensor}, true, "1 value, and not a list of 2"},
           {"()", {tensor}, false, "nothing, and not one value"},
           {"(Tensor, Tensor)", {tensor}, false, "2 values, and not one value"},
           {"(Tensor, Tensor)", {}, true, "2 values, and not a list of 0"},
           {"Tensor[]", {tensor}, false, "a list, and not one value"},
           {"Tensor", {number}, false, "a tensor, and not something else"},
           {"SymInt", {tensor}, false, "something else, and not a tensor"},
           {"(Tensor, SymInt)",
            {tensor, tensor},
            true,
            "something else, and not a tensor"},
           {"Tensor[]",
            {tensor, number},
            true,
            "a tensor, and not something else"},
       }) {
    std::string wanted = each.message;
    if (!wanted.empty())
      wanted = "call 'call': lib.f.default returns " + wanted;
    EXPECT_EQ(refusalOf(each.returns, each.results, each.returnsTuple), wanted)
        << each.returns;
  }
}

TEST_F(CallsTest, WhatCallsOthersHasResultsOfItsOwn) {
  Callee callee = wrapped("auto_functionalized", "lib::f(Tensor(a!) x) -> ()");
  Node &call = add("call", callee, {{"x", ref(x)}});
  setResults(call, callee, {ValueInfo(), tensorInfo()});
  EXPECT_EQ(call.results.size(), 2U);
}

TEST_F(CallsTest, WhatTorchExpands) {
  EXPECT_TRUE(isExpanded("flex_attention"));
  EXPECT_TRUE(isExpanded("out_dtype"));
  EXPECT_FALSE(isExpanded("cond"));
}

TEST_F(CallsTest, FunctionsOnNumbersAreGivenNumbers) {
  Callee callee =
      addCallee(builder, "lib", "f.default",
                parseSchema("lib::f(Tensor x) -> (Tensor, Tensor)", builder));
  Node &tuple = add("tuple", callee, {{{}, ref(x)}});
  setResults(tuple, callee, {tensorInfo(), tensorInfo()});
  Argument one = Argument::integer(1), text = Argument::string("1");
  Argument numbers = Argument::list(builder.save({one, ref(x)}));
  Argument texts = Argument::list(builder.save({one, text}));
  struct Case {
    const char *name;
    Given right, wrong;
  };
  for (const Case &each : std::initializer_list<Case>{
           {"neg", {{{}, ref(x)}}, {{{}, one}, {{}, one}}},
           {"_sym_cos", {{{}, one}}, {{{}, text}}},
           {"round", {{{}, ref(x)}}, {{{}, ref(x)}, {{}, text}}},
           {"round", {{{}, ref(x)}, {{}, Argument()}}, {{{}, text}}},
           {"round",
            {{{}, ref(x)}, {{}, one}},
            {{{}, one}, {{}, one}, {{}, one}}},
           {"add", {{{}, ref(x)}, {{}, one}}, {{{}, one}}},
           {"mul", {{{}, one}, {{}, one}}, {{{}, one}, {{}, ref(&tuple)}}},
           {"sym_ite", {{{}, ref(x)}, {{}, one}, {{}, one}}, {{{}, one}}},
           {"sym_sum", {{{}, numbers}}, {{{}, texts}}},
           {"sym_sum", {{{}, numbers}}, {{{}, one}}},
       }) {
    Callee function = addCallee(builder, "_operator", each.name);
    EXPECT_EQ(refusal(function, each.right), "");
    EXPECT_EQ(refusal(function, each.wrong),
              std::string("call 'call': the arguments of _operator.") +
                  each.name + " are of the wrong types");
  }
  // Nobody lowers it: it is listed with what else is unsupported.
  EXPECT_EQ(refusal(addCallee(builder, "_operator", "unheard_of"), {}), "");
}

TEST_F(CallsTest, HigherOrderOperatorsAreGivenTheirGraphs) {
  Argument region = Argument::graph(&builder.addSubgraph("region"));
  Argument list = Argument::list({}), yes = Argument::boolean(true);
  struct Case {
    const char *name;
    std::vector<Argument> right;
  };
  for (const Case &each : std::initializer_list<Case>{
           {"cond", {yes, region, region, list}},
           {"while_loop", {region, region, list, list}},
           {"scan", {region, list, list, list}},
           {"associative_scan", {region, list, list}},
           {"map_impl", {region, list, list}},
           {"wrap_with_set_grad_enabled", {yes, region, ref(x)}},
           {"wrap_with_autocast", {list, list, yes, list, region, ref(x)}},
       }) {
    Callee callee = addCallee(builder, "higher_order", each.name);
    Given given;
    for (const Argument &argument : each.right)
      given.push_back({{}, argument});
    EXPECT_EQ(refusal(callee, given), "");
    std::string message =
        std::string("call 'call': the arguments of higher_order.") + each.name +
        " are of the wrong types";
    // A tensor is no graph, no list and no flag that is known.
    for (GivenArgument &argument : given)
      if (argument.value.kind() == Argument::Kind::Graph) {
        Argument old = std::exchange(argument.value, ref(x));
        EXPECT_EQ(refusal(callee, given), message);
        argument.value = old;
      }
    EXPECT_EQ(refusal(callee, {}), message);
  }
}

TEST_F(CallsTest, FunctionsOnNumbersHaveOneNamespace) {
  for (StringRef module : {"", "torch", "math", "builtins", "_operator"})
    EXPECT_EQ(functionNamespace(module), "_operator");
  EXPECT_EQ(functionNamespace("library.ops"), "library.ops");
}

} // namespace
