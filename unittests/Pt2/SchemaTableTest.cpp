// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SchemaTable.h"

#include "gtest/gtest.h"

using namespace corten;
using namespace corten::pt2;

namespace {
TEST(SchemaTableTest, FindsEverySchema) {
  EXPECT_GT(allSchemas().size(), 1500U);
  ProgramBuilder builder;
  for (llvm::StringRef schema : allSchemas()) {
    llvm::StringRef name = schema.take_until([](char c) { return c == '('; });
    auto [nameSpace, rest] = name.split("::");
    EXPECT_EQ(findSchema(nameSpace, rest), schema);
    EXPECT_FALSE(parseSchema(schema, builder).parameters.empty() &&
                 !schema.contains("()"));
  }
  EXPECT_EQ(findSchema("aten", "add"), "");
  EXPECT_EQ(findSchema("other", "relu.default"), "");
}
} // namespace
