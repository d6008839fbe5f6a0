// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lowerings/Layers/WindowMaxima.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <limits>

using namespace corten;
using namespace mlir;

Value corten::winner(Emitter &emit, Value x, int64_t axis) {
  auto argmax = [&](Value values) {
    return emit.cast(emit.create<coreai::ArgmaxOp>({values, emit.index(axis)}),
                     emit.si32());
  };
  Value first = argmax(x);
  if (!isa<FloatType>(getElementTypeOrSelf(x)))
    return first;
  // The runtime's argmax passes over NaN.
  Value isNan = emit.notEqual(x, x);
  Value order =
      column(emit, emit.cast(countUp(emit, DimExpr(emit, x, axis)), emit.f32()),
             emit.type(x).getRank() - 1 - axis);
  Value last = argmax(emit.mul(emit.cast(isNan, emit.f32()),
                               emit.add(order, emit.scalar(1.0, emit.f32()))));
  Value anyNan = emit.create<coreai::AnyOp>({isNan, emit.indices({axis})});
  return emit.where(anyNan, last, first);
}

Value corten::lowest(Emitter &emit, Type element) {
  if (isa<FloatType>(element))
    return emit.scalar(-std::numeric_limits<double>::infinity(), element);
  auto integer = cast<IntegerType>(element);
  return emit.scalar(integer.isUnsigned()
                         ? int64_t(0)
                         : -(int64_t(1) << (integer.getWidth() - 1)),
                     element);
}

Value corten::windowPositions(Emitter &emit, Value x,
                              ArrayRef<Window> windows) {
  ArgmaxSearch search(emit, x);
  int64_t last = emit.type(x).getRank();
  for (int64_t i = windows.size(); i-- > 0;) {
    const Window &window = windows[i];
    int64_t axis = last - windows.size() + i;
    Value values = search.current();
    DimExpr extent(emit, values, axis), count = window.count(extent);

    SmallVector<DimExpr> amounts(2 * last, DimExpr(emit, 0));
    amounts[2 * axis] = {emit, window.padding};
    amounts[2 * axis + 1] = window.overhang(emit, extent) + window.padding;
    Value padded =
        padDims(emit, values, amounts, lowest(emit, getElementTypeOrSelf(x)));
    SmallVector<Value> elements;
    for (int64_t k = 0; k < window.kernel; ++k) {
      DimExpr start(emit, k * window.dilation);
      DimExpr end = start + (count - 1) * window.stride + 1;
      elements.push_back(emit.expandDims(
          sliceAxis(emit, padded, axis, start, end, window.stride), {last}));
    }
    Value sideBySide = emit.concat(elements, last);

    Value starts =
        column(emit, emit.mul(countUp(emit, count), emit.index(window.stride)),
               last - 1 - axis);
    Value within =
        emit.mul(emit.shrinkDims(winner(emit, sideBySide, last), {last}),
                 emit.index(window.dilation));
    // A window of nothing but -inf finds its winner in the padding.
    Value position = emit.maximum(
        emit.add(within, emit.sub(starts, emit.index(window.padding))),
        emit.index(0));
    search.advance(axis,
                   emit.reduce<coreai::ReduceMaxOp>(sideBySide, {last}, false),
                   emit.minimum(position, (extent - 1).scalar()));
  }
  return search.flat(x);
}
