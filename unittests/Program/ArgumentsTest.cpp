// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Arguments.h"

#include "gtest/gtest.h"

using namespace corten;

namespace {

/// A call of an operator on `x`, a tensor of two axes.
struct Call {
  ProgramBuilder builder;
  Node *x = nullptr, *call = nullptr;
  OperatorSchema schema;

  explicit Call(llvm::StringRef text) : schema(parseSchema(text, builder)) {
    x = &builder.addNode(builder.mainGraph(), Node::Kind::Placeholder, "x");
    ValueInfo info;
    info.kind = ValueInfo::Kind::Tensor;
    info.sizes = builder.save(llvm::ArrayRef<Size>{2, 3});
    x->results = builder.save(info);
    auto [nameSpace, name] = text.split('(').first.split("::");
    call = &builder.addNode(builder.mainGraph(), Node::Kind::Call, "y");
    call->callee = builder.addOperator(nameSpace, name, schema.parameters);
  }
  std::string set(llvm::ArrayRef<GivenArgument> given) {
    return llvm::toString(setArguments(builder, *call, &schema, given));
  }
  GivenArgument self() const { return {"", Argument::node(x)}; }
};

Argument integer(int64_t value) { return Argument::integer(value); }

TEST(ArgumentsTest, DefaultsAreFilledIn) {
  Call call("aten::f(Tensor self, int a=1, *, bool flag=False) -> Tensor");
  EXPECT_EQ(call.set({call.self(), {"flag", Argument::boolean(true)}}), "");
  EXPECT_EQ(call.call->argument("self").asNode(), call.x);
  EXPECT_EQ(call.call->argument("a").asInt(), 1);
  EXPECT_TRUE(call.call->argument("flag").asBool());
  EXPECT_EQ(call.set({call.self(), {"", integer(7)}}), "");
  EXPECT_EQ(call.call->argument("a").asInt(), 7);
}

TEST(ArgumentsTest, NumbersAreWidened) {
  Call call("aten::f(Tensor self, SymInt[2] stride, int n) -> Tensor");
  EXPECT_EQ(call.set({call.self(),
                      {"stride", integer(3)},
                      {"n", Argument::boolean(true)}}),
            "");
  llvm::ArrayRef<Argument> stride = call.call->argument("stride").asList();
  ASSERT_EQ(stride.size(), 2U);
  EXPECT_EQ(stride[1].asInt(), 3);
  EXPECT_EQ(call.call->argument("n").kind(), Argument::Kind::Int);
}

TEST(ArgumentsTest, WhatTheSchemaDoesNotSayIsRefused) {
  Call call("aten::f(Tensor self, int a) -> Tensor");
  EXPECT_EQ(call.set({call.self()}),
            "call 'y': the argument 'a' of aten.f is missing");
  EXPECT_EQ(call.set({call.self(), {"b", integer(1)}}),
            "call 'y': aten.f has no parameter 'b'");
  EXPECT_EQ(call.set({call.self(), {"a", Argument::floating(0.5)}}),
            "call 'y': the argument 'a' of aten.f is of the wrong type");
  EXPECT_NE(call.set({call.self(), {"", integer(1)}, {"", integer(1)}}), "");
}

TEST(ArgumentsTest, Axes) {
  Call sum("aten::sum.dim_IntList(Tensor self, int[1]? dim) -> Tensor");
  EXPECT_EQ(sum.set({sum.self(), {"dim", integer(-2)}}), "");
  EXPECT_EQ(sum.set({sum.self(), {"dim", integer(2)}}),
            "call 'y': 'dim' of aten.sum.dim_IntList is no axis of 'x'");
  // The axes of the result are one more.
  Call unsqueeze("aten::unsqueeze(Tensor self, int dim) -> Tensor");
  EXPECT_EQ(unsqueeze.set({unsqueeze.self(), {"dim", integer(2)}}), "");
  EXPECT_NE(unsqueeze.set({unsqueeze.self(), {"dim", integer(3)}}), "");
  ValueInfo number;
  number.kind = ValueInfo::Kind::Tensor;
  unsqueeze.x->results = unsqueeze.builder.save(number);
  EXPECT_EQ(unsqueeze.set({unsqueeze.self(), {"dim", integer(-1)}}), "");
  EXPECT_NE(unsqueeze.set({unsqueeze.self(), {"dim", integer(1)}}), "");
  Call move("aten::movedim.int(Tensor self, int source, int destination) -> "
            "Tensor");
  EXPECT_EQ(
      move.set(
          {move.self(), {"source", integer(0)}, {"destination", integer(2)}}),
      "call 'y': 'destination' of aten.movedim.int is no axis of 'x'");
  Call tile("aten::tile.default(Tensor self, SymInt[] dims) -> Tensor");
  EXPECT_EQ(tile.set({tile.self(), {"dims", integer(9)}}), "");
  // Nobody knows what a user's operator calls so.
  Call mine("mine::f(Tensor self, int dim) -> Tensor");
  EXPECT_EQ(mine.set({mine.self(), {"dim", integer(64)}}), "");
}

TEST(ArgumentsTest, WithoutASchemaTheyAreAsGiven) {
  Call call("aten::f() -> Tensor");
  GivenArgument given[] = {call.self(), {"other", integer(1)}};
  EXPECT_FALSE(setArguments(call.builder, *call.call, nullptr, given));
  ASSERT_EQ(call.call->arguments.size(), 2U);
  EXPECT_EQ(call.call->arguments[1].asInt(), 1);
}

TEST(ArgumentsTest, TypesOfLibrariesTakeAnything) {
  Call call("mine::f(Tensor self, __torch__.torch.classes.mine.Table t, "
            "Dict(str, int) d) -> Tensor");
  EXPECT_EQ(
      call.set(
          {call.self(), {"t", Argument::opaque("<table>")}, {"d", integer(1)}}),
      "");
}

} // namespace
