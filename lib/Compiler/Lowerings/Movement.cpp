// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What moves, repeats or creates elements: views for the most part.

#include "../Lowerings.h"

#include "corten/Runtime/Modes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

LogicalResult corten::lowerConstant(coreai::ConstantOp op, Planner &planner) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type)
    return cannotRun(op) << "a constant of " << op.getType();
  if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue())) {
    planner.setForm(op, planner.constant(dense));
    return success();
  }
  auto weight = dyn_cast<DenseResourceElementsAttr>(op.getValue());
  if (!weight || !weight.getRawHandle().getBlob())
    return cannotRun(op) << "its elements are not in the program";
  SizeList extents;
  for (int64_t extent : type.getShape())
    extents.push_back(planner.sizes.number(extent));
  Value base = plan::ConstantOp::create(planner.builder, op.getLoc(), type,
                                        cast<ElementsAttr>(op.getValue()));
  Form form = planner.whole(base, extents);
  // In a file such elements share bytes.
  Type element = type.getElementType();
  if (sharesBytes(element)) {
    KernelCall call;
    call.kernel = "Unpack";
    call.inputs = {form};
    call.extents = extents;
    call.element = element;
    form = planner.kernel(call);
  }
  planner.setForm(op, form);
  return success();
}

/// A tensor that holds sizes.
static Form numbersForm(Planner &planner, ArrayRef<Size> numbers,
                        ArrayRef<Size> extents, Type element) {
  KernelCall call;
  call.kernel = "Numbers";
  call.numbers.assign(numbers.begin(), numbers.end());
  call.extents.assign(extents.begin(), extents.end());
  call.element = element;
  return planner.kernel(call);
}

LogicalResult corten::lowerGetShape(coreai::GetShapeOp op, Planner &planner) {
  const Form &input = planner.form(op.getInput());
  planner.setForm(op, numbersForm(planner, input.extents,
                                  planner.sizes.number(input.rank()),
                                  resultElement(op)));
  return success();
}

LogicalResult corten::lowerBroadcastShapes(coreai::BroadcastShapesOp op,
                                           Planner &planner) {
  Sizes &sizes = planner.sizes;
  SizeList a = planner.numbers(op.getShape_1());
  SizeList b = planner.numbers(op.getShape_2());
  if (a.size() < b.size())
    std::swap(a, b);
  Size one = sizes.number(1);
  for (size_t i = 0; i != b.size(); ++i) {
    Size &extent = a[a.size() - b.size() + i];
    Size isOne = sizes.equal(extent, one);
    Size fits = sizes.add(sizes.equal(b[i], extent), sizes.equal(b[i], one));
    planner.require(sizes.add(fits, isOne),
                    "two axes cannot be broadcast together",
                    {"one", "the other"}, {b[i], extent});
    extent = sizes.select(isOne, b[i], extent);
  }
  planner.setForm(
      op, numbersForm(planner, a, sizes.number(a.size()), resultElement(op)));
  return success();
}

LogicalResult corten::lowerRange(coreai::RangeOp op, Planner &planner) {
  Sizes &sizes = planner.sizes;
  Type element = resultElement(op);
  SizeList extents(1, sizes.number(0));
  auto type = cast<RankedTensorType>(op.getType());
  if (type.hasStaticShape()) {
    extents[0] = sizes.number(type.getDimSize(0));
  } else if (isa<IntegerType>(element)) {
    Size start = planner.numbers(op.getStart()).front();
    Size stop = planner.numbers(op.getStop()).front();
    Size step = planner.numbers(op.getStep()).front();
    // Backwards it is the same, seen from the other side.
    Size forward = sizes.divideUp(sizes.sub(stop, start), step);
    extents[0] = sizes.max(forward, sizes.number(0));
    if (!known(step) || *known(step) < 0) {
      Size distance = sizes.sub(start, stop);
      Size back = sizes.sub(sizes.number(0), step);
      Size backward =
          sizes.max(sizes.divideUp(distance, back), sizes.number(0));
      extents[0] =
          sizes.select(sizes.less(step, sizes.number(0)), backward, extents[0]);
    }
  } else {
    // The count is computed as the elements are, and read.
    KernelCall count;
    count.kernel = "RangeCount";
    count.inputs = {planner.form(op.getStart()), planner.form(op.getStop()),
                    planner.form(op.getStep())};
    count.element = IntegerType::get(op.getContext(), 64, IntegerType::Signed);
    Form counted = planner.kernel(count);
    extents[0] =
        plan::ElementOp::create(planner.builder, op.getLoc(),
                                planner.builder.getIndexType(), counted.base,
                                planner.builder.getI64IntegerAttr(0))
            .getResult();
  }
  KernelCall call;
  call.kernel = "Range";
  call.inputs = {planner.form(op.getStart()), planner.form(op.getStep())};
  call.extents = extents;
  call.element = element;
  planner.setForm(op, planner.kernel(call));
  return success();
}

//===----------------------------------------------------------------------===//
// Other axes
//===----------------------------------------------------------------------===//

LogicalResult corten::lowerReshape(coreai::ReshapeOp op, Planner &planner) {
  Sizes &sizes = planner.sizes;
  const Form &input = planner.form(op.getInput());
  SizeList extents = planner.numbers(op.getNewShape());
  // A -1 is what is left.
  std::optional<size_t> open;
  Size rest = sizes.product(input.extents);
  for (auto [axis, extent] : llvm::enumerate(extents))
    if (isKnown(extent, -1))
      open = axis;
  if (open) {
    for (auto [axis, extent] : llvm::enumerate(extents))
      if (axis != *open)
        rest =
            isKnown(extent, 0) ? sizes.number(0) : sizes.divide(rest, extent);
    extents[*open] = rest;
  }
  planner.refine(extents, op.getType());
  Size given = sizes.product(input.extents);
  Size wanted = sizes.product(extents);
  planner.require(sizes.equal(given, wanted),
                  "a tensor cannot be reshaped to another number of elements",
                  {"given", "wanted"}, {given, wanted});
  planner.setForm(op, planner.reshaped(input, extents));
  return success();
}

LogicalResult corten::lowerTranspose(coreai::TransposeOp op, Planner &planner) {
  const Form &input = planner.form(op.getInput());
  auto permutation = planner.axes(op.getPermutation(), input.rank());
  if (!permutation || permutation->size() != input.rank())
    return cannotRun(op) << "the permutation is not known";
  planner.setForm(op, transposed(input, *permutation));
  return success();
}

LogicalResult corten::lowerExpandDims(coreai::ExpandDimsOp op,
                                      Planner &planner) {
  const Form &input = planner.form(op.getInput());
  auto count = cast<RankedTensorType>(op.getAxes().getType()).getDimSize(0);
  auto axes = planner.axes(op.getAxes(), input.rank() + unsigned(count));
  if (!axes)
    return cannotRun(op) << "the axes are not known";
  llvm::sort(*axes);
  planner.setForm(op, withUnitAxes(planner.sizes, input, *axes));
  return success();
}

LogicalResult corten::lowerShrinkDims(coreai::ShrinkDimsOp op,
                                      Planner &planner) {
  const Form &input = planner.form(op.getInput());
  auto axes = planner.axes(op.getAxes(), input.rank());
  if (!axes)
    return cannotRun(op) << "the axes are not known";
  planner.setForm(op, withoutAxes(input, *axes));
  return success();
}

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

LogicalResult corten::lowerBroadcastTo(coreai::BroadcastToOp op,
                                       Planner &planner) {
  const Form &input = planner.form(op.getInput());
  SizeList extents = planner.numbers(op.getShape());
  planner.refine(extents, op.getType());
  if (extents.size() < input.rank())
    return cannotRun(op) << "the shape has fewer axes than the input";
  planner.setForm(op, planner.broadcasted(input, extents));
  return success();
}

LogicalResult corten::lowerBroadcastInDims(coreai::BroadcastInDimsOp op,
                                           Planner &planner) {
  const Form &input = planner.form(op.getInput());
  auto axes = planner.axes(op.getAxes(), input.rank());
  if (!axes)
    return cannotRun(op) << "the axes are not known";
  SizeList extents = input.extents;
  for (auto [axis, extent] :
       llvm::zip(*axes, planner.numbers(op.getDimSizes())))
    extents[axis] = extent;
  planner.refine(extents, op.getType());
  planner.setForm(op, planner.broadcasted(input, extents));
  return success();
}

LogicalResult corten::lowerTile(coreai::TileOp op, Planner &planner) {
  Sizes &sizes = planner.sizes;
  const Form &input = planner.form(op.getInput());
  SizeList counts = planner.numbers(op.getDims());
  if (counts.size() > input.rank())
    return cannotRun(op) << "there are more counts than axes";
  counts.insert(counts.begin(), input.rank() - counts.size(), sizes.number(1));
  // An axis of repetitions before each that is repeated.
  Form spread = input;
  SizeList extents;
  for (unsigned axis = input.rank(); axis-- > 0;) {
    extents.insert(extents.begin(),
                   sizes.mul(counts[axis], input.extents[axis]));
    if (isKnown(counts[axis], 1))
      continue;
    spread = withUnitAxes(sizes, spread, int64_t(axis));
    spread.extents[axis] = counts[axis];
  }
  planner.refine(extents, op.getType());
  planner.setForm(op, planner.reshaped(spread, extents));
  return success();
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Memory that is to be written in parts.
static Form emptyForm(Planner &planner, ArrayRef<Size> extents, Type element,
                      ArrayRef<int64_t> order) {
  KernelCall call;
  call.kernel = "Empty";
  call.extents.assign(extents.begin(), extents.end());
  call.element = element;
  call.order.assign(order.begin(), order.end());
  return planner.kernel(call);
}

/// That tensors that are joined along an axis have the same extents along all
/// others.
static void requireSameElsewhere(Planner &planner, int64_t joined,
                                 const Form &first, const Form &part) {
  for (unsigned axis = 0; axis != first.rank(); ++axis) {
    Size one = first.extents[axis];
    Size other = part.extents[axis];
    if (axis != joined)
      planner.require(planner.sizes.equal(one, other),
                      "tensors that are joined have different extents",
                      {"one", "the other"}, {one, other});
  }
}

LogicalResult corten::lowerConcat(coreai::ConcatOp op, Planner &planner) {
  Sizes &sizes = planner.sizes;
  SmallVector<Form> parts;
  for (Value input : op.getInputs()) {
    Form part = planner.form(input);
    // Scalars make a vector.
    if (part.rank() == 0)
      part = withUnitAxes(sizes, part, int64_t(0));
    parts.push_back(part);
  }
  if (parts.empty())
    return cannotRun(op) << "it joins nothing";
  auto axis = planner.axis(op.getDimension(), parts.front().rank());
  if (!axis)
    return cannotRun(op) << "the axis is not known";
  if (parts.size() == 1) {
    planner.setForm(op, parts.front());
    return success();
  }
  SizeList extents = parts.front().extents;
  extents[*axis] = sizes.number(0);
  SmallVector<int64_t> order;
  for (const Form &part : parts) {
    requireSameElsewhere(planner, *axis, parts.front(), part);
    extents[*axis] = sizes.add(extents[*axis], part.extents[*axis]);
    if (order.empty() && !planner.isConstant(part))
      order = denseOrder(sizes, part).value_or(SmallVector<int64_t>());
  }
  Form result = emptyForm(planner, extents, parts.front().element, order);
  Size start = sizes.number(0);
  for (const Form &part : parts) {
    Form slot = sliced(sizes, result, unsigned(*axis), start,
                       part.extents[*axis], sizes.number(1));
    slot.extents = part.extents;
    result = planner.inserted(part, result, slot);
    start = sizes.add(start, part.extents[*axis]);
  }
  planner.setForm(op, result);
  return success();
}

LogicalResult corten::lowerSplit(coreai::SplitOp op, Planner &planner) {
  Sizes &sizes = planner.sizes;
  const Form input = planner.form(op.getInput());
  auto axis = planner.axis(op.getDim(), input.rank());
  if (!axis)
    return cannotRun(op) << "the axis is not known";
  SizeList parts = planner.numbers(op.getSplitSizeOrSections());
  bool isEven =
      cast<RankedTensorType>(op.getSplitSizeOrSections().getType()).getRank() ==
      0;
  Size start = sizes.number(0);
  for (auto [index, result] : llvm::enumerate(op.getResults())) {
    Size count = isEven ? sizes.min(parts.front(),
                                    sizes.sub(input.extents[*axis], start))
                        : parts[index];
    planner.setForm(result, sliced(sizes, input, unsigned(*axis), start, count,
                                   sizes.number(1)));
    start = sizes.add(start, count);
  }
  planner.require(sizes.equal(start, input.extents[*axis]),
                  "the parts that a tensor is split into are not all of it",
                  {"their sum", "the extent"}, {start, input.extents[*axis]});
  return success();
}

namespace {
/// A part of an axis, as `slice` and `slice_update` give it.
struct AxisPart {
  Size extent;
  /// As they are given: from the end if negative, and maybe outside.
  Size first;
  Size last;
  /// Inside of the axis.
  Size start;
  Size count;
  int64_t step;
};
} // namespace

/// That a part has the elements that others rely on.
static void requireElements(Planner &planner, const AxisPart &part,
                            Size wanted) {
  Sizes &sizes = planner.sizes;
  Size one = sizes.number(1);
  Size reach =
      sizes.mul(sizes.sub(wanted, one), sizes.number(std::abs(part.step)));
  // The part is laid out when the start is known, which may be before the end
  // is.
  Size isInside = part.step > 0
                      ? sizes.less(sizes.add(part.start, reach), part.extent)
                      : sizes.less(reach, sizes.add(part.start, one));
  planner.require(isInside, "a part of a tensor reaches out of it",
                  {"start", "the extent", "the number of elements"},
                  {part.first, part.extent, wanted});
  planner.require(sizes.equal(part.count, wanted),
                  "a part of a tensor has another number of elements than the "
                  "program says",
                  {"start", "end", "the extent", "the number of elements"},
                  {part.first, part.last, part.extent, wanted});
}

/// What `slice` and `slice_update` mean by their indices: a view. Where
/// `wanted` knows an extent, that is what it has.
static std::optional<Form> partOf(Planner &planner, const Form &input,
                                  Value starts, Value ends, Value strides,
                                  ArrayRef<Size> wanted) {
  Sizes &sizes = planner.sizes;
  SizeList first = planner.numbers(starts);
  SizeList last = planner.numbers(ends);
  SizeList steps = planner.numbers(strides);
  if (first.size() != input.rank() || last.size() != input.rank() ||
      steps.size() != input.rank())
    return std::nullopt;
  Form result = input;
  Size zero = sizes.number(0);
  Size one = sizes.number(1);
  for (unsigned axis = 0; axis != input.rank(); ++axis) {
    Size extent = input.extents[axis];
    Size step = steps[axis];
    if (!known(step) || *known(step) == 0)
      return std::nullopt;
    bool isForward = *known(step) > 0;
    // From the end if negative.
    auto wrapped = [&](Size index) {
      if (known(index))
        return *known(index) < 0 ? sizes.add(index, extent) : index;
      return sizes.select(sizes.less(index, zero), sizes.add(index, extent),
                          index);
    };
    auto clamped = [&](Size index, Size low, Size high) {
      index = wrapped(index);
      if (known(index) && *known(index) >= INT32_MAX)
        return high;
      return sizes.max(sizes.min(index, high), low);
    };
    Size highest = isForward ? extent : sizes.sub(extent, one);
    Size start = clamped(first[axis], zero, highest);
    Size end =
        clamped(last[axis], isForward ? zero : sizes.number(-1), highest);
    Size distance = isForward ? sizes.sub(end, start) : sizes.sub(start, end);
    Size stride = sizes.number(std::abs(*known(step)));
    Size count = sizes.max(sizes.divideUp(distance, stride), zero);
    if (isKnown(start, 0) && isForward && isKnown(step, 1))
      count = end;
    if (Size extent = wanted[axis]; extent && extent != count) {
      requireElements(planner,
                      {input.extents[axis], first[axis], last[axis], start,
                       count, *known(step)},
                      extent);
      count = extent;
    }
    result = sliced(sizes, result, axis, start, count, step);
  }
  return result;
}

LogicalResult corten::lowerSlice(coreai::SliceOp op, Planner &planner) {
  SizeList wanted;
  for (int64_t extent : cast<RankedTensorType>(op.getType()).getShape())
    wanted.push_back(ShapedType::isStatic(extent) ? planner.sizes.number(extent)
                                                  : Size());
  auto part = partOf(planner, planner.form(op.getInput()), op.getStartIndices(),
                     op.getEndIndices(), op.getStrides(), wanted);
  if (!part)
    return cannotRun(op) << "the strides are not known, or zero";
  std::optional<Form> first = firstOfSorted(op, *part, planner);
  planner.setForm(op, first ? *first : *part);
  return success();
}

LogicalResult corten::lowerSliceUpdate(coreai::SliceUpdateOp op,
                                       Planner &planner) {
  Form target = planner.form(op.getInput());
  // An element that stands for several cannot be written for one.
  if (!denseOrder(planner.sizes, target))
    target = planner.copied(target);
  Form update = planner.form(op.getUpdate());
  if (update.rank() != target.rank())
    return cannotRun(op) << "the update has another number of axes";
  auto part = partOf(planner, target, op.getStartIndices(), op.getEndIndices(),
                     op.getStrides(), update.extents);
  if (!part)
    return cannotRun(op) << "the strides are not known, or zero";
  planner.setForm(op, planner.inserted(update, target, *part));
  return success();
}

LogicalResult corten::lowerReverse(coreai::ReverseOp op, Planner &planner) {
  Sizes &sizes = planner.sizes;
  Form result = planner.form(op.getInput());
  auto axes = planner.axes(op.getDims(), result.rank());
  if (!axes)
    return cannotRun(op) << "the axes are not known";
  for (int64_t axis : *axes)
    result = sliced(sizes, result, unsigned(axis),
                    sizes.sub(result.extents[axis], sizes.number(1)),
                    result.extents[axis], sizes.number(-1));
  planner.setForm(op, result);
  return success();
}

LogicalResult corten::lowerPad(coreai::PadOp op, Planner &planner) {
  Sizes &sizes = planner.sizes;
  const Form input = planner.form(op.getInput());
  SizeList margins = planner.numbers(op.getPadding());
  if (margins.size() != 2 * size_t(input.rank()))
    return cannotRun(op) << "there are not two margins for each axis";
  SizeList extents;
  for (unsigned axis = 0; axis != input.rank(); ++axis)
    extents.push_back(
        sizes.add(sizes.add(input.extents[axis], margins[2 * size_t(axis)]),
                  margins[2 * size_t(axis) + 1]));
  planner.refine(extents, op.getType());
  SmallVector<int64_t> order =
      denseOrder(sizes, input).value_or(SmallVector<int64_t>());
  KernelCall call;
  call.extents = extents;
  call.element = input.element;
  call.order = order;
  if (op.getPaddingMode() == coreai::PaddingMode::Constant) {
    call.kernel = "Fill";
    call.inputs = {planner.form(op.getPaddingValue())};
    Form result = planner.kernel(call);
    Form middle = result;
    for (unsigned axis = 0; axis != input.rank(); ++axis)
      middle = sliced(sizes, middle, axis, margins[2 * size_t(axis)],
                      input.extents[axis], sizes.number(1));
    planner.setForm(op, planner.inserted(input, result, middle));
    return success();
  }
  runtime::PaddingMode mode;
  switch (op.getPaddingMode()) {
  case coreai::PaddingMode::Replicate:
    mode = runtime::PaddingMode::Replicate;
    break;
  case coreai::PaddingMode::Reflect:
    mode = runtime::PaddingMode::Reflect;
    break;
  case coreai::PaddingMode::Symmetric:
    mode = runtime::PaddingMode::Symmetric;
    break;
  default:
    mode = runtime::PaddingMode::Circular;
    break;
  }
  call.kernel = "PadByRule";
  call.inputs = {input};
  call.numbers.push_back(sizes.number(int64_t(mode)));
  for (unsigned axis = 0; axis != input.rank(); ++axis)
    call.numbers.push_back(margins[2 * size_t(axis)]);
  planner.setForm(op, planner.kernel(call));
  return success();
}
