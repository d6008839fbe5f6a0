// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C++ classes of the `coreai` attributes and enumerations. They are immutable
// and owned by the context; how they print is part of the file format.

#ifndef CORTEN_DIALECT_COREAI_IR_COREAIATTRIBUTES_H
#define CORTEN_DIALECT_COREAI_IR_COREAIATTRIBUTES_H

#include "corten/Dialect/CoreAI/IR/CoreAIDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <cstdint>
#include <optional>

#include "corten/Dialect/CoreAI/IR/CoreAIEnums.h.inc"

namespace corten::coreai {

/// Codes of the pixel formats that have a name in `#coreai.fourcc`.
enum class PixelFormat : uint32_t {
  Unknown = 0,
  RGB24 = 24,
  ARGB32 = 32,
  BGRA32 = 0x42475241,
  YpCbCr420Planar8 = 0x79343230,
};

} // namespace corten::coreai

#define GET_ATTRDEF_CLASSES
#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.h.inc"

#endif // CORTEN_DIALECT_COREAI_IR_COREAIATTRIBUTES_H
