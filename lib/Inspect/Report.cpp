// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Inspect/Report.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace corten;
using namespace mlir;

template <typename T> static std::string printed(T value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << value;
  return text;
}

/// Where the model has the state; "" for an input.
static std::string pathOf(ArrayRef<StateInfo> states,
                          const ConversionReport::Argument &argument) {
  const auto *state = llvm::find_if(states, [&](const StateInfo &candidate) {
    return candidate.entryPoint == argument.entryPoint &&
           candidate.name == argument.name;
  });
  return state == states.end() ? std::string() : state->path;
}

static void describeArguments(coreai::GraphOp graph, ArrayRef<StateInfo> states,
                              ConversionReport &report) {
  ArrayAttr attributes = graph.getArgAttrsAttr();
  for (auto [i, argument] :
       llvm::enumerate(graph.getBodyRegion().getArguments())) {
    auto named = cast<DictionaryAttr>(attributes[i]);
    auto name = named.getAs<StringAttr>("coreai.name");
    ConversionReport::Argument entry{graph.getSymName().str(),
                                     name ? name.str() : std::string(),
                                     printed(argument.getType()),
                                     /*path=*/{}};
    if (named.contains("MutableBuffers.buffer_mutation")) {
      entry.path = pathOf(states, entry);
      report.states.push_back(std::move(entry));
    } else if (argument.use_empty()) {
      report.deadInputs.push_back(std::move(entry));
    }
  }
}

ConversionReport corten::summarize(const ConvertedModule &module) {
  ConversionReport report;
  ModuleOp top = *module.module;
  for (auto graph : top.getOps<coreai::GraphOp>())
    if (!graph.getCompositeDeclAttr() && !graph.getNoInline())
      describeArguments(graph, module.states, report);
  OpCounts counts = countOps(top, CompositeCalls::Invocations);
  report.operations = counts.everywhere();
  report.composites = counts.instances();

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
