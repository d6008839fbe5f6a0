// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/GraphDiff/GraphDiff.h"
#include "corten/Dialect/Registration.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace corten;
using namespace mlir;

namespace {

class GraphDiffTest : public ::testing::Test {
protected:
  GraphDiffTest() : context(registry()) {}

  static DialectRegistry registry() {
    DialectRegistry dialects;
    registerAllDialects(dialects);
    return dialects;
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return module;
  }

  MLIRContext context;
};

} // namespace

static constexpr StringRef kProgram = R"mlir(
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
  %1 = "coreai.sigmoid"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  coreai.output %1 : tensor<4xf32>
}
)mlir";

/// The program with one piece of its text replaced wherever it occurs.
static std::string with(StringRef from, StringRef to) {
  std::string text = kProgram.str();
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST_F(GraphDiffTest, NamesDoNotMatter) {
  auto source = parse(kProgram);
  auto target = parse(with("abcdefgh", "zyxwvuts"));
  auto diffs = diffModules(*source, *target, WeightPolicy::Digest);
  ASSERT_EQ(diffs.size(), 2U);
  EXPECT_EQ(diffs[0].label, "main");
  EXPECT_EQ(diffs[1].label,
            "twice (source: @twice_abcdefgh, target: @twice_zyxwvuts)");
  EXPECT_TRUE(diffs[0].isSame());
  EXPECT_TRUE(diffs[1].isSame());
}

TEST_F(GraphDiffTest, WhatIsDifferent) {
  auto source = parse(kProgram);
  auto target = parse(with("sigmoid", "tanh"));
  auto diffs = diffModules(*source, *target, WeightPolicy::Digest);
  auto operations = operationDiffs(*diffs[0].diff);
  ASSERT_EQ(operations.size(), 2U);
  EXPECT_EQ(operations[0].status, OperationDiff::Status::Removed);
  EXPECT_EQ(operations[1].status, OperationDiff::Status::Added);
  EXPECT_TRUE(diffs[1].isSame());

  std::string text, page;
  llvm::raw_string_ostream textStream(text), pageStream(page);
  printDiffs(diffs, textStream);
  EXPECT_NE(text.find("(coreai.sigmoid) has no match"), std::string::npos);
  EXPECT_NE(text.find("GRAPHS DIFFER"), std::string::npos);
  diffs[0].label = "<main>";
  printDiffsAsHtml(diffs, pageStream);
  EXPECT_NE(page.find("<h2>&lt;main&gt;</h2>"), std::string::npos);
  EXPECT_NE(page.find("<tr class=\"removed\">"), std::string::npos);
}

TEST_F(GraphDiffTest, NoSuchGraph) {
  auto source = parse(kProgram);
  auto diff =
      diffModules(*source, *source, StringRef("other"), WeightPolicy::Ignore);
  ASSERT_FALSE(static_cast<bool>(diff));
  EXPECT_EQ(llvm::toString(diff.takeError()),
            "Entry point 'other' not found in the source program; it has: "
            "twice_abcdefgh, main");
}
