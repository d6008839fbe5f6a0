// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic that the dialect has no op for, composed from the ops it has. The
// only ordering test is `greater`; there is no floor, sign, remainder or test
// for NaN. All of these broadcast like the ops they are made of, and operands
// have one element type.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_DERIVEDOPS_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_DERIVEDOPS_H

#include "Emission/Emitter.h"

#include "mlir/IR/TypeUtilities.h"

#include <limits>

namespace corten {

namespace coreai {
enum class ScanCombiner : uint32_t;
} // namespace coreai

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline int64_t rankOf(mlir::Value x) {
  return mlir::cast<mlir::RankedTensorType>(x.getType()).getRank();
}
inline bool isComplex(mlir::Value x) {
  return mlir::isa<mlir::ComplexType>(getElementTypeOrSelf(x));
}
inline bool isFloat(mlir::Value x) {
  return mlir::isa<mlir::FloatType>(getElementTypeOrSelf(x));
}
inline bool isBool(mlir::Value x) {
  return getElementTypeOrSelf(x).isInteger(1);
}
/// True for f16 and bf16, in which sums lose digits that torch keeps.
inline bool isHalf(mlir::Value x) {
  mlir::Type element = getElementTypeOrSelf(x);
  return element.isF16() || element.isBF16();
}

/// The rank-0 constant that meets `x`.
mlir::Value numberLike(Emitter &emit, double value, mlir::Value x);

mlir::Value isNan(Emitter &emit, mlir::Value x);
/// x is +inf or -inf.
mlir::Value isInfinite(Emitter &emit, mlir::Value x);
/// x < 0.
mlir::Value isBelowZero(Emitter &emit, mlir::Value x);
/// The sign bit: also true for -0.0. A NaN counts as positive.
mlir::Value hasSignBit(Emitter &emit, mlir::Value x);
/// x >= y, false when either is NaN.
mlir::Value greaterEqual(Emitter &emit, mlir::Value x, mlir::Value y);
/// x == y of complex numbers too, which the runtime cannot compare.
mlir::Value equalValues(Emitter &emit, mlir::Value x, mlir::Value y);

mlir::Value absolute(Emitter &emit, mlir::Value x);
/// -1, 0 or 1; 0 for NaN.
mlir::Value sign(Emitter &emit, mlir::Value x);
/// Toward minus infinity, plus infinity, zero. Infinities stay.
mlir::Value floor(Emitter &emit, mlir::Value x);
mlir::Value ceil(Emitter &emit, mlir::Value x);
mlir::Value truncate(Emitter &emit, mlir::Value x);

/// The e with |x| = m 2^e and m in [1/2, 1), as f32; 0 for zero, infinities and
/// NaN. `x` is f32 or an f16 or bf16 in f32.
mlir::Value binaryExponent(Emitter &emit, mlir::Value x);
/// x times 2^e for a whole number e, in two steps: 2^e itself may overflow.
mlir::Value scaleByPowerOfTwo(Emitter &emit, mlir::Value x, mlir::Value e);

/// Python's floor division and remainder, which has the sign of the divisor.
/// `divisor` is the value of y where it is a literal: it makes shorter code.
mlir::Value floorDivide(Emitter &emit, mlir::Value x, mlir::Value y,
                        std::optional<double> divisor = std::nullopt);
mlir::Value remainder(Emitter &emit, mlir::Value x, mlir::Value y,
                      std::optional<double> divisor = std::nullopt);

/// Sums, products or extremes of the elements so far along an axis.
mlir::Value scan(Emitter &emit, mlir::Value x, int64_t axis,
                 coreai::ScanCombiner combiner);

/// sqrt(x² + y²) without overflow of the squares.
mlir::Value hypotenuse(Emitter &emit, mlir::Value x, mlir::Value y);
/// The angle of the point (x, y), in all four quadrants.
mlir::Value arcTangent2(Emitter &emit, mlir::Value y, mlir::Value x);

/// e^x - 1 and ln(1 + x) that keep their digits near zero.
mlir::Value expMinusOne(Emitter &emit, mlir::Value x);
mlir::Value logOnePlus(Emitter &emit, mlir::Value x);

/// c0 + c1 x + c2 x² + …
mlir::Value polynomial(Emitter &emit, mlir::Value x,
                       llvm::ArrayRef<double> coefficients);

mlir::Value realPart(Emitter &emit, mlir::Value x);
mlir::Value imaginaryPart(Emitter &emit, mlir::Value x);

/// Indices 0, 1, … along `axis` of `x`, shaped to broadcast against it.
mlir::Value positions(Emitter &emit, mlir::Value x, int64_t axis);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_DERIVEDOPS_H
