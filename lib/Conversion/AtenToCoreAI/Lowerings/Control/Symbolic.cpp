// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that are known at run time only: sizes, what Python computes with
// them, and numbers read out of tensors. Each is a one-element vector of si32,
// f32 or i1, so that sizes can be joined into shapes without reshaping.
//
// Python operators have no schema; their arguments are positional.

#include "Emission/DerivedOps.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace corten;
using namespace mlir;

/// An argument as a one-element vector of `element`. Numbers beyond 32 bits
/// stand for "no limit" in size arithmetic and saturate.
static FailureOr<Value> symbolic(const AtenNode &node, Emitter &emit,
                                 const Argument &argument, Type element) {
  auto type = RankedTensorType::get({1}, element);
  if (argument.isNumber()) {
    double number = argument.asDouble();
    if (element.isSignedInteger(32))
      number = std::clamp<double>(number, INT32_MIN, INT32_MAX);
    return emit.splat(number, type);
  }
  if (!argument.isValue())
    return emit.error(node)
           << node.op() << " of something that is not a number";
  Value value = emit.cast(emit.value(argument), element);
  return emit.reshape(value, {1});
}

/// The element type that the result has by its kind.
static Type resultElement(const AtenNode &node, Emitter &emit) {
  return emit.typeOf(node).getElementType();
}

/// The type in which Python computes with both arguments.
static Type commonElement(const AtenNode &node, Emitter &emit) {
  std::optional<ScalarType> type = emit.commonType({node[0u], node[1u]});
  return type ? emit.elementType(*type) : emit.f32();
}

/// `step` of both arguments in `element`, with the result as its kind wants it.
static FailureOr<Value> binary(const AtenNode &node, Emitter &emit,
                               Type element,
                               llvm::function_ref<Value(Value, Value)> step) {
  FailureOr<Value> x = symbolic(node, emit, node[0u], element);
  FailureOr<Value> y = symbolic(node, emit, node[1u], element);
  if (failed(x) || failed(y))
    return failure();
  return emit.cast(step(*x, *y), resultElement(node, emit));
}

static FailureOr<Value> unary(const AtenNode &node, Emitter &emit, Type element,
                              llvm::function_ref<Value(Value)> step) {
  FailureOr<Value> x = symbolic(node, emit, node[0u], element);
  if (failed(x))
    return failure();
  return emit.cast(step(*x), resultElement(node, emit));
}

//===----------------------------------------------------------------------===//
// Python operators
//===----------------------------------------------------------------------===//

/// add, sub, mul, sym_max, sym_min, and_, or_, …
template <Value (Emitter::*Step)(Value, Value)>
static FailureOr<Value> lowerOperator(const AtenNode &node, Emitter &emit) {
  return binary(node, emit, commonElement(node, emit),
                [&](Value x, Value y) { return (emit.*Step)(x, y); });
}

/// truediv: a float, whatever the operands are.
static FailureOr<Value> lowerTruediv(const AtenNode &node, Emitter &emit) {
  return binary(node, emit, emit.f32(),
                [&](Value x, Value y) { return emit.divide(x, y); });
}

/// floordiv: toward minus infinity, for floats as well.
static FailureOr<Value> lowerFloordiv(const AtenNode &node, Emitter &emit) {
  return binary(node, emit, commonElement(node, emit),
                [&](Value x, Value y) { return floorDivide(emit, x, y); });
}

/// mod: the sign of the divisor, as Python's `%`.
static FailureOr<Value> lowerMod(const AtenNode &node, Emitter &emit) {
  std::optional<double> divisor;
  if (node[1u].isNumber())
    divisor = node[1u].asDouble();
  return binary(node, emit, commonElement(node, emit), [&](Value x, Value y) {
    return remainder(emit, x, y, divisor);
  });
}

/// A power of integers with a negative exponent is a float in Python; the kind
/// of the result tells.
static FailureOr<Value> lowerPow(const AtenNode &node, Emitter &emit) {
  return binary(node, emit, resultElement(node, emit),
                [&](Value x, Value y) { return emit.pow(x, y); });
}

static FailureOr<Value> lowerLshift(const AtenNode &node, Emitter &emit) {
  return binary(node, emit, emit.si32(), [&](Value x, Value y) {
    return emit.mul(x, emit.pow(numberLike(emit, 2, y), y));
  });
}

static FailureOr<Value> lowerRshift(const AtenNode &node, Emitter &emit) {
  return binary(node, emit, emit.si32(), [&](Value x, Value y) {
    return emit.floorDivide(x, emit.pow(numberLike(emit, 2, y), y));
  });
}

static FailureOr<Value> lowerGe(const AtenNode &node, Emitter &emit) {
  return binary(node, emit, commonElement(node, emit),
                [&](Value x, Value y) { return greaterEqual(emit, x, y); });
}

static FailureOr<Value> lowerLt(const AtenNode &node, Emitter &emit) {
  return binary(node, emit, commonElement(node, emit),
                [&](Value x, Value y) { return emit.greater(y, x); });
}

static FailureOr<Value> lowerLe(const AtenNode &node, Emitter &emit) {
  return binary(node, emit, commonElement(node, emit),
                [&](Value x, Value y) { return greaterEqual(emit, y, x); });
}

/// and_, or_: of booleans logical, of integers bit by bit.
template <typename Op>
static FailureOr<Value> lowerBits(const AtenNode &node, Emitter &emit) {
  return binary(node, emit, commonElement(node, emit),
                [&](Value x, Value y) { return emit.create<Op>({x, y}); });
}

static FailureOr<Value> lowerNeg(const AtenNode &node, Emitter &emit) {
  return unary(node, emit, resultElement(node, emit),
               [&](Value x) { return emit.negate(x); });
}

static FailureOr<Value> lowerAbs(const AtenNode &node, Emitter &emit) {
  return unary(node, emit, resultElement(node, emit),
               [&](Value x) { return absolute(emit, x); });
}

/// not_, sym_not
static FailureOr<Value> lowerNot(const AtenNode &node, Emitter &emit) {
  return unary(node, emit, emit.i1(),
               [&](Value x) { return emit.logicalNot(x); });
}

/// sym_float, sym_int and pos: a cast to the kind of the result, toward zero.
static FailureOr<Value> lowerCast(const AtenNode &node, Emitter &emit) {
  return symbolic(node, emit, node[0u], resultElement(node, emit));
}

/// floor, ceil, trunc, round of a symbolic float: an integer.
template <Value (*Step)(Emitter &, Value)>
static FailureOr<Value> lowerRounding(const AtenNode &node, Emitter &emit) {
  return unary(node, emit, emit.f32(), [&](Value x) { return Step(emit, x); });
}

/// Half to even, as the float functions of Python.
static Value roundToEven(Emitter &emit, Value x) {
  return emit.create<coreai::RoundOp>({x});
}

/// round(x) and round(x, digits): the latter keeps the kind of x. A negative
/// number of digits rounds to tens, hundreds, …
static FailureOr<Value> lowerRound(const AtenNode &node, Emitter &emit) {
  if (node.get().arguments.size() < 2 || node[1u].isNone())
    return lowerRounding<roundToEven>(node, emit);
  if (!node[1u].isInt())
    return emit.error(node) << "round to a symbolic number of digits";
  int64_t digits = node[1u].asInt();
  return unary(node, emit, emit.f32(), [&](Value x) {
    Value unit = numberLike(emit, std::pow(10.0, std::abs(digits)), x);
    return digits < 0 ? emit.mul(roundToEven(emit, emit.divide(x, unit)), unit)
                      : emit.divide(roundToEven(emit, emit.mul(x, unit)), unit);
  });
}

/// sym_sqrt, sym_sin, …: a float function.
template <typename Op>
static FailureOr<Value> lowerMath(const AtenNode &node, Emitter &emit) {
  return unary(node, emit, emit.f32(),
               [&](Value x) { return emit.create<Op>({x}); });
}

static FailureOr<Value> lowerLog2(const AtenNode &node, Emitter &emit) {
  return unary(node, emit, emit.f32(), [&](Value x) {
    Value log = emit.create<coreai::LogOp>({x});
    return emit.divide(log, numberLike(emit, std::log(2.0), x));
  });
}

/// sym_ite(condition, then, else)
static FailureOr<Value> lowerIte(const AtenNode &node, Emitter &emit) {
  Type element = resultElement(node, emit);
  FailureOr<Value> condition = symbolic(node, emit, node[0u], emit.i1());
  FailureOr<Value> x = symbolic(node, emit, node[1u], element);
  FailureOr<Value> y = symbolic(node, emit, node[2u], element);
  if (failed(condition) || failed(x) || failed(y))
    return failure();
  return emit.where(*condition, *x, *y);
}

/// sym_sum([a, b, …])
static FailureOr<Value> lowerSum(const AtenNode &node, Emitter &emit) {
  ArrayRef<Argument> terms =
      node[0u].isList() ? node[0u].asList() : node.get().arguments;
  Value sum;
  for (const Argument &term : terms) {
    FailureOr<Value> value = symbolic(node, emit, term, emit.si32());
    if (failed(value))
      return failure();
    sum = sum ? emit.add(sum, *value) : *value;
  }
  return sum ? sum : emit.indices({0});
}

//===----------------------------------------------------------------------===//
// Numbers from tensors
//===----------------------------------------------------------------------===//

/// sym_size.int(self, dim)
static Value lowerSymSize(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  return emit.dim(x, node.axis("dim", rank));
}

/// The product of the extents of `x` from axis `first` on.
static Value elementsFrom(Emitter &emit, Value x, int64_t first) {
  auto type = cast<RankedTensorType>(x.getType());
  Value product = emit.indices({1});
  int64_t known = 1;
  bool isKnown = true;
  for (int64_t axis = first; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis)) {
      known *= type.getDimSize(axis);
      continue;
    }
    Value extent = emit.dim(x, axis);
    product = isKnown ? extent : emit.mul(product, extent);
    isKnown = false;
  }
  if (isKnown)
    return emit.indices({known});
  return known == 1 ? product : emit.mul(product, emit.indices({known}));
}

/// sym_numel(self)
static Value lowerSymNumel(const AtenNode &node, Emitter &emit) {
  return elementsFrom(emit, emit.tensor(node, "self"), 0);
}

/// sym_stride.int(self, dim): values are contiguous.
static Value lowerSymStride(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  return elementsFrom(emit, x, node.axis("dim", rank) + 1);
}

/// sym_storage_offset(self): values start where their storage starts.
static Value lowerSymStorageOffset(const AtenNode &, Emitter &emit) {
  return emit.indices({0});
}

/// _local_scalar_dense(self): the number in a one-element tensor.
static Value lowerLocalScalar(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  if (RankedTensorType type = emit.typeOf(node))
    x = emit.cast(x, type.getElementType());
  return emit.reshape(x, {1});
}

llvm::ArrayRef<TableEntry> corten::loweringsSymbolic() {
#define IN_Symbolic ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
