// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of one tensor, and conversions of its element type.

#include "Emission/DerivedOps.h"
#include "Table.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <cmath>

using namespace corten;
using namespace mlir;

/// The operand in the type of the result: float functions take integers and
/// booleans as floats.
static Value promotedSelf(const AtenNode &node, Emitter &emit) {
  return emit.cast(emit.tensor(node, "self"),
                   emit.elementType(node.result().dtype));
}

/// Functions that the dialect has as one op.
template <typename Op>
static Value lowerUnary(const AtenNode &node, Emitter &emit) {
  return emit.create<Op>({promotedSelf(node, emit)});
}

/// alias(self), clone(self), …: values have no storage and no layout.
static Value lowerIdentity(const AtenNode &node, Emitter &emit) {
  return emit.tensor(node, "self");
}

/// _to_copy(self, dtype, …), to.dtype(self, dtype, …)
///
/// Integers wrap into narrower ones. Floats that no integer of the target can
/// hold saturate; torch leaves that open.
static Value lowerToCopy(const AtenNode &node, Emitter &emit) {
  return emit.convert(emit.tensor(node, "self"),
                      emit.elementType(node.result().dtype));
}

/// prims.convert_element_type(a, dtype): what decompositions of torch leave.
static Value lowerConvertElementType(const AtenNode &node, Emitter &emit) {
  return emit.convert(emit.tensor(node, "a"),
                      emit.elementType(node.result().dtype));
}

//===----------------------------------------------------------------------===//
// Signs and rounding
//===----------------------------------------------------------------------===//

/// abs(self): of a complex number its length, in the real type.
static Value lowerAbs(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  if (isComplex(x))
    return hypotenuse(emit, realPart(emit, x), imaginaryPart(emit, x));
  return absolute(emit, x);
}

static Value lowerNeg(const AtenNode &node, Emitter &emit) {
  return emit.negate(emit.tensor(node, "self"));
}

/// sign(self): 0 for NaN, as in torch.
static Value lowerSign(const AtenNode &node, Emitter &emit) {
  return sign(emit, emit.tensor(node, "self"));
}

/// The operand of a rounding, which is none for integers.
static Value rounded(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  if (isFloat(x))
    emit.depart(Departure::Rounding);
  return x;
}

static Value lowerFloor(const AtenNode &node, Emitter &emit) {
  return floor(emit, rounded(node, emit));
}

static Value lowerCeil(const AtenNode &node, Emitter &emit) {
  return ceil(emit, rounded(node, emit));
}

static Value lowerTrunc(const AtenNode &node, Emitter &emit) {
  return truncate(emit, rounded(node, emit));
}

/// frac(self) = self - trunc(self)
static Value lowerFrac(const AtenNode &node, Emitter &emit) {
  Value x = rounded(node, emit);
  return emit.sub(x, truncate(emit, x));
}

/// round(self): half to even. Integers are round already.
static Value lowerRound(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  return isFloat(x) ? emit.create<coreai::RoundOp>({x}) : x;
}

/// round.decimals(self, decimals)
///
///   decimals > 0 : round(self * 10^decimals) / 10^decimals
///   decimals < 0 : round(self / 10^-decimals) * 10^-decimals
///
/// The power is a whole number: its reciprocal is inexact, and moves halves to
/// the wrong side. That of 10 does not in f32.
static Value lowerRoundDecimals(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  int64_t decimals = node.integer("decimals");
  if (!isFloat(x))
    return x;
  if (decimals == 0)
    return emit.create<coreai::RoundOp>({x});
  bool isExact =
      decimals > 0 || (decimals == -1 && getElementTypeOrSelf(x).isF32());
  double factor = isExact ? decimals : -decimals;
  Value power = numberLike(emit, std::pow(10.0, factor), x);
  if (isExact)
    return emit.divide(emit.create<coreai::RoundOp>({emit.mul(x, power)}),
                       power);
  emit.depart(Departure::RoundDecimals);
  return emit.mul(emit.create<coreai::RoundOp>({emit.divide(x, power)}), power);
}

/// frexp(self): m in [1/2, 1) and e with self = m 2^e.
static Results lowerFrexp(const AtenNode &node, Emitter &emit) {
  Value self = emit.tensor(node, "self");
  Value x = emit.cast(self, emit.f32());
  Value exponent = binaryExponent(emit, x);
  Value mantissa = scaleByPowerOfTwo(emit, x, emit.negate(exponent));
  return {emit.cast(mantissa, getElementTypeOrSelf(self)),
          emit.cast(exponent, emit.si32())};
}

//===----------------------------------------------------------------------===//
// Powers and logarithms
//===----------------------------------------------------------------------===//

static Value lowerReciprocal(const AtenNode &node, Emitter &emit) {
  Value x = promotedSelf(node, emit);
  return emit.divide(numberLike(emit, 1.0, x), x);
}

static Value lowerSquare(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  return emit.mul(x, x);
}

static Value lowerExp2(const AtenNode &node, Emitter &emit) {
  Value x = promotedSelf(node, emit);
  return emit.pow(numberLike(emit, 2.0, x), x);
}

static Value lowerExpm1(const AtenNode &node, Emitter &emit) {
  emit.depart(Departure::Expm1);
  return expMinusOne(emit, promotedSelf(node, emit));
}

static Value lowerLog1p(const AtenNode &node, Emitter &emit) {
  emit.depart(Departure::Log1p);
  return logOnePlus(emit, promotedSelf(node, emit));
}

/// ln(self) / ln(base)
static Value logarithm(const AtenNode &node, Emitter &emit, double base) {
  Value log = emit.create<coreai::LogOp>({promotedSelf(node, emit)});
  return emit.divide(log, numberLike(emit, std::log(base), log));
}

static Value lowerLog2(const AtenNode &node, Emitter &emit) {
  return logarithm(node, emit, 2.0);
}

static Value lowerLog10(const AtenNode &node, Emitter &emit) {
  return logarithm(node, emit, 10.0);
}

/// bitwise_not(self): exclusive or with all bits set, exact for every width.
static Value lowerBitwiseNot(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  if (isBool(x))
    return emit.logicalNot(x);
  emit.depart(Departure::BitwiseNot);
  return emit.create<coreai::BroadcastingBitwiseXorOp>(
      {x, emit.scalar(-1, getElementTypeOrSelf(x))});
}

llvm::ArrayRef<TableEntry> corten::loweringsElementwise() {
#define IN_Elementwise ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
