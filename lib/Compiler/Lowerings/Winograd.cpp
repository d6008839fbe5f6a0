// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions with fewer multiplications, where that is no less exact: a
// check with the weights themselves decides, when the program is compiled.

#include "../Lowerings.h"
#include "../WinogradAccuracy.h"

#include "corten/Runtime/Panels.h"
#include "corten/Runtime/Winograd.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace corten;
using namespace mlir;

/// With fewer channels, transforms cost what they save.
static constexpr int64_t kFewestChannels = 16;
/// Squares that stick out at the edges may take back so much of what is saved.
static constexpr double kMostMultiplications = 0.8;
/// Fewer large ones would be read for their weights alone.
static constexpr int64_t kFewestLargeSquares = 16;
/// What larger squares may be off, where that is allowed, as a multiple of the
/// direct form.
static constexpr double kFastMathError = 10;

/// The numbers of a weight that is a constant; nothing if they are not f32.
/// `storage` holds them where they are not written one after the other.
static std::optional<ArrayRef<float>>
constantFloats(Value value, SmallVectorImpl<float> &storage) {
  ElementsAttr attribute;
  if (!matchPattern(value, m_Constant(&attribute)) ||
      !attribute.getElementType().isF32())
    return std::nullopt;
  auto count = size_t(attribute.getNumElements());
  ArrayRef<char> bytes;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    bytes = blob ? blob->getData() : ArrayRef<char>();
  } else if (attribute.isSplat()) {
    storage.assign(count, attribute.getSplatValue<float>());
    return ArrayRef<float>(storage);
  } else if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    bytes = dense.getRawData();
  }
  if (bytes.size() != count * sizeof(float) ||
      reinterpret_cast<uintptr_t>(bytes.data()) % alignof(float) != 0)
    return std::nullopt;
  return ArrayRef(reinterpret_cast<const float *>(bytes.data()), count);
}

/// Whether squares fit into the results well enough.
static bool isWorthIt(ArrayRef<Size> space, int64_t square) {
  std::optional<int64_t> height = known(space[0]), width = known(space[1]);
  if (!height || !width)
    return true;
  int64_t squares =
      llvm::divideCeil(*height, square) * llvm::divideCeil(*width, square);
  int64_t taps = runtime::kWinogradKernel * runtime::kWinogradKernel;
  if (square > 2 && squares < kFewestLargeSquares)
    return false;
  return double(squares * runtime::winogradPoints(square)) <=
         kMostMultiplications * double(*height * *width * taps);
}

WinogradChoice corten::winogradChoice(Operation *op, const WindowForm &window,
                                      ArrayRef<Size> space, bool isFastMath) {
  auto isAll = [](ArrayRef<Size> sizes, int64_t number) {
    return llvm::all_of(sizes,
                        [&](Size size) { return isKnown(size, number); });
  };
  auto type = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  if (kindOf(op) != "conv2d" || window.groups != 1 || !type ||
      !type.hasStaticShape() ||
      !isAll(window.extents, runtime::kWinogradKernel) ||
      !isAll(window.strides, 1) || !isAll(window.dilations, 1))
    return {};
  int64_t outputs = type.getDimSize(0);
  int64_t channels = type.getDimSize(1);
  WinogradChoice choice;
  if (std::min(outputs, channels) < kFewestChannels) {
    choice.why =
        llvm::formatv("it has fewer than {0} channels", kFewestChannels);
    return choice;
  }
  SmallVector<float, 0> storage;
  std::optional<ArrayRef<float>> weights =
      constantFloats(op->getOperand(1), storage);
  if (!weights) {
    choice.why = "its weights are not constants in f32, and cannot be checked";
    return choice;
  }
  auto isExact = [&](int64_t square, double factor) {
    WinogradErrors errors = winogradErrors(*weights, outputs, channels, square);
    if (errors.winograd <= factor * errors.direct)
      return true;
    choice.why =
        llvm::formatv("with these weights the errors of squares of {0} x {0} "
                      "are {1:F1} times those of sums of products, and may "
                      "be {2:F0}",
                      square, errors.winograd / errors.direct, factor);
    return false;
  };
  if (isFastMath && isWorthIt(space, 4) && isExact(4, kFastMathError))
    choice.square = 4;
  else if (!isWorthIt(space, 2))
    choice.why = "its results are so few that squares save too little";
  else if (isExact(2, 1))
    choice.square = 2;
  return choice;
}

Form corten::winogradWeights(Planner &planner, const Form &weight,
                             int64_t square) {
  Sizes &sizes = planner.sizes;
  KernelCall call;
  call.kernel = "PackWinograd";
  call.inputs = {weight};
  call.extents = {
      sizes.number(runtime::winogradPoints(square)),
      sizes.divideUp(weight.extents[0], sizes.number(runtime::kPanelWidth)),
      weight.extents[1], sizes.number(runtime::kPanelWidth)};
  call.element = weight.element;
  return planner.kernel(call);
}
