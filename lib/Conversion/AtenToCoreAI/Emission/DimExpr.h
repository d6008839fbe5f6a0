// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on extents. A DimExpr is a number where the extent is static and
// a one-element si32 vector where it is not; lowerings write each formula once
// and static shapes leave nothing but constants behind.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_DIMEXPR_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_DIMEXPR_H

#include "Emission/Emitter.h"

namespace corten {

class DimExpr {
public:
  DimExpr(Emitter &emit, int64_t number) : emit(&emit), offset(number) {}
  /// Extent `axis` of `x`.
  DimExpr(Emitter &emit, mlir::Value x, int64_t axis);

  bool isStatic() const { return !value; }
  /// The number, or the marker of a dynamic extent in types.
  int64_t extent() const {
    return isStatic() ? offset : mlir::ShapedType::kDynamic;
  }
  /// As tensor<1xsi32>.
  mlir::Value vector() const;
  /// As rank-0 si32.
  mlir::Value scalar() const;

  DimExpr operator+(const DimExpr &other) const;
  DimExpr operator-(const DimExpr &other) const;
  DimExpr operator*(int64_t factor) const;
  DimExpr operator+(int64_t other) const {
    return {*emit, offset + other, value};
  }
  DimExpr operator-(int64_t other) const { return *this + -other; }
  /// Rounded towards minus and plus infinity; the divisor is positive.
  DimExpr floorDiv(int64_t divisor) const;
  DimExpr ceilDiv(int64_t divisor) const {
    return (*this + (divisor - 1)).floorDiv(divisor);
  }
  DimExpr min(const DimExpr &other) const;
  DimExpr max(const DimExpr &other) const;

private:
  DimExpr(Emitter &emit, int64_t offset, mlir::Value value)
      : emit(&emit), value(value), offset(offset) {}

  /// The extent is value + offset; a static one has no value.
  Emitter *emit;
  mlir::Value value;
  int64_t offset = 0;
};

/// All extents in one vector: a constant when all are static.
mlir::Value joinDims(Emitter &emit, llvm::ArrayRef<DimExpr> dims,
                     IndexKind kind = IndexKind::Signed);

/// 0, 1, … as a si32 vector of `count` elements.
mlir::Value countUp(Emitter &emit, const DimExpr &count);

/// x[..., start:end:stride, ...] along one axis.
mlir::Value sliceAxis(Emitter &emit, mlir::Value x, int64_t axis,
                      const DimExpr &start, const DimExpr &end,
                      int64_t stride = 1);

/// Start and end of the slice that is place `index` of an axis, as
/// tensor<1xsi32>. Slices count literal negative bounds from the end
/// themselves, except that the end after -1 is not 0.
std::pair<mlir::Value, mlir::Value> boundsOfPlace(Emitter &emit, mlir::Value x,
                                                  int64_t axis,
                                                  const Argument &index);

/// `x` with the slice [start, end) of one axis replaced by `source`.
mlir::Value updateSlice(Emitter &emit, mlir::Value x, int64_t axis,
                        mlir::Value start, mlir::Value end, int64_t stride,
                        mlir::Value source);

/// Emitter::pad with computed amounts, [before, after] per axis.
mlir::Value padDims(Emitter &emit, mlir::Value x,
                    llvm::ArrayRef<DimExpr> padding, mlir::Value fill);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_DIMEXPR_H
