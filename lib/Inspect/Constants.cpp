// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Constants.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

#include "llvm/Support/raw_ostream.h"

using namespace corten;
using namespace mlir;

bool TensorConstant::isWeight() const {
  if (isResource())
    return true;
  Type element = type.getElementType();
  return type.getRank() > 0 && isa<FloatType, ComplexType>(element);
}

std::optional<TensorConstant> corten::tensorConstant(coreai::ConstantOp op) {
  Attribute value = op.getValue();
  TensorConstant constant;
  constant.op = op;
  constant.identity = value.getAsOpaquePointer();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    constant.type = resource.getType();
    constant.key = resource.getRawHandle().getKey();
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob()) {
      constant.data = blob->getData();
      constant.identity = blob->getData().data();
    }
    return constant;
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    constant.type = dense.getType();
    constant.data = dense.getRawData();
    constant.isSplat = dense.isSplat();
    return constant;
  }
  return std::nullopt;
}

std::vector<TensorConstant> corten::tensorConstants(ModuleOp module) {
  std::vector<TensorConstant> constants;
  module.walk([&](coreai::ConstantOp op) {
    if (std::optional<TensorConstant> constant = tensorConstant(op))
      constants.push_back(*constant);
  });
  return constants;
}

std::string corten::elementTypeName(Type type) {
  if (auto handle = dyn_cast<coreai::HandleType>(type))
    type = handle.getInnerType();
  std::string name;
  llvm::raw_string_ostream os(name);
  getElementTypeOrSelf(type).print(os);
  return name;
}
