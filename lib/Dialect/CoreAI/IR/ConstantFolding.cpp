// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ConstantFolding.h"

#include "corten/Support/Limits.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/APSInt.h"

using namespace mlir;

namespace corten::coreai {

DenseElementsAttr getFoldableElements(Attribute constant) {
  auto elements = dyn_cast_if_present<DenseElementsAttr>(constant);
  if (!elements || !hasFoldableShape(elements.getType()))
    return {};
  if (!elements.isSplat() && elements.getNumElements() >= kWeightElements)
    return {};
  return elements;
}

bool hasFoldableShape(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && !tensor.getEncoding();
}

namespace {
/// Casts single elements between integer and float types.
class ElementCast {
public:
  ElementCast(Type from, Type to) : from(from), to(to) {}

  /// Whether folding knows the rules for both types.
  bool isSupported() const { return isSupported(from) && isSupported(to); }

  Attribute operator()(const APInt &value) const {
    APSInt number(value, /*isUnsigned=*/!isSigned(from));
    if (auto floatType = dyn_cast<FloatType>(to)) {
      APFloat result(floatType.getFloatSemantics());
      result.convertFromAPInt(number, isSigned(from),
                              APFloat::rmNearestTiesToEven);
      return FloatAttr::get(floatType, result);
    }
    if (isBoolean(to))
      return getBoolean(!number.isZero());
    return getInteger(number);
  }

  Attribute operator()(const APFloat &value) const {
    if (auto floatType = dyn_cast<FloatType>(to)) {
      bool losesInfo;
      APFloat result = value;
      result.convert(floatType.getFloatSemantics(),
                     APFloat::rmNearestTiesToEven, &losesInfo);
      return FloatAttr::get(floatType, result);
    }
    if (isBoolean(to))
      return getBoolean(!value.isZero());
    // APFloat saturates and turns NaN into zero, as the op does.
    APSInt result(to.getIntOrFloatBitWidth(), !isSigned(to));
    bool isExact;
    value.convertToInteger(result, APFloat::rmTowardZero, &isExact);
    return IntegerAttr::get(to, result);
  }

private:
  static bool isSigned(Type type) { return type.isSignedInteger(); }
  static bool isBoolean(Type type) { return type.isSignlessInteger(1); }

  static bool isSupported(Type type) {
    return isa<BFloat16Type, Float16Type, Float32Type, Float64Type,
               IntegerType>(type);
  }

  Attribute getBoolean(bool value) const { return IntegerAttr::get(to, value); }

  Attribute getInteger(const APSInt &number) const {
    unsigned width = to.getIntOrFloatBitWidth();
    APSInt least = APSInt::getMinValue(width, !isSigned(to));
    APSInt greatest = APSInt::getMaxValue(width, !isSigned(to));
    APSInt clamped = number;
    if (APSInt::compareValues(number, least) < 0)
      clamped = least;
    else if (APSInt::compareValues(number, greatest) > 0)
      clamped = greatest;
    return IntegerAttr::get(to, clamped.extOrTrunc(width));
  }

  Type from;
  Type to;
};
} // namespace

DenseElementsAttr castElements(DenseElementsAttr elements,
                               RankedTensorType type) {
  ElementCast castElement(elements.getElementType(), type.getElementType());
  if (!castElement.isSupported() ||
      elements.getNumElements() != type.getNumElements())
    return {};

  bool isFloat = isa<FloatType>(elements.getElementType());
  if (elements.isSplat())
    return DenseElementsAttr::get(
        type, isFloat ? castElement(elements.getSplatValue<APFloat>())
                      : castElement(elements.getSplatValue<APInt>()));
  SmallVector<Attribute> values;
  if (isFloat)
    llvm::append_range(
        values, llvm::map_range(elements.getValues<APFloat>(), castElement));
  else
    llvm::append_range(
        values, llvm::map_range(elements.getValues<APInt>(), castElement));
  return DenseElementsAttr::get(type, values);
}

DenseElementsAttr reshapeElements(DenseElementsAttr elements, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !hasFoldableShape(tensor) ||
      tensor.getElementType() != elements.getElementType() ||
      tensor.getNumElements() != elements.getNumElements())
    return {};
  return elements.reshape(tensor);
}

DenseElementsAttr getIndexElements(ArrayRef<int64_t> indices,
                                   RankedTensorType type) {
  unsigned width = type.getElementTypeBitWidth();
  SmallVector<APInt> values;
  for (int64_t index : indices)
    values.push_back(APInt(64, index).trunc(width));
  return DenseElementsAttr::get(type, values);
}

} // namespace corten::coreai
