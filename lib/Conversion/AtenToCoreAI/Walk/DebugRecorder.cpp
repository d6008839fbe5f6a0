// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Walk/DebugRecorder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <mutex>

using namespace corten;
using namespace corten::debuginfo;
using namespace mlir;

/// What stands for a file that is not known.
static constexpr StringRef kNoFile = "-";

DebugRecorder::DebugRecorder(MLIRContext *context,
                             const ConversionOptions &options,
                             DebugCounters &counters)
    : context(context), options(options), counters(counters),
      definitions(definitionText), stream(text) {
  nowhere = alias("loc(\"-\":0:0)").str() + " in unit";
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string quoted(StringRef text) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  stream << '"';
  llvm::printEscapedString(text, stream);
  stream << '"';
  return result;
}

std::string DebugRecorder::define(StringRef text) {
  // Letters only, as few as can be: most of the text is names of aliases.
  std::string name = "#";
  unsigned number = numAliases++;
  do
    name += 'a' + number % 26;
  while ((number /= 26) != 0);
  definitions << name << " = " << text << "\n";
  return name;
}

StringRef DebugRecorder::alias(StringRef text) {
  auto [entry, isNew] = aliases.try_emplace(text);
  if (isNew)
    entry->second = define(text);
  return entry->second;
}

std::string DebugRecorder::aliasOf(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return alias(text).str();
}

void DebugRecorder::begin(Operation *op) {
  entries[op] = {stream.tell(), 0};
  stream << "#debuginfo.location<";
}

void DebugRecorder::end(Operation *op) {
  stream << ">";
  auto &[start, length] = entries[op];
  length = stream.tell() - start;
}

void DebugRecorder::writeNumber(uint64_t number) {
  stream << "<\"op_id\": {type = \"coreai\", value = " << number << " : ui64}>";
}

void DebugRecorder::write(Operation *op, const NodeText &node,
                          StringRef outputs) {
  begin(op);
  stream << node.place << " metadata = [" << node.before;
  writeNumber(counters.nextOperationId++);
  stream << outputs << node.behind << "]";
  end(op);
}

void DebugRecorder::write(Operation *op, StringRef place,
                          std::optional<uint64_t> number) {
  begin(op);
  stream << place;
  if (number) {
    stream << " metadata = [";
    writeNumber(*number);
    stream << "]";
  }
  end(op);
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

StringRef DebugRecorder::callStackOf(const ModuleFrame *module) {
  auto [entry, isNew] = callStacks.try_emplace(module);
  if (!isNew || !module)
    return entry->second;
  SmallVector<const ModuleFrame *> frames;
  for (const ModuleFrame *frame = module; frame; frame = frame->caller)
    frames.push_back(frame);
  // Numbers are given out from the outermost module inwards.
  SmallVector<std::string> names;
  for (const ModuleFrame *frame : llvm::reverse(frames))
    names.push_back(quoted(instanceName(*frame)));
  std::reverse(names.begin(), names.end());
  std::string facts = ", ";
  facts += alias("#debuginfo.metadata<\"call_stack\": [" +
                 llvm::join(names, ", ") + "]>");
  if (!module->path.empty()) {
    facts += ", ";
    facts += alias(
        "#debuginfo.metadata<\"module_path\": " + quoted(module->path) + ">");
  }
  return callStacks[module] = std::move(facts);
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

std::string DebugRecorder::frameOf(const SourceLocation &frame) {
  auto [entry, isNew] = files.try_emplace(frame.file);
  if (isNew)
    entry->second = shownPath(frame.file);
  return alias("loc(" + quoted(entry->second) + ":" +
               std::to_string(frame.line) + ":0)")
      .str();
}

StringRef DebugRecorder::placeOf(const Node &node) {
  auto [entry, isNew] = places.try_emplace(node.stackTrace);
  std::string &place = entry->second;
  if (!isNew)
    return place;
  SmallVector<std::string> frames;
  if (options.sourcePaths != SourcePaths::Hidden)
    for (const SourceLocation &frame : node.sourceFrames())
      frames.push_back(frameOf(frame));
  if (frames.empty())
    return place = nowhere;
  place = frames.pop_back_val() + " in " + scope;
  if (!frames.empty()) {
    SmallVector<StringRef> callers;
    for (const std::string &frame : llvm::reverse(frames))
      callers.push_back(
          alias("#debuginfo.location<" + frame + " in " + scope + ">"));
    place += " fused with [" + llvm::join(callers, ", ") + "]";
  }
  return place;
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
  known = {status.getUniqueID(), status.getLastModificationTime(),
           status.getSize(),
           llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)),
                       /*LowerCase=*/true)};
  return known.digest;
}

FileAttr DebugRecorder::fileAttribute(StringRef file, StringRef shown) {
  namespace path = llvm::sys::path;
  SmallString<128> full(shown);
  // Fails where the current folder is gone; a relative path then stays.
  if (options.sourcePaths == SourcePaths::Absolute &&
      llvm::sys::fs::make_absolute(full))
    full = shown;
  return FileAttr::get(context, path::filename(full), path::parent_path(full),
                       sha256Of(file));
}

CompileUnitAttr DebugRecorder::compileUnit() {
  SmallVector<FileAttr> all;
  for (const auto &[file, shown] : files)
    all.push_back(fileAttribute(file, shown));
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
  scope = aliasOf(FlatSymbolRefAttr::get(context, symbol));
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

const DebugRecorder::NodeText &DebugRecorder::describe(const Node &node,
                                                       bool isShared) {
  if (described == &node)
    return nodeText;
  described = &node;
  nodeText.id = torchId(node);
  nodeText.place = placeOf(node);
  std::string id = std::to_string(nodeText.id);
  std::string facts[] = {
      "<\"sources\": [{id = " + id + " : ui64, identifiers = [" +
          quoted(node.name) + "], name = \"torch\"}]>",
      "<\"op_id\": {type = \"torch\", value = " + id + " : ui64}>"};
  nodeText.before.clear();
  for (const std::string &fact : facts) {
    nodeText.before += isShared ? define("#debuginfo.metadata" + fact) : fact;
    nodeText.before += ", ";
  }
  nodeText.behind = callStackOf(node.module);
  return nodeText;
}

std::string
DebugRecorder::outputMaps(uint64_t id, Operation *op,
                          ArrayRef<std::pair<unsigned, OpResult>> outputs) {
  std::string result;
  llvm::raw_string_ostream maps(result);
  for (auto [index, value] : outputs) {
    if (value.getOwner() != op)
      continue;
    maps << (result.empty() ? ", <\"output_maps\": [" : ", ")
         << "{source = {id = " << id
         << " : ui64, level = \"torch\", output = " << index
         << " : ui32}, target = "
         << alias("{level = \"coreai\", output = " +
                  std::to_string(value.getResultNumber()) + " : ui32}")
         << "}";
  }
  if (!result.empty())
    maps << "]>";
  return result;
}

void DebugRecorder::recordComposite(coreai::GraphOp graph, const Node &node) {
  if (options.debugLocations)
    composites[graph] = describe(node, /*isShared=*/true);
}

void DebugRecorder::recordNode(const Node &node, ValueRange results) {
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
  while (!pending.empty())
    for (Value operand : pending.pop_back_val()->getOperands())
      take(operand.getDefiningOp());

  for (Operation *op : order) {
    if (!options.debugLocations) {
      write(op, nowhere, counters.nextOperationId++);
      continue;
    }
    const NodeText &description = describe(node, order.size() > 1);
    write(op, description, outputMaps(description.id, op, outputs));
  }
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

void DebugRecorder::recordGraph(coreai::GraphOp graph) {
  graphs.push_back({graph, counters.nextOperationId++});
  graph.getBodyRegion().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!entries.contains(op))
      write(op, nowhere, counters.nextOperationId++);
  });
}

LocationTable DebugRecorder::recordModule(ModuleOp module) {
  CompileUnitAttr unit;
  std::string source, place = nowhere;
  if (options.debugLocations) {
    unit = compileUnit();
    source = alias("loc(" + quoted(unit.getFile().getPath()) + ":0:0)").str() +
             " in ";
    place = source + aliasOf(unit);
  }
  DenseSet<Operation *> entryPoints;
  for (auto [graph, number] : graphs) {
    entryPoints.insert(graph);
    // Where coreai-core inlines a graph of the same file as its caller's, it
    // gives the arguments of loops call-site locations, which it then refuses.
    if (!unit || graph.getNoInline()) {
      write(graph, nowhere, number);
      continue;
    }
    auto subprogram =
        SubprogramAttr::get(context, graph.getFunctionType(), unit,
                            unit.getFile(), graph.getSymName(),
                            /*linkageName=*/"", SubprogramFlags::Zero);
    write(graph, source + aliasOf(subprogram), number);
  }
  for (Operation &graph : *module.getBody()) {
    if (entryPoints.contains(&graph))
      continue;
    auto node = composites.find(&graph);
    graph.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (node != composites.end())
        write(op, node->second, /*outputs=*/"");
      else
        write(op, nowhere, counters.nextOperationId++);
    });
  }
  write(module, place, std::nullopt);

  LocationTable table;
  std::string list;
  unsigned index = 0;
  module->walk([&](Operation *op) {
    auto [start, length] = entries.lookup(op);
    list += index == 0 ? "" : ",\n";
    list.append(text, start, length);
    if (llvm::any_of(op->getRegions(), [](Region &region) {
          return llvm::any_of(region, [](Block &block) {
            return block.getNumArguments() != 0;
          });
        }))
      table.withArguments.push_back(index);
    ++index;
  });
  table.text = definitionText + "module attributes {coreai.locations = [\n" +
               list + "]} {}\n";
  return table;
}
