// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Conversion/AtenToCoreAI/Conversion.h"

#include <gtest/gtest.h>

using namespace corten;

TEST(TakesAsItIsTest, WhatTheTableHas) {
  auto takes = [](llvm::StringRef name, bool mutates = false) {
    return takesAsItIs("aten", name, mutates, /*isComposite=*/false);
  };
  EXPECT_TRUE(takes("relu.default"));
  EXPECT_TRUE(takes("linear.default"));
  EXPECT_FALSE(takes("unheard_of.default"));
  // By what computes the new value.
  EXPECT_TRUE(takes("relu_.default", /*mutates=*/true));
  EXPECT_FALSE(takes("unheard_of_.default", /*mutates=*/true));
  // What says something about a tensor computes nothing.
  EXPECT_TRUE(takes("requires_grad_.default", /*mutates=*/true));
  // functionalize() says what is wrong with it.
  EXPECT_TRUE(takes("unheard_of.out", /*mutates=*/true));
}

TEST(TakesAsItIsTest, OperatorsOfTheUsers) {
  for (bool isComposite : {false, true}) {
    EXPECT_EQ(takesAsItIs("lib", "f.default", false, isComposite),
              !isComposite);
    // A name says nothing of what an operator of the user's writes.
    EXPECT_TRUE(takesAsItIs("lib", "relu_.default", true, isComposite));
    EXPECT_FALSE(takesAsItIs("prims", "unheard_of.default", false, false));
  }
}
