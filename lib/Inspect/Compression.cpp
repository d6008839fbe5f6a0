// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Inspect/Compression.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Support/DebugStringHelper.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace corten;
using namespace mlir;

size_t corten::storedBytes(ShapedType type) {
  Type element = type.getElementType();
  size_t parts = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    parts = 2;
  }
  return (type.getNumElements() * parts * element.getIntOrFloatBitWidth() + 7) /
         8;
}

std::string corten::weightName(StringRef path) {
  auto [owner, rest] = path.split(".parametrizations.");
  if (!rest.empty())
    return (owner + "." + rest.split('.').first).str();
  if (path.starts_with("parametrizations."))
    return path.split('.').second.split('.').first.str();
  auto [module, part] = path.rsplit('.');
  for (StringRef known :
       {"quantized_data", "indices", "nonzero_data", "mask", "values"})
    if (part == known)
      return module.str();
  return path.str();
}

/// Bytes of a constant: all its elements, or the one that they all are.
static size_t constantBytes(coreai::ConstantOp constant) {
  auto type = cast<ShapedType>(constant.getResult().getType());
  auto inside = dyn_cast<DenseElementsAttr>(constant.getValue());
  return inside && inside.isSplat() ? storedBytes(type.clone({1}))
                                    : storedBytes(type);
}

/// Operations that give a weight from its compressed parts.
static bool isDecompression(Operation *op) {
  return isa_and_present<coreai::BlockwiseShiftScaleOp, coreai::LutToDenseOp,
                         coreai::BuildSparseWithBitmaskOp,
                         coreai::SparseWithBitmaskToDenseOp>(op);
}

/// What may stand between a constant and the operation that takes it.
static bool isPassage(Operation *op) {
  return isa_and_present<coreai::CastOp, coreai::ReshapeOp, coreai::ConcatOp>(
      op);
}

/// The constants that a value is made from. False if it is also made from
/// something else: then it is no weight.
static bool collectParts(Value value, llvm::SetVector<Operation *> &parts) {
  Operation *op = value.getDefiningOp();
  if (isa_and_present<coreai::ConstantOp>(op)) {
    parts.insert(op);
    return true;
  }
  return (isDecompression(op) || isPassage(op)) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return collectParts(operand, parts);
         });
}

//===----------------------------------------------------------------------===//
// Schemes
//===----------------------------------------------------------------------===//

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static bool isZero(Value value) {
  DenseElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
         (isa<FloatType>(elements.getElementType())
              ? elements.getSplatValue<APFloat>().isZero()
              : elements.getSplatValue<APInt>().isZero());
}

static void describe(coreai::BlockwiseShiftScaleOp op, raw_ostream &stream) {
  RankedTensorType data = typeOf(op.getData()), scale = typeOf(op.getScale());
  stream << data.getElementType();
  SmallVector<int64_t> blocks;
  for (auto [extent, count] : llvm::zip(data.getShape(), scale.getShape()))
    blocks.push_back(count > 0 ? extent / count : extent);
  size_t split =
      llvm::count_if(scale.getShape(), [](int64_t count) { return count > 1; });
  bool isWhole =
      llvm::all_of(llvm::zip(data.getShape(), scale.getShape()), [](auto pair) {
        return std::get<1>(pair) == 1 || std::get<0>(pair) == std::get<1>(pair);
      });
  if (split == 0) {
    stream << " per tensor";
  } else if (split == 1 && isWhole) {
    stream << " per channel";
  } else {
    stream << " in blocks of [";
    llvm::interleaveComma(blocks, stream);
    stream << "]";
  }
  if (!isZero(op.getOffset2()))
    stream << ", minimum";
  else if (!isZero(op.getOffset1()))
    stream << ", zero points";
}

static void describe(coreai::LutToDenseOp op, raw_ostream &stream) {
  RankedTensorType lut = typeOf(op.getLut());
  stream << typeOf(op.getIndices()).getElementTypeBitWidth()
         << "-bit palette of " << lut.getElementType();
  ArrayRef<int64_t> shape = lut.getShape();
  if (shape.back() > 1)
    stream << ", vectors of " << shape.back();
  int64_t tables = 1;
  for (int64_t count : shape.drop_back(2))
    tables *= count;
  if (tables > 1)
    stream << ", " << tables << " tables";
}

static void describe(coreai::BuildSparseWithBitmaskOp op, raw_ostream &stream) {
  int64_t kept = typeOf(op.getValues()).getNumElements();
  int64_t all = typeOf(op.getBitmask()).getNumElements();
  stream << "sparse, " << (all ? 100 * kept / all : 100) << " % of "
         << typeOf(op.getValues()).getElementType();
}

/// What happens to the data, in the order in which it happens.
static void describeSteps(Value value, SmallVectorImpl<std::string> &steps) {
  Operation *op = value.getDefiningOp();
  if (!isDecompression(op))
    return;
  describeSteps(op->getOperand(0), steps);
  std::string step;
  llvm::raw_string_ostream stream(step);
  if (auto blockwise = dyn_cast<coreai::BlockwiseShiftScaleOp>(op))
    describe(blockwise, stream);
  else if (auto lookup = dyn_cast<coreai::LutToDenseOp>(op))
    describe(lookup, stream);
  else if (auto sparse = dyn_cast<coreai::BuildSparseWithBitmaskOp>(op))
    describe(sparse, stream);
  if (!step.empty())
    steps.push_back(std::move(step));
}

/// The constant that the elements of the weight are in.
static Operation *dataOf(Value value) {
  Operation *op = value.getDefiningOp();
  return isa<coreai::ConstantOp>(op) ? op : dataOf(op->getOperand(0));
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

static std::string reasonFor(RankedTensorType type) {
  Type element = type.getElementType();
  if (!isa<FloatType>(element))
    return "not a weight of floats";
  int64_t spread = llvm::count_if(type.getShape(),
                                  [](int64_t extent) { return extent > 1; });
  if (spread <= 1)
    return "a scalar or a vector";
  return "the model has it as " + debugString(element);
}

CompressionReport corten::inspectCompression(
    ModuleOp module,
    llvm::function_ref<std::optional<std::string>(Operation *)> nameOf) {
  CompressionReport report;
  DenseSet<Operation *> isPart;
  // The same data and parameters are the same weight, wherever they stand.
  std::set<SmallVector<const void *>> seen;
  module.walk([&](Operation *op) {
    bool isResult =
        isDecompression(op) && llvm::none_of(op->getUsers(), isDecompression);
    llvm::SetVector<Operation *> parts;
    if (!isResult || !collectParts(op->getResult(0), parts))
      return;
    isPart.insert(parts.begin(), parts.end());
    auto key = llvm::map_to_vector(parts, [](Operation *part) {
      return part->getAttr("value").getAsOpaquePointer();
    });
    if (!seen.insert(key).second)
      return;
    CompressionReport::Compressed entry;
    Operation *data = dataOf(op->getResult(0));
    entry.name = nameOf(data).value_or("");
    SmallVector<std::string> steps;
    describeSteps(op->getResult(0), steps);
    entry.scheme = llvm::join(steps, " + ");
    RankedTensorType type = typeOf(op->getResult(0));
    entry.type = debugString(type);
    entry.elements = type.getNumElements();
    entry.denseBytes = storedBytes(type);
    entry.idealBytes = storedBytes(typeOf(data->getResult(0)));
    for (Operation *part : parts)
      entry.bytes += constantBytes(cast<coreai::ConstantOp>(part));
    report.compressed.push_back(std::move(entry));
  });
  module.walk([&](coreai::ConstantOp constant) {
    std::optional<std::string> name = nameOf(constant);
    if (!name || isPart.contains(constant) ||
        !seen.insert({constant.getValue().getAsOpaquePointer()}).second)
      return;
    RankedTensorType type = typeOf(constant.getResult());
    report.uncompressed.push_back(
        {*name, debugString(type), constantBytes(constant), reasonFor(type)});
  });
  return report;
}
