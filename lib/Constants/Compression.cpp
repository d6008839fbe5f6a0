// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights to and from their compressed forms.

#include "Kernels.h"

using namespace corten;
using namespace mlir;
using runtime::PortableKernel;
using runtime::Tensor;

bool corten::computeQuantization(PortableKernel kernel, Operands operands,
                                 const Elements &result) {
  ArrayRef<int64_t> shape = operands[0].shape();
  // One axis has a parameter for each of its elements; as many as there are
  // mean one for all.
  bool isPerTensor = !operands[4].shape().empty();
  std::optional<int64_t> axis;
  if (!isPerTensor && !(axis = axisOf(operands[4], shape.size())))
    return false;
  SmallVector<Tensor, 4> inputs = {operands[0].tensor()};
  for (const Elements &parameter : operands.slice(1, 3)) {
    Tensor view = parameter.tensor();
    SmallVector<int64_t> strides(shape.size(), 0);
    if (parameter.size() != 1) {
      if (!axis || view.rank != 1 || view.extents[0] != shape[*axis])
        return false;
      strides[*axis] = view.steps[0];
    }
    inputs.push_back(view.view(shape, strides));
  }
  return runs(kernel, inputs, result.output());
}

/// A tensor whose axes are cut into blocks, each in two: of blocks, and of
/// elements of one. What has one element for each block repeats it.
static std::optional<Tensor> inBlocks(const Tensor &tensor,
                                      ArrayRef<int64_t> shape,
                                      ArrayRef<int64_t> blocks) {
  SmallVector<int64_t> extents, strides;
  if (tensor.rank != shape.size() || 2 * shape.size() > runtime::kMaxRank)
    return std::nullopt;
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    int64_t own = tensor.extents[axis], step = tensor.steps[axis];
    int64_t length = extent / blocks[axis];
    if (own != extent && own != blocks[axis] && own != 1)
      return std::nullopt;
    extents.append({blocks[axis], length});
    if (own == extent)
      strides.append({step * length, step});
    else
      strides.append({own == 1 ? 0 : step, 0});
  }
  return tensor.view(extents, strides);
}

bool corten::computeBlockwise(Operands operands, const Elements &result) {
  ArrayRef<int64_t> shape = operands[0].shape(), blocks = operands[1].shape();
  if (blocks.size() != shape.size() || result.shape() != shape ||
      !llvm::all_of(llvm::zip_equal(shape, blocks), [](auto extents) {
        auto [extent, count] = extents;
        return count > 0 && extent % count == 0;
      }))
    return false;
  SmallVector<Tensor, 4> inputs;
  for (const Elements &operand : operands) {
    std::optional<Tensor> view = inBlocks(operand.tensor(), shape, blocks);
    if (!view)
      return false;
    inputs.push_back(*view);
  }
  std::optional<Tensor> output = inBlocks(result.output(), shape, blocks);
  return output && runs(PortableKernel::Dequantize, inputs, *output);
}

bool corten::computeLookup(Operands operands, const Elements &result) {
  std::optional<int64_t> axis = axisOf(operands[2], operands[0].shape().size());
  return axis && runs(PortableKernel::LutToDense,
                      {operands[0].tensor(), operands[1].tensor()},
                      result.output(), *axis);
}
