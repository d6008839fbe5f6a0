// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decompositions of ops that spread their operands over each other.

#include "Decomposer.h"

using namespace corten;
using namespace mlir;

Value Decomposer::broadcastBinary(StringRef primitive, ValueRange args) {
  SmallVector<int64_t> result = broadcast(shape(args[0]), shape(args[1]));
  SmallVector<Value> operands(args);
  bool areStatic = isStatic(shape(args[0])) && isStatic(shape(args[1]));
  if (areStatic) {
    for (Value &operand : operands) {
      size_t missing = result.size() - shape(operand).size();
      if (missing > 0) {
        SmallVector<int64_t> full(missing, 1);
        llvm::append_range(full, shape(operand));
        operand = make("primitive.reshape_v2", {operand, signedNumbers(full)},
                       tensor(full, element(operand)));
      }
      SmallVector<int64_t> extents, axes;
      for (auto [axis, extent] : llvm::enumerate(shape(operand)))
        if (extent != result[axis]) {
          extents.push_back(result[axis]);
          axes.push_back(static_cast<int64_t>(axis));
        }
      if (!axes.empty()) {
        Value spread = sizes(extents);
        operand = make("primitive.broadcast_in_dims_v1",
                       {operand, spread, signedNumbers(axes)},
                       tensor(result, element(operand)));
      }
    }
  } else if (isStatic(result)) {
    Value target = sizes(result);
    for (Value &operand : operands)
      if (shape(operand) != ArrayRef(result))
        operand = broadcastTo(operand, target, result);
  } else {
    Value left = shapeOf(args[0]);
    Value right = shapeOf(args[1]);
    Value target = broadcastShapes(left, right);
    for (Value &operand : operands)
      operand = broadcastTo(operand, target, result);
  }
  return make(primitive, operands,
              tensor(result, resultType().getElementType()));
}

Value Decomposer::broadcastWhere(ValueRange args) {
  ArrayRef<int64_t> result = resultType().getShape();
  Value condition = shapeOf(args[0]);
  Value left = shapeOf(args[1]);
  Value right = shapeOf(args[2]);
  SmallVector<int64_t> both = broadcast(shape(args[0]), shape(args[1]));
  bool hasScalar = shape(args[0]).empty() || shape(args[1]).empty();
  Value target = isStatic(both) && !hasScalar
                     ? sizes(both)
                     : broadcastShapes(condition, left);
  target = broadcastShapes(target, right);
  SmallVector<Value> operands;
  for (Value operand : args)
    operands.push_back(isStatic(result) && shape(operand) == result
                           ? operand
                           : broadcastTo(operand, target, result));
  return make("primitive.where_v1", operands, resultType());
}

/// All but the last two extents are spread over each other.
Value Decomposer::broadcastMatmul(ValueRange args) {
  auto rankOf = [&](unsigned i) {
    return static_cast<int64_t>(shape(args[i]).size());
  };
  if (rankOf(0) == 2 && rankOf(1) == 2)
    return make("primitive.batch_matmul_v1", args, resultType());
  Type size = aicode::UInt32Type::get(context());
  Value axis = scalar(0);
  Value first = signedNumbers(0);
  Value step = signedNumbers(1);
  Value middle[2], last[2], whole[2], batch[2], matrix[2];
  for (unsigned i = 0; i < 2; ++i)
    if (rankOf(i) > 2) {
      middle[i] = signedNumbers(rankOf(i) - 2);
      last[i] = signedNumbers(rankOf(i));
    }
  llvm::transform(args, whole, [&](Value value) { return shapeOf(value); });
  for (unsigned i = 0; i < 2; ++i) {
    if (rankOf(i) == 2) {
      matrix[i] = whole[i];
      continue;
    }
    batch[i] = make("primitive.slice_v1", {whole[i], first, middle[i], step},
                    tensor(rankOf(i) - 2, size));
    matrix[i] = make("primitive.slice_v1", {whole[i], middle[i], last[i], step},
                     tensor(int64_t(2), size));
  }
  Value common = !batch[0]   ? batch[1]
                 : !batch[1] ? batch[0]
                             : broadcastShapes(batch[0], batch[1]);
  SmallVector<int64_t> extents =
      broadcast(shape(args[0]).drop_back(2), shape(args[1]).drop_back(2));
  SmallVector<Value> operands(args), targets;
  for (Value extent : matrix)
    targets.push_back(
        make("primitive.concat_v1", {axis, common, extent},
             tensor(shape(common).front() + shape(extent).front(), size)));
  for (unsigned i = 0; i < 2; ++i) {
    SmallVector<int64_t> result(extents);
    llvm::append_range(result, shape(args[i]).take_back(2));
    // A matrix without a batch changes nothing about the other one.
    bool isRight = !batch[1 - i] ||
                   (isStatic(result) && shape(args[i]) == ArrayRef(result));
    if (!isRight)
      operands[i] = broadcastTo(args[i], targets[i], result);
  }
  return make("primitive.batch_matmul_v1", operands, resultType());
}
