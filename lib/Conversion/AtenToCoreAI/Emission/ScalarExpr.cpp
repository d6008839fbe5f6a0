// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emission/ScalarExpr.h"

#include "mlir/IR/TypeUtilities.h"

using namespace corten;
using namespace mlir;

/// A symbolic number is one, and so is a tensor without axes.
static bool isNumber(const Argument &argument) {
  if (!argument.isValue() || argument.asNode()->results.size() != 1)
    return false;
  switch (const ValueInfo &info = argument.asNode()->info(); info.kind) {
  case ValueInfo::Kind::SymInt:
  case ValueInfo::Kind::SymFloat:
  case ValueInfo::Kind::SymBool:
    return true;
  case ValueInfo::Kind::Tensor:
    return info.sizes.empty();
  case ValueInfo::Kind::None:
  case ValueInfo::Kind::Other:
    return false;
  }
  return false;
}

ScalarExpr::ScalarExpr(const AtenNode &node, Emitter &emit,
                       const Argument &argument)
    : emit(&emit) {
  if (isNumber(argument))
    value = emit.reshape(emit.value(argument), ArrayRef<int64_t>());
  else
    number = node.number(argument);
}

Value ScalarExpr::like(Value x) const {
  Type element = getElementTypeOrSelf(x);
  return isKnown() ? emit->scalar(number, element)
                   : emit->convert(value, element);
}

Value ScalarExpr::vector() const {
  return isKnown() ? emit->floats({static_cast<float>(number)})
                   : emit->reshape(wide(), {1});
}

Value ScalarExpr::times(Value x) const {
  return isKnown() ? emit->scaleBy(x, number) : emit->mul(x, like(x));
}

Value ScalarExpr::wide() const {
  return isKnown() ? emit->scalar(number, emit->f32())
                   : emit->cast(value, emit->f32());
}

ScalarExpr ScalarExpr::operator+(const ScalarExpr &other) const {
  if (isKnown() && other.isKnown())
    return {*emit, number + other.number};
  return {*emit, emit->add(wide(), other.wide())};
}

ScalarExpr ScalarExpr::operator*(const ScalarExpr &other) const {
  if (isKnown() && other.isKnown())
    return {*emit, number * other.number};
  return {*emit, emit->mul(wide(), other.wide())};
}

ScalarExpr ScalarExpr::operator/(const ScalarExpr &other) const {
  if (isKnown() && other.isKnown())
    return {*emit, number / other.number};
  return {*emit, emit->divide(wide(), other.wide())};
}
