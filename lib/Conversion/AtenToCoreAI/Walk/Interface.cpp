// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Walk/Interface.h"

#include "Walk/GraphBuilder.h"

#include "corten/Conversion/AtenToCoreAI/CheckEntryPoint.h"
#include "corten/Program/Outline.h"
#include "corten/Support/DiagnosticError.h"
#include "corten/Support/Text.h"

#include "mlir/IR/Diagnostics.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace corten;
using namespace mlir;

namespace {
/// The values of one kind.
struct Values {
  /// As messages call them: "live inputs".
  StringRef what;
  /// What they are called in the graph.
  SmallVector<std::string> names;
  /// What the user calls them, if that is something else.
  SmallVector<std::string> paths;

  void add(StringRef name, StringRef path = "") {
    names.push_back(name.str());
    paths.push_back(path.empty() ? name.str() : path.str());
  }
};
} // namespace

static std::string quoted(ArrayRef<std::string> names) {
  return names.empty() ? "[]" : "['" + llvm::join(names, "', '") + "']";
}

/// Gives names to those values that the user calls by what they are.
static LogicalResult applyByOriginal(Values &values, const ValueNames &given,
                                     StringRef entry, Location location) {
  if (given.names.size() != given.originals.size())
    return emitError(location)
           << "entry point '" << entry << "': " << given.names.size()
           << " name(s) for " << given.originals.size() << " of the "
           << values.what;
  SmallVector<std::string> renamed = values.names;
  llvm::DenseSet<size_t> seen;
  for (auto [name, original] : llvm::zip_equal(given.names, given.originals)) {
    auto place = llvm::find(values.paths, original) - values.paths.begin();
    if (static_cast<size_t>(place) == values.paths.size())
      place = llvm::find(values.names, original) - values.names.begin();
    if (static_cast<size_t>(place) == values.names.size())
      return emitError(location)
             << "entry point '" << entry << "' has the " << values.what << " "
             << quoted(values.paths) << ", and no '" << original << "'";
    if (!seen.insert(place).second)
      return emitError(location)
             << "entry point '" << entry << "': two names for '"
             << values.paths[place] << "' of the " << values.what;
    renamed[place] = name;
  }
  values.names = std::move(renamed);
  return success();
}

/// Replaces the names by those that the user gave, if any.
static LogicalResult applyNames(Values &values, const ValueNames &given,
                                StringRef entry, Location location) {
  if (!given.originals.empty())
    return applyByOriginal(values, given, entry, location);
  if (given.names.empty())
    return success();
  if (given.names.size() != values.names.size())
    return emitError(location)
           << "entry point '" << entry << "' has " << values.names.size() << " "
           << values.what << " " << quoted(values.paths) << ", but "
           << given.names.size()
           << " name(s) were given: " << quoted(given.names);
  values.names.assign(given.names.begin(), given.names.end());
  return success();
}

static LogicalResult checkNames(ArrayRef<std::string> names, StringRef what,
                                StringRef entry, Location location) {
  llvm::StringSet<> seen;
  for (const std::string &name : names) {
    if (name.empty())
      return emitError(location)
             << "entry point '" << entry << "': an empty name among " << what;
    if (llvm::Error error = checkUtf8("a name among " + what.str(), name))
      return emitError(location) << "entry point '" << entry
                                 << "': " << llvm::toString(std::move(error));
    if (!seen.insert(name).second)
      return emitError(location) << "entry point '" << entry << "': the name '"
                                 << name << "' is used twice among " << what;
  }
  return success();
}

FailureOr<GraphInterface> corten::nameInterface(const EntryPoint &entry,
                                                Location location) {
  const Program &program = *entry.program;
  GraphInterface interface;
  Values inputs{"live inputs", {}, {}};
  Values outputs{"live outputs", {}, {}};
  Values states{"stateful inputs", {}, {}};
  llvm::DenseMap<const Node *, StringRef> bufferPaths;

  for (const InputSpec &spec : program.inputs) {
    if (!isGraphInput(spec))
      continue;
    interface.inputs.push_back({&spec, {}});
    if (!spec.isMutated)
      inputs.add(spec.node->name);
    else if (spec.kind != InputSpec::Kind::UserInput)
      bufferPaths[spec.node] = spec.target;
  }

  // State order: as the outputs list the mutations, buffers first.
  DenseMap<const Node *, unsigned> stateIndex;
  DenseSet<const Node *> stateValues;
  llvm::StringSet<> taken;
  for (const OutputSpec &spec : program.outputs) {
    if (!spec.mutated)
      continue;
    stateIndex[spec.mutated] = states.names.size();
    states.add(spec.mutated->name, bufferPaths.lookup(spec.mutated));
    taken.insert(spec.mutated->name);
    interface.outputs.push_back({&spec, {}});
    stateValues.insert(spec.value.asNode());
  }
  auto isReturned = [](const OutputSpec &spec) {
    return spec.kind == OutputSpec::Kind::UserOutput && spec.value.isValue();
  };
  // Whoever returns the new value of a state reads it there, unless there is a
  // name for it: for all that is returned, or for this.
  bool areAllNamed =
      static_cast<size_t>(llvm::count_if(program.outputs, isReturned)) ==
      entry.outputNames.names.size();
  for (const OutputSpec &spec : program.outputs) {
    if (!isReturned(spec))
      continue;
    std::string name = nameAsOutput(*spec.value.asNode()).str();
    if (!areAllNamed && stateValues.contains(spec.value.asNode()) &&
        !llvm::is_contained(entry.outputNames.originals, name))
      continue;
    interface.outputs.push_back({&spec, {}});
    // Outputs keep the name of the node that makes them; a node returned twice
    // gives two outputs with distinct names.
    outputs.add(distinctName(name, taken));
  }

  if (failed(applyNames(inputs, entry.inputNames, entry.name, location)) ||
      failed(applyNames(outputs, entry.outputNames, entry.name, location)) ||
      failed(applyNames(states, entry.stateNames, entry.name, location)))
    return failure();
  if (llvm::Error error = checkUtf8("the name of an entry point", entry.name))
    return emitError(location) << llvm::toString(std::move(error));

  auto *nextInput = inputs.names.begin();
  SmallVector<std::string> arguments, results;
  for (GraphInterface::Input &input : interface.inputs) {
    input.name = input.spec->isMutated
                     ? states.names[stateIndex.lookup(input.spec->node)]
                     : *nextInput++;
    arguments.push_back(input.name);
  }
  auto *nextOutput = outputs.names.begin();
  for (GraphInterface::Output &output : interface.outputs) {
    output.name = output.spec->mutated
                      ? states.names[stateIndex.lookup(output.spec->mutated)]
                      : *nextOutput++;
    results.push_back(output.name);
  }
  if (failed(
          checkNames(arguments, "inputs and states", entry.name, location)) ||
      failed(checkNames(results, "outputs and states", entry.name, location)))
    return failure();
  return interface;
}

llvm::Error corten::checkEntryPoint(const EntryPoint &entry) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  DiagnosticError error(&context);
  if (succeeded(nameInterface(entry, UnknownLoc::get(&context))))
    return llvm::Error::success();
  return error.take("the names do not fit");
}
