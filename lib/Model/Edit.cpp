// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Other names, and fewer entry points.

#include "State.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/CoreAI/IR/CoreAITypes.h"
#include "corten/Support/Text.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace corten;
using namespace mlir;

static constexpr StringRef kName = "coreai.name";
/// Of a state before the program is optimized: the result that is its new
/// value.
static constexpr StringRef kMutation = "MutableBuffers.buffer_mutation";

/// The graphs that callers can reach, in order.
static SmallVector<coreai::GraphOp> entryPoints(ModuleOp module) {
  SmallVector<coreai::GraphOp> result;
  module.walk([&](coreai::GraphOp graph) {
    if (graph.isPublic())
      result.push_back(graph);
  });
  return result;
}

static std::string quoted(ArrayRef<std::string> names) {
  return names.empty() ? "none" : "'" + llvm::join(names, "', '") + "'";
}

static llvm::Expected<coreai::GraphOp> findEntryPoint(ModuleOp module,
                                                      StringRef name) {
  std::vector<std::string> names;
  for (coreai::GraphOp graph : entryPoints(module)) {
    if (graph.getSymName() == name)
      return graph;
    names.push_back(graph.getSymName().str());
  }
  return llvm::createStringError("no entry point '" + name + "'; there is " +
                                 quoted(names));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
/// What a graph's values are called, to be changed and put back.
class Interface {
public:
  explicit Interface(coreai::GraphOp graph);

  /// The places of the values of a role: arguments, or results for outputs.
  ArrayRef<unsigned> places(ValueRole role) const {
    return role == ValueRole::Input    ? inputs
           : role == ValueRole::Output ? outputs
                                       : states;
  }
  const std::string &name(ValueRole role, unsigned place) const {
    return (role == ValueRole::Output ? results : arguments)[place];
  }
  void rename(ValueRole role, unsigned place, const std::string &name);
  llvm::Error check() const;
  void apply();

private:
  coreai::GraphOp graph;
  std::vector<std::string> arguments, results;
  std::vector<unsigned> inputs, outputs, states;
  /// Of an argument that is a state: the result with its new value.
  llvm::DenseMap<unsigned, unsigned> newValues;
};
} // namespace

Interface::Interface(coreai::GraphOp graph) : graph(graph) {
  auto text = [](StringAttr attribute) {
    return attribute ? attribute.str() : std::string();
  };
  for (unsigned i = 0; i < graph.getNumResults(); ++i)
    results.push_back(text(graph.getResultAttrOfType<StringAttr>(i, kName)));
  llvm::DenseSet<unsigned> mutated;
  for (auto [i, type] : llvm::enumerate(graph.getArgumentTypes())) {
    arguments.push_back(text(graph.getArgAttrOfType<StringAttr>(i, kName)));
    auto mutation = graph.getArgAttrOfType<StringAttr>(i, kMutation);
    bool isState = mutation || isa<coreai::HandleType>(type);
    (isState ? states : inputs).push_back(i);
    if (!mutation)
      continue;
    auto result = llvm::find(results, mutation.getValue());
    if (result != results.end()) {
      newValues[i] = result - results.begin();
      mutated.insert(result - results.begin());
    }
  }
  for (auto [i, type] : llvm::enumerate(graph.getResultTypes()))
    if (!isa<coreai::TokenType>(type) && !mutated.contains(i))
      outputs.push_back(i);
}

void Interface::rename(ValueRole role, unsigned place,
                       const std::string &name) {
  if (role == ValueRole::Output) {
    results[place] = name;
    return;
  }
  arguments[place] = name;
  auto result = newValues.find(place);
  if (result != newValues.end())
    results[result->second] = name;
}

llvm::Error Interface::check() const {
  auto checkSide = [&](ArrayRef<std::string> names, StringRef what,
                       auto isValue) -> llvm::Error {
    llvm::StringSet<> seen;
    for (auto [i, name] : llvm::enumerate(names)) {
      if (!isValue(i))
        continue;
      if (name.empty())
        return llvm::createStringError("an empty name among the " + what);
      if (llvm::Error error =
              checkUtf8(("a name among the " + what).str(), name))
        return error;
      if (!seen.insert(name).second)
        return llvm::createStringError("two of the " + what + " are called '" +
                                       name + "'");
    }
    return llvm::Error::success();
  };
  coreai::GraphOp op = graph;
  if (llvm::Error error = checkSide(arguments, "inputs and states",
                                    [](size_t) { return true; }))
    return error;
  return checkSide(results, "outputs and states", [&](size_t i) {
    return !isa<coreai::TokenType>(op.getResultTypes()[i]);
  });
}

void Interface::apply() {
  auto text = [&](const std::string &name) {
    return StringAttr::get(graph.getContext(), name);
  };
  for (unsigned place : inputs)
    graph.setArgAttr(place, kName, text(arguments[place]));
  for (unsigned place : states) {
    graph.setArgAttr(place, kName, text(arguments[place]));
    auto result = newValues.find(place);
    if (result == newValues.end())
      continue;
    graph.setArgAttr(place, kMutation, text(results[result->second]));
    graph.setResultAttr(result->second, kName, text(results[result->second]));
  }
  for (unsigned place : outputs)
    graph.setResultAttr(place, kName, text(results[place]));
}

static StringRef roleName(ValueRole role) {
  switch (role) {
  case ValueRole::Input:
    return "input";
  case ValueRole::Output:
    return "output";
  case ValueRole::State:
    return "state";
  }
  llvm_unreachable("all roles are listed");
}

/// Changes names in `interface`, by place or by what they were.
static llvm::Error renameAll(Interface &interface, ValueRole role,
                             const ValueNames &names) {
  ArrayRef<unsigned> places = interface.places(role);
  std::vector<std::string> known;
  for (unsigned place : places)
    known.push_back(interface.name(role, place));
  auto list = [&] {
    return std::to_string(known.size()) + " " + roleName(role).str() +
           (known.size() == 1 ? "" : "s") + ", " + quoted(known);
  };
  if (names.originals.empty()) {
    if (names.names.size() != known.size())
      return llvm::createStringError(std::to_string(names.names.size()) +
                                     " name(s) for " + list());
    for (auto [place, name] : llvm::zip_equal(places, names.names))
      interface.rename(role, place, name);
    return llvm::Error::success();
  }
  if (names.names.size() != names.originals.size())
    return llvm::createStringError("not as many new names as old ones");
  for (auto [original, name] : llvm::zip_equal(names.originals, names.names)) {
    auto found = llvm::find(known, original);
    if (found == known.end())
      return llvm::createStringError("no " + roleName(role) + " '" + original +
                                     "'; there are " + list());
    interface.rename(role, places[found - known.begin()], name);
  }
  return llvm::Error::success();
}

llvm::Error Model::renameValues(StringRef entryPoint, ValueRole role,
                                const ValueNames &names) {
  llvm::Expected<coreai::GraphOp> graph =
      findEntryPoint(*state->module, entryPoint);
  if (!graph)
    return graph.takeError();
  Interface interface(*graph);
  llvm::Error error = renameAll(interface, role, names);
  if (!error)
    error = interface.check();
  if (error)
    return llvm::createStringError("entry point '" + entryPoint +
                                   "': " + llvm::toString(std::move(error)));
  interface.apply();
  return state->updateCode();
}

/// What runtimes bind by has to be text.
llvm::Error Model::checkNames() {
  for (coreai::GraphOp graph : entryPoints(*state->module)) {
    if (llvm::Error error =
            checkUtf8("the name of an entry point", graph.getSymName()))
      return error;
    for (unsigned i = 0; i < graph.getNumArguments(); ++i)
      if (auto name = graph.getArgAttrOfType<StringAttr>(i, kName))
        if (llvm::Error error = checkUtf8("the name of an input", name))
          return error;
    for (unsigned i = 0; i < graph.getNumResults(); ++i)
      if (auto name = graph.getResultAttrOfType<StringAttr>(i, kName))
        if (llvm::Error error = checkUtf8("the name of an output", name))
          return error;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

void corten::renameSymbol(coreai::GraphOp graph, StringRef name) {
  MLIRContext *context = graph.getContext();
  auto from = FlatSymbolRefAttr::get(graph.getSymNameAttr());
  auto to = FlatSymbolRefAttr::get(context, name);
  Operation *table = graph->getParentOp();
  // Callers are in the table; where nothing calls it, this is nothing.
  (void)SymbolTable::replaceAllSymbolUses(graph, to.getAttr(), table);
  SymbolTable::setSymbolName(graph, to.getAttr());
  // Debug locations name the graph that they are in; those of composites the
  // one that they were taken out of.
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](FlatSymbolRefAttr reference) {
    return reference == from ? to : reference;
  });
  replacer.recursivelyReplaceElementsIn(table, /*replaceAttrs=*/false,
                                        /*replaceLocs=*/true);
}

llvm::Error Model::renameEntryPoint(StringRef from, StringRef to) {
  if (to.empty())
    return llvm::createStringError("an entry point without a name");
  if (llvm::Error error = checkUtf8("the name of an entry point", to))
    return error;
  llvm::Expected<coreai::GraphOp> graph = findEntryPoint(*state->module, from);
  if (!graph)
    return graph.takeError();
  if (from == to)
    return llvm::Error::success();
  if (coreai::GraphOp other = dyn_cast_or_null<coreai::GraphOp>(
          SymbolTable::lookupSymbolIn((*graph)->getParentOp(), to))) {
    if (other.isPublic())
      return llvm::createStringError("there is an entry point '" + to +
                                     "' already");
    // Nobody knows a private graph by its name.
    renameSymbol(other, distinctSymbol((*graph)->getParentOp(), to));
  }
  renameSymbol(*graph, to);
  return state->updateCode();
}

std::string corten::distinctSymbol(Operation *table, StringRef name) {
  for (unsigned i = 1;; ++i) {
    std::string candidate = (name + "_" + Twine(i)).str();
    if (!SymbolTable::lookupSymbolIn(table, candidate))
      return candidate;
  }
}

/// The graphs that are needed for those in `open`, which are among them.
static llvm::DenseSet<Operation *>
reachableFrom(SmallVector<Operation *> open) {
  llvm::DenseSet<Operation *> reached(open.begin(), open.end());
  SymbolTableCollection tables;
  while (!open.empty()) {
    Operation *graph = open.pop_back_val();
    std::optional<SymbolTable::UseRange> uses =
        SymbolTable::getSymbolUses(graph);
    for (SymbolTable::SymbolUse use :
         uses ? *uses
              : SymbolTable::UseRange(std::vector<SymbolTable::SymbolUse>())) {
      Operation *symbol =
          tables.lookupNearestSymbolFrom(use.getUser(), use.getSymbolRef());
      if (symbol && reached.insert(symbol).second)
        open.push_back(symbol);
    }
  }
  return reached;
}

llvm::Error Model::keepEntryPoints(llvm::ArrayRef<std::string> names) {
  llvm::DenseSet<Operation *> kept;
  SmallVector<Operation *> roots;
  for (const std::string &name : names) {
    llvm::Expected<coreai::GraphOp> graph =
        findEntryPoint(*state->module, name);
    if (!graph)
      return graph.takeError();
    if (kept.insert(*graph).second)
      roots.push_back(*graph);
  }
  if (roots.empty())
    return llvm::createStringError("no entry point to keep");
  llvm::DenseSet<Operation *> needed = reachableFrom(std::move(roots));
  SmallVector<coreai::GraphOp> graphs;
  state->module->walk([&](coreai::GraphOp graph) { graphs.push_back(graph); });
  for (coreai::GraphOp graph : graphs) {
    if (!needed.contains(graph))
      graph->erase();
    else if (graph.isPublic() && !kept.contains(graph))
      graph.setPriv(true);
  }
  return state->updateCode();
}
