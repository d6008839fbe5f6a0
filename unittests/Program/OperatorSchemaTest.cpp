// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/OperatorSchema.h"

#include "gtest/gtest.h"

using namespace corten;

namespace {
using Base = ParameterType::Base;

TEST(OperatorSchemaTest, Defaults) {
  ProgramBuilder builder;
  OperatorSchema schema = parseSchema(
      "aten::x.y(Tensor(a!) self, *, SymInt[2] stride=[1, -2], float eps=1, "
      "Scalar beta=0.5, str mode=\"a, (b)\", bool flag=True, ScalarType? "
      "dtype=None, int[] none=[]) -> (Tensor, Tensor(b)[])",
      builder);
  ASSERT_EQ(schema.parameters.size(), 8U);
  EXPECT_FALSE(schema.parameters[0].hasDefault);
  const Argument &stride = schema.parameters[1].defaultValue;
  ASSERT_EQ(stride.asList().size(), 2U);
  EXPECT_EQ(stride.asList()[1].asInt(), -2);
  EXPECT_EQ(schema.parameters[2].defaultValue.kind(), Argument::Kind::Float);
  EXPECT_EQ(schema.parameters[3].defaultValue.asDouble(), 0.5);
  EXPECT_EQ(schema.parameters[4].defaultValue.asString(), "a, (b)");
  EXPECT_TRUE(schema.parameters[5].defaultValue.asBool());
  EXPECT_TRUE(schema.parameters[6].defaultValue.isNone());
  EXPECT_TRUE(schema.parameters[6].hasDefault);
  EXPECT_TRUE(schema.parameters[7].defaultValue.asList().empty());
  EXPECT_EQ(schema.types[6].base, Base::DType);
  EXPECT_TRUE(schema.types[6].isOptional);
  EXPECT_TRUE(schema.mutates);
  EXPECT_TRUE(schema.returnsView);
  EXPECT_FALSE(schema.returnsList);
  EXPECT_EQ(schema.numResults, 2U);
}

TEST(OperatorSchemaTest, Results) {
  ProgramBuilder builder;
  auto parse = [&](llvm::StringRef text) { return parseSchema(text, builder); };
  OperatorSchema split = parse("aten::s(Tensor(a -> *) self) -> Tensor(a)[]");
  EXPECT_TRUE(split.returnsList);
  EXPECT_TRUE(split.returnsView);
  EXPECT_FALSE(split.mutates);
  EXPECT_EQ(parse("aten::a(Tensor self) -> ()").numResults, 0U);
  OperatorSchema write = parse("aten::w_(Tensor(a!) self) -> Tensor(a!)");
  EXPECT_TRUE(write.mutates);
  EXPECT_FALSE(write.returnsView);
}

TEST(OperatorSchemaTest, Types) {
  ProgramBuilder builder;
  Graph &graph = builder.mainGraph();
  Node &tensor = builder.addNode(graph, Node::Kind::Placeholder, "x");
  ValueInfo info;
  info.kind = ValueInfo::Kind::Tensor;
  Size size = 3;
  info.sizes = builder.save(llvm::ArrayRef(size));
  tensor.results = builder.save(llvm::ArrayRef(info));
  Argument value = Argument::node(&tensor);
  Argument list = Argument::list(builder.save({Argument::integer(1)}));
  Argument values = Argument::list(builder.save({value, Argument()}));

  ParameterType ints{.base = Base::Int, .isList = true};
  EXPECT_TRUE(ints.accepts(list));
  EXPECT_FALSE(ints.accepts(value));
  EXPECT_FALSE(ints.accepts(values));
  ParameterType optionalTensors{
      .base = Base::Tensor, .hasOptionalElements = true, .isList = true};
  EXPECT_TRUE(optionalTensors.accepts(values));
  EXPECT_FALSE(optionalTensors.accepts(Argument()));
  ParameterType tensorType{.base = Base::Tensor};
  EXPECT_TRUE(tensorType.accepts(value));
  EXPECT_FALSE(tensorType.accepts(Argument()));
  EXPECT_FALSE(tensorType.accepts(list));
  ParameterType flag{.base = Base::Bool};
  EXPECT_FALSE(flag.accepts(Argument::integer(1)));
  EXPECT_TRUE(flag.accepts(Argument::boolean(true)));
}
} // namespace
