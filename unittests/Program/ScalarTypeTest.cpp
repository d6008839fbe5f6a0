// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/ScalarType.h"

#include "gtest/gtest.h"

using namespace corten;
using enum ScalarType;

namespace {

TEST(ScalarTypeTest, NamesGoThereAndBack) {
#define SCALAR_TYPE(Name, Spelling, Bits, Category)                            \
  EXPECT_EQ(scalarTypeFromName(scalarTypeName(Name)), Name);
#include "corten/Program/ScalarTypes.def"
  EXPECT_EQ(scalarTypeFromName("torch.int64"), Int64);
  EXPECT_FALSE(scalarTypeFromName("qint8").has_value());
}

/// Values of torch.promote_types.
TEST(ScalarTypeTest, PromotionFollowsTorch) {
  struct {
    ScalarType lhs, rhs, result;
  } cases[] = {
      {Bool, UInt8, UInt8},
      {Bool, Float16, Float16},
      {UInt8, Int8, Int16},
      {UInt8, Int32, Int32},
      {Int8, Int64, Int64},
      {Int64, Float16, Float16},
      {Int32, BFloat16, BFloat16},
      {Float16, BFloat16, Float32},
      {Float16, Float32, Float32},
      {Float32, Float64, Float64},
      {Float32, Complex64, Complex64},
      {Float64, Complex64, Complex128},
      {Float16, Complex32, Complex32},
      {BFloat16, Complex32, Complex64},
      {Int64, Complex32, Complex32},
      {Bool, Bool, Bool},
  };
  for (auto [lhs, rhs, result] : cases) {
    EXPECT_EQ(promoteTypes(lhs, rhs), result);
    EXPECT_EQ(promoteTypes(rhs, lhs), result);
  }
  EXPECT_FALSE(promoteTypes(UInt16, Int32).has_value());
  EXPECT_FALSE(promoteTypes(UInt16, UInt8).has_value());
  EXPECT_FALSE(promoteTypes(Float8E5M2, Float32).has_value());
}

} // namespace
