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
  calls.setResults(call, {token, value, value}, /*returnsTuple=*/true);
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
  calls.setResults(call, {value, value}, /*returnsTuple=*/true);
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

TEST_F(CallsTest, FunctionsOnNumbersHaveOneNamespace) {
  for (StringRef module : {"", "torch", "math", "builtins", "_operator"})
    EXPECT_EQ(functionNamespace(module), "_operator");
  EXPECT_EQ(functionNamespace("library.ops"), "library.ops");
}

} // namespace
