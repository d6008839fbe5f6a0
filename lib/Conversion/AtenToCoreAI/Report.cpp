// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Conversion/AtenToCoreAI/Report.h"

#include "Weights/WeightForms.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <map>

using namespace corten;
using namespace mlir;

template <typename T> static std::string printed(T value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << value;
  return text;
}

static std::vector<ConversionReport::Count>
sorted(const llvm::StringMap<size_t> &counts) {
  std::vector<ConversionReport::Count> result;
  for (const auto &entry : counts)
    result.push_back({entry.getKey().str(), entry.second});
  llvm::sort(result, [](const auto &lhs, const auto &rhs) {
    return std::tie(rhs.count, lhs.name) < std::tie(lhs.count, rhs.name);
  });
  return result;
}

static void describeArguments(coreai::GraphOp graph, ConversionReport &report) {
  ArrayAttr attributes = graph.getArgAttrsAttr();
  for (auto [i, argument] :
       llvm::enumerate(graph.getBodyRegion().getArguments())) {
    auto named = cast<DictionaryAttr>(attributes[i]);
    auto name = named.getAs<StringAttr>("coreai.name");
    ConversionReport::Argument entry{graph.getSymName().str(),
                                     name ? name.str() : std::string(),
                                     printed(argument.getType())};
    if (named.contains("MutableBuffers.buffer_mutation"))
      report.states.push_back(std::move(entry));
    else if (argument.use_empty())
      report.deadInputs.push_back(std::move(entry));
  }
}

ConversionReport corten::summarize(const ConvertedModule &module) {
  ConversionReport report;
  llvm::StringMap<size_t> operations, composites;
  ModuleOp top = *module.module;
  top.walk([&](Operation *op) {
    // Nothing is known yet about calls that the user lowers.
    if (op == top || isa<UnrealizedConversionCastOp>(op))
      return;
    auto graph = dyn_cast<coreai::GraphOp>(op);
    if (!graph)
      ++operations[op->getName().stripDialect()];
    else if (auto declaration = graph.getCompositeDeclAttr())
      ++composites[declaration.getName()];
    else if (!graph.getNoInline())
      describeArguments(graph, report);
  });
  report.operations = sorted(operations);
  report.composites = sorted(composites);

  std::map<std::string, ConversionReport::Weights> weights;
  for (auto [data, type] : module.weights) {
    auto shaped = cast<ShapedType>(type);
    ConversionReport::Weights &entry =
        weights[printed(shaped.getElementType())];
    ++entry.count;
    entry.bytes += storedBytes(shaped);
  }
  for (auto &[type, entry] : weights) {
    entry.type = type;
    report.weights.push_back(entry);
  }
  llvm::sort(report.weights, [](const auto &lhs, const auto &rhs) {
    return std::tie(rhs.bytes, lhs.type) < std::tie(lhs.bytes, rhs.type);
  });
  for (auto [calls, what] : llvm::zip(module.departures, kDepartures))
    if (calls)
      report.departures.push_back({what.operators, what.reason, calls});
  report.compression = inspectCompression(
      top, [&](Operation *constant) -> std::optional<std::string> {
        auto path = module.weightPaths.find(constant);
        if (path == module.weightPaths.end())
          return std::nullopt;
        return weightName(path->second);
      });
  return report;
}

std::vector<std::pair<std::string, ScalarType>>
corten::narrowWeights(const Program &program) {
  SmallVector<std::pair<const Node *, int>> nodes;
  for (const InputSpec &spec : program.inputs)
    if (spec.weight >= 0 && !spec.isMutated)
      nodes.emplace_back(spec.node, spec.weight);
  WeightForms forms;
  std::vector<std::pair<std::string, ScalarType>> result;
  // What is wrong with a program is said when it is converted.
  if (forms.plan(program, program.main, nodes,
                 [](const Node &) { return false; }))
    return result;
  for (const InputSpec &spec : program.inputs)
    if (ArrayRef<WeightForm> wanted = forms.formsOf(spec.weight);
        wanted.size() == 1 && isSubByte(wanted.front().type) &&
        !isSubByte(program.weights[spec.weight].dtype) &&
        !forms.isTakenAsIs(spec.weight))
      result.emplace_back(spec.target.str(), wanted.front().type);
  return result;
}
