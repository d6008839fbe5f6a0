// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants: numbers that lowerings introduce.

#include "Emission/Emitter.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace corten;
using namespace mlir;

Value Emitter::constant(TypedAttr value) {
  return coreai::ConstantOp::create(builder, location, value).getResult();
}

static Attribute numberAttribute(double value, Type element) {
  if (auto floating = dyn_cast<FloatType>(element)) {
    APFloat number(value);
    bool losesInfo;
    number.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return FloatAttr::get(element, number);
  }
  auto integer = cast<IntegerType>(element);
  return IntegerAttr::get(
      element, APInt(64, static_cast<uint64_t>(static_cast<int64_t>(value)))
                   .trunc(std::min(integer.getWidth(), 64u)));
}

static DenseElementsAttr splatAttribute(double value, RankedTensorType type) {
  Type element = type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element)) {
    std::complex<APFloat> number(
        cast<FloatAttr>(numberAttribute(value, complex.getElementType()))
            .getValue(),
        cast<FloatAttr>(numberAttribute(0.0, complex.getElementType()))
            .getValue());
    return DenseElementsAttr::get(type, number);
  }
  if (element.isInteger(1))
    return DenseElementsAttr::get(type, value != 0.0);
  return DenseElementsAttr::get(type, numberAttribute(value, element));
}

Value Emitter::scalar(double value, Type element) {
  return splat(value, RankedTensorType::get({}, element));
}

Value Emitter::scalar(int64_t value, Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || integer.getWidth() == 1)
    return scalar(static_cast<double>(value), element);
  APInt number =
      APInt(64, static_cast<uint64_t>(value)).sextOrTrunc(integer.getWidth());
  return constant(DenseElementsAttr::get(RankedTensorType::get({}, element),
                                         IntegerAttr::get(element, number)));
}

Value Emitter::scalar(bool value) {
  return constant(
      DenseElementsAttr::get(RankedTensorType::get({}, i1()), value));
}

Value Emitter::splat(double value, RankedTensorType type) {
  // coreai-core ends the process when it saves an inline complex constant, so
  // a complex number is made from two real ones.
  if (auto complex = dyn_cast<ComplexType>(type.getElementType())) {
    RankedTensorType part = type.clone(complex.getElementType());
    return create<coreai::CreateComplexOp>(
        {constant(splatAttribute(value, part)),
         constant(splatAttribute(0.0, part))});
  }
  return constant(splatAttribute(value, type));
}

Value Emitter::indices(ArrayRef<int64_t> values, IndexKind kind) {
  bool isSigned = kind == IndexKind::Signed;
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    isSigned ? si32() : ui32());
  if (isSigned) {
    auto narrow = llvm::map_to_vector(values, [](int64_t value) {
      return static_cast<int32_t>(
          std::clamp<int64_t>(value, INT32_MIN, INT32_MAX));
    });
    return constant(DenseElementsAttr::get(type, ArrayRef<int32_t>(narrow)));
  }
  auto narrow = llvm::map_to_vector(
      values, [](int64_t value) { return static_cast<uint32_t>(value); });
  return constant(DenseElementsAttr::get(type, ArrayRef<uint32_t>(narrow)));
}

Value Emitter::floats(ArrayRef<float> values) {
  auto type =
      RankedTensorType::get({static_cast<int64_t>(values.size())}, f32());
  return constant(DenseElementsAttr::get(type, values));
}
