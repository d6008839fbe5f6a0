// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Inspect/OpCount.h"
#include "corten/Dialect/Registration.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace corten;
using namespace mlir;

namespace {

class OpCountTest : public ::testing::Test {
protected:
  OpCountTest() : context(registry()) {}

  static DialectRegistry registry() {
    DialectRegistry dialects;
    registerAllDialects(dialects);
    return dialects;
  }

  /// A program with `op` in its entry point.
  OwningOpRef<ModuleOp> program(StringRef op) {
    std::string text = (R"mlir(
coreai.graph private noinline @twice_abcdefgh(
    %x: tensor<4xf32> {coreai.name = "x"}) -> tensor<4xf32>
    attributes {composite_decl = #coreai.composite_declaration<"twice">} {
  %0 = "coreai.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "coreai.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  coreai.output %1 : tensor<4xf32>
}
coreai.graph @main(%x: tensor<4xf32> {coreai.name = "x"})
    -> (tensor<4xf32> {coreai.name = "y"}) {
  %0 = coreai.invoke @twice_abcdefgh(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = )mlir" + op + R"mlir(
  coreai.output %1 : tensor<4xf32>
}
)mlir")
                           .str();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return module;
  }

  MLIRContext context;
};

} // namespace

TEST_F(OpCountTest, Composites) {
  auto module =
      program("\"coreai.sigmoid\"(%0) : (tensor<4xf32>) -> tensor<4xf32>");
  OpCounts counts = countOps(*module, CompositeCalls::Invocations);
  EXPECT_EQ(counts.total(), 3U);
  EXPECT_EQ(counts.ops[0].name, "invoke");
  ASSERT_EQ(counts.composites.size(), 1U);
  EXPECT_EQ(counts.composites[0].name, "twice");
  EXPECT_EQ(counts.composites[0].instances, 1U);
  EXPECT_EQ(counts.composites[0].calls, 1U);
  EXPECT_EQ(counts.composites[0].total(), 3U);
  EXPECT_EQ(counts.composites[0].ops[0].name, "relu");

  counts = countOps(*module, CompositeCalls::Collapsed);
  EXPECT_EQ(counts.ops[0].name, "composite.twice");

  std::string text;
  llvm::raw_string_ostream stream(text);
  printOpCounts(counts, stream);
  EXPECT_NE(text.find("Total: 3 ops  (3 unique)"), std::string::npos);
  EXPECT_NE(text.find("composite.twice  (1 instances)"), std::string::npos);
  EXPECT_EQ(toJson(counts).getAsObject()->getInteger("total"), 3);
}

TEST_F(OpCountTest, Everywhere) {
  auto module =
      program("\"coreai.relu\"(%0) : (tensor<4xf32>) -> tensor<4xf32>");
  OpCounts counts = countOps(*module, CompositeCalls::Invocations);
  std::vector<OpCount> all = counts.everywhere();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name, "relu");
  EXPECT_EQ(all[0].count, 3U);
  EXPECT_EQ(all[1].name, "output");
  EXPECT_EQ(all[1].count, 2U);
  ASSERT_EQ(counts.instances().size(), 1U);
  EXPECT_EQ(counts.instances()[0].name, "twice");
}

TEST_F(OpCountTest, StandInsAreNoOps) {
  auto module = program("builtin.unrealized_conversion_cast %0 : "
                        "tensor<4xf32> to tensor<4xf32>");
  OpCounts counts = countOps(*module, CompositeCalls::Invocations);
  EXPECT_EQ(counts.total(), 2U);
}

TEST_F(OpCountTest, SideBySide) {
  auto source =
           program("\"coreai.sigmoid\"(%0) : (tensor<4xf32>) -> tensor<4xf32>"),
       target =
           program("\"coreai.tanh\"(%0) : (tensor<4xf32>) -> tensor<4xf32>");
  std::string text;
  llvm::raw_string_ostream stream(text);
  printOpCounts({"a", countOps(*source, CompositeCalls::Invocations)},
                {"b", countOps(*target, CompositeCalls::Invocations)}, stream);
  EXPECT_NE(text.find("sigmoid        1        0     -1  *"), std::string::npos)
      << text;
  EXPECT_NE(text.find("tanh           0        1     +1  *"), std::string::npos)
      << text;
}
