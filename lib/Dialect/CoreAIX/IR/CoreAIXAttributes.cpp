// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/CoreAIX/IR/CoreAIXDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace corten::coreaix;

#include "corten/Dialect/CoreAIX/IR/CoreAIXEnums.cpp.inc"

/// Numbers joined by 'x' in square brackets, as in a shape: `[1x16x1]`.
static ParseResult parseExtents(AsmParser &parser,
                                SmallVectorImpl<int64_t> &extents) {
  return failure(parser.parseLSquare() ||
                 parser.parseDimensionList(extents, /*allowDynamic=*/true,
                                           /*withTrailingX=*/false) ||
                 parser.parseRSquare());
}

static void printExtents(AsmPrinter &printer, ArrayRef<int64_t> extents) {
  printer << '[';
  printer.printDimensionList(extents);
  printer << ']';
}

#define GET_ATTRDEF_CLASSES
#include "corten/Dialect/CoreAIX/IR/CoreAIXAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "corten/Dialect/CoreAIX/IR/CoreAIXTypes.cpp.inc"

void CoreAIXDialect::registerAttributesAndTypes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "corten/Dialect/CoreAIX/IR/CoreAIXAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "corten/Dialect/CoreAIX/IR/CoreAIXTypes.cpp.inc"
      >();
}

/// Checks one dimension that is split into groups of `factor` elements.
static LogicalResult
verifyInterleave(llvm::function_ref<InFlightDiagnostic()> emitError,
                 int64_t extent, int64_t factor) {
  if (ShapedType::isDynamic(extent) && factor == 1)
    return success();
  if (ShapedType::isDynamic(extent) != ShapedType::isDynamic(factor))
    return emitError() << "an interleave factor is static exactly when its "
                          "extent is";
  if (ShapedType::isDynamic(extent))
    return success();
  if (factor < 1 || factor > extent || extent % factor != 0)
    return emitError() << "interleave factor " << factor
                       << " does not divide extent " << extent;
  return success();
}

LogicalResult HWConstraintsAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type elementType,
    llvm::function_ref<InFlightDiagnostic()> emitError) const {
  if (getAlignments().size() != shape.size() + 1)
    return emitError() << "a tensor of rank " << shape.size() << " needs "
                       << shape.size() + 1 << " alignments, not "
                       << getAlignments().size();
  if (ShapedType::isDynamicShape(getAlignments()))
    return emitError() << "alignments must be static";
  if (getInterleave().size() != shape.size())
    return emitError() << "a tensor of rank " << shape.size() << " needs "
                       << shape.size() << " interleave factors, not "
                       << getInterleave().size();
  for (auto [extent, factor] : llvm::zip_equal(shape, getInterleave()))
    if (failed(verifyInterleave(emitError, extent, factor)))
      return failure();
  if (llvm::count_if(getInterleave(), [](int64_t f) { return f != 1; }) > 1)
    return emitError() << "only one dimension can be interleaved";
  return success();
}

std::optional<int64_t>
HWConstraintsAttr::getSpan(ArrayRef<int64_t> shape) const {
  if (ShapedType::isDynamicShape(shape))
    return std::nullopt;
  auto align = [](int64_t value, int64_t alignment) {
    return alignment > 1 ? llvm::alignTo(value, alignment) : value;
  };
  int64_t span = 1;
  for (int64_t factor : getInterleave())
    span *= factor;
  span = align(span, getAlignments().back());
  for (size_t dim = shape.size(); dim-- > 0;)
    span =
        align(span * (shape[dim] / getInterleave()[dim]), getAlignments()[dim]);
  return span;
}
