// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Walk/DebugRecorder.h"

#include "corten/Support/Digest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <mutex>

using namespace corten;
using namespace corten::debuginfo;
using namespace mlir;

/// What stands for a file that is not known.
static constexpr StringRef kNoFile = "-";

DebugRecorder::DebugRecorder(MLIRContext *context,
                             const ConversionOptions &options,
                             DebugCounters &counters)
    : context(context), options(options), counters(counters) {
  table.files.push_back(kNoFile.str());
  nowhere = addPlace(addLine(/*file=*/0, /*number=*/0), UnitAttr::get(context));
}

unsigned DebugRecorder::addPlace(ArrayRef<unsigned> lines, Attribute scope) {
  table.places.push_back({SmallVector<unsigned, 4>(lines), scope});
  return table.places.size() - 1;
}

unsigned DebugRecorder::addLine(unsigned file, unsigned number) {
  auto [entry, isNew] = lines.try_emplace({file, number}, table.lines.size());
  if (isNew)
    table.lines.push_back({file, number});
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

StringRef DebugRecorder::instanceName(const ModuleFrame &module) {
  SmallString<128> key(module.instance);
  key += '\0';
  key += module.className;
  std::string &name = instanceNames[key];
  if (name.empty()) {
    StringRef type = module.shortClassName();
    name = (type + "$" + Twine(++instancesOfClass[type])).str();
  }
  return name;
}

std::optional<unsigned> DebugRecorder::modulesOf(const ModuleFrame *module) {
  if (!module)
    return std::nullopt;
  auto [entry, isNew] = modules.try_emplace(module, table.modules.size());
  if (!isNew)
    return entry->second;
  SmallVector<const ModuleFrame *> frames;
  for (const ModuleFrame *frame = module; frame; frame = frame->caller)
    frames.push_back(frame);
  // Numbers are given out from the outermost module inwards.
  std::vector<std::string> names;
  for (const ModuleFrame *frame : llvm::reverse(frames))
    names.push_back(instanceName(*frame).str());
  std::reverse(names.begin(), names.end());
  table.modules.push_back({std::move(names), module->path.str()});
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// The part of a path below the folder that packages are installed in; empty
/// for a file that belongs to none. A file of another machine tells as much.
static StringRef pathInPackages(StringRef file) {
  StringRef inside;
  for (StringRef folder : {"/site-packages/", "/dist-packages/"}) {
    size_t begin = file.rfind(folder);
    if (begin == StringRef::npos)
      continue;
    StringRef rest = file.drop_front(begin + folder.size());
    if (inside.empty() || rest.size() < inside.size())
      inside = rest;
  }
  return inside;
}

std::string DebugRecorder::shownPath(StringRef file) const {
  if (options.sourcePaths == SourcePaths::Absolute)
    return file.str();
  StringRef inside = pathInPackages(file);
  if (options.sourcePaths == SourcePaths::Packages) {
    if (!inside.empty())
      return inside.str();
    // A folder of another machine leads nobody to the file.
    bool isElsewhere =
        llvm::sys::path::is_absolute(file) && !llvm::sys::fs::exists(file);
    return (isElsewhere ? llvm::sys::path::filename(file) : file).str();
  }
  StringRef best;
  for (StringRef root : options.sourceRoots)
    if (file.starts_with(root) && root.size() > best.size())
      best = root;
  // An environment may lie below a root, and one of another machine below none.
  StringRef below = file.drop_front(best.size());
  if (!inside.empty() && (best.empty() || inside.size() < below.size()))
    return inside.str();
  return (best.empty() ? llvm::sys::path::filename(file) : below).str();
}

unsigned DebugRecorder::lineOf(const SourceLocation &frame) {
  auto [entry, isNew] = files.try_emplace(frame.file, table.files.size());
  if (isNew)
    table.files.push_back(shownPath(frame.file));
  return addLine(entry->second, frame.line);
}

unsigned DebugRecorder::placeOf(const Node &node) {
  auto [entry, isNew] = places.try_emplace(node.stackTrace, nowhere);
  if (!isNew || options.sourcePaths == SourcePaths::Hidden)
    return entry->second;
  SmallVector<unsigned> frames;
  for (const SourceLocation &frame : node.sourceFrames())
    frames.push_back(lineOf(frame));
  std::reverse(frames.begin(), frames.end());
  if (!frames.empty())
    entry->second = addPlace(frames, scope);
  return entry->second;
}

/// Reads the file only if it is not the one that was read last time: a process
/// that converts again names the same files.
static std::string sha256Of(StringRef file) {
  namespace fs = llvm::sys::fs;
  struct Known {
    fs::UniqueID identity;
    llvm::sys::TimePoint<> modified;
    uint64_t size = 0;
    std::string digest;
  };
  static std::mutex mutex;
  static llvm::StringMap<Known> files;
  fs::file_status status;
  if (fs::status(file, status))
    return {};
  std::lock_guard lock(mutex);
  Known &known = files[file];
  if (!known.digest.empty() && known.identity == status.getUniqueID() &&
      known.modified == status.getLastModificationTime() &&
      known.size == status.getSize())
    return known.digest;
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return {};
  StringRef bytes = (*buffer)->getBuffer();
  known = {
      status.getUniqueID(), status.getLastModificationTime(), status.getSize(),
      llvm::toHex(sha256({bytes.data(), bytes.size()}), /*LowerCase=*/true)};
  return known.digest;
}

FileAttr DebugRecorder::fileAttribute(StringRef file, StringRef shown) {
  namespace path = llvm::sys::path;
  SmallString<128> full(shown);
  // Some of torch's own lines have paths relative to where it is installed: a
  // path is completed only if that leads to a file. It fails as well where the
  // current folder is gone.
  bool isAsRecorded = options.sourcePaths == SourcePaths::Absolute ||
                      options.sourcePaths == SourcePaths::Packages;
  if (isAsRecorded && shown == file && llvm::sys::fs::exists(file) &&
      llvm::sys::fs::make_absolute(full))
    full = shown;
  return FileAttr::get(context, path::filename(full), path::parent_path(full),
                       sha256Of(file));
}

CompileUnitAttr DebugRecorder::compileUnit() {
  SmallVector<FileAttr> all;
  for (auto [file, place] : files)
    all.push_back(fileAttribute(file, table.files[place]));
  if (all.empty())
    all.push_back(FileAttr::get(context, kNoFile, "", ""));
  return CompileUnitAttr::get(context, "mlir", all.front(), "torch",
                              /*optimized=*/false, /*flags=*/"", all);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void DebugRecorder::beginGraph(const Graph &graph,
                               const DenseSet<const Node *> &live,
                               StringRef symbol) {
  scope = FlatSymbolRefAttr::get(context, symbol);
  places.clear();
  described = nullptr;
  for (const Node *node : graph.nodes)
    if (node->kind != Node::Kind::Call || live.contains(node))
      torchIds[node] = counters.nextTorchId++;
  // The output node.
  ++counters.nextTorchId;
}

uint64_t DebugRecorder::torchId(const Node &node) {
  // Nodes of branches are numbered when they are met, behind those of the
  // graph, which keep the numbers they have without the branches.
  auto [entry, isNew] = torchIds.try_emplace(&node, counters.nextTorchId);
  if (isNew)
    ++counters.nextTorchId;
  return entry->second;
}

unsigned DebugRecorder::describe(const Node &node) {
  if (described != &node) {
    described = &node;
    uint64_t id = torchId(node);
    unsigned place = placeOf(node);
    table.nodes.push_back({id, node.name.str(), place, modulesOf(node.module)});
  }
  return table.nodes.size() - 1;
}

void DebugRecorder::record(Operation *op, unsigned node,
                           ArrayRef<std::pair<unsigned, OpResult>> outputs) {
  Entry entry{table.nodes[node].place, node, counters.nextOperationId++,
              static_cast<unsigned>(table.outputs.size())};
  for (auto [index, value] : outputs)
    if (value.getOwner() == op)
      table.outputs.push_back({index, value.getResultNumber()});
  entry.numOutputs = table.outputs.size() - entry.firstOutput;
  entries[op] = entry;
}

void DebugRecorder::recordComposite(coreai::GraphOp graph, const Node &node) {
  if (options.debugLocations)
    composites[graph] = describe(node);
}

void DebugRecorder::recordNode(const Node &node, ValueRange results,
                               Operation *effect) {
  // Operations are numbered when they are reached: those of the results first,
  // then depth first through operands that no node has taken yet.
  SmallVector<Operation *, 16> order, pending;
  auto take = [&](Operation *op) {
    if (op && entries.try_emplace(op).second) {
      order.push_back(op);
      pending.push_back(op);
    }
  };
  SmallVector<std::pair<unsigned, OpResult>, 2> outputs;
  for (auto [index, value] : llvm::enumerate(results)) {
    if (!value)
      continue;
    Operation *op = value.getDefiningOp();
    take(op);
    if (llvm::is_contained(order, op))
      outputs.push_back({index, cast<OpResult>(value)});
  }
  take(effect);
  while (!pending.empty())
    for (Value operand : pending.pop_back_val()->getOperands())
      take(operand.getDefiningOp());

  for (Operation *op : order) {
    if (options.debugLocations)
      record(op, describe(node), outputs);
    else
      recordNowhere(op);
  }
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

void DebugRecorder::recordGraph(coreai::GraphOp graph) {
  graphs.push_back({graph, counters.nextOperationId++});
  graph.getBodyRegion().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!entries.contains(op))
      recordNowhere(op);
  });
}

LocationTable DebugRecorder::recordModule(ModuleOp module) {
  CompileUnitAttr unit;
  unsigned source = 0, place = nowhere;
  if (options.debugLocations) {
    unit = compileUnit();
    table.files.push_back(unit.getFile().getPath());
    source = addLine(table.files.size() - 1, /*number=*/0);
    place = addPlace(source, unit);
  }
  DenseSet<Operation *> entryPoints;
  for (auto [graph, number] : graphs) {
    entryPoints.insert(graph);
    // Where coreai-core inlines a graph of the same file as its caller's, it
    // gives the arguments of loops call-site locations, which it then refuses.
    if (!unit || graph.getNoInline()) {
      entries[graph] = {nowhere, std::nullopt, number};
      continue;
    }
    auto subprogram =
        SubprogramAttr::get(context, graph.getFunctionType(), unit,
                            unit.getFile(), graph.getSymName(),
                            /*linkageName=*/"", SubprogramFlags::Zero);
    entries[graph] = {addPlace(source, subprogram), std::nullopt, number};
  }
  for (Operation &graph : *module.getBody()) {
    if (entryPoints.contains(&graph))
      continue;
    auto node = composites.find(&graph);
    graph.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (node != composites.end())
        record(op, node->second, /*outputs=*/{});
      else
        recordNowhere(op);
    });
  }
  entries[module] = {place, std::nullopt, std::nullopt};
  module->walk(
      [&](Operation *op) { table.operations.push_back(entries.lookup(op)); });
  return std::move(table);
}
