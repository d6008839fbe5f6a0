// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/CoreAI/IR/TensorKinds.h"
#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.h"
#include "corten/Dialect/CoreAIX/IR/CoreAIXDialect.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace corten;

bool coreai::isDense(RankedTensorType type) {
  return !isa_and_present<SparseTensorEncodingAttr>(type.getEncoding());
}

bool coreai::isSparse(RankedTensorType type) {
  auto encoding =
      dyn_cast_if_present<SparseTensorEncodingAttr>(type.getEncoding());
  return encoding &&
         encoding.getCompressionScheme() == CompressionScheme::Bitmask;
}

bool coreai::isMetalBuffer(RankedTensorType type) {
  auto constraints =
      dyn_cast_if_present<coreaix::HWConstraintsAttr>(type.getEncoding());
  return constraints && constraints.getBacking() == coreaix::Backing::MTLBuffer;
}
