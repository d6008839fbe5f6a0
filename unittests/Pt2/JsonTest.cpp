// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Json.h"

#include "llvm/ADT/SmallVector.h"

#include "gtest/gtest.h"

#include <cmath>
#include <string>

using namespace corten::pt2;

/// What is wrong with a text; empty if nothing is.
static std::string problemOf(llvm::StringRef text) {
  llvm::Expected<JsonDocument> document = JsonDocument::parse(text);
  return document ? "" : llvm::toString(document.takeError());
}

namespace {
TEST(JsonTest, Values) {
  llvm::Expected<JsonDocument> document = JsonDocument::parse(
      R"( {"a": [1, -2.5e1, true, false, null, "x\u00e9\n\ud83d\ude00\"", {}],
           "b": {"c": {"d": -9223372036854775808}}, "e": "Infinity"} )");
  ASSERT_TRUE(static_cast<bool>(document));
  JsonValue root = document->root();
  EXPECT_EQ(root.size(), 3U);
  llvm::SmallVector<JsonValue> items(root["a"].elements());
  ASSERT_EQ(items.size(), 7U);
  EXPECT_EQ(items[0].integer(), 1);
  EXPECT_EQ(items[1].number(), -25.0);
  EXPECT_EQ(items[1].integer(), std::nullopt);
  EXPECT_EQ(items[2].boolean(), true);
  EXPECT_EQ(items[3].boolean(), false);
  EXPECT_TRUE(items[4].isNull());
  EXPECT_EQ(items[5].string(), "x\xc3\xa9\n\xf0\x9f\x98\x80\"");
  EXPECT_TRUE(items[6].isObject());
  EXPECT_EQ(root["b"]["c"]["d"].integer(), INT64_MIN);
  EXPECT_TRUE(std::isinf(*root["e"].number()));
}

TEST(JsonTest, WhatIsNotThereIsNull) {
  llvm::Expected<JsonDocument> document = JsonDocument::parse(R"({"a": 1})");
  ASSERT_TRUE(static_cast<bool>(document));
  JsonValue missing = document->root()["b"]["c"];
  EXPECT_FALSE(missing);
  EXPECT_TRUE(missing.isNull());
  EXPECT_EQ(missing.size(), 0U);
  EXPECT_EQ(missing.string(), std::nullopt);
  EXPECT_EQ(document->root()["a"].string(), std::nullopt);
  EXPECT_TRUE(document->root()["a"].elements().empty());
}

TEST(JsonTest, HalfASurrogatePair) {
  llvm::Expected<JsonDocument> document =
      JsonDocument::parse(R"(["\ud83d", "\ud83d\u0041", "\ude00"])");
  ASSERT_TRUE(static_cast<bool>(document));
  llvm::SmallVector<JsonValue> items(document->root().elements());
  EXPECT_EQ(items[0].string(), "\xef\xbf\xbd");
  EXPECT_EQ(items[1].string(), "\xef\xbf\xbd"
                               "A");
  EXPECT_EQ(items[2].string(), "\xef\xbf\xbd");
}

TEST(JsonTest, Refuses) {
  for (llvm::StringRef text :
       {"",       " ",   "[",       "]",        "[1,]",       "[,1]",
        "[1 2]",  "{",   "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
        "{1:1}",  "tru", "nul",     "-",        "1.",         ".5",
        "1e",     "+1",  "\"",      "\"\\",     "\"\\x\"",    "\"\\u12\"",
        "\"\t\"", "[}",  "{]",      "1 1",      "[1]]",       "NaN"})
    EXPECT_NE(problemOf(text), "") << text.str();
}

TEST(JsonTest, DepthIsBounded) {
  auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(problemOf(nested(JsonDocument::kMaxDepth)), "");
  EXPECT_NE(problemOf(nested(JsonDocument::kMaxDepth + 1)), "");
}
} // namespace
