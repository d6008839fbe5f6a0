// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons, logic and selection. NaN compares false with everything, except
// that it is not equal to anything.

#include "Emission/DerivedOps.h"
#include "Table.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <algorithm>
#include <cmath>

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

namespace {
enum class Relation { Equal, NotEqual, Greater, GreaterEqual, Less, LessEqual };
} // namespace

static Value compare(Emitter &emit, Relation relation, Value x, Value y) {
  bool orEqual =
      relation == Relation::GreaterEqual || relation == Relation::LessEqual;
  if (orEqual && isFloat(x))
    emit.depart(Departure::FloatOrder);
  switch (relation) {
  case Relation::Equal:
    return equalValues(emit, x, y);
  case Relation::NotEqual:
    return isComplex(x) ? emit.logicalNot(equalValues(emit, x, y))
                        : emit.notEqual(x, y);
  case Relation::Greater:
    return emit.greater(x, y);
  case Relation::GreaterEqual:
    return greaterEqual(emit, x, y);
  case Relation::Less:
    return emit.greater(y, x);
  case Relation::LessEqual:
    return greaterEqual(emit, y, x);
  }
  llvm_unreachable("unknown relation");
}

/// What every 32-bit number answers to a number beyond 32 bits.
static bool holdsForBeyond(Relation relation, bool beyondTop) {
  switch (relation) {
  case Relation::Equal:
    return false;
  case Relation::NotEqual:
    return true;
  case Relation::Greater:
  case Relation::GreaterEqual:
    return !beyondTop;
  case Relation::Less:
  case Relation::LessEqual:
    return beyondTop;
  }
  llvm_unreachable("unknown relation");
}

/// eq, ne, gt, ge, lt, le (self, other)
///
/// Computed in torch.result_type of the two; a number first wraps into the type
/// of an integer tensor. int64 is 32 bits wide here, so a number beyond that is
/// answered without comparing.
template <Relation relation>
static FailureOr<Value> lowerComparison(const AtenNode &node, Emitter &emit) {
  std::optional<ScalarType> type =
      emit.commonType({node["self"], node["other"]});
  Type element = type ? emit.elementType(*type) : Type();
  if (!element)
    return emit.error(node) << node.op() << ": no common type to compare in";
  FailureOr<Value> x = emit.operand(node, "self", element);
  if (failed(x))
    return failure();
  const Argument &other = node["other"];
  if (other.isInt() && element.isSignedInteger(32) &&
      (other.asInt() < INT32_MIN || other.asInt() > INT32_MAX))
    return holdsForBeyond(relation, other.asInt() > 0) ? emit.equal(*x, *x)
                                                       : emit.notEqual(*x, *x);
  // A whole number stays one until it is cast, as the official converter has
  // it: the optimizer then puts the constants into the same order.
  if (other.isInt() && element.isF32() && other.asInt() >= INT32_MIN &&
      other.asInt() <= INT32_MAX)
    return compare(emit, relation, *x,
                   emit.cast(emit.scalar(other.asInt(), emit.si32()), element));
  FailureOr<Value> y = emit.operand(node, "other", element);
  if (failed(y))
    return failure();
  return compare(emit, relation, *x, *y);
}

/// isnan(self), also of integers, which are never NaN.
static Value lowerIsNan(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  return isComplex(x) ? emit.logicalOr(isNan(emit, realPart(emit, x)),
                                       isNan(emit, imaginaryPart(emit, x)))
                      : isNan(emit, x);
}

static Value lowerIsInf(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  if (isComplex(x))
    return emit.logicalOr(isInfinite(emit, realPart(emit, x)),
                          isInfinite(emit, imaginaryPart(emit, x)));
  // Unequal to itself: false for every integer.
  return isFloat(x) ? isInfinite(emit, x) : emit.notEqual(x, x);
}

/// signbit(self): true for -0.0. The sign of a NaN cannot be seen.
static Value lowerSignbit(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  return isBool(x) ? emit.notEqual(x, x) : hasSignBit(emit, x);
}

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

/// logical_and, logical_or, logical_xor (self, other): anything but zero is
/// true, NaN included.
template <typename Op>
static Value lowerLogical(const AtenNode &node, Emitter &emit) {
  Value x = emit.convert(emit.tensor(node, "self"), emit.i1());
  Value y = emit.convert(emit.tensor(node, "other"), emit.i1());
  return emit.create<Op>({x, y});
}

static Value lowerLogicalNot(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  if (!isBool(x))
    x = isComplex(x) ? emit.convert(x, emit.i1())
                     : emit.notEqual(x, numberLike(emit, 0, x));
  return emit.logicalNot(x);
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

/// where(condition, self, other), in the promoted type of the branches.
static FailureOr<Value> lowerWhere(const AtenNode &node, Emitter &emit) {
  Type element = emit.elementType(node.result().dtype);
  Value condition = emit.cast(emit.tensor(node, "condition"), emit.i1());
  FailureOr<Value> x = emit.operand(node, "self", element);
  FailureOr<Value> y = emit.operand(node, "other", element);
  if (failed(x) || failed(y))
    return failure();
  return emit.where(condition, *x, *y);
}

/// A bound of clamp. Numbers beyond an integer type bind like its extremes.
static FailureOr<Value> clampBound(const AtenNode &node, Emitter &emit,
                                   StringRef parameter, Type element) {
  const Argument &bound = node[parameter];
  if (bound.isInt() && element.isSignedInteger(32))
    return emit.scalar(std::clamp<int64_t>(bound.asInt(), INT32_MIN, INT32_MAX),
                       element);
  return emit.operand(node, bound, element);
}

/// clamp(self, min, max): NaN stays NaN, and a float bound makes integers
/// floats. If the bounds cross, the upper one wins.
static FailureOr<Value> lowerClamp(const AtenNode &node, Emitter &emit) {
  Type element = emit.elementType(node.result().dtype);
  Value x = emit.cast(emit.tensor(node, "self"), element);
  if (node.has("min")) {
    FailureOr<Value> low = clampBound(node, emit, "min", element);
    if (failed(low))
      return failure();
    x = emit.maximum(x, *low);
  }
  if (node.has("max")) {
    FailureOr<Value> high = clampBound(node, emit, "max", element);
    if (failed(high))
      return failure();
    x = emit.minimum(x, *high);
  }
  return x;
}

llvm::ArrayRef<TableEntry> corten::loweringsComparison() {
#define IN_Comparison ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
