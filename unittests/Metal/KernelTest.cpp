// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Metal/Kernel.h"

#include "gtest/gtest.h"

using namespace corten::metal;

static std::string messageOf(llvm::Error error) {
  return llvm::toString(std::move(error));
}

TEST(Literal, Floats) {
  EXPECT_EQ(*floatLiteral("a", 3), "3.0f");
  EXPECT_EQ(*floatLiteral("a", -0.5), "-0.5f");
  EXPECT_EQ(*floatLiteral("a", 1e-5), "1e-05f");
  EXPECT_EQ(messageOf(floatLiteral("a", 1e39).takeError()),
            "float scalar 'a'=1e+39 is not finite in a Metal float");
}

TEST(Literal, Integers) {
  EXPECT_EQ(*intLiteral("n", -2147483648), "-2147483648");
  EXPECT_EQ(messageOf(intLiteral("n", 2147483648).takeError()),
            "int scalar 'n'=2147483648 is outside the 32-bit int range of a "
            "Metal int");
}

static Kernel copyKernel() {
  Kernel kernel;
  kernel.name = "copy";
  kernel.inputs = {{"x", InputKind::Tensor}};
  kernel.results = {"o"};
  kernel.body = "T v = x[id]; o[id] = v;";
  kernel.parameters = {{"id", "uint", "thread_position_in_grid"}};
  kernel.templates = {{"x", "T"}};
  return kernel;
}

static Operand vectorOf(const char *type) {
  return {type, 1, std::nullopt, /*isElement=*/false};
}

TEST(Instantiate, SameOperandsSameName) {
  Kernel kernel = copyKernel();
  Operand half = vectorOf("half"), single = vectorOf("float");
  llvm::Expected<KernelText> first = instantiate(kernel, half, half);
  llvm::Expected<KernelText> second = instantiate(kernel, half, half);
  llvm::Expected<KernelText> other = instantiate(kernel, single, single);
  EXPECT_EQ(first->name, second->name);
  EXPECT_EQ(first->source, second->source);
  EXPECT_NE(first->name, other->name);
  EXPECT_EQ(first->body, "half v = x[id]; o[id] = v;");
  EXPECT_NE(first->source.find("void " + first->name + "("), std::string::npos);
}

TEST(Instantiate, ElementsOfVectorsAreNumbers) {
  Kernel kernel = copyKernel();
  kernel.templates.clear();
  kernel.inputs.push_back({"n", InputKind::Int});
  Operand tensor = vectorOf("float"), size = vectorOf("int");
  size.isElement = true;
  llvm::Expected<KernelText> text = instantiate(kernel, {tensor, size}, tensor);
  EXPECT_EQ(text->prologue, "int n = n_value[0];\n");
}

TEST(Instantiate, PlaceholdersAreWords) {
  Kernel kernel = copyKernel();
  kernel.body = "T a; T4 b; T2x2 c; Tx d; XT e; T_ f; x.T;";
  Operand half = vectorOf("half");
  EXPECT_EQ(instantiate(kernel, half, half)->body,
            "half a; half4 b; half2x2 c; Tx d; XT e; T_ f; x.half;");
}
