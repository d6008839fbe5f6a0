// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms that older writers used become the ops of today.

#include "corten/Asset/Asset.h"
#include "corten/Asset/Translation.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

using namespace corten;
using namespace mlir;

/// A program of one op: the text of its operands' types, of its result, and the
/// op itself as it stands in the file.
static std::string asset(StringRef inputs, StringRef output, StringRef op) {
  std::string arguments, types;
  SmallVector<StringRef> kinds;
  inputs.split(kinds, ';');
  for (auto [i, kind] : llvm::enumerate(kinds)) {
    std::string type = ("!aicode.tensor_v1<" + kind + ">").str();
    arguments += llvm::formatv("{0}%a{1}: {2}", i ? ", " : "", i, type);
    types += (i ? ", " : "") + type;
  }
  std::string result = ("!aicode.tensor_v1<" + output + ">").str();
  return llvm::formatv(
      R"("aicode.serialization.asset"() ({{
  "aicode.dataflow.graph_v1"() <{{
      argAttrs = #aicode.serialization.array<>,
      resAttrs = #aicode.serialization.array<>,
      paramDecls = #aicode.serialization.array<>,
      externalize = #aicode.serialization.integer<1, true, 0>,
      isPrivate = #aicode.serialization.integer<1, true, 0>,
      noInline = #aicode.serialization.integer<1, true, 0>,
      name = #aicode.serialization.string<"main">,
      functionType = #aicode.serialization.type<!aicode.function_v1<
          (operands {1}) -> (results {2})>>}> ({{
  ^bb0({0}):
    %r = {3} : ({1}) -> {2}
    "aicode.dataflow.output_v1"(%r) : ({2}) -> ()
  }) : () -> ()
}) : () -> ())",
      arguments, types, result, op);
}

namespace {
class OldFormsTest : public testing::Test {
protected:
  OldFormsTest() {
    DialectRegistry registry;
    registerAssetDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The ops that the program consists of, in generic form; what was said
  /// against it if it cannot be read.
  std::string imported(const std::string &text) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message += diagnostic.str();
      return success();
    });
    ParserConfig config(&context);
    Block block;
    if (failed(parseSourceString(text, &block, config)))
      return message;
    FailureOr<OwningOpRef<ModuleOp>> module =
        importProgram(cast<aicode::AssetOp>(block.front()), nullptr);
    if (failed(module))
      return message;
    std::string ops;
    (*module)->walk([&](Operation *op) {
      if (!op->getNumResults())
        return;
      llvm::raw_string_ostream stream(ops);
      stream << op->getName() << '(';
      llvm::interleaveComma(op->getOperandTypes(), stream);
      stream << ") -> " << op->getResult(0).getType() << '\n';
    });
    return ops;
  }

  MLIRContext context;
};
} // namespace

TEST_F(OldFormsTest, QuantizationWithoutASecondOffset) {
  EXPECT_EQ(
      imported(asset("[2, 3] : !aicode.float32_v1;[3] : !aicode.float32_v1;"
                     "[3] : !aicode.sint8_v1;!aicode.sint32_v1",
                     "[2, 3] : !aicode.sint8_v1",
                     R"("aicode.quantize_v1"(%a0, %a1, %a2, %a3) ({
                        ^bb0(%x: !aicode.float32_v1):
                          "aicode.dataflow.yield_v1"() : () -> ()
                        }))")),
      "coreai.constant() -> tensor<3xf32>\n"
      "coreai.quantize(tensor<2x3xf32>, tensor<3xf32>, tensor<3xsi8>, "
      "tensor<3xf32>, tensor<si32>) -> tensor<2x3xsi8>\n");
  EXPECT_EQ(imported(asset("[2, 3] : !aicode.sint8_v1;[3] : !aicode.float32_v1;"
                           "[3] : !aicode.sint8_v1;!aicode.sint32_v1",
                           "[2, 3] : !aicode.float32_v1",
                           R"("aicode.dequantize_v1"(%a0, %a1, %a2, %a3) ({
                        ^bb0(%x: !aicode.float32_v1):
                          "aicode.dataflow.yield_v1"() : () -> ()
                        }))")),
            "coreai.constant() -> tensor<3xf32>\n"
            "coreai.dequantize(tensor<2x3xsi8>, tensor<3xf32>, tensor<3xsi8>, "
            "tensor<3xf32>, tensor<si32>) -> tensor<2x3xf32>\n");
  EXPECT_EQ(
      imported(asset("[4, 4] : !aicode.sint8_v1;[4, 1] : !aicode.float16_v1;"
                     "[4, 1] : !aicode.sint8_v1",
                     "[4, 4] : !aicode.float16_v1",
                     "\"aicode.primitive.blockwise_shift_scale_v1\""
                     "(%a0, %a1, %a2)")),
      "coreai.constant() -> tensor<4x1xf16>\n"
      "coreai.blockwise_shift_scale(tensor<4x4xsi8>, tensor<4x1xf16>, "
      "tensor<4x1xsi8>, tensor<4x1xf16>) -> tensor<4x4xf16>\n");
}

TEST_F(OldFormsTest, QuantizationOfUnknownExtents) {
  EXPECT_EQ(imported(asset("[2, 3] : !aicode.sint8_v1;"
                           "[-9223372036854775808] : !aicode.float32_v1;"
                           "[3] : !aicode.sint8_v1;!aicode.sint32_v1",
                           "[2, 3] : !aicode.float32_v1",
                           R"("aicode.dequantize_v1"(%a0, %a1, %a2, %a3) ({
                              ^bb0(%x: !aicode.float32_v1):
                                "aicode.dataflow.yield_v1"() : () -> ()
                              }))")),
            "'aicode.dequantize_v1' op its scale is not a tensor of known "
            "extents");
}

TEST_F(OldFormsTest, SignedShapes) {
  EXPECT_EQ(
      imported(asset("[2, 3] : !aicode.float32_v1", "[2] : !aicode.sint32_v1",
                     "\"aicode.primitive.get_shape_v1\"(%a0)")),
      "coreai.get_shape(tensor<2x3xf32>) -> tensor<2xui32>\n"
      "coreai.cast(tensor<2xui32>) -> tensor<2xsi32>\n");
  EXPECT_EQ(
      imported(asset("[2, 3] : !aicode.float32_v1;[2] : !aicode.sint32_v1",
                     "[-9223372036854775808, -9223372036854775808] : "
                     "!aicode.float32_v1",
                     R"("aicode.tile_v1"(%a0, %a1) ({
                        ^bb0(%x: !aicode.float32_v1):
                          "aicode.dataflow.yield_v1"() : () -> ()
                        }))")),
      "coreai.cast(tensor<2xsi32>) -> tensor<2xui32>\n"
      "coreai.tile(tensor<2x3xf32>, tensor<2xui32>) -> tensor<?x?xf32>\n");
}

TEST_F(OldFormsTest, FormsThatWereNeverSeen) {
  EXPECT_NE(
      imported(asset("[2] : !aicode.float32_v1", "[2] : !aicode.float32_v1",
                     "\"aicode.primitive.sparse_with_bitmask_blockwise_shift_"
                     "scale_v1\"(%a0)"))
          .find("cannot be read: it is of an unknown kind"),
      std::string::npos);
}
