// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights that are missing, unused or stored twice; graphs that nobody calls.

#include "Constants.h"
#include "ProgramChecks.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Inspect/Info.h"

#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/xxhash.h"

using namespace corten;
using namespace mlir;

/// Where a weight is, by its name if it has one.
static std::string weightPlace(const TensorConstant &constant) {
  std::string place = placeOf(constant.op);
  if (constant.isResource())
    place += " " + constant.key.str();
  return place;
}

static std::string describe(const TensorConstant &constant) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << constant.type;
  if (constant.data)
    os << ", " << describeBytes(constant.data->size());
  return text;
}

/// How many bytes a resource of this type has. None for types whose layout is
/// not fixed by their shape, such as sparse ones.
static std::optional<uint64_t> expectedBytes(ShapedType type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getEncoding())
    return std::nullopt;
  Type element = type.getElementType();
  uint64_t copies = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    copies = 2;
  }
  if (!element.isIntOrFloat())
    return std::nullopt;
  uint64_t count = type.getNumElements();
  // Booleans take a byte; what else is below a byte is a stream of bits.
  if (element.isSignlessInteger(1))
    return count;
  return (count * copies * element.getIntOrFloatBitWidth() + 7) / 8;
}

/// Smaller ones are not worth a word: a bias of zeros is often there twice.
static constexpr size_t kSmallestDuplicate = 1024;

namespace {
/// Finds weights of one type and one content in different memory. Only those of
/// equal type and size are read.
class Duplicates {
public:
  void add(const TensorConstant &constant) {
    if (!constant.data || constant.data->size() < kSmallestDuplicate ||
        constant.isSplat || !seen.insert(constant.identity).second)
      return;
    candidates[{constant.type, constant.data->size()}].push_back(constant);
  }

  void report(std::vector<Finding> &findings) {
    for (auto &[key, group] : candidates) {
      if (group.size() < 2)
        continue;
      llvm::DenseMap<uint64_t, TensorConstant> firsts;
      for (const TensorConstant &constant : group) {
        llvm::ArrayRef<uint8_t> bytes(
            reinterpret_cast<const uint8_t *>(constant.data->data()),
            constant.data->size());
        auto [first, isNew] =
            firsts.try_emplace(llvm::xxh3_64bits(bytes), constant);
        if (!isNew && *first->second.data == *constant.data)
          findings.push_back(
              {CheckId::DuplicateWeight, weightPlace(constant),
               describe(constant) + ", as in " + weightPlace(first->second)});
      }
    }
  }

private:
  llvm::MapVector<std::pair<Type, size_t>, std::vector<TensorConstant>>
      candidates;
  llvm::DenseSet<const void *> seen;
};
} // namespace

void corten::checkWeights(ModuleOp module, std::vector<Finding> &findings) {
  Duplicates duplicates;
  for (const TensorConstant &constant : tensorConstants(module)) {
    if (!constant.data) {
      findings.push_back({CheckId::MissingWeight, weightPlace(constant), ""});
      continue;
    }
    std::optional<uint64_t> expected =
        constant.isResource() ? expectedBytes(constant.type) : std::nullopt;
    if (expected && *expected != constant.data->size())
      findings.push_back({CheckId::ShortWeight, weightPlace(constant),
                          describe(constant) + ", should be " +
                              std::to_string(*expected) + " B"});
    if (!constant.isWeight())
      continue;
    if (constant.op->use_empty())
      findings.push_back(
          {CheckId::UnusedWeight, weightPlace(constant), describe(constant)});
    duplicates.add(constant);
  }
  duplicates.report(findings);

  SymbolTableCollection tables;
  llvm::DenseSet<Operation *> called;
  module.walk([&](coreai::InvokeOp invoke) {
    if (SymbolRefAttr callee = invoke.getCalleeSymbol())
      called.insert(tables.lookupNearestSymbolFrom(invoke, callee));
  });
  module.walk([&](coreai::GraphOp graph) {
    if (graph.isPrivate() && !called.contains(graph))
      findings.push_back(
          {CheckId::UnusedGraph, "graph " + graph.getSymName().str(), ""});
  });
}
