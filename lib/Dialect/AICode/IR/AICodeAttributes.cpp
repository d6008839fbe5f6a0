// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/AICode/IR/AICodeDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Base64.h"

#include <optional>

using namespace mlir;
using namespace corten;

namespace mlir {
/// Lets ODS print and read a number that may be missing.
template <> struct FieldParser<std::optional<uint64_t>> {
  static FailureOr<std::optional<uint64_t>> parse(AsmParser &parser) {
    uint64_t value = 0;
    OptionalParseResult result = parser.parseOptionalInteger(value);
    if (!result.has_value())
      return std::optional<uint64_t>();
    if (failed(*result))
      return failure();
    return std::optional<uint64_t>(value);
  }
};
} // namespace mlir

#define GET_TYPEDEF_CLASSES
#include "corten/Dialect/AICode/IR/AICodeTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "corten/Dialect/AICode/IR/AICodeAttributes.cpp.inc"

/// `<splat, "base64">` or `<"base64">`.
Attribute aicode::BytesAttr::parse(AsmParser &parser, Type) {
  bool isSplat = false;
  std::string text;
  std::vector<char> bytes;
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalKeyword("splat"))) {
    isSplat = true;
    if (parser.parseComma())
      return {};
  }
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseString(&text) || parser.parseGreater())
    return {};
  if (llvm::Error error = llvm::decodeBase64(text, bytes)) {
    parser.emitError(loc) << llvm::toString(std::move(error));
    return {};
  }
  return get(parser.getContext(), isSplat, bytes);
}

void aicode::BytesAttr::print(AsmPrinter &printer) const {
  printer << '<' << (getIsSplat() ? "splat, \"" : "\"")
          << llvm::encodeBase64(getBytes()) << "\">";
}

Attribute aicode::ResourceAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<ResourceHandle> handle =
      parser.parseResourceHandle<ResourceHandle>();
  if (failed(handle) || parser.parseGreater())
    return {};
  return get(parser.getContext(), *handle);
}

void aicode::ResourceAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printResourceHandle(getHandle());
  printer << '>';
}

void aicode::AICodeDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "corten/Dialect/AICode/IR/AICodeTypes.cpp.inc"
      >();
}

void aicode::AICodeDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "corten/Dialect/AICode/IR/AICodeAttributes.cpp.inc"
      >();
}
