// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decompositions of ops over axes, and of the activations.

#include "Decomposer.h"

using namespace corten;
using namespace mlir;

/// An op with a body of two numbers: what was found so far, which begins with
/// the third operand, and the next one.
Value Decomposer::makeReduction(
    StringRef code, ValueRange operands, Type result,
    llvm::function_ref<Value(Value, Value)> combine) {
  OperationState state(op->getLoc(), ("aicode." + code).str());
  state.addOperands(operands);
  state.addTypes(tensor(dynamic(shape(operands[0]).size()), result));
  state.addRegion();
  Operation *made = builder.create(state);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(
      &made->getRegion(0), {},
      {operands[2].getType(), tensor({}, element(operands[0]))},
      {op->getLoc(), op->getLoc()});
  Value combined = combine(block->getArgument(0), block->getArgument(1));
  makeOp("dataflow.yield_v1", combined, {});
  return made->getResult(0);
}

Value Decomposer::reduce(StringRef combiner, const APInt &start,
                         ValueRange args) {
  return reduce(combiner, splat(start, element(args[0])), args);
}

Value Decomposer::reduce(StringRef combiner, Value start, ValueRange args) {
  return makeReduction("primitive.reduce_v1", {args[0], args[1], start},
                       element(args[0]), [&](Value found, Value next) {
                         if (next.getType() != found.getType())
                           next = castTo(next, element(found));
                         return make(combiner, {found, next}, found.getType());
                       });
}

/// The type that sums and products are formed in.
Type Decomposer::accumulator(Type kind) {
  Element info = elementOf(kind);
  if (info.semantics)
    return info.width < 32 ? Type(aicode::Float32Type::get(context())) : kind;
  return info.isSigned ? Type(aicode::SInt64Type::get(context()))
                       : Type(aicode::UInt64Type::get(context()));
}

Value Decomposer::argmax(ValueRange args) {
  Type kind = element(args[0]);
  Type index = element(op->getResult(0));
  Value lowest = splat(limitOf(elementOf(kind), /*isLargest=*/false), kind);
  Value start = number(0, index);
  return makeReduction(
      "primitive.reduce_index_v1", {args[0], args[1], lowest, start}, index,
      [&](Value best, Value next) {
        return make("primitive.greater_v1", {next, best},
                    tensor({}, aicode::BoolType::get(context())));
      });
}

/// The sum over the axes by the product of their extents.
Value Decomposer::mean(ValueRange args) {
  Type narrow = element(args[0]);
  Type kind = accumulator(narrow);
  Type wide = aicode::UInt64Type::get(context());
  size_t rank = shape(args[0]).size();
  Value widened = castTo(args[0], kind);
  Value sum =
      make("reduce_sum_v1", {widened, args[1]}, tensor(dynamic(rank), kind));
  Value extents = shapeOf(widened);
  int64_t count = shape(args[1]).front();
  Value column =
      make("primitive.reshape_v2", {args[1], signedNumbers({count, 1})},
           tensor({count, 1}, element(args[1])));
  Value reduced = make("primitive.gather_nd_v1", {extents, column},
                       tensor(count, element(extents)));
  Value axis = signedNumbers(0);
  Value product = make("reduce_product_v1", {castTo(reduced, wide), axis},
                       tensor(int64_t(1), wide));
  Value result = binary("broadcasting_divide_v1", sum, castTo(product, kind));
  return castTo(result, narrow);
}

Value Decomposer::softmax(ValueRange args) {
  Value axis = make("primitive.reshape_v2", {args[1], signedNumbers(1)},
                    tensor(int64_t(1), element(args[1])));
  Value raised = make("primitive.exp_v1", args[0], args[0].getType());
  Value sum = make("reduce_sum_v1", {raised, axis}, args[0].getType());
  return binary("broadcasting_divide_v1", raised, sum);
}

/// 1 / (1 + exp(0 - x)); all of it has the type of x, even if that is a scalar.
Value Decomposer::sigmoid(Value input) {
  Type type = input.getType();
  // A cast to one of these types is one that coreai-core leaves.
  auto literal = [&](int value) {
    return isa<aicode::BFloat16Type, aicode::ComplexFloat32Type>(element(input))
               ? castTo(signedNumbers(value), element(input))
               : number(value, element(input), int64_t(1));
  };
  Value zero = literal(0);
  Value one = literal(1);
  Value negated = make("broadcasting_sub_v1", {zero, input}, type);
  Value raised = make("primitive.exp_v1", negated, type);
  Value sum = make("broadcasting_add_v1", {one, raised}, type);
  return make("broadcasting_divide_v1", {one, sum}, type);
}
