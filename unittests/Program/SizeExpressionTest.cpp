// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/SizeExpression.h"

#include "gtest/gtest.h"

#include <string>

using namespace corten;

static constexpr char kS[] = "Symbol('s77', positive=True, integer=True)";
static constexpr char kT[] = "Symbol('s3', positive=True, integer=True)";

static std::string call(const std::string &name, const std::string &a,
                        const std::string &b) {
  return name + "(" + a + ", " + b + ")";
}

namespace {
TEST(SizeExpressionTest, ShortForm) {
  EXPECT_EQ(shortForm(kS), "s77");
  std::string twice = call("Mul", "Integer(2)", kS);
  EXPECT_EQ(shortForm(twice), "2*s77");
  EXPECT_EQ(shortForm(call("Add", twice, "Integer(1)")), "2*s77 + 1");
  EXPECT_EQ(shortForm(call("Add", kS, "Integer(-3)")), "s77 - 3");
  EXPECT_EQ(shortForm(call("Mul", "Integer(-1)", kS)), "-s77");
  EXPECT_EQ(shortForm(call("Mul", call("Add", kS, "Integer(1)"), kT)),
            "(s77 + 1)*s3");
  EXPECT_EQ(shortForm(call("Mul", "Rational(1, 2)", kS)), "s77/2");
  EXPECT_EQ(shortForm(call("Pow", kS, "Integer(2)")), "s77**2");
  EXPECT_EQ(
      shortForm(call("FloorDiv", call("Add", kS, "Integer(1)"), "Integer(2)")),
      "((s77 + 1)//2)");
  EXPECT_EQ(shortForm(call("Max", "Integer(1)", kT)), "Max(1, s3)");
}

TEST(SizeExpressionTest, OtherTextsStay) {
  for (std::string text : {"s0 + 1", "s0", "", "Add(", "Add(Integer(1)", "x)"})
    EXPECT_EQ(shortForm(text), text);
  std::string deep;
  for (int i = 0; i < 100000; ++i)
    deep += "Add(";
  EXPECT_EQ(shortForm(deep), deep);
}

TEST(SizeExpressionTest, Compares) {
  SizeExpression s = SizeExpression::parse(kS), t = SizeExpression::parse(kT);
  EXPECT_TRUE(s * t == t * s);
  EXPECT_FALSE(s == t);
  EXPECT_TRUE(s * s == SizeExpression::parse(call("Pow", kS, "Integer(2)")));
  EXPECT_TRUE((s + 1) * 4 ==
              SizeExpression::parse(
                  call("Add", call("Mul", "Integer(4)", kS), "Integer(4)")));
  EXPECT_TRUE((s + SizeExpression(-1) * s).isZero());
  EXPECT_TRUE(SizeExpression(1).isOne());
}

TEST(SizeExpressionTest, TooLargeIsEqualToNothing) {
  SizeExpression sum;
  for (int i = 0; i < 10; ++i)
    sum = sum + SizeExpression::parse("s" + std::to_string(i));
  SizeExpression square = sum * sum;
  EXPECT_FALSE(square == square);
  EXPECT_FALSE(square.isZero());
}
} // namespace
