// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files of special functions share. All of them compute in f32: the
// intermediate values of f16 formulas overflow or lose too many digits.
//
// The polynomials are Chebyshev fits to the functions, good to the last digits
// of f32 on the interval that the comment names, in a variable t that runs from
// -1 to 1 there.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_SPECIALFUNCTIONS_SPECIALFUNCTIONS_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_SPECIALFUNCTIONS_SPECIALFUNCTIONS_H

#include "Emission/DerivedOps.h"

#include <limits>
#include <numbers>

namespace corten {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kPi = std::numbers::pi;

/// A function of one tensor, computed in f32.
template <mlir::Value (*Function)(Emitter &, mlir::Value)>
mlir::Value lowerFunction(const AtenNode &node, Emitter &emit) {
  // torch names the operand "self" or "x".
  mlir::Value x = emit.cast(emit.value(node[0u]), emit.f32());
  return emit.cast(Function(emit, x), emit.elementType(node.result().dtype));
}

/// A function of two tensors or numbers, computed in f32.
template <mlir::Value (*Function)(Emitter &, mlir::Value, mlir::Value)>
mlir::FailureOr<mlir::Value> lowerFunction2(const AtenNode &node,
                                            Emitter &emit) {
  mlir::FailureOr<mlir::Value> x = emit.operand(node, node[0u], emit.f32());
  mlir::FailureOr<mlir::Value> y = emit.operand(node, node[1u], emit.f32());
  if (mlir::failed(x) || mlir::failed(y))
    return mlir::failure();
  return emit.cast(Function(emit, *x, *y),
                   emit.elementType(node.result().dtype));
}

/// a x + b for numbers a and b.
mlir::Value affine(Emitter &emit, mlir::Value x, double a, double b);
mlir::Value reciprocal(Emitter &emit, mlir::Value x);
mlir::Value exponential(Emitter &emit, mlir::Value x);
mlir::Value logarithm(Emitter &emit, mlir::Value x);
mlir::Value squareRoot(Emitter &emit, mlir::Value x);
mlir::Value cosine(Emitter &emit, mlir::Value x);
mlir::Value sine(Emitter &emit, mlir::Value x);
/// x > number and x < number.
mlir::Value isAbove(Emitter &emit, mlir::Value x, double number);
mlir::Value isBelow(Emitter &emit, mlir::Value x, double number);
mlir::Value isEqual(Emitter &emit, mlir::Value x, double number);

/// ln |Γ(x)|.
mlir::Value logGamma(Emitter &emit, mlir::Value x);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_SPECIALFUNCTIONS_SPECIALFUNCTIONS_H
