// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entry points, forms that loaders stumble over, state and paths.

#include "Constants.h"
#include "ProgramChecks.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/CoreAI/IR/CoreAITypes.h"
#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"
#include "corten/Dialect/DebugInfo/IR/SourceLine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

std::string corten::placeOf(Operation *op) {
  std::string place;
  llvm::raw_string_ostream os(place);
  auto graph = op->getParentOfType<coreai::GraphOp>();
  if (graph)
    os << graph.getSymName() << ": ";
  os << op->getName().getStringRef();
  if (FileLineColRange line = debuginfo::sourceLine(op->getLoc()))
    os << " at " << line.getFilename().getValue() << ':' << line.getStartLine();
  return place;
}

static DictionaryAttr attributesAt(std::optional<ArrayAttr> all, size_t i) {
  return all && i < all->size() ? dyn_cast<DictionaryAttr>((*all)[i])
                                : DictionaryAttr();
}

static StringRef stringAt(DictionaryAttr attributes, StringRef key) {
  auto text = attributes ? attributes.getAs<StringAttr>(key) : StringAttr();
  return text ? text.getValue() : StringRef();
}

static constexpr StringRef kName = "coreai.name";
static constexpr StringRef kMutation = "MutableBuffers.buffer_mutation";

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

/// The names of one side of a graph: every value has one of its own.
static void checkNames(coreai::GraphOp graph, ArrayRef<Type> types,
                       std::optional<ArrayAttr> attributes, StringRef side,
                       std::vector<Finding> &findings) {
  llvm::StringMap<size_t> places;
  for (auto [i, type] : llvm::enumerate(types)) {
    if (isa<coreai::TokenType>(type))
      continue;
    std::string place =
        (graph.getSymName() + ": " + side + " " + Twine(i)).str();
    StringRef name = stringAt(attributesAt(attributes, i), kName);
    if (name.empty()) {
      findings.push_back({CheckId::UnnamedValue, place, ""});
      continue;
    }
    auto [entry, isNew] = places.try_emplace(name, i);
    if (!isNew)
      findings.push_back({CheckId::DuplicateName, place,
                          ("\"" + name + "\" is also the name of " + side +
                           " " + Twine(entry->second))
                              .str()});
  }
}

void corten::checkInterface(ModuleOp module, std::vector<Finding> &findings) {
  bool hasEntryPoint = false;
  module.walk([&](coreai::GraphOp graph) {
    if (!graph.isPublic())
      return;
    hasEntryPoint = true;
    checkNames(graph, graph.getArgumentTypes(), graph.getArgAttrs(), "input",
               findings);
    checkNames(graph, graph.getResultTypes(), graph.getResAttrs(), "output",
               findings);
    for (size_t i = 0; i < graph.getArgumentTypes().size(); ++i) {
      DictionaryAttr attributes = attributesAt(graph.getArgAttrs(), i);
      if (attributes && attributes.get("coreai.enumerated_shapes"))
        findings.push_back({CheckId::EnumeratedShapes,
                            (graph.getSymName() + ": input " + Twine(i)).str(),
                            stringAt(attributes, kName).str()});
    }
  });
  if (!hasEntryPoint)
    findings.push_back({CheckId::NoEntryPoint, "program", ""});
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// A value from outside `op`, perhaps through casts to its own type.
static bool isForwarded(Value value, Operation *op) {
  while (auto cast = value.getDefiningOp<coreai::CastOp>()) {
    if (cast.getInput().getType() != value.getType())
      return false;
    value = cast.getInput();
  }
  return !op->isAncestor(value.getParentBlock()->getParentOp());
}

static void checkForwarding(coreai::IfOp branch,
                            std::vector<Finding> &findings) {
  for (OpResult result : branch->getResults()) {
    bool isOutput = llvm::any_of(result.getUsers(), [](Operation *user) {
      return isa<coreai::OutputOp>(user);
    });
    bool forwards = llvm::any_of(branch->getRegions(), [&](Region &region) {
      return !region.empty() &&
             isForwarded(region.front().getTerminator()->getOperand(
                             result.getResultNumber()),
                         branch);
    });
    if (isOutput && forwards)
      findings.push_back(
          {CheckId::ForwardedBranch, placeOf(branch),
           "result " + std::to_string(result.getResultNumber())});
  }
}

void corten::checkStructure(ModuleOp module, std::vector<Finding> &findings) {
  module.walk([&](Operation *op) {
    if (isa<coreai::ReduceOp, coreai::ReduceIndexOp>(op))
      findings.push_back({CheckId::UnloadableReduce, placeOf(op), ""});
    if (auto branch = dyn_cast<coreai::IfOp>(op))
      checkForwarding(branch, findings);
  });
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

/// The ops that a graph's output tokens depend on. Where a token is the result
/// of an op with regions, those that the regions end with count too.
static llvm::DenseSet<Operation *> tokenHistory(coreai::GraphOp graph) {
  llvm::DenseSet<Operation *> history;
  SmallVector<Operation *> work;
  auto addTokens = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isa<coreai::TokenType>(operand.getType()))
        if (Operation *producer = operand.getDefiningOp())
          work.push_back(producer);
  };
  addTokens(graph.getBodyRegion().front().getTerminator());
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!history.insert(op).second)
      continue;
    addTokens(op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        addTokens(block.getTerminator());
  }
  return history;
}

/// A state behind a handle is written by an op, or by whom it is given to.
static bool mayBeWritten(BlockArgument handle) {
  return llvm::any_of(handle.getUsers(), [](Operation *user) {
    return !isa<coreai::ReadHandleOp>(user);
  });
}

static void checkHandles(coreai::GraphOp graph,
                         std::vector<Finding> &findings) {
  for (BlockArgument argument : graph.getBodyRegion().getArguments())
    if (isa<coreai::HandleType>(argument.getType()) && !mayBeWritten(argument))
      findings.push_back(
          {CheckId::StateNeverWritten,
           (graph.getSymName() + ": state " +
            stringAt(attributesAt(graph.getArgAttrs(), argument.getArgNumber()),
                     kName))
               .str(),
           "only read"});
  llvm::DenseSet<Operation *> history = tokenHistory(graph);
  graph.walk([&](coreai::WriteHandleOp write) {
    if (!history.contains(write))
      findings.push_back({CheckId::LostWrite, placeOf(write), ""});
  });
}

/// Before a program is optimized, a state is an argument that names the result
/// with its new value.
static void checkMutations(coreai::GraphOp graph,
                           std::vector<Finding> &findings) {
  Operation *output = graph.getBodyRegion().front().getTerminator();
  for (BlockArgument argument : graph.getBodyRegion().getArguments()) {
    DictionaryAttr attributes =
        attributesAt(graph.getArgAttrs(), argument.getArgNumber());
    StringRef target = stringAt(attributes, kMutation);
    if (target.empty())
      continue;
    std::string place =
        (graph.getSymName() + ": state " + stringAt(attributes, kName)).str();
    auto results = llvm::seq<size_t>(0, output->getNumOperands());
    auto result = llvm::find_if(results, [&](size_t i) {
      return stringAt(attributesAt(graph.getResAttrs(), i), kName) == target;
    });
    if (result == results.end())
      findings.push_back({CheckId::StateNeverWritten, place,
                          "no output is called \"" + target.str() + "\""});
    else if (output->getOperand(*result) == argument)
      findings.push_back(
          {CheckId::StateNeverWritten, place, "returned as it was"});
  }
}

void corten::checkState(ModuleOp module, std::vector<Finding> &findings) {
  module.walk([&](coreai::GraphOp graph) {
    if (graph.isDeclaration())
      return;
    checkHandles(graph, findings);
    checkMutations(graph, findings);
  });
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

/// Of this machine's kind or of another's.
static bool isAbsolute(StringRef path) {
  namespace path_ns = llvm::sys::path;
  return path_ns::is_absolute(path, path_ns::Style::posix) ||
         path_ns::is_absolute(path, path_ns::Style::windows);
}

void corten::checkPaths(ModuleOp module, std::vector<Finding> &findings) {
  llvm::StringSet<> seen;
  auto add = [&](StringRef path) {
    if (isAbsolute(path) && seen.insert(path).second)
      findings.push_back({CheckId::AbsolutePaths, path.str(), ""});
  };
  AttrTypeWalker walker;
  walker.addWalk(
      [&](FileLineColRange range) { add(range.getFilename().getValue()); });
  walker.addWalk([&](debuginfo::FileAttr file) { add(file.getPath()); });
  auto visit = [&](Location location) {
    walker.walk(static_cast<LocationAttr>(location));
  };
  module.walk([&](Operation *op) {
    visit(op->getLoc());
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        visit(argument.getLoc());
  });
}
