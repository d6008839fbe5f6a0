// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Walk/Interface.h"

#include "Walk/GraphBuilder.h"

#include "corten/Program/Outline.h"

#include "mlir/IR/Diagnostics.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace corten;
using namespace mlir;

/// Replaces `defaults` by the names that the user gave, if any.
static LogicalResult applyNames(SmallVectorImpl<std::string> &defaults,
                                ArrayRef<std::string> given, StringRef what,
                                StringRef entry, Location location) {
  if (given.empty())
    return success();
  if (given.size() != defaults.size()) {
    auto quoted = [](ArrayRef<std::string> names) {
      return names.empty() ? "[]" : "['" + llvm::join(names, "', '") + "']";
    };
    return emitError(location)
           << "entry point '" << entry << "' has " << defaults.size() << " "
           << what << " " << quoted(defaults) << ", but " << given.size()
           << " name(s) were given: " << quoted(given);
  }
  defaults.assign(given.begin(), given.end());
  return success();
}

static LogicalResult checkNames(ArrayRef<std::string> names, StringRef what,
                                StringRef entry, Location location) {
  llvm::StringSet<> seen;
  for (const std::string &name : names) {
    if (name.empty())
      return emitError(location)
             << "entry point '" << entry << "': an empty name among " << what;
    if (!seen.insert(name).second)
      return emitError(location) << "entry point '" << entry << "': the name '"
                                 << name << "' is used twice among " << what;
  }
  return success();
}

bool corten::isGraphInput(const InputSpec &input) {
  if (!input.node || input.node->results.empty())
    return false;
  switch (input.node->info().kind) {
  case ValueInfo::Kind::Tensor:
    return input.kind == InputSpec::Kind::UserInput || input.isMutated;
  case ValueInfo::Kind::SymInt:
  case ValueInfo::Kind::SymFloat:
  case ValueInfo::Kind::SymBool:
    return input.kind == InputSpec::Kind::UserInput;
  case ValueInfo::Kind::None:
  case ValueInfo::Kind::Other:
    return false;
  }
  return false;
}

FailureOr<GraphInterface> corten::nameInterface(const EntryPoint &entry,
                                                Location location) {
  const Program &program = *entry.program;
  GraphInterface interface;
  SmallVector<std::string> inputNames, outputNames, stateNames;

  for (const InputSpec &spec : program.inputs) {
    if (!isGraphInput(spec))
      continue;
    interface.inputs.push_back({&spec, {}});
    if (!spec.isMutated)
      inputNames.push_back(spec.node->name.str());
  }

  // State order: as the outputs list the mutations, buffers first.
  DenseMap<const Node *, unsigned> stateIndex;
  DenseSet<const Node *> stateValues;
  llvm::StringSet<> taken;
  for (const OutputSpec &spec : program.outputs) {
    if (!spec.mutated)
      continue;
    stateIndex[spec.mutated] = stateNames.size();
    stateNames.push_back(spec.mutated->name.str());
    taken.insert(spec.mutated->name);
    interface.outputs.push_back({&spec, {}});
    stateValues.insert(spec.value.asNode());
  }
  auto isReturned = [](const OutputSpec &spec) {
    return spec.kind == OutputSpec::Kind::UserOutput && spec.value.isValue();
  };
  // Whoever returns the new value of a state reads it there, unless there is a
  // name for it.
  bool areAllNamed =
      static_cast<size_t>(llvm::count_if(program.outputs, isReturned)) ==
      entry.outputNames.size();
  for (const OutputSpec &spec : program.outputs) {
    if (!isReturned(spec) ||
        (!areAllNamed && stateValues.contains(spec.value.asNode())))
      continue;
    interface.outputs.push_back({&spec, {}});
    // Outputs keep the name of the node that makes them; a node returned twice
    // gives two outputs with distinct names.
    outputNames.push_back(
        distinctName(nameAsOutput(*spec.value.asNode()), taken));
  }

  if (failed(applyNames(inputNames, entry.inputNames, "live inputs", entry.name,
                        location)) ||
      failed(applyNames(outputNames, entry.outputNames, "live outputs",
                        entry.name, location)) ||
      failed(applyNames(stateNames, entry.stateNames, "stateful inputs",
                        entry.name, location)))
    return failure();

  auto *nextInput = inputNames.begin();
  SmallVector<std::string> arguments, results;
  for (GraphInterface::Input &input : interface.inputs) {
    input.name = input.spec->isMutated
                     ? stateNames[stateIndex.lookup(input.spec->node)]
                     : *nextInput++;
    arguments.push_back(input.name);
  }
  auto *nextOutput = outputNames.begin();
  for (GraphInterface::Output &output : interface.outputs) {
    output.name = output.spec->mutated
                      ? stateNames[stateIndex.lookup(output.spec->mutated)]
                      : *nextOutput++;
    results.push_back(output.name);
  }
  if (failed(
          checkNames(arguments, "inputs and states", entry.name, location)) ||
      failed(checkNames(results, "outputs and states", entry.name, location)))
    return failure();
  return interface;
}
