// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Metal/Check.h"

#include "gtest/gtest.h"

using namespace corten::metal;

static std::string faultOf(llvm::StringRef source) {
  llvm::Expected<Translation> result = translateSource("add_ab", source);
  return result ? "" : llvm::toString(result.takeError());
}

TEST(Translation, ParametersAndLines) {
  llvm::Expected<Translation> result = translateSource(
      "add_ab",
      "\n#include <metal_stdlib>\nusing namespace metal;\n"
      "[[kernel]] void add_ab("
      "tensor<device float, metal::dextents<int, 2>, tensor_handle> x "
      "[[buffer(0)]], constant int& n [[buffer(1)]], "
      "device half* o [[buffer(2)]], uint2 id [[thread_position_in_grid]], "
      "uint lane [[thread_index_in_simdgroup]]) { o[id.x] = n; }");
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  EXPECT_EQ(result->buffers, (std::vector<std::string>{"x", "n", "o"}));
  llvm::StringRef text = result->source;
  EXPECT_TRUE(text.starts_with("#line 1 \"kernel_source\"\n\n\n"));
  EXPECT_TRUE(text.contains(
      "metal::corten_parameter<tensor<device float, metal::dextents<int, 2>, "
      "tensor_handle>>::from(corten_buffers[0])"));
  EXPECT_TRUE(text.contains(
      "metal::corten_parameter<constant int&>::from(corten_buffers[1])"));
  EXPECT_TRUE(text.contains(
      "metal::corten_parameter<device half*>::from(corten_buffers[2])"));
  EXPECT_TRUE(text.contains("corten_position<uint2>"));
  EXPECT_FALSE(text.contains("[["));
}

TEST(Translation, WhatCannotBeHad) {
  EXPECT_EQ(faultOf("kernel void other(uint id [[thread_position_in_grid]]) "
                    "{}"),
            "cannot be checked: there is no function of this name in its "
            "source");
  EXPECT_EQ(faultOf("kernel void add_ab(\n  uint id [[instance_id]]) {}"),
            "cannot be checked: parameter 'id' has the attribute "
            "'instance_id', which no thread of a compute kernel has here");
  EXPECT_EQ(faultOf("kernel void add_ab(device int *x [[buffer(1)]]) {}"),
            "cannot be checked: parameter 'x' is not the next buffer");
  EXPECT_EQ(faultOf("\nsampler s;\nkernel void add_ab() {}"),
            "cannot be checked: kernel_source, line 2: 'sampler' is not "
            "supported");
  EXPECT_EQ(faultOf("void f() { asm(\"nop\"); }"),
            "cannot be checked: kernel_source, line 1: 'asm' is not supported");
  EXPECT_EQ(faultOf("const char x[] = {\n#embed \"x\"\n};"),
            "cannot be checked: kernel_source, line 2: '#embed' is not "
            "supported");
}
