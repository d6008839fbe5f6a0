// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Endian.h"

using namespace mlir;
using namespace corten::coreai;

#include "corten/Dialect/CoreAI/IR/CoreAIEnums.cpp.inc"

//===----------------------------------------------------------------------===//
// Pixel formats
//===----------------------------------------------------------------------===//

static constexpr std::pair<PixelFormat, llvm::StringLiteral>
    kNamedPixelFormats[] = {
        {PixelFormat::Unknown, "kUnknown"},
        {PixelFormat::RGB24, "k24RGB"},
        {PixelFormat::ARGB32, "k32ARGB"},
        {PixelFormat::BGRA32, "k32BGRA"},
        {PixelFormat::YpCbCr420Planar8, "k420YpCbCr8Planar"},
};

static ParseResult parseFourCC(AsmParser &parser, uint32_t &code) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    for (auto [format, name] : kNamedPixelFormats) {
      if (keyword == name) {
        code = static_cast<uint32_t>(format);
        return success();
      }
    }
    return parser.emitError(loc) << "unknown pixel format '" << keyword << "'";
  }

  std::string text;
  if (succeeded(parser.parseOptionalString(&text))) {
    if (text.size() != sizeof(code))
      return parser.emitError(loc, "a pixel format has four characters");
    code = llvm::support::endian::read32be(text.data());
    return success();
  }
  return parser.parseInteger(code);
}

static void printFourCC(AsmPrinter &printer, uint32_t code) {
  for (auto [format, name] : kNamedPixelFormats) {
    if (static_cast<uint32_t>(format) == code) {
      printer << name;
      return;
    }
  }
  char text[sizeof(code)];
  llvm::support::endian::write32be(text, code);
  // A quote or a backslash would need an escape, which the Core AI printer does
  // not write; the number is read the same by either side.
  bool readable = llvm::all_of(
      text, [](char c) { return llvm::isPrint(c) && c != '"' && c != '\\'; });
  if (readable)
    printer << '"' << StringRef(text, sizeof(text)) << '"';
  else
    printer << code;
}

#define GET_ATTRDEF_CLASSES
#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.cpp.inc"

void CoreAIDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult SparseTensorEncodingAttr::verify(
    llvm::function_ref<InFlightDiagnostic()> emitError,
    CompressionScheme compressionScheme, std::optional<uint64_t> numNonZero,
    uint64_t posWidth, uint64_t crdWidth, ArrayRef<uint64_t> blockSize) {
  auto verifyWidth = [&](StringRef name, uint64_t width) -> LogicalResult {
    if (!llvm::is_contained({1, 2, 3, 4, 6, 8, 16, 32, 64}, width))
      return emitError() << name << " = " << width
                         << " is not a width that indices are stored with";
    return success();
  };
  if (failed(verifyWidth("posWidth", posWidth)) ||
      failed(verifyWidth("crdWidth", crdWidth)))
    return failure();
  if (compressionScheme == CompressionScheme::Bitmask &&
      (posWidth != 1 || crdWidth != 1))
    return emitError() << "a bitmask has posWidth = 1 and crdWidth = 1";

  bool hasBlocks = compressionScheme == CompressionScheme::Bsr;
  if (hasBlocks && blockSize.size() != 2)
    return emitError() << "bsr needs a blockSize of two extents, not of "
                       << blockSize.size();
  if (!hasBlocks && !blockSize.empty())
    return emitError() << "only bsr has a blockSize";
  return success();
}

LogicalResult
FileResourceAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                         Type type, StringAttr fileName, IntegerAttr offset) {
  if (isa<NoneType>(type))
    return emitError() << "data in a file need a type";
  return success();
}
