// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Metal/Check.h"

#include "gtest/gtest.h"

using namespace corten::metal;

static std::string rewrite(llvm::StringRef source) {
  unsigned numShared = 0;
  llvm::Expected<std::string> result = rewriteMetal(source, "src", numShared);
  if (!result)
    return llvm::toString(result.takeError());
  return llvm::StringRef(*result).rtrim(' ').str();
}

/// What a declaration of shared memory becomes.
static std::string shared(const std::string &type, const std::string &name,
                          int number) {
  return "metal::corten_shared<" + type + "> " + name +
         " = metal::corten_share<" + type +
         ">(reinterpret_cast<const void *>(" + std::to_string(number) +
         "), \"" + name + "\");";
}

TEST(Rewriter, LeavesOtherTextAlone) {
  for (const char *text :
       {"", "float a = x[id];", "// threadgroup float a[4];\nf();",
        "threadgroup float *p = a;", "f((threadgroup float *)p);",
        "auto q = reinterpret_cast<threadgroup float *>(p);",
        "float f(threadgroup float *p, uint n);",
        "using P = threadgroup float *;", "threadgroup float &r = a[0];",
        "a[b[0]] = 1;", "0x1fh;", "\"1.0h [[x]]\";"})
    EXPECT_EQ(rewrite(text), text);
}

TEST(Rewriter, SharedVariables) {
  EXPECT_EQ(rewrite("threadgroup float a[4];"), shared("float[(4)]", "a", 1));
  EXPECT_EQ(rewrite("threadgroup half4 a[N > 4 ? 1 : 2][8], b;"),
            shared("half4[(N > 4 ? 1 : 2)][(8)]", "a", 1) +
                shared("half4", "b", 2));
  EXPECT_EQ(rewrite("float threadgroup a;"), shared("float", "a", 1));
  EXPECT_EQ(rewrite("alignas(16) threadgroup vec<float, 4> a[2];"),
            shared("vec<float, 4>[(2)]", "a", 1));
}

TEST(Rewriter, LinesStayWhereTheyAre) {
  std::string text = rewrite("threadgroup\nfloat\na[2]; // x\nf();");
  EXPECT_EQ(llvm::StringRef(text).count('\n'), 3U);
  EXPECT_EQ(text.substr(text.rfind('\n')), "\nf();");
}

TEST(Rewriter, AttributesIncludesAndLiterals) {
  EXPECT_EQ(rewrite("[[unroll]] f();"), " f();");
  EXPECT_EQ(rewrite("#include <metal_stdlib>\nf();"), "\nf();");
  EXPECT_EQ(rewrite("1.5h + 2h - .5bf"), "half(1.5f) + half(2) - bfloat(.5f)");
  EXPECT_EQ(rewrite("#define H(a) (a * 1e3h)"),
            "#define H(a) (a * half(1e3f))");
  EXPECT_EQ(rewrite("coherent(device) device int *p;"), " device int *p;");
}

TEST(Rewriter, OverloadsByAddressSpace) {
  EXPECT_EQ(rewrite("int f(device int *p) { return *p; }"
                    "int f(constant int *p) { return *p; }"),
            "int f(device int *p) { return *p; }"
            "int f(constant int *p) { return *p; }");
  EXPECT_EQ(rewrite("int f(device int *p) { return *p; }\n"
                    "int f(thread int *p) { return *p; }\ng();"),
            "int f(device int *p) { return *p; }\n       \ng();");
}

TEST(Rewriter, Refusals) {
  EXPECT_EQ(rewrite("\ntexture2d<float> t;"),
            "cannot be checked: src, line 2: 'texture2d' is not supported");
  EXPECT_EQ(rewrite("threadgroup float a = 0;"),
            "cannot be checked: src, line 1: a 'threadgroup' variable cannot "
            "have an initializer");
}
