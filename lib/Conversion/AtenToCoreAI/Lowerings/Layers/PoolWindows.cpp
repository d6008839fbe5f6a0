// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lowerings/Layers/PoolWindows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace corten;
using namespace mlir;

Value corten::column(Emitter &emit, Value vector, int64_t behind) {
  return emit.expandDims(vector,
                         llvm::to_vector(llvm::seq<int64_t>(1, behind + 1)));
}

SmallVector<Window> corten::windowsOf(const AtenNode &node, int64_t spatial) {
  auto perAxis = [&](StringRef parameter, int64_t standard) {
    SmallVector<int64_t> values;
    if (node.get().findArgument(parameter))
      values = node.integers(parameter);
    if (values.size() == 1)
      values.assign(spatial, values.front());
    if (values.empty())
      values.assign(spatial, standard);
    return values;
  };
  SmallVector<int64_t> kernel = perAxis("kernel_size", 1);
  SmallVector<int64_t> stride = perAxis("stride", 0);
  SmallVector<int64_t> padding = perAxis("padding", 0);
  SmallVector<int64_t> dilation = perAxis("dilation", 1);
  SmallVector<Window> windows;
  for (int64_t i = 0; i < spatial; ++i)
    windows.push_back({kernel[i], stride[i] ? stride[i] : kernel[i], padding[i],
                       dilation[i], node.flag("ceil_mode")});
  return windows;
}

SmallVector<Window> corten::withinInput(SmallVector<Window> windows, Value x) {
  ArrayRef<int64_t> extents =
      Emitter::type(x).getShape().take_back(windows.size());
  for (auto [window, extent] : llvm::zip_equal(windows, extents)) {
    int64_t visible = extent + 2 * window.padding;
    if (window.ceilMode && !ShapedType::isDynamic(extent) &&
        window.dilation == 1 && window.kernel > visible)
      window.kernel = visible;
  }
  return windows;
}

SmallVector<int64_t> corten::eachOf(ArrayRef<Window> windows,
                                    int64_t Window::*member) {
  return llvm::map_to_vector(
      windows, [&](const Window &window) { return window.*member; });
}

Value corten::padWindows(Emitter &emit, Value x, ArrayRef<Window> windows,
                         Value fill) {
  int64_t first = emit.type(x).getRank() - windows.size();
  SmallVector<DimExpr> amounts(2 * first, DimExpr(emit, 0));
  for (auto [i, window] : llvm::enumerate(windows)) {
    DimExpr extent(emit, x, first + i);
    amounts.push_back({emit, window.padding});
    amounts.push_back(window.overhang(emit, extent) + window.padding);
  }
  return padDims(emit, x, amounts, fill);
}
