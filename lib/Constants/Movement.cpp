// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most of these are copies of views.

#include "Kernels.h"

#include "corten/Runtime/Modes.h"

#include "llvm/ADT/Sequence.h"

using namespace corten;
using namespace mlir;
using runtime::PortableKernel;
using runtime::Tensor;

static bool copy(const Tensor &from, const Tensor &to) {
  return runs(PortableKernel::Copy, from, to);
}

bool corten::computeTile(Operands operands, const Elements &result) {
  const Elements &input = operands[0];
  Tensor tensor = input.tensor();
  // Each axis is one of repetitions and one of elements.
  SmallVector<int64_t> shape, strides;
  if (result.shape().size() != input.shape().size() ||
      result.shape().size() * 2 > runtime::kMaxRank)
    return false;
  for (auto [axis, extent] : llvm::enumerate(input.shape())) {
    if (extent == 0 || result.shape()[axis] % extent != 0)
      return false;
    shape.append({result.shape()[axis] / extent, extent});
    strides.append({0, tensor.steps[axis]});
  }
  Tensor whole = result.output();
  return copy(tensor.view(shape, strides),
              Tensor(whole.type, whole.data, shape));
}

bool corten::computeTranspose(Operands operands, const Elements &result) {
  Tensor tensor = operands[0].tensor();
  SmallVector<int64_t> permutation = operands[1].indices();
  SmallVector<int64_t> shape, strides;
  for (int64_t axis : permutation) {
    axis += axis < 0 ? static_cast<int64_t>(permutation.size()) : 0;
    if (axis < 0 || axis >= tensor.rank)
      return false;
    shape.push_back(tensor.extents[axis]);
    strides.push_back(tensor.steps[axis]);
  }
  return copy(tensor.view(shape, strides), result.output());
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// The part of a tensor that bounds take; none if they do not fit.
static std::optional<Tensor> sliceOf(const Tensor &tensor, Operands bounds) {
  SmallVector<int64_t> starts = bounds[0].indices();
  SmallVector<int64_t> ends = bounds[1].indices();
  SmallVector<int64_t> steps = bounds[2].indices();
  if (starts.size() != tensor.rank || ends.size() != tensor.rank ||
      steps.size() != tensor.rank)
    return std::nullopt;
  int64_t offset = 0;
  SmallVector<int64_t> shape, strides;
  for (auto [axis, step] : llvm::enumerate(steps)) {
    int64_t extent = tensor.extents[axis];
    // Forwards a bound lies in [0, extent], backwards in [-1, extent - 1], but
    // a start on an element.
    int64_t back = step < 0;
    auto place = [&](int64_t bound, int64_t least) {
      return std::clamp(bound < 0 ? bound + extent : bound, least,
                        std::max(extent - back, least));
    };
    if (step == 0)
      return std::nullopt;
    int64_t start = place(starts[axis], 0);
    int64_t end = place(ends[axis], -back);
    int64_t length = step > 0 ? llvm::divideCeilSigned(end - start, step)
                              : llvm::divideCeilSigned(start - end, -step);
    shape.push_back(extent == 0 ? 0 : std::max<int64_t>(length, 0));
    strides.push_back(step * tensor.steps[axis]);
    offset += shape.back() == 0 ? 0 : start * tensor.steps[axis];
  }
  return tensor.view(shape, strides, offset);
}

bool corten::computeSlice(Operands operands, const Elements &result) {
  std::optional<Tensor> part =
      sliceOf(operands[0].tensor(), operands.drop_front());
  return part && copy(*part, result.output());
}

bool corten::computeSliceUpdate(Operands operands, const Elements &result) {
  Tensor whole = result.output();
  std::optional<Tensor> part = sliceOf(whole, operands.slice(1, 3));
  return part && copy(operands[0].tensor(), whole) &&
         copy(operands[4].tensor(), *part);
}

bool corten::computeReverse(Operands operands, const Elements &result) {
  Tensor tensor = operands[0].tensor();
  SmallVector<int64_t> strides(ArrayRef<int64_t>(tensor.strides()));
  int64_t offset = 0;
  for (int64_t axis : operands[1].indices()) {
    axis += axis < 0 ? tensor.rank : 0;
    if (axis < 0 || axis >= tensor.rank || strides[axis] < 0)
      return false;
    offset += std::max<int64_t>(tensor.extents[axis] - 1, 0) * strides[axis];
    strides[axis] = -strides[axis];
  }
  return copy(tensor.view(tensor.shape(), strides, offset), result.output());
}

//===----------------------------------------------------------------------===//
// Joining and parting
//===----------------------------------------------------------------------===//

bool corten::computeConcat(Operands operands, const Elements &result) {
  Tensor whole = result.output();
  std::optional<int64_t> axis = axisOf(operands[0], whole.rank);
  if (!axis)
    return false;
  int64_t place = 0;
  for (const Elements &input : operands.drop_front()) {
    // Scalars join into a vector.
    bool isScalar = input.shape().empty();
    Tensor part =
        whole.view(input.shape(), whole.strides(), place * whole.steps[*axis]);
    if (!isScalar && input.shape().size() != whole.rank)
      return false;
    place += isScalar ? 1 : input.shape()[*axis];
    if (place > whole.extents[*axis] || !copy(input.tensor(), part))
      return false;
  }
  return place == whole.extents[*axis];
}

bool corten::computeSplit(Operands operands, ArrayRef<Elements> results) {
  Tensor whole = operands[0].tensor();
  std::optional<int64_t> axis = axisOf(operands[2], whole.rank);
  if (!axis)
    return false;
  int64_t place = 0;
  for (const Elements &result : results) {
    Tensor part =
        whole.view(result.shape(), whole.strides(), place * whole.steps[*axis]);
    if (result.shape().size() != whole.rank)
      return false;
    place += result.shape()[*axis];
    if (place > whole.extents[*axis] || !copy(part, result.output()))
      return false;
  }
  return place == whole.extents[*axis];
}

//===----------------------------------------------------------------------===//
// Filling
//===----------------------------------------------------------------------===//

static int64_t modeOf(coreai::PaddingMode mode) {
  using Mode = runtime::PaddingMode;
  switch (mode) {
  case coreai::PaddingMode::Replicate:
    return static_cast<int64_t>(Mode::Replicate);
  case coreai::PaddingMode::Reflect:
    return static_cast<int64_t>(Mode::Reflect);
  case coreai::PaddingMode::Symmetric:
    return static_cast<int64_t>(Mode::Symmetric);
  default:
    return static_cast<int64_t>(Mode::Circular);
  }
}

bool corten::computePad(coreai::PadOp op, Operands operands,
                        const Elements &result) {
  Tensor input = operands[0].tensor();
  Tensor output = result.output();
  SmallVector<int64_t> margins = operands[1].indices();
  if (margins.size() != 2 * static_cast<size_t>(input.rank) ||
      output.rank != input.rank)
    return false;
  int64_t offset = 0;
  SmallVector<int64_t> numbers = {modeOf(op.getPaddingMode())};
  for (int axis = 0; axis < input.rank; ++axis) {
    if (output.extents[axis] !=
        margins[2 * axis] + input.extents[axis] + margins[2 * axis + 1])
      return false;
    offset += margins[2 * axis] * output.steps[axis];
    numbers.push_back(margins[2 * axis]);
  }
  if (op.getPaddingMode() != coreai::PaddingMode::Constant)
    return runs(PortableKernel::PadByRule, input, output, numbers);
  return runs(PortableKernel::Fill, operands[2].first(), output) &&
         copy(input, output.view(input.shape(), output.strides(), offset));
}

// In the arithmetic of the type: `start + i * step`.
bool corten::computeRange(Operands operands, const Elements &result) {
  Tensor output = result.output();
  SmallVector<int64_t> places =
      llvm::to_vector(llvm::seq<int64_t>(result.size()));
  Tensor counted(runtime::ElementType::SI64, places.data(), result.shape());
  std::optional<Tensor> start = operands[0].spread(result.shape());
  std::optional<Tensor> step = operands[2].spread(result.shape());
  return start && step && runs(PortableKernel::Cast, counted, output) &&
         runs(PortableKernel::Mul, {output, *step}, output) &&
         runs(PortableKernel::Add, {*start, output}, output);
}

bool corten::computeBroadcastShapes(Operands operands, const Elements &result) {
  SmallVector<int64_t> shape(result.size(), 1);
  for (const Elements &operand : operands) {
    SmallVector<int64_t> own = operand.indices();
    if (own.size() > shape.size())
      return false;
    size_t first = shape.size() - own.size();
    for (auto [axis, extent] : llvm::enumerate(own)) {
      int64_t &common = shape[first + axis];
      if (extent != 1 && common != 1 && extent != common)
        return false;
      common = extent == 1 ? common : extent;
    }
  }
  Tensor numbers(runtime::ElementType::SI64, shape.data(), result.shape());
  return runs(PortableKernel::Cast, numbers, result.output());
}
