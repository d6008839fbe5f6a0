// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/BinaryFormat/Dwarf.h"

using namespace mlir;
using namespace corten::debuginfo;

static FailureOr<unsigned> parseDwarfName(AsmParser &parser, StringRef kind,
                                          unsigned (*lookup)(StringRef),
                                          unsigned unknown) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  unsigned value = lookup(name);
  if (value == unknown)
    return parser.emitError(loc) << "no DWARF " << kind << " '" << name << "'";
  return value;
}

static FailureOr<unsigned> parseDwarfTag(AsmParser &parser) {
  return parseDwarfName(parser, "tag", llvm::dwarf::getTag,
                        llvm::dwarf::DW_TAG_invalid);
}

static void printDwarfTag(AsmPrinter &printer, unsigned tag) {
  printer << llvm::dwarf::TagString(tag);
}

static FailureOr<unsigned> parseDwarfEncoding(AsmParser &parser) {
  return parseDwarfName(parser, "encoding", llvm::dwarf::getAttributeEncoding,
                        0);
}

static void printDwarfEncoding(AsmPrinter &printer, unsigned encoding) {
  printer << llvm::dwarf::AttributeEncodingString(encoding);
}

#define GET_TYPEDEF_CLASSES
#include "corten/Dialect/DebugInfo/IR/DebugInfoTypes.cpp.inc"

void DebugInfoDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "corten/Dialect/DebugInfo/IR/DebugInfoTypes.cpp.inc"
      >();
}

static LogicalResult
verifyBaseType(llvm::function_ref<InFlightDiagnostic()> emitError, Type type) {
  if (isa<UnresolvedType, BasicType, DerivedType, CompositeType>(type))
    return success();
  return emitError() << "base type must describe a source type, not be "
                     << type;
}

LogicalResult
DerivedType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                    unsigned dwTag, StringRef name, uint64_t sizeInBits,
                    uint64_t alignInBits, uint64_t offsetInBits,
                    Type baseType) {
  return verifyBaseType(emitError, baseType);
}

LogicalResult
CompositeType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                      unsigned dwTag, StringRef name, SymbolRefAttr scope,
                      FileLineColRange line, uint64_t sizeInBits,
                      uint64_t alignInBits, Type baseType, DIFlags flags,
                      ArrayRef<Attribute> elements) {
  if (!baseType)
    return success();
  return verifyBaseType(emitError, baseType);
}
