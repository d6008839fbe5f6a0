// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is computed on the way to a constant is never part of the program: an
// attribute would stay in memory for good.

#include "corten/Constants/Compute.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/SetVector.h"

using namespace corten;
using namespace mlir;
using namespace corten::coreai;

namespace corten {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "corten/Transforms/Passes.h.inc"
} // namespace corten

namespace {
struct FoldConstants : corten::impl::FoldConstantsBase<FoldConstants> {
  using FoldConstantsBase::FoldConstantsBase;
  void runOnOperation() override;
};

struct Limits {
  uint64_t maxBytes;
  uint64_t maxGrowth;
  bool decompress;
};

class Folder {
public:
  explicit Folder(const Limits &limits) : limits(limits) {}

  void run(Operation *root);

private:
  void visit(Region &region);
  bool isConstant(Value value) const;
  /// Computes the results of an op, if it is worth it.
  void fold(Operation &op);
  bool isWorthIt(Operation &op, ArrayRef<Elements> operands,
                 bool isSplat) const;
  /// Puts constants where folded ops were.
  void materialize();

  Limits limits;
  llvm::DenseMap<Value, Elements> computed;
  llvm::SmallSetVector<Operation *, 16> folded;
};
} // namespace

//===----------------------------------------------------------------------===//
// What is worth it
//===----------------------------------------------------------------------===//

/// How many products may be summed up: kernels are as plain as they can be.
static constexpr int64_t kMaxProducts = int64_t(1) << 26;

/// Ops that make weights of what is smaller than they are.
static bool isDecompression(Operation &op) {
  return isa<DequantizeOp, BlockwiseShiftScaleOp, LutToDenseOp>(op);
}

/// How many products an op sums up.
static int64_t numProducts(Operation &op, ArrayRef<Elements> operands) {
  if (!isa<BatchMatmulOp, BroadcastingBatchMatmulOp, Conv2dOp, Conv3dOp,
           ConvTranspose2dOp, ConvTranspose3dOp>(op))
    return 0;
  int64_t outputs =
      cast<RankedTensorType>(op.getResult(0).getType()).getNumElements();
  ArrayRef<int64_t> weight = operands[1].shape();
  int64_t channels = isa<BatchMatmulOp, BroadcastingBatchMatmulOp>(op)
                         ? weight.back()
                         : weight.front();
  return llvm::SaturatingMultiply<uint64_t>(
      outputs, operands[1].size() / std::max<int64_t>(channels, 1));
}

static bool isFoldable(Operation &op) {
  if (op.getNumOperands() == 0 || op.getNumResults() == 0 ||
      (op.getNumRegions() != 0 && !isa<ScatterNdOp>(op)))
    return false;
  return isa<ScanOp>(op) || isMemoryEffectFree(&op);
}

bool Folder::isWorthIt(Operation &op, ArrayRef<Elements> operands,
                       bool isSplat) const {
  if (isDecompression(op) && !limits.decompress)
    return false;
  if (numProducts(op, operands) > kMaxProducts)
    return false;
  uint64_t bytes = 0, gone = 0;
  for (Type type : op.getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    bytes += uint64_t(isSplat ? 1 : tensor.getNumElements()) *
             runtime::byteSize(*elementTypeOf(tensor.getElementType()));
  }
  for (auto [value, elements] : llvm::zip_equal(op.getOperands(), operands)) {
    // More than is worth reading for a result of this size.
    if (elements.bytes() > 16 * limits.maxBytes)
      return false;
    gone += value.hasOneUse() ? elements.bytes() : 0;
  }
  return bytes <= limits.maxBytes && bytes <= gone + limits.maxGrowth;
}

/// A weight in another shape, which stays where it is.
static TypedAttr regrouped(Operation &op) {
  if (!isa<ReshapeOp, ExpandDimsOp, ShrinkDimsOp>(op))
    return {};
  auto constant = op.getOperand(0).getDefiningOp<ConstantOp>();
  auto weight =
      constant ? dyn_cast<DenseResourceElementsAttr>(constant.getValueAttr())
               : DenseResourceElementsAttr();
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  if (!weight || !type || !type.hasStaticShape() || type.getEncoding() ||
      type.getNumElements() != weight.getType().getNumElements())
    return {};
  return DenseResourceElementsAttr::get(type, weight.getRawHandle());
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

bool Folder::isConstant(Value value) const {
  return computed.contains(value) || value.getDefiningOp<ConstantOp>();
}

void Folder::fold(Operation &op) {
  if (!isFoldable(op) || !llvm::all_of(op.getOperands(), [&](Value operand) {
        return isConstant(operand);
      }))
    return;
  if (TypedAttr weight = regrouped(op)) {
    OpBuilder builder(&op);
    Value constant = ConstantOp::create(builder, op.getLoc(), weight);
    op.getResult(0).replaceAllUsesWith(constant);
    folded.insert(&op);
    return;
  }
  for (Type type : op.getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() || tensor.getEncoding() ||
        !elementTypeOf(tensor.getElementType()))
      return;
  }
  SmallVector<Elements> operands, results;
  for (Value operand : op.getOperands()) {
    auto found = computed.find(operand);
    std::optional<Elements> elements =
        found != computed.end() ? found->second : Elements::of(operand);
    if (!elements)
      return;
    operands.push_back(std::move(*elements));
  }
  bool isSplat = givesSplat(op, operands);
  if (!isWorthIt(op, operands, isSplat))
    return;
  for (Type type : op.getResultTypes()) {
    std::optional<Elements> result =
        Elements::make(cast<RankedTensorType>(type), isSplat);
    if (!result)
      return;
    results.push_back(std::move(*result));
  }
  if (!compute(op, operands, results))
    return;
  for (auto [value, elements] : llvm::zip_equal(op.getResults(), results))
    computed.try_emplace(value, std::move(elements));
  folded.insert(&op);
}

void Folder::visit(Region &region) {
  for (Block &block : region)
    for (Operation &op : block) {
      fold(op);
      if (!folded.contains(&op))
        for (Region &inner : op.getRegions())
          visit(inner);
    }
}

void Folder::materialize() {
  for (Operation *op : folded) {
    OpBuilder builder(op);
    for (OpResult result : op->getResults()) {
      bool isUsed = llvm::any_of(result.getUsers(), [&](Operation *user) {
        return !folded.contains(user);
      });
      if (!isUsed)
        continue;
      Value constant = ConstantOp::create(builder, op->getLoc(),
                                          computed.at(result).constant());
      result.replaceUsesWithIf(constant, [&](OpOperand &use) {
        return !folded.contains(use.getOwner());
      });
    }
  }
  for (Operation *op : llvm::reverse(folded))
    op->erase();
}

void Folder::run(Operation *root) {
  for (Region &region : root->getRegions())
    visit(region);
  materialize();
}

void FoldConstants::runOnOperation() {
  Folder({maxBytes, maxGrowth, decompress}).run(getOperation());
}
