// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Rewriting.h"

#include "corten/Dialect/CoreAI/IR/ConstantOperands.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace corten;
using namespace mlir;

namespace {
class FamilyPattern : public RewritePattern {
public:
  FamilyPattern(MLIRContext *context, RewriteFamily family)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        family(family) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa_and_present<coreai::CoreAIDialect>(op->getDialect()) ||
        op->getNumResults() != 1)
      return failure();
    Value simpler = family(*op, rewriter);
    if (!simpler || simpler == op->getResult(0))
      return failure();
    assert(simpler.getType() == op->getResult(0).getType() &&
           "a rewrite keeps types");
    rewriter.replaceOp(op, simpler);
    return success();
  }

private:
  RewriteFamily family;
};
} // namespace

void corten::rewrite(Operation *root, ArrayRef<RewriteFamily> families) {
  RewritePatternSet patterns(root->getContext());
  for (RewriteFamily family : families)
    patterns.add(std::make_unique<FamilyPattern>(root->getContext(), family));
  GreedyRewriteConfig config;
  // What a rewrite touches is looked at again anyhow: a second round over
  // everything would only find that nothing is left to do. Folders are not
  // asked, because they sort the operands of ops that count as commutative.
  config.setUseTopDownTraversal(true)
      .setMaxIterations(1)
      .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)
      .enableFolding(false)
      .enableConstantCSE(false);
  FrozenRewritePatternSet frozen(std::move(patterns));
  for (Region &region : root->getRegions())
    (void)applyPatternsGreedily(region, frozen, config);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

DenseElementsAttr corten::splatOf(Value value) {
  DenseElementsAttr elements = coreai::getInlineConstant(value);
  return elements && !elements.empty() && elements.isSplat()
             ? elements
             : DenseElementsAttr();
}

bool corten::isAll(Value value, double number) {
  DenseElementsAttr splat = splatOf(value);
  if (!splat)
    return false;
  Type type = splat.getElementType();
  if (auto integer = dyn_cast<IntegerType>(type)) {
    APInt bits = splat.getSplatValue<APInt>();
    double own = integer.isSigned() ? bits.signedRoundToDouble()
                                    : bits.roundToDouble(/*isSigned=*/false);
    return own == number && !std::signbit(number) == !(own < 0);
  }
  // Formats of scales have neither zeros nor signs.
  if (!isa<FloatType>(type) || isa<Float8E8M0FNUType>(type))
    return false;
  APFloat own = splat.getSplatValue<APFloat>();
  bool losesInfo = false;
  APFloat wanted(number);
  wanted.convert(own.getSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return !losesInfo && own.bitwiseIsEqual(wanted);
}

bool corten::isAllOnes(Value value) {
  DenseElementsAttr splat = splatOf(value);
  return splat && isa<IntegerType>(splat.getElementType()) &&
         splat.getSplatValue<APInt>().isAllOnes();
}

Value corten::makeIndices(OpBuilder &builder, Location location,
                          ArrayRef<int64_t> indices, Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  SmallVector<APInt> values;
  for (int64_t index : indices)
    values.push_back(APInt(64, index).trunc(width));
  auto type =
      RankedTensorType::get({static_cast<int64_t>(indices.size())}, element);
  return coreai::ConstantOp::create(builder, location,
                                    DenseElementsAttr::get(type, values));
}

Value corten::makeSizes(OpBuilder &builder, Location location,
                        ArrayRef<int64_t> sizes) {
  return makeIndices(builder, location, sizes,
                     builder.getIntegerType(32, /*isSigned=*/false));
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool corten::fitsInto(Type small, Type large) {
  auto from = dyn_cast<RankedTensorType>(small);
  auto to = dyn_cast<RankedTensorType>(large);
  if (!from || !to || from.getRank() > to.getRank())
    return false;
  ArrayRef<int64_t> last = to.getShape().take_back(from.getRank());
  return llvm::all_of(llvm::zip_equal(from.getShape(), last), [](auto extents) {
    auto [own, wanted] = extents;
    return own == 1 || (!ShapedType::isDynamic(own) && own == wanted);
  });
}

RankedTensorType corten::plainTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !type.getEncoding() ? type : RankedTensorType();
}

RankedTensorType corten::staticTensor(Value value) {
  RankedTensorType type = plainTensor(value);
  return type && type.hasStaticShape() ? type : RankedTensorType();
}

Location corten::placeOf(Operation &op, Value other) {
  Operation *producer = other.getDefiningOp();
  if (!producer)
    return op.getLoc();
  return fuse(op.getLoc(), {producer->getLoc()});
}
