// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/View/View.h"
#include "corten/Dialect/Registration.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace corten;
using namespace mlir;

TEST(Overlay, Reads) {
  ViewOptions options;
  llvm::Error error = readOverlay(
      R"({"title": "t", "errors": {"3": 0.5, "4": null, "5": "inf"}})",
      options);
  ASSERT_FALSE(static_cast<bool>(error));
  EXPECT_EQ(options.title, "t");
  ASSERT_TRUE(options.errors);
  EXPECT_EQ(options.errors->at(3), 0.5);
  EXPECT_TRUE(std::isnan(options.errors->at(4)));
  EXPECT_TRUE(std::isinf(options.errors->at(5)));
  EXPECT_FALSE(options.times);
}

static std::string messageOf(llvm::StringRef text) {
  ViewOptions options;
  return llvm::toString(readOverlay(text, options));
}

TEST(Overlay, Refuses) {
  EXPECT_NE(messageOf("{"), "");
  EXPECT_EQ(messageOf("[]"), "expected a JSON object");
  EXPECT_EQ(messageOf(R"({"times": 3})"), "\"times\" is no JSON object");
  EXPECT_EQ(messageOf(R"({"times": {"a": 3}})"),
            "\"times\" has a key 'a' that is no number of an operation");
  EXPECT_EQ(messageOf(R"({"errors": {"7": "x"}})"),
            "\"errors\" has a value for 7 that is no number");
}

TEST(Page, HoldsEverything) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  auto module = parseSourceString<ModuleOp>(
      R"mlir(coreai.graph @"</script>"(%x: tensor<?x4xf32>
          {coreai.name = "x"}) -> (tensor<?x4xf32> {coreai.name = "y"}) {
        %0 = "coreai.relu"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
        coreai.output %0 : tensor<?x4xf32>
      })mlir",
      &context);
  ASSERT_TRUE(module);
  ViewOptions options;
  options.title = "a & b";
  std::string page;
  llvm::raw_string_ostream stream(page);
  writeView(*module, options, stream);
  EXPECT_NE(page.find("<title>a &amp; b</title>"), std::string::npos);
  EXPECT_NE(page.find("?×4 f32"), std::string::npos);
  EXPECT_EQ(page.find("{{"), std::string::npos);
  // The name of the graph must not end the script that holds the data.
  EXPECT_EQ(page.find("\"</script>\""), std::string::npos);
}
