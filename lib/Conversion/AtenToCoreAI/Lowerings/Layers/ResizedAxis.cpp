// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lowerings/Layers/ResizedAxis.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"

using namespace corten;
using namespace mlir;

ResizedAxis::ResizedAxis(const AtenNode &node, Value x, int64_t axis,
                         Emitter &emit)
    : in(emit.type(x).getDimSize(axis)),
      out(emit.typeOf(node).getDimSize(axis)), axis(axis), emit(&emit),
      image(x) {
  if (node.has("output_size"))
    size = &node.list("output_size")[axis - 2];
  StringRef single = axis == 2 ? "scales_h" : "scales_w";
  if (node.has("scale_factors"))
    factor.emplace(node, emit, node.list("scale_factors")[axis - 2]);
  else if (node.has(single))
    factor.emplace(node, emit, node[single]);
  bool keepsSize = !ShapedType::isDynamic(in) && in == out;
  isLeftAlone = keepsSize && factor && !factor->is(1);
  // Beside a size, torch takes a factor that is not positive for none.
  bool isIgnored = size && factor && factor->isKnown() && *factor->known() <= 0;
  if (keepsSize || isIgnored)
    factor.reset();
}

Value ResizedAxis::inputExtent() const {
  return emit->cast(emit->dim(image, axis), emit->f32());
}

/// torch computes the size in double. In f32 a product that is whole there may
/// fall short of it, so that factors that f32 does not hold are lifted.
Value ResizedAxis::enlarged() const {
  constexpr double kLift = 0x1p-22;
  ScalarExpr lifted = *factor;
  std::optional<double> known = factor->known();
  if (!known || static_cast<double>(static_cast<float>(*known)) != *known)
    lifted = *factor * ScalarExpr(*emit, 1 + kLift);
  Value extent = inputExtent();
  return emit->mul(extent, lifted.vector());
}

Value ResizedAxis::outputExtent() const {
  if (!ShapedType::isDynamic(out))
    return emit->indices({out});
  return size ? emit->size(*size) : emit->cast(enlarged(), emit->si32());
}

Value ResizedAxis::outputExtentAsFloat() const {
  // The runtime takes a cast to an integer and back for none.
  if (ShapedType::isDynamic(out) && !size)
    return emit->floorDivide(enlarged(), emit->floats({1}));
  return emit->cast(outputExtent(), emit->f32());
}

Value ResizedAxis::scale(bool alsoTwice) const {
  if (isLeftAlone)
    emit->depart(Departure::KeptSize);
  if (isKnown())
    return emit->floats({static_cast<float>(ratio())});
  auto computed = [&] {
    Value extent = inputExtent();
    return emit->divide(outputExtentAsFloat(), extent);
  };
  if (!factor)
    return computed();
  Value scale = factor->vector();
  std::optional<double> known = factor->known();
  if (size && !known)
    scale =
        emit->where(emit->greater(scale, emit->floats({0})), scale, computed());
  // Where the factor leaves an axis of several elements as it is, or makes
  // exactly twice as many of them.
  auto settle = [&](float whole) {
    if (known && !size && (*known <= whole || *known >= whole + 0.5))
      return;
    emit->depart(Departure::KeptSize);
    Value extent = outputExtentAsFloat();
    Value same = emit->equal(extent, emit->scaleBy(inputExtent(), whole));
    scale = emit->where(same, emit->floats({whole}), scale);
  };
  settle(1);
  if (alsoTwice)
    settle(2);
  return scale;
}

SmallVector<ResizedAxis> corten::resizedAxes(const AtenNode &node, Value x,
                                             Emitter &emit) {
  SmallVector<ResizedAxis> axes;
  for (int64_t axis = 2; axis < emit.type(x).getRank(); ++axis)
    axes.push_back(ResizedAxis(node, x, axis, emit));
  return axes;
}
