// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products, convolutions, pools and resampling. Weights that are
// constant are packed once, when the plan is loaded; convolutions leave
// channels last in memory.

#include "../Decompression.h"
#include "../Lowerings.h"
#include "../Patterns.h"

#include "corten/Runtime/Panels.h"
#include "llvm/ADT/Sequence.h"

using namespace corten;
using namespace mlir;

/// Whether there are packed products of elements of this type.
static bool isPackable(Type element) {
  return element.isF32() || element.isF16() || element.isBF16();
}

/// Notes at what expands compressed weights why it does.
static void noteExpanded(Planner &planner, const Form &expanded,
                         StringRef why) {
  expanded.base.getDefiningOp()->setAttr(kExpandedAttr,
                                         planner.builder.getStringAttr(why));
}

Form corten::packedMatrix(Planner &planner, const Form &matrix) {
  Sizes &sizes = planner.sizes;
  KernelCall call;
  call.kernel = "PackMatrix";
  call.inputs = {matrix};
  call.extents.assign(matrix.extents.begin(), matrix.extents.end() - 2);
  call.extents.append({sizes.divideUp(matrix.extents.back(),
                                      sizes.number(runtime::kPanelWidth)),
                       matrix.extents[matrix.rank() - 2],
                       sizes.number(runtime::kPanelWidth)});
  call.element = matrix.element;
  return planner.kernel(call);
}

/// Matrices `[..., taps, k, n]`, rounded to bf16 and in pairs of k.
static Form inPairs(Planner &planner, const Form &matrices) {
  Sizes &sizes = planner.sizes;
  unsigned rank = matrices.rank();
  Size pairs = sizes.divideUp(matrices.extents[rank - 2], sizes.number(2));
  KernelCall call;
  call.kernel = "PackPairs";
  call.inputs = {matrices};
  call.extents.assign(matrices.extents.begin(), matrices.extents.end() - 3);
  call.extents.append({sizes.divideUp(matrices.extents[rank - 1],
                                      sizes.number(runtime::kPanelWidth)),
                       sizes.mul(matrices.extents[rank - 3], pairs),
                       sizes.number(runtime::kPairRow)});
  call.element = planner.builder.getBF16Type();
  return planner.kernel(call);
}

/// A matrix `[k, n]`, quantized and in groups of four of k.
static Form inQuads(Planner &planner, const Form &matrix) {
  Sizes &sizes = planner.sizes;
  KernelCall call;
  call.kernel = "PackQuads";
  call.inputs = {matrix};
  call.extents = {
      sizes.divideUp(matrix.extents[1], sizes.number(runtime::kPanelWidth)),
      sizes.add(sizes.divideUp(matrix.extents[0], sizes.number(4)),
                sizes.number(1)),
      sizes.number(runtime::kQuadRow)};
  call.element = planner.builder.getIntegerType(8, /*isSigned=*/false);
  return planner.kernel(call);
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// The product with a constant matrix, in the precision that is asked for.
static void multiplyWith(Planner &planner, const Form &x, const Form &matrix,
                         KernelCall &call) {
  switch (planner.precision.factors) {
  case Factors::Full:
    call.kernel = "MatMulPacked";
    call.inputs = {x, packedMatrix(planner, matrix)};
    return;
  case Factors::BF16: {
    SizeList extents{planner.sizes.number(1), matrix.extents[0],
                     matrix.extents[1]};
    call.kernel = "MatMulPairs";
    call.inputs = {x, inPairs(planner, planner.reshaped(matrix, extents))};
    return;
  }
  case Factors::Int8:
    call.kernel = "MatMulQuads";
    call.inputs = {x, inQuads(planner, matrix)};
    return;
  }
}

/// A product with matrices that are taken from a constant, one for each place
/// of a batch, as those of experts are: it reads them where they are. Nothing
/// if the right side is something else.
static std::optional<KernelCall> routedProduct(Planner &planner,
                                               const Form &left,
                                               const Form &right,
                                               ArrayRef<Size> extents) {
  Sizes &sizes = planner.sizes;
  auto found = planner.taken.find(right.base);
  if (found == planner.taken.end())
    return std::nullopt;
  const Form &table = found->second.table;
  const Form &indices = found->second.indices;
  ArrayRef<Size> batch = extents.drop_back(2);
  if (table.rank() != 3 || !isPackable(table.element) ||
      !isKnown(right.offset, 0) || !isRowMajor(sizes, right) ||
      ArrayRef(right.extents).drop_back(2) != batch ||
      ArrayRef(right.extents).take_back(2) !=
          ArrayRef(table.extents).take_back(2) ||
      sizes.product(batch) !=
          sizes.product(ArrayRef(indices.extents).drop_back()))
    return std::nullopt;
  Form which = planner.reshaped(indices, batch);
  if (auto call = routedCompressedProduct(planner, left, table, which))
    return call;
  // Whoever takes decompressed rows reads no more than these, too.
  auto taking = right.base.getDefiningOp<plan::KernelOp>();
  if (!taking || !taking.getKernel().starts_with("Gather"))
    return std::nullopt;
  // Few rows go to each matrix, so what counts is how much of it is read.
  Form matrices = table;
  Type narrow = planner.builder.getBF16Type();
  if (planner.precision.factors == Factors::BF16 && table.element != narrow)
    matrices = planner.elementwise("Cast", table, narrow);
  KernelCall call;
  call.kernel = "MatMulRouted";
  call.inputs = {left, packedMatrix(planner, matrices), which};
  return call;
}

LogicalResult corten::lowerProduct(Operation *op, Planner &planner) {
  if (lowerAttention(op, planner))
    return success();
  Sizes &sizes = planner.sizes;
  Form x = planner.form(op->getOperand(0));
  Form y = planner.form(op->getOperand(1));
  unsigned rank = std::max(x.rank(), y.rank());
  // Leading axes broadcast.
  auto batchOf = [](const Form &form) {
    Form batch = form;
    batch.extents.resize(form.rank() - 2);
    batch.strides.resize(form.rank() - 2);
    return batch;
  };
  SizeList extents = planner.broadcastExtents({batchOf(x), batchOf(y)});
  extents.append({x.extents[x.rank() - 2], y.extents.back()});
  planner.refine(extents, op->getResult(0).getType());
  auto spread = [&](const Form &form) {
    SizeList shape = extents;
    shape[rank - 2] = form.extents[form.rank() - 2];
    shape[rank - 1] = form.extents[form.rank() - 1];
    return broadcast(sizes, form, shape);
  };
  KernelCall call;
  call.element = x.element;
  call.extents = extents;
  // One matrix for all of a batch.
  bool isOneMatrix = true;
  for (unsigned axis = 0; axis + 2 < y.rank(); ++axis)
    isOneMatrix &= isKnown(y.extents[axis], 1) || isKnown(y.strides[axis], 0);
  auto outer = llvm::to_vector(llvm::seq<int64_t>(0, y.rank() - 2));
  Form matrix = withoutAxes(y, outer);
  if (isOneMatrix && isPackable(y.element) && planner.isConstant(matrix)) {
    CompressedProduct product =
        compressedProduct(planner, spread(x), matrix, extents);
    if (product.form) {
      planner.setForm(op->getResult(0), *product.form);
      return success();
    }
    multiplyWith(planner, spread(x), matrix, call);
    if (!product.why.empty())
      noteExpanded(planner, *call.inputs[1], product.why);
  } else if (auto routed = routedProduct(planner, spread(x), y, extents)) {
    call.kernel = routed->kernel;
    call.inputs = routed->inputs;
    call.numbers = routed->numbers;
  } else {
    call.kernel = "MatMul";
    call.inputs = {spread(x), spread(y)};
  }
  planner.setForm(op->getResult(0), planner.kernel(call));
  return success();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {
/// An input with the margin that a window sees around it.
struct Margin {
  Form input;
  /// Of the axes in space.
  SizeList before;
  /// With the margin.
  SizeList extents;
};
} // namespace

/// What a window goes over: the input of a pad instead of its result, if the
/// kernel takes what is outside for what the pad puts there.
static Margin marginOf(Planner &planner, Value input,
                       llvm::function_ref<bool(double)> isOutside) {
  Sizes &sizes = planner.sizes;
  const Form &form = planner.form(input);
  Margin result{form, SizeList(form.rank() - 2, sizes.number(0)),
                SizeList(ArrayRef(form.extents).drop_front(2))};
  auto pad = input.getDefiningOp<coreai::PadOp>();
  if (!pad || pad.getPaddingMode() != coreai::PaddingMode::Constant)
    return result;
  std::optional<double> outside = constantNumber(pad.getPaddingValue());
  if (!outside || !isOutside(*outside))
    return result;
  std::optional<SizeList> margins = planner.knownNumbers(pad.getPadding());
  if (!margins || margins->size() != 2 * size_t(form.rank()) ||
      !llvm::all_of(ArrayRef(*margins).take_front(4),
                    [](Size size) { return isKnown(size, 0); }))
    return result;
  result.input = planner.form(pad.getInput());
  for (unsigned axis = 0; axis + 2 != form.rank(); ++axis)
    result.before[axis] = (*margins)[2 * axis + 4];
  return result;
}

/// How many windows fit. Where none does, PyTorch has no result.
static SizeList windowCounts(Planner &planner, ArrayRef<Size> extents,
                             ArrayRef<Size> window, ArrayRef<Size> strides,
                             ArrayRef<Size> dilations, bool isCeil = false) {
  Sizes &sizes = planner.sizes;
  SizeList result;
  Size one = sizes.number(1);
  for (auto [extent, size, stride, dilation] :
       llvm::zip_equal(extents, window, strides, dilations)) {
    Size span = sizes.add(sizes.mul(dilation, sizes.sub(size, one)), one);
    Size rest = sizes.sub(extent, span);
    Size count = sizes.add(isCeil ? sizes.divideUp(rest, stride)
                                  : sizes.divide(rest, stride),
                           one);
    planner.require(sizes.less(sizes.number(0), count),
                    "a window is larger than what it is to move over",
                    {"the window", "the extent"}, {span, extent});
    result.push_back(count);
  }
  return result;
}

/// N, the axes in space, C.
static SmallVector<int64_t> channelsLast(unsigned rank) {
  SmallVector<int64_t> order{0};
  order.append(llvm::to_vector(llvm::seq<int64_t>(2, rank)));
  order.push_back(1);
  return order;
}

/// The weight of a convolution, `[Cout, Cin / groups, window...]`, in panels
/// for each group, with all taps of all channels in one column. Of a transposed
/// one it is `[Cin, Cout / groups, window...]`.
static Form packedWindow(Planner &planner, const Form &weight, int64_t groups,
                         bool isPairs, bool isTransposed = false) {
  Sizes &sizes = planner.sizes;
  SizeList split = weight.extents;
  split[0] = sizes.divide(split[0], sizes.number(groups));
  split.insert(split.begin(), sizes.number(groups));
  Form byGroup = planner.reshaped(weight, split);
  // groups, window..., Cin / groups, Cout / groups
  SmallVector<int64_t> permutation{0};
  permutation.append(llvm::to_vector(llvm::seq<int64_t>(3, byGroup.rank())));
  if (isTransposed)
    permutation.append({1, 2});
  else
    permutation.append({2, 1});
  Form inOrder = transposed(byGroup, permutation);
  Size outputs = inOrder.extents.back();
  if (isPairs) {
    Size taps =
        sizes.product(ArrayRef(inOrder.extents).drop_front().drop_back(2));
    Size channels = inOrder.extents[inOrder.rank() - 2];
    return inPairs(planner, planner.reshaped(inOrder, {inOrder.extents[0], taps,
                                                       channels, outputs}));
  }
  Size depth =
      sizes.product(ArrayRef(inOrder.extents).drop_front().drop_back());
  return packedMatrix(
      planner, planner.reshaped(inOrder, {inOrder.extents[0], depth, outputs}));
}

/// The weight of a convolution in which each channel is on its own: taps, and
/// then channels.
static Form depthwiseWindow(Planner &planner, const Form &weight) {
  Sizes &sizes = planner.sizes;
  Size taps = sizes.product(ArrayRef(weight.extents).drop_front(2));
  Form flat = planner.reshaped(weight, {weight.extents[0], taps});
  return planner.copied(transposed(flat, {1, 0}));
}

/// Whether each element of the result comes from one place of the input: a
/// window of one element that goes over all of it, in steps of one.
static bool isPointwise(Planner &planner, Operation *op, const Margin &margin) {
  auto areOnes = [](ArrayRef<Size> sizes) {
    return llvm::all_of(sizes, [](Size size) { return isKnown(size, 1); });
  };
  return areOnes(
             ArrayRef(planner.form(op->getOperand(1)).extents).drop_front(2)) &&
         areOnes(planner.numbers(op->getOperand(2))) &&
         areOnes(planner.numbers(op->getOperand(4)).front()) &&
         ArrayRef(margin.extents) ==
             ArrayRef(margin.input.extents).drop_front(2);
}

static Margin marginOfConvolution(Planner &planner, Operation *op) {
  return marginOf(planner, op->getOperand(0),
                  [](double value) { return value == 0; });
}

bool corten::readsCodes(Operation *op, Planner &planner) {
  const Form &weight = planner.form(op->getOperand(1));
  return isPackable(weight.element) && comesCompressed(weight) &&
         isPointwise(planner, op, marginOfConvolution(planner, op));
}

/// A pointwise convolution with compressed weights: a product of pixels, which
/// has their channels last in memory.
static CompressedProduct pointwiseProduct(Planner &planner, const Form &input,
                                          const Form &weight,
                                          ArrayRef<Size> extents) {
  SmallVector<int64_t> order = channelsLast(input.rank());
  Form matrix =
      planner.reshaped(weight, ArrayRef(weight.extents).take_front(2));
  return compressedProduct(planner, transposed(input, order),
                           transposed(matrix, {1, 0}), extents, order);
}

/// Why a convolution has floats of weights that are compressed; `why` if that
/// is only because of these.
static StringRef whyExpanded(ArrayRef<Size> window, int64_t groups,
                             bool isPointwise, StringRef why) {
  if (isPointwise)
    return why.empty() ? "more is done with them than to decompress them" : why;
  if (groups != 1)
    return "convolutions in groups take floats";
  if (llvm::all_of(window, [](Size size) { return isKnown(size, 1); }))
    return "convolutions with strides or margins take floats";
  return "convolutions with windows of several elements take floats";
}

LogicalResult corten::lowerConvolution(Operation *op, Planner &planner) {
  FailureOr<Form> result =
      convolved(op, planner, Form(planner.form(op->getOperand(1))));
  if (failed(result))
    return failure();
  planner.setForm(op->getResult(0), *result);
  return success();
}

FailureOr<Form> corten::convolved(Operation *op, Planner &planner,
                                  const Form &weight) {
  Sizes &sizes = planner.sizes;
  SizeList strides = planner.numbers(op->getOperand(2));
  SizeList dilations = planner.numbers(op->getOperand(3));
  SizeList groupList = planner.numbers(op->getOperand(4));
  std::optional<int64_t> groups = known(groupList.front());
  if (!groups || *groups <= 0)
    return LogicalResult(cannotRun(op) << "the number of groups is not known");
  Margin margin = marginOfConvolution(planner, op);
  ArrayRef<Size> window = ArrayRef(weight.extents).drop_front(2);
  KernelCall call;
  call.element = weight.element;
  call.extents = {margin.input.extents[0], weight.extents[0]};
  call.extents.append(
      windowCounts(planner, margin.extents, window, strides, dilations));
  planner.refine(call.extents, op->getResult(0).getType());
  bool isDepthwise = *groups > 1 && isKnown(margin.input.extents[1], *groups) &&
                     isKnown(weight.extents[0], *groups);
  bool isPacked = isPackable(weight.element) && planner.isConstant(weight);
  call.order = channelsLast(weight.rank());
  bool isExpanded = comesCompressed(weight);
  bool isOnPoints = isPointwise(planner, op, margin);
  StringRef whyFloats;
  if (isExpanded && isPacked && isOnPoints) {
    CompressedProduct product =
        pointwiseProduct(planner, margin.input, weight, call.extents);
    if (product.form)
      return *product.form;
    whyFloats = product.why;
  }
  // With dots of pairs the direct form is as fast, or faster.
  WinogradChoice squares;
  if (planner.precision.factors != Factors::BF16)
    squares = winogradChoice(op, {window, strides, dilations, *groups},
                             ArrayRef(call.extents).drop_front(2),
                             planner.precision.isFastMath);
  planner.noteNearMiss(op, "convolution by squares", squares.why);
  if (squares.square) {
    call.kernel = "ConvolutionWinograd";
    call.inputs = {margin.input,
                   winogradWeights(planner, weight, *squares.square)};
    call.numbers = margin.before;
    return planner.kernel(call);
  }
  if (isPacked)
    call.numbers.append(window.begin(), window.end());
  call.numbers.append(strides);
  call.numbers.append(dilations);
  call.numbers.append(margin.before);
  if (isPacked && isDepthwise) {
    call.kernel = "ConvolutionDepthwise";
    call.inputs = {margin.input, depthwiseWindow(planner, weight)};
  } else {
    call.numbers.push_back(sizes.number(*groups));
    // Pairs of channels have to be of one group.
    std::optional<int64_t> channels = known(weight.extents[1]);
    bool isPairs = isPacked && planner.precision.factors == Factors::BF16 &&
                   (*groups == 1 || (channels && *channels % 2 == 0));
    call.kernel = isPairs    ? "ConvolutionPairs"
                  : isPacked ? "ConvolutionPacked"
                             : "Convolution";
    call.inputs = {margin.input,
                   isPacked ? packedWindow(planner, weight, *groups, isPairs)
                            : weight};
  }
  if (isExpanded)
    noteExpanded(
        planner, *call.inputs[1],
        whyExpanded(window, *groups, isOnPoints && isPacked, whyFloats));
  return planner.kernel(call);
}

LogicalResult corten::lowerTransposedConvolution(Operation *op,
                                                 Planner &planner) {
  Sizes &sizes = planner.sizes;
  const Form input = planner.form(op->getOperand(0));
  const Form weight = planner.form(op->getOperand(1));
  SizeList strides = planner.numbers(op->getOperand(2));
  SizeList padding = planner.numbers(op->getOperand(3));
  SizeList dilations = planner.numbers(op->getOperand(4));
  SizeList outputPad = planner.numbers(op->getOperand(5));
  Size groups = planner.numbers(op->getOperand(6)).front();
  std::optional<int64_t> numGroups = known(groups);
  bool isPacked = isPackable(weight.element) && planner.isConstant(weight) &&
                  numGroups && *numGroups > 0;
  KernelCall call;
  call.kernel =
      isPacked ? "ConvolutionTransposedPacked" : "ConvolutionTransposed";
  call.inputs = {input, isPacked ? packedWindow(planner, weight, *numGroups,
                                                /*isPairs=*/false,
                                                /*isTransposed=*/true)
                                 : weight};
  if (isPacked)
    call.numbers.append(weight.extents.begin() + 2, weight.extents.end());
  if (comesCompressed(weight))
    noteExpanded(planner, weight, "transposed convolutions take floats");
  call.element = weight.element;
  call.extents = {input.extents[0], sizes.mul(weight.extents[1], groups)};
  Size one = sizes.number(1);
  for (unsigned axis = 0; axis + 2 != input.rank(); ++axis) {
    Size spread =
        sizes.mul(sizes.sub(input.extents[axis + 2], one), strides[axis]);
    Size span =
        sizes.mul(dilations[axis], sizes.sub(weight.extents[axis + 2], one));
    Size both = sizes.mul(padding[axis], sizes.number(2));
    call.extents.push_back(sizes.add(
        sizes.add(sizes.sub(sizes.add(spread, span), both), outputPad[axis]),
        one));
  }
  // The declared extents are the true ones.
  if (auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType()))
    for (auto [axis, extent] : llvm::enumerate(type.getShape()))
      if (ShapedType::isStatic(extent))
        call.extents[axis] = sizes.number(extent);
  call.numbers.append(strides);
  call.numbers.append(dilations);
  call.numbers.append(padding);
  call.numbers.push_back(groups);
  call.order = channelsLast(weight.rank());
  planner.setForm(op->getResult(0), planner.kernel(call));
  return success();
}

LogicalResult corten::lowerPool(Operation *op, Planner &planner) {
  bool isMax = isa<coreai::MaxPool2dOp, coreai::MaxPool3dOp>(op);
  SizeList window = planner.numbers(op->getOperand(1));
  SizeList strides = planner.numbers(op->getOperand(2));
  SizeList dilations = planner.numbers(op->getOperand(3));
  bool isCeil = false;
  if (isMax) {
    SizeList flag = planner.numbers(op->getOperand(4));
    if (!known(flag.front()))
      return cannotRun(op) << "it is not known how it rounds";
    isCeil = *known(flag.front()) != 0;
  }
  Margin margin = marginOf(planner, op->getOperand(0), [&](double x) {
    return x == (isMax ? -std::numeric_limits<double>::infinity() : 0);
  });
  KernelCall call;
  call.kernel = isMax ? "MaxPool" : "SumPool";
  call.inputs = {margin.input};
  call.element = margin.input.element;
  call.extents = {margin.input.extents[0], margin.input.extents[1]};
  call.extents.append(windowCounts(planner, margin.extents, window, strides,
                                   dilations, isCeil));
  planner.refine(call.extents, op->getResult(0).getType());
  call.numbers.append(window);
  call.numbers.append(strides);
  call.numbers.append(dilations);
  call.numbers.append(margin.before);
  if (auto order = denseOrder(planner.sizes, margin.input))
    call.order = *order;
  planner.setForm(op->getResult(0), planner.kernel(call));
  return success();
}

//===----------------------------------------------------------------------===//
// Resampling
//===----------------------------------------------------------------------===//

static Size isNearest(Planner &planner, coreai::InterpolationMode mode) {
  return planner.sizes.number(mode ==
                              coreai::InterpolationMode::NearestNeighbor);
}

LogicalResult corten::lowerInterpolate(coreai::InterpolateOp op,
                                       Planner &planner) {
  const Form &input = planner.form(op.getInput());
  KernelCall call;
  call.kernel = "Interpolate";
  call.inputs = {input, planner.form(op.getScale()),
                 planner.form(op.getOffset())};
  call.numbers = {isNearest(planner, op.getInterpolationMode())};
  call.extents = planner.numbers(op.getOutputShape());
  planner.refine(call.extents, op.getType());
  call.element = input.element;
  if (auto order = denseOrder(planner.sizes, input))
    call.order = *order;
  planner.setForm(op, planner.kernel(call));
  return success();
}

LogicalResult
corten::lowerInterpolateCoordinates(coreai::InterpolateCoordinatesOp op,
                                    Planner &planner) {
  const Form &input = planner.form(op.getInput());
  const Form &places = planner.form(op.getCoords());
  KernelCall call;
  call.kernel = "InterpolateCoordinates";
  call.inputs = {input, places};
  call.numbers = {isNearest(planner, op.getInterpolationMode())};
  call.extents = {places.extents[0]};
  call.element = input.element;
  planner.setForm(op, planner.kernel(call));
  return success();
}
