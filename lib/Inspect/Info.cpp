// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Inspect/Info.h"

#include "Constants.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/CoreAI/IR/CoreAITypes.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace corten;
using namespace mlir;

uint64_t ProgramInfo::weightBytes() const {
  return std::accumulate(
      weights.begin(), weights.end(), uint64_t{0},
      [](uint64_t sum, const WeightGroup &group) { return sum + group.bytes; });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static StringRef stringOf(DictionaryAttr attributes, StringRef key) {
  auto text = attributes ? attributes.getAs<StringAttr>(key) : StringAttr();
  return text ? text.getValue() : StringRef();
}

static std::optional<int64_t> integerOf(Attribute attribute) {
  auto integer = dyn_cast_or_null<IntegerAttr>(attribute);
  if (!integer || integer.getValue().getSignificantBits() > 64)
    return std::nullopt;
  return integer.getType().isUnsignedInteger()
             ? static_cast<int64_t>(integer.getValue().getZExtValue())
             : integer.getValue().getSExtValue();
}

/// Fills in the sizes that the dynamic dimensions of an input may have: the
/// converter leaves them as `corten.shape_ranges = [[min, max], ...]`, where a
/// range without an end has one number.
static void addRanges(DictionaryAttr attributes, std::vector<Dimension> &dims) {
  auto ranges = attributes ? attributes.getAs<ArrayAttr>("corten.shape_ranges")
                           : ArrayAttr();
  if (!ranges || ranges.size() != dims.size())
    return;
  for (auto [dim, range] : llvm::zip(dims, ranges)) {
    auto limits = dyn_cast<ArrayAttr>(range);
    if (dim.size || !limits)
      continue;
    if (!limits.empty())
      dim.min = integerOf(limits[0]);
    if (limits.size() > 1)
      dim.max = integerOf(limits[1]);
  }
}

/// "k32BGRA", out of the attribute's text, which alone knows the names.
static std::string pixelFormat(Attribute fourCC) {
  std::string text;
  llvm::raw_string_ostream(text) << fourCC;
  return StringRef(text).split('<').second.split('>').first.str();
}

static InterfaceValue describe(Type type, DictionaryAttr attributes) {
  InterfaceValue info;
  info.name = stringOf(attributes, "coreai.name").str();
  if (auto handle = dyn_cast<coreai::HandleType>(type))
    type = handle.getInnerType();
  llvm::raw_string_ostream(info.type) << type;
  if (auto image = dyn_cast<coreai::ImageType>(type)) {
    info.kind = InterfaceValue::Kind::Image;
    info.elementType = pixelFormat(image.getFourCC());
    info.shape = {{integerOf(image.getHeight()), {}, {}},
                  {integerOf(image.getWidth()), {}, {}}};
  } else if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    info.kind = InterfaceValue::Kind::Tensor;
    info.elementType = elementTypeName(tensor);
    for (int64_t size : tensor.getShape())
      info.shape.push_back({ShapedType::isDynamic(size)
                                ? std::nullopt
                                : std::optional<int64_t>(size),
                            {},
                            {}});
    addRanges(attributes, info.shape);
  }
  return info;
}

/// A state is an argument behind a handle or, before the program was optimized,
/// one whose new value is a result of the graph.
static EntryPointInfo describe(coreai::GraphOp graph) {
  EntryPointInfo info;
  info.name = graph.getSymName().str();
  auto attributesOf = [](std::optional<ArrayAttr> all, size_t i) {
    return all && i < all->size() ? dyn_cast<DictionaryAttr>((*all)[i])
                                  : DictionaryAttr();
  };
  llvm::DenseSet<StringRef> mutated;
  for (auto [i, type] : llvm::enumerate(graph.getArgumentTypes())) {
    DictionaryAttr attributes = attributesOf(graph.getArgAttrs(), i);
    StringRef result = stringOf(attributes, "MutableBuffers.buffer_mutation");
    bool isState = isa<coreai::HandleType>(type) || !result.empty();
    (isState ? info.states : info.inputs).push_back(describe(type, attributes));
    if (!result.empty())
      mutated.insert(result);
  }
  for (auto [i, type] : llvm::enumerate(graph.getResultTypes())) {
    DictionaryAttr attributes = attributesOf(graph.getResAttrs(), i);
    if (!isa<coreai::TokenType>(type) &&
        !mutated.contains(stringOf(attributes, "coreai.name")))
      info.outputs.push_back(describe(type, attributes));
  }
  return info;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static std::vector<WeightGroup> weights(ModuleOp module) {
  llvm::MapVector<Type, WeightGroup> groups;
  llvm::DenseSet<std::pair<const void *, Type>> seen;
  for (const TensorConstant &constant : tensorConstants(module)) {
    if (!constant.isWeight() ||
        !seen.insert({constant.identity, constant.type}).second)
      continue;
    WeightGroup &group = groups[constant.type.getElementType()];
    ++group.count;
    group.elements += constant.type.getNumElements();
    group.bytes += constant.data ? constant.data->size() : 0;
  }
  std::vector<WeightGroup> result;
  for (auto &[type, group] : groups) {
    group.elementType = elementTypeName(type);
    result.push_back(group);
  }
  llvm::sort(result, [](const WeightGroup &a, const WeightGroup &b) {
    return std::tie(b.bytes, a.elementType) < std::tie(a.bytes, b.elementType);
  });
  return result;
}

ProgramInfo corten::describeProgram(ModuleOp module) {
  ProgramInfo info;
  module.walk([&](coreai::GraphOp graph) {
    if (graph.isPublic())
      info.entryPoints.push_back(describe(graph));
    else
      ++info.privateGraphs;
  });
  info.operations = countOps(module, CompositeCalls::Invocations);
  info.weights = weights(module);
  info.compression = inspectCompression(
      module, [](Operation *op) -> std::optional<std::string> {
        auto constant = tensorConstant(cast<coreai::ConstantOp>(op));
        if (!constant || !constant->isWeight())
          return std::nullopt;
        return constant->key.str();
      });
  return info;
}
