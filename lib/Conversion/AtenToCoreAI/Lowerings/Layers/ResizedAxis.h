// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An axis of an image that gets another size: from a size that was asked for,
// from a factor, or from both. Each may be known, or only to a call.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_LAYERS_RESIZEDAXIS_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_LAYERS_RESIZEDAXIS_H

#include "Emission/ScalarExpr.h"

namespace corten {

class ResizedAxis {
public:
  /// Axis `axis` of the image `x`, as a resize asks for it.
  ResizedAxis(const AtenNode &node, mlir::Value x, int64_t axis, Emitter &emit);

  /// Both extents are known, and the factor if there is one.
  bool isKnown() const {
    return !mlir::ShapedType::isDynamic(in) &&
           !mlir::ShapedType::isDynamic(out) && (!factor || factor->isKnown());
  }
  /// The factor; none where there is none or only a call knows it.
  std::optional<double> knownFactor() const {
    return factor ? factor->known() : std::nullopt;
  }
  /// How many elements become how many, of an axis that is known: the factor
  /// where one was given, since torch keeps to it although the size is a whole
  /// number.
  double ratio() const {
    return factor ? *factor->known() : double(out) / double(in);
  }

  // As tensor<1xf32>, except for the result's extent, which is an index.
  mlir::Value inputExtent() const;
  mlir::Value outputExtent() const;
  mlir::Value outputExtentAsFloat() const;
  /// What ratio() is, of any axis. With `alsoTwice`, twice the size is made by
  /// two, whatever the factor says.
  mlir::Value scale(bool alsoTwice = false) const;

  /// Extents; ShapedType::kDynamic where they are symbolic.
  int64_t in, out;
  int64_t axis;
  /// Null where a size was asked for. Not for an axis that keeps its size,
  /// which torch leaves alone.
  std::optional<ScalarExpr> factor;

private:
  /// The input's extent times the factor, before it is rounded down.
  mlir::Value enlarged() const;

  Emitter *emit;
  mlir::Value image;
  /// The size that was asked for; null where a factor was.
  const Argument *size = nullptr;
  /// There was a factor, which does not count.
  bool isLeftAlone = false;
};

/// The spatial axes of a resize of `x`.
llvm::SmallVector<ResizedAxis> resizedAxes(const AtenNode &node, mlir::Value x,
                                           Emitter &emit);

/// _upsample_*2d_aa of an image in f32.
mlir::FailureOr<mlir::Value> resizeAntialiased(const AtenNode &node,
                                               mlir::Value x, Emitter &emit);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_LAYERS_RESIZEDAXIS_H
