// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The windows of pools along the last axes, and the padding that they need.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_LAYERS_POOLWINDOWS_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_LAYERS_POOLWINDOWS_H

#include "Emission/DimExpr.h"

namespace corten {

/// The windows along one spatial axis.
struct Window {
  int64_t kernel, stride, padding, dilation;
  bool ceilMode;

  /// Elements from the first to the last that a window sees.
  int64_t reach() const { return dilation * (kernel - 1) + 1; }

  /// Number of windows over `extent` elements. In ceil mode the last one may
  /// stick out at the end, but must start on an element or in the padding in
  /// front of it.
  DimExpr count(const DimExpr &extent) const {
    DimExpr slack = extent + (2 * padding - reach());
    if (!ceilMode)
      return slack.floorDiv(stride) + 1;
    return (slack.ceilDiv(stride) + 1).min((extent + padding).ceilDiv(stride));
  }

  /// The dialect's ceil mode has the same windows: the extent is known, and no
  /// window starts behind the input.
  bool isPlainCeil(const DimExpr &extent) const {
    if (!extent.isStatic() || !ceilMode)
      return false;
    DimExpr slack = extent + (2 * padding - reach());
    return count(extent).extent() == slack.ceilDiv(stride).extent() + 1;
  }

  /// How far the last window sticks out behind the padding.
  DimExpr overhang(Emitter &emit, const DimExpr &extent) const {
    if (!ceilMode)
      return {emit, 0};
    DimExpr end = (count(extent) - 1) * stride + reach();
    return (end - extent - 2 * padding).max({emit, 0});
  }
};

/// One window per spatial axis from an op's kernel_size, stride, padding,
/// dilation and ceil_mode. No stride means that of the kernel.
llvm::SmallVector<Window> windowsOf(const AtenNode &node, int64_t spatial);

/// Cuts windows to what they see of `x` and its padding. In ceil mode one may
/// be larger by any factor (AvgPool2d(1280) of 4 x 4 elements), and there is no
/// need to pad so far.
llvm::SmallVector<Window> withinInput(llvm::SmallVector<Window> windows,
                                      mlir::Value x);

/// One number of each window.
llvm::SmallVector<int64_t> eachOf(llvm::ArrayRef<Window> windows,
                                  int64_t Window::*member);

/// Pads the spatial axes of `x` so that every window lies inside.
mlir::Value padWindows(Emitter &emit, mlir::Value x,
                       llvm::ArrayRef<Window> windows, mlir::Value fill);

/// A vector shaped to meet the axis that has `behind` axes behind it. There
/// are no unit axes in front: with a dynamic length coreai-core's optimizer
/// would move such a reshape where it does not fit.
mlir::Value column(Emitter &emit, mlir::Value vector, int64_t behind);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_LAYERS_POOLWINDOWS_H
