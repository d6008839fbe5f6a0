// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on the numbers that a call is given. A ScalarExpr is a number
// where the export knows it and a rank-0 value where only a call does (`1 /
// x.size(0)`, or what was read out of a tensor); lowerings write each formula
// once, and known numbers leave nothing but constants behind.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_SCALAREXPR_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_SCALAREXPR_H

#include "Emission/Emitter.h"

namespace corten {

class ScalarExpr {
public:
  ScalarExpr(Emitter &emit, double number) : emit(&emit), number(number) {}
  /// The argument for a parameter. What is no number is reported.
  ScalarExpr(const AtenNode &node, Emitter &emit, llvm::StringRef parameter)
      : ScalarExpr(node, emit, node[parameter]) {}
  ScalarExpr(const AtenNode &node, Emitter &emit, const Argument &argument);

  bool isKnown() const { return !value; }
  /// It is known to be this number.
  bool is(double other) const { return isKnown() && number == other; }
  std::optional<double> known() const {
    return isKnown() ? std::optional(number) : std::nullopt;
  }
  /// As rank-0, of the element type of `x`.
  mlir::Value like(mlir::Value x) const;
  /// As tensor<1xf32>.
  mlir::Value vector() const;
  /// x times the number; x itself for one.
  mlir::Value times(mlir::Value x) const;
  /// The value of a number that is not known.
  mlir::Value unknown() const { return value; }

  ScalarExpr operator+(const ScalarExpr &other) const;
  ScalarExpr operator*(const ScalarExpr &other) const;
  ScalarExpr operator/(const ScalarExpr &other) const;

private:
  ScalarExpr(Emitter &emit, mlir::Value value) : emit(&emit), value(value) {}
  /// In f32, which unknown numbers are computed with.
  mlir::Value wide() const;

  Emitter *emit;
  /// Rank-0, of whatever type the argument has; null for a known number.
  mlir::Value value;
  double number = 0;
};

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_SCALAREXPR_H
