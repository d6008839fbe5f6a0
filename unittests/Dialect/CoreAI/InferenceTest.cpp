// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types that the coreai ops infer.

#include "corten/Dialect/CoreAI/IR/CoreAIDialect.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace mlir;
using namespace corten::coreai;

namespace {
/// One line of InferenceCases.def.
struct Case {
  const char *op;
  std::vector<const char *> operands;
  const char *types;
};
} // namespace

#define OPERANDS(...) {__VA_ARGS__}
#define INFER(op, operands, types) {op, operands, types},
#define INFER_OTHERWISE(op, operands, types) {op, operands, types},

static const std::vector<Case> kCases = {
#include "InferenceCases.def"
};

static std::string print(TypeRange types) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(types, stream);
  return text;
}

namespace {
class InferenceTest : public ::testing::Test {
protected:
  InferenceTest() : builder(&context), loc(builder.getUnknownLoc()) {
    context.loadDialect<CoreAIDialect>();
    module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
  }

  /// A value that nothing is known about except its type.
  Value getUnknown(StringRef type) {
    return module->getBody()->addArgument(parseType(type, &context), loc);
  }

  Value getConstant(StringRef value) {
    return ConstantOp::create(builder, loc,
                              cast<TypedAttr>(parseAttribute(value, &context)));
  }

  /// An operand as InferenceCases.def spells it.
  Value getOperand(StringRef spelling) {
    if (spelling.consume_front("get_shape "))
      return GetShapeOp::create(builder, loc, getUnknown(spelling));
    if (spelling.consume_front("cast ")) {
      auto [value, type] = spelling.split(" to ");
      return CastOp::create(builder, loc, parseType(type, &context),
                            getConstant(value));
    }
    return spelling.starts_with("dense<") ? getConstant(spelling)
                                          : getUnknown(spelling);
  }

  /// The inferred types of an op, or "error".
  std::string infer(StringRef op, ValueRange operands) {
    auto name = RegisteredOperationName::lookup(op, &context);
    auto *interface =
        name ? name->getInterface<InferTypeOpInterface>() : nullptr;
    if (!interface)
      return "not inferred";
    SmallVector<Type> types;
    if (failed(interface->inferReturnTypes(&context, std::nullopt, operands,
                                           DictionaryAttr::get(&context),
                                           nullptr, {}, types)))
      return "error";
    return print(types);
  }

  MLIRContext context;
  OpBuilder builder;
  Location loc;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(InferenceTest, Cases) {
  for (const Case &testCase : kCases) {
    SmallVector<Value> operands;
    std::string trace = testCase.op;
    for (StringRef operand : testCase.operands) {
      operands.push_back(getOperand(operand));
      trace += "\n  " + operand.str();
    }
    SCOPED_TRACE(trace);
    EXPECT_EQ(infer(testCase.op, operands), testCase.types);
  }
}

TEST_F(InferenceTest, BuildersInfer) {
  Value x = getUnknown("tensor<2x?xf32>");
  Value y = getUnknown("tensor<?x3xf32>");
  auto sum = AddOp::create(builder, loc, x, y);
  EXPECT_EQ(print(sum->getResultTypes()), "tensor<2x3xf32>");

  Value axes = getConstant("dense<0> : tensor<1xsi32>");
  auto reduced = ReduceSumOp::create(builder, loc, sum, axes);
  EXPECT_EQ(print(reduced->getResultTypes()), "tensor<1x3xf32>");

  auto mode = InterpolationModeAttr::get(&context, InterpolationMode::Linear);
  Value shape = getConstant("dense<[4, 6]> : tensor<2xsi32>");
  Value factors = getUnknown("tensor<2xf32>");
  auto resized =
      InterpolateOp::create(builder, loc, sum, shape, factors, factors, mode);
  EXPECT_EQ(print(resized->getResultTypes()), "tensor<4x6xf32>");

  Value size = getConstant("dense<2> : tensor<ui32>");
  Value axis = getConstant("dense<1> : tensor<si32>");
  auto parts = SplitOp::create(builder, loc, sum, size, axis);
  EXPECT_EQ(print(parts->getResultTypes()), "tensor<2x2xf32>, tensor<2x1xf32>");
}

TEST_F(InferenceTest, HandlesGiveTheirInnerType) {
  Value handle = getUnknown("!coreai.handle<tensor<2x?xf32>>");
  Value token = CreateTokenOp::create(builder, loc);
  auto read = ReadHandleOp::create(builder, loc, handle, token);
  EXPECT_EQ(print(read->getResultTypes()), "tensor<2x?xf32>, !coreai.token");
}

TEST_F(InferenceTest, UnrankedOperandsAreErrors) {
  Value x = getUnknown("tensor<*xf32>");
  Value axes = getConstant("dense<0> : tensor<1xsi32>");
  EXPECT_EQ(infer("coreai.add", {x, x}), "error");
  EXPECT_EQ(infer("coreai.reduce_sum", {x, axes}), "error");
  EXPECT_EQ(infer("coreai.batch_matmul", {x, x}), "error");
  EXPECT_EQ(infer("coreai.get_shape", {x}), "error");
}

TEST_F(InferenceTest, ErrorsSayWhatIsWrong) {
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  SmallVector<Type> types;
  Value shape = getConstant("dense<[4, 2]> : tensor<2xsi32>");
  LogicalResult result = ReshapeOp::inferReturnTypes(
      &context, loc, ReshapeOp::Adaptor({getUnknown("tensor<2x3xf32>"), shape}),
      types);
  EXPECT_TRUE(failed(result));
  EXPECT_EQ(message, "cannot reshape 'tensor<2x3xf32>' into 8 elements");
}
