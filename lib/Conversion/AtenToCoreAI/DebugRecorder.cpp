// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DebugRecorder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace corten;
using namespace corten::debuginfo;
using namespace mlir;

/// What stands for a file that is not known.
static constexpr StringRef kNoFile = "-";

DebugRecorder::DebugRecorder(MLIRContext *context,
                             const ConversionOptions &options,
                             DebugCounters &counters)
    : builder(context), options(options), counters(counters),
      noSource(FileLineColLoc::get(context, kNoFile, 0, 0)),
      nowhere(DebugLocationAttr::get(noSource, UnitAttr::get(context))),
      coreaiLevel(builder.getStringAttr("coreai")),
      torchLevel(builder.getStringAttr("torch")),
      idKey(builder.getStringAttr("id")),
      identifiersKey(builder.getStringAttr("identifiers")),
      levelKey(builder.getStringAttr("level")),
      nameKey(builder.getStringAttr("name")),
      outputKey(builder.getStringAttr("output")),
      sourceKey(builder.getStringAttr("source")),
      targetKey(builder.getStringAttr("target")),
      typeKey(builder.getStringAttr("type")),
      valueKey(builder.getStringAttr("value")),
      ui64(builder.getIntegerType(64, false)),
      ui32(builder.getIntegerType(32, false)) {}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

IntegerAttr DebugRecorder::number(uint64_t value) {
  return IntegerAttr::get(ui64, static_cast<int64_t>(value));
}

DictionaryAttr DebugRecorder::dictionary(ArrayRef<NamedAttribute> sorted) {
  return DictionaryAttr::getWithSorted(builder.getContext(), sorted);
}

MetadataAttr DebugRecorder::operationId(StringAttr level, uint64_t value) {
  return MetadataAttr::get(
      "op_id", dictionary({{typeKey, level}, {valueKey, number(value)}}));
}

MetadataAttr DebugRecorder::nextOperationId() {
  return operationId(coreaiLevel, counters.nextOperationId++);
}

MetadataAttr
DebugRecorder::outputMaps(uint64_t id,
                          ArrayRef<std::pair<unsigned, OpResult>> outputs) {
  auto position = [&](unsigned index) { return IntegerAttr::get(ui32, index); };
  SmallVector<Attribute> maps;
  for (auto [index, result] : outputs) {
    DictionaryAttr source = dictionary({{idKey, number(id)},
                                        {levelKey, torchLevel},
                                        {outputKey, position(index)}});
    DictionaryAttr target =
        dictionary({{levelKey, coreaiLevel},
                    {outputKey, position(result.getResultNumber())}});
    maps.push_back(dictionary({{sourceKey, source}, {targetKey, target}}));
  }
  return MetadataAttr::get("output_maps", builder.getArrayAttr(maps));
}

StringAttr DebugRecorder::instanceName(const ModuleFrame &module) {
  SmallString<128> key(module.instance);
  key += '\0';
  key += module.className;
  StringAttr &name = instanceNames[key];
  if (!name) {
    StringRef type = module.shortClassName();
    name = builder.getStringAttr(type + "$" + Twine(++instancesOfClass[type]));
  }
  return name;
}

const DebugRecorder::CallStack &
DebugRecorder::callStackOf(const ModuleFrame *module) {
  auto [entry, isNew] = callStacks.try_emplace(module);
  if (!isNew || !module)
    return entry->second;
  SmallVector<const ModuleFrame *> frames;
  for (const ModuleFrame *frame = module; frame; frame = frame->caller)
    frames.push_back(frame);
  // Numbers are given out from the outermost module inwards.
  SmallVector<Attribute> names;
  for (const ModuleFrame *frame : llvm::reverse(frames))
    names.push_back(instanceName(*frame));
  std::reverse(names.begin(), names.end());
  entry->second.classes =
      MetadataAttr::get("call_stack", builder.getArrayAttr(names));
  if (!module->path.empty())
    entry->second.path =
        MetadataAttr::get("module_path", builder.getStringAttr(module->path));
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

std::string DebugRecorder::shownPath(StringRef file) const {
  if (options.sourcePaths == SourcePaths::Absolute)
    return file.str();
  StringRef best;
  for (StringRef root : options.sourceRoots)
    if (file.starts_with(root) && root.size() > best.size())
      best = root;
  return (best.empty() ? llvm::sys::path::filename(file)
                       : file.drop_front(best.size()))
      .str();
}

FileLineColRange DebugRecorder::frameOf(const SourceLocation &frame) {
  auto [entry, isNew] = files.try_emplace(frame.file);
  if (isNew)
    entry->second = shownPath(frame.file);
  return FileLineColLoc::get(builder.getContext(), entry->second, frame.line,
                             0);
}

const DebugRecorder::Trace &DebugRecorder::traceOf(const Node &node) {
  auto [entry, isNew] = traces.try_emplace(node.stackTrace);
  Trace &trace = entry->second;
  if (!isNew)
    return trace;
  if (options.sourcePaths == SourcePaths::Hidden)
    return trace;
  for (const SourceLocation &frame : node.sourceFrames()) {
    if (trace.source)
      trace.callers.push_back(DebugLocationAttr::get(trace.source, scope));
    trace.source = frameOf(frame);
  }
  std::reverse(trace.callers.begin(), trace.callers.end());
  return trace;
}

static std::string sha256Of(StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return {};
  StringRef bytes = (*buffer)->getBuffer();
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)),
                     /*LowerCase=*/true);
}

FileAttr DebugRecorder::fileAttribute(StringRef file, StringRef shown) {
  namespace path = llvm::sys::path;
  SmallString<128> full(shown);
  // Fails where the current folder is gone; a relative path then stays.
  if (options.sourcePaths == SourcePaths::Absolute &&
      llvm::sys::fs::make_absolute(full))
    full = shown;
  return FileAttr::get(builder.getContext(), path::filename(full),
                       path::parent_path(full), sha256Of(file));
}

CompileUnitAttr DebugRecorder::compileUnit() {
  SmallVector<FileAttr> all;
  for (const auto &[file, shown] : files)
    all.push_back(fileAttribute(file, shown));
  if (all.empty())
    all.push_back(FileAttr::get(builder.getContext(), kNoFile, "", ""));
  return CompileUnitAttr::get(builder.getContext(), "mlir", all.front(),
                              "torch", /*optimized=*/false, /*flags=*/"", all);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void DebugRecorder::beginGraph(const Graph &graph,
                               const DenseSet<const Node *> &live,
                               StringRef symbol) {
  scope = FlatSymbolRefAttr::get(builder.getContext(), symbol);
  traces.clear();
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

const DebugRecorder::NodeInfo &DebugRecorder::describe(const Node &node) {
  if (described == &node)
    return info;
  described = &node;
  info.id = torchId(node);
  const Trace &trace = traceOf(node);
  info.source = trace.source ? trace.source : noSource;
  info.scope = trace.source ? Attribute(scope) : builder.getUnitAttr();
  info.callers = trace.callers;
  DictionaryAttr source = dictionary(
      {{idKey, number(info.id)},
       {identifiersKey, builder.getArrayAttr(builder.getStringAttr(node.name))},
       {nameKey, torchLevel}});
  info.sources = MetadataAttr::get("sources", builder.getArrayAttr(source));
  info.torchId = operationId(torchLevel, info.id);
  info.callStack = callStackOf(node.module);
  return info;
}

Location DebugRecorder::locationOf(const NodeInfo &node, MetadataAttr number,
                                   MetadataAttr outputs) {
  SmallVector<MetadataAttr, 6> metadata;
  for (MetadataAttr fact : {node.sources, node.torchId, number, outputs,
                            node.callStack.classes, node.callStack.path})
    if (fact)
      metadata.push_back(fact);
  return DebugLocationAttr::get(node.source, node.scope, node.callers,
                                metadata);
}

void DebugRecorder::recordComposite(coreai::GraphOp graph, const Node &node) {
  if (!options.debugLocations)
    return;
  Location location = locationOf(describe(node), {}, {});
  graph->walk([&](Operation *op) { op->setLoc(location); });
}

void DebugRecorder::recordNode(const Node &node, ValueRange results) {
  // Operations are numbered when they are reached: those of the results first,
  // then depth first through operands that no node has taken yet.
  SmallVector<Operation *, 16> order, pending;
  auto take = [&](Operation *op) {
    if (op && owned.insert(op).second) {
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
  while (!pending.empty())
    for (Value operand : pending.pop_back_val()->getOperands())
      take(operand.getDefiningOp());

  for (Operation *op : order) {
    MetadataAttr number = nextOperationId();
    if (!options.debugLocations) {
      op->setLoc(
          DebugLocationAttr::get(noSource, nowhere.getScope(), {}, number));
      continue;
    }
    SmallVector<std::pair<unsigned, OpResult>, 2> ofThis;
    for (const auto &output : outputs)
      if (output.second.getOwner() == op)
        ofThis.push_back(output);
    const NodeInfo &info = describe(node);
    op->setLoc(locationOf(info, number,
                          ofThis.empty() ? MetadataAttr()
                                         : outputMaps(info.id, ofThis)));
  }
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

void DebugRecorder::recordGraph(coreai::GraphOp graph) {
  graphs.push_back({graph, nextOperationId()});
  graph.getBodyRegion().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!owned.contains(op))
      op->setLoc(DebugLocationAttr::get(noSource, nowhere.getScope(), {},
                                        nextOperationId()));
  });
}

Location DebugRecorder::numbered(Location location) {
  auto debug = cast<DebugLocationAttr>(LocationAttr(location));
  SmallVector<MetadataAttr> metadata(debug.getMetadata());
  // Behind the number of the node, before the call stack.
  metadata.insert(metadata.begin() + std::min<size_t>(metadata.size(), 2),
                  nextOperationId());
  return DebugLocationAttr::get(debug.getSource(), debug.getScope(),
                                debug.getFusedWith(), metadata);
}

void DebugRecorder::recordModule(ModuleOp module) {
  CompileUnitAttr unit;
  FileLineColRange source = noSource;
  if (options.debugLocations) {
    unit = compileUnit();
    source = FileLineColLoc::get(builder.getContext(), unit.getFile().getPath(),
                                 0, 0);
  }
  DenseSet<Operation *> entryPoints;
  for (auto [graph, number] : graphs) {
    entryPoints.insert(graph);
    Attribute scope = nowhere.getScope();
    if (unit)
      scope = SubprogramAttr::get(builder.getContext(), graph.getFunctionType(),
                                  unit, unit.getFile(), graph.getSymName(),
                                  /*linkageName=*/"", SubprogramFlags::Zero);
    graph->setLoc(DebugLocationAttr::get(source, scope, {}, number));
  }
  for (Operation &op : *module.getBody())
    if (!entryPoints.contains(&op))
      op.walk<WalkOrder::PreOrder>(
          [&](Operation *inner) { inner->setLoc(numbered(inner->getLoc())); });
  module->setLoc(unit ? DebugLocationAttr::get(source, unit) : nowhere);
  module->walk([](Block *block) {
    for (BlockArgument argument : block->getArguments())
      argument.setLoc(block->getParentOp()->getLoc());
  });
}
