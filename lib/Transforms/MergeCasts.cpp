// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cast of a cast is one cast where every number of the first type comes out
// the same. With A to B to C that is so
//
// - if B has every number of A: integers in wider integers and in floats whose
//   mantissa is long enough, floats in floats with more of everything, booleans
//   in whatever has 0 and 1;
// - if B and C are integers and every number of C is one of B: the conversion
//   to either cuts off what is behind the point and goes to the nearest that
//   there is, so the narrower one decides;
// - if A and B are integers and C is boolean, and only 0 becomes 0 in B, which
//   is so unless A is signed and B is not.
//
// Not between floats that round (f64 to f32 to f16 rounds twice), and not
// through anything that cuts off or is too narrow (f32 to si32 to f32).

#include "Rewriting.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Transforms/Passes.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"

using namespace corten;
using namespace mlir;

namespace corten {
#define GEN_PASS_DEF_MERGECASTS
#include "corten/Transforms/Passes.h.inc"
} // namespace corten

namespace {
struct MergeCasts : corten::impl::MergeCastsBase<MergeCasts> {
  void runOnOperation() override { rewrite(getOperation(), {mergeCasts}); }
};
} // namespace

static bool isBoolean(Type type) { return type.isSignlessInteger(1); }

/// An integer that is no boolean; null for everything else.
static IntegerType wholeNumber(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && !integer.isSignless() ? integer : IntegerType();
}

/// Whether every number of `type` is one of `other`, both integers.
static bool isWithin(IntegerType type, IntegerType other) {
  if (type.isUnsigned())
    return type.getWidth() + other.isSigned() <= other.getWidth();
  return other.isSigned() && type.getWidth() <= other.getWidth();
}

/// Whether a float has every number of an integer type.
static bool holdsIntegers(FloatType type, IntegerType integer) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  // A power of two is there whatever the precision, if it is not too large.
  unsigned magnitude = integer.getWidth() - integer.isSigned();
  APFloat largest = APFloat::getLargest(semantics);
  APFloat needed(1.0);
  needed =
      scalbn(needed, static_cast<int>(magnitude), APFloat::rmNearestTiesToEven);
  bool losesInfo = false;
  largest.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  return magnitude <= APFloat::semanticsPrecision(semantics) &&
         largest.compare(needed) != APFloat::cmpLessThan;
}

/// Whether a cast from `from` to `to` loses nothing: not a bit, no sign of
/// zero, no infinity.
static bool isExact(Type from, Type to) {
  if (from == to)
    return true;
  // The real part of a complex number.
  if (auto complex = dyn_cast<ComplexType>(to))
    to = complex.getElementType();
  if (auto target = dyn_cast<FloatType>(to)) {
    // It has neither zero nor signs.
    if (isa<Float8E8M0FNUType>(to))
      return false;
    if (isBoolean(from))
      return true;
    if (IntegerType integer = wholeNumber(from))
      return holdsIntegers(target, integer);
    auto source = dyn_cast<FloatType>(from);
    return source && (source == target ||
                      APFloat::isRepresentableBy(source.getFloatSemantics(),
                                                 target.getFloatSemantics()));
  }
  IntegerType target = wholeNumber(to);
  if (!target)
    return false;
  if (isBoolean(from))
    return target.getWidth() > unsigned(target.isSigned());
  IntegerType source = wholeNumber(from);
  return source && isWithin(source, target);
}

/// Whether casting to `between` on the way from `from` to `to` changes nothing.
static bool isDetour(Type from, Type between, Type to) {
  if (isExact(from, between))
    return true;
  IntegerType middle = wholeNumber(between);
  if (!middle || isa<ComplexType>(from))
    return false;
  if (IntegerType target = wholeNumber(to))
    return isWithin(target, middle);
  IntegerType source = wholeNumber(from);
  return isBoolean(to) && source && (source.isUnsigned() || middle.isSigned());
}

/// Whether nothing about the extents is said on the way that is not known at
/// one of the ends.
static bool claimsNothing(RankedTensorType from, RankedTensorType between,
                          RankedTensorType to) {
  return llvm::all_of(
      llvm::zip_equal(from.getShape(), between.getShape(), to.getShape()),
      [](auto extents) {
        auto [first, claim, last] = extents;
        return ShapedType::isDynamic(claim) || claim == first || claim == last;
      });
}

Value corten::mergeCasts(Operation &op, OpBuilder &builder) {
  auto cast = dyn_cast<coreai::CastOp>(op);
  if (!cast)
    return {};
  if (cast.getInput().getType() == cast.getType())
    return cast.getInput();
  auto inner = cast.getInput().getDefiningOp<coreai::CastOp>();
  if (!inner)
    return {};
  RankedTensorType from = plainTensor(inner.getInput());
  RankedTensorType between = plainTensor(inner.getOutput());
  RankedTensorType to = plainTensor(cast.getOutput());
  if (!from || !between || !to || !claimsNothing(from, between, to) ||
      !isDetour(from.getElementType(), between.getElementType(),
                to.getElementType()))
    return {};
  if (from == to)
    return inner.getInput();
  return coreai::CastOp::create(builder, placeOf(op, inner.getOutput()), to,
                                inner.getInput());
}
