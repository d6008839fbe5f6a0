// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Program.h"

#include "gtest/gtest.h"

using namespace corten;

namespace {

TEST(ProgramTest, ArgumentsByNameWithDefaults) {
  ProgramBuilder builder;
  Parameter self{builder.save(llvm::StringRef("self")), false, {}};
  Parameter alpha{builder.save(llvm::StringRef("alpha")), true,
                  Argument::integer(1)};
  const Operator *add =
      builder.addOperator("aten", "add.Tensor", {self, alpha});
  Node &x = builder.addNode(builder.mainGraph(), Node::Kind::Placeholder, "x");
  Node &sum = builder.addNode(builder.mainGraph(), Node::Kind::Call, "add");
  sum.callee = add;
  sum.arguments = builder.save({Argument::node(&x), alpha.defaultValue});

  EXPECT_EQ(sum.argument("self").asNode(), &x);
  EXPECT_EQ(sum.argument("alpha").asInt(), 1);
  EXPECT_EQ(sum.findArgument("beta"), nullptr);
  EXPECT_EQ(add->printedName(), "aten.add.Tensor");
}

TEST(ProgramTest, InnermostFrameIsTheSource) {
  Node node;
  node.stackTrace = "  File \"outer.py\", line 3, in forward\n    y = f(x)\n"
                    "  File \"a \\ b.py\", line 214, in _inner\n    return x\n";
  SourceLocation source = node.source();
  EXPECT_EQ(source.file, "a \\ b.py");
  EXPECT_EQ(source.line, 214u);
  EXPECT_EQ(source.function, "_inner");
}

TEST(ProgramTest, AMalformedTraceIsUnknown) {
  for (const char *trace :
       {"", "File \"", "File \"x.py\"", "File \"x.py\", line ",
        "File \"x.py\", line twelve", "no frames here"}) {
    Node node;
    node.stackTrace = trace;
    EXPECT_FALSE(node.source().isKnown()) << trace;
  }
}

TEST(ProgramTest, ViewsOfOneMemoryAreOneWeight) {
  ProgramBuilder builder;
  float data[6] = {};
  auto add = [&](ScalarType type, llvm::ArrayRef<int64_t> shape) {
    return builder.addWeight(type, shape, data, sizeof(data), nullptr);
  };
  EXPECT_EQ(add(ScalarType::Float32, {2, 3}), 0);
  EXPECT_EQ(add(ScalarType::Float32, {2, 3}), 0);
  EXPECT_EQ(add(ScalarType::Float32, {3, 2}), 1);
  EXPECT_EQ(add(ScalarType::Int32, {2, 3}), 2);
  // Empty tensors have no address to be recognised by.
  EXPECT_EQ(builder.addWeight(ScalarType::Float32, {0}, nullptr, 0, nullptr),
            3);
  EXPECT_EQ(builder.addWeight(ScalarType::Float32, {0}, nullptr, 0, nullptr),
            4);
}

TEST(ProgramTest, WeightsAreViewsThatKeepTheirOwner) {
  bool released = false;
  float data[2] = {1, 2};
  auto owner =
      std::shared_ptr<const void>(data, [&](const void *) { released = true; });
  ProgramBuilder builder;
  builder.addWeight(ScalarType::Float32, {2}, data, sizeof(data),
                    std::move(owner));
  std::unique_ptr<Program> program = llvm::cantFail(builder.finish());
  EXPECT_EQ(program->weights[0].data, data);
  EXPECT_EQ(program->weights[0].numElements(), 2);
  EXPECT_FALSE(released);
  program.reset();
  EXPECT_TRUE(released);
}

TEST(ProgramTest, SymbolsAreSharedByExpression) {
  ProgramBuilder builder;
  unsigned n = builder.symbol("s0");
  EXPECT_EQ(builder.symbol("s0"), n);
  EXPECT_NE(builder.symbol("2*s0"), n);
  builder.setRange(n, 2, std::nullopt);
  std::unique_ptr<Program> program = llvm::cantFail(builder.finish());
  EXPECT_EQ(program->symbols[n].expression, "s0");
  EXPECT_EQ(program->symbols[n].min, 2);
  EXPECT_FALSE(program->symbols[n].max.has_value());
}

TEST(ProgramTest, WhereThereIsNoModuleThereIsTheCaller) {
  ProgramBuilder builder;
  const ModuleFrame *root = builder.addModule(nullptr, "L__self__", "", "Net");
  EXPECT_EQ(builder.addModule(root, "_empty_nn_module_stack", "", ""), root);
  EXPECT_EQ(builder.addModule(nullptr, "_empty_nn_module_stack", "", ""),
            nullptr);
  EXPECT_NE(builder.addModule(root, "layer", "layer", "Linear"), root);
}

} // namespace
