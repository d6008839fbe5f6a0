// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors without elements: extents that only the data decides over may turn
// out to be zero, and the interpreter ends the process on some ops of nothing.

#include "Emission/Emitter.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace corten;
using namespace mlir;

/// The trailing axes of a broadcasting op that are not broadcast; nothing for
/// other ops.
static std::optional<int64_t> unbroadcastAxes(OperationName op) {
  StringRef name = op.getStringRef();
  if (!name.consume_front("coreai.decomposable.broadcasting_"))
    return std::nullopt;
  return name == "batch_matmul" ? 2 : 0;
}

/// The interpreter ends the process when it stretches a unit axis to an extent
/// that turns out to be zero inside of a broadcasting op. It can do so in an op
/// of its own.
void Emitter::alignOpenExtents(OperationState &state) {
  std::optional<int64_t> trailing = unbroadcastAxes(state.name);
  if (!trailing)
    return;
  SmallVector<RankedTensorType> types;
  int64_t rank = 0;
  for (Value operand : state.operands) {
    types.push_back(type(operand));
    rank = std::max(rank, types.back().getRank());
  }
  auto extent = [&](size_t i, int64_t axis) {
    int64_t own = axis - (rank - types[i].getRank());
    return own < 0 ? 1 : types[i].getDimSize(own);
  };
  // The operand that decides over each open axis.
  SmallVector<std::optional<size_t>> sources(rank);
  for (size_t i = 0; i < types.size(); ++i)
    for (int64_t axis = 0; axis < rank - *trailing; ++axis)
      if (ShapedType::isDynamic(extent(i, axis)) && !sources[axis])
        sources[axis] = i;

  SmallVector<Value, 4> aligned(state.operands);
  for (auto [i, operand] : llvm::enumerate(aligned)) {
    bool stretches = false;
    SmallVector<int64_t> shape;
    for (int64_t axis = 0; axis < rank; ++axis) {
      bool isOpen = extent(i, axis) == 1 && sources[axis];
      stretches |= isOpen;
      shape.push_back(isOpen ? ShapedType::kDynamic : extent(i, axis));
    }
    if (stretches)
      operand = broadcast(operand, types[i].clone(shape), [&](int64_t axis) {
        size_t source = *sources[axis];
        return dim(state.operands[source],
                   axis - (rank - types[source].getRank()));
      });
  }
  state.operands = std::move(aligned);
}

/// What a reduction over no elements gives, with the reduced axes as 1; null if
/// there are some. The interpreter ends the process on it.
Value Emitter::reductionOfNothing(StringRef op, Value x,
                                  ArrayRef<int64_t> axes) {
  // A stand-in may have other axes.
  if (failed)
    return {};
  RankedTensorType known = type(x);
  SmallVector<int64_t> shape(known.getShape());
  bool isEmpty = false;
  for (int64_t dim : axes) {
    int64_t &extent = shape[axis(dim, known.getRank())];
    isEmpty |= extent == 0;
    extent = 1;
  }
  // What is empty still has no elements to compute.
  if (!isEmpty || !known.clone(shape).hasStaticShape() ||
      llvm::is_contained(shape, 0) || isa<ComplexType>(known.getElementType()))
    return {};
  double infinity = std::numeric_limits<double>::infinity();
  std::optional<double> neutral =
      llvm::StringSwitch<std::optional<double>>(op)
          .Cases({coreai::ReduceSumOp::getOperationName(),
                  coreai::AnyOp::getOperationName()},
                 0.0)
          .Cases({coreai::ReduceProductOp::getOperationName(),
                  coreai::AllOp::getOperationName()},
                 1.0)
          .Case(coreai::ReduceMeanOp::getOperationName(),
                std::numeric_limits<double>::quiet_NaN())
          .Case(coreai::ReduceMaxOp::getOperationName(), -infinity)
          .Case(coreai::ReduceMinOp::getOperationName(), infinity)
          .Default(std::nullopt);
  if (!neutral)
    return {};
  return splat(*neutral, known.clone(shape));
}
