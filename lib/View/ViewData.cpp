// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module as data for the page. Texts repeat a lot: they are numbered, and
// operations refer to them by number. lib/View/Page/view.js reads this.

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"
#include "corten/View/View.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Support/DebugStringHelper.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>

using namespace corten;
using namespace mlir;

namespace json = llvm::json;

namespace {

/// Where an operation comes from.
struct Origin {
  std::optional<uint64_t> id;
  /// Nodes of the exported program.
  std::string nodes;
  /// "Linear$1" and so on, outermost first.
  SmallVector<StringRef> modules;
  /// Of the innermost of them, from the model: "blocks.0.linear". Empty for the
  /// model itself, and in programs of other converters.
  StringRef modulePath;
  /// "file:line", innermost first.
  SmallVector<std::string> lines;
};

/// A node of the tree of modules.
struct ModuleNode {
  int64_t parent;
  int64_t label;
  /// Empty where it is not known.
  std::string className;
};

class DataWriter {
public:
  explicit DataWriter(ModuleOp module) : module(module), symbols(module) {}

  json::Value write(const ViewOptions &options);

private:
  int64_t text(StringRef value);
  int64_t text(Type type);

  json::Object graph(coreai::GraphOp graph);
  void operations(Block &block, int64_t parent, json::Array &out);
  json::Object operation(Operation &op, int64_t parent);
  void describeConstant(Operation &op, json::Object &out);
  void describeOrigin(Operation &op, json::Object &out);
  int64_t addModule(int64_t parent, StringRef label);
  int64_t addPath(int64_t root, const Origin &origin);
  int64_t moduleOf(const Origin &origin);
  json::Array ports(coreai::GraphOp graph, bool results);

  ModuleOp module;
  SymbolTable symbols;
  llvm::StringMap<int64_t> numbers;
  json::Array texts;
  llvm::DenseMap<Type, int64_t> typeTexts;
  llvm::DenseMap<Operation *, int64_t> graphNumbers;
  /// Of one graph at a time.
  llvm::DenseMap<Value, int64_t> values;
  int64_t numOperations = 0;
  std::map<std::pair<int64_t, int64_t>, int64_t> moduleNumbers;
  std::vector<ModuleNode> modules;
};

} // namespace

int64_t DataWriter::text(StringRef value) {
  auto [entry, isNew] =
      numbers.try_emplace(value, static_cast<int64_t>(texts.size()));
  if (isNew)
    texts.push_back(json::fixUTF8(value));
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

/// "2×16×64 f32": what matters about a type, as short as it goes.
static std::string shortType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    std::string shape;
    for (int64_t extent : tensor.getShape())
      shape += (shape.empty() ? "" : "×") +
               (ShapedType::isDynamic(extent) ? "?" : std::to_string(extent));
    std::string element = debugString(tensor.getElementType());
    return shape.empty() ? element : shape + " " + element;
  }
  if (auto handle = dyn_cast<coreai::HandleType>(type))
    return "state " + shortType(handle.getInnerType());
  return debugString(type);
}

int64_t DataWriter::text(Type type) {
  auto [entry, isNew] = typeTexts.try_emplace(type);
  if (isNew)
    entry->second = text(shortType(type));
  return entry->second;
}

/// Bytes of a constant, as an asset stores them.
static int64_t sizeOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape())
    return 0;
  Type element = shaped.getElementType();
  int64_t parts = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    parts = 2;
  }
  if (!element.isIntOrFloat())
    return 0;
  return llvm::divideCeil(
      shaped.getNumElements() * parts * element.getIntOrFloatBitWidth(), 8);
}

/// At most this much of an attribute is shown.
static constexpr size_t kMaxAttribute = 400;

static std::string shortened(std::string text) {
  if (text.size() > kMaxAttribute) {
    text.resize(kMaxAttribute);
    text += " …";
  }
  return text;
}

/// Elements beyond this many are left out.
static constexpr int64_t kMaxElements = 16;

static std::string shortAttribute(Attribute attribute) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute))
    return "weight " + shortType(resource.getType());
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    if (!dense.isSplat() && dense.getNumElements() > kMaxElements)
      return "values " + shortType(dense.getType());
    std::string elements = debugString(attribute);
    return elements.substr(0, elements.rfind(" : "));
  }
  return shortened(debugString(attribute));
}

void DataWriter::describeConstant(Operation &op, json::Object &out) {
  Attribute value = op.getAttr("value");
  if (!value || op.getNumResults() != 1)
    return;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    out["w"] = sizeOf(resource.getType());
    out["k"] = text(resource.getRawHandle().getKey());
  } else if (auto typed = dyn_cast<coreai::TypedResourceAttr>(value)) {
    AsmResourceBlob *blob = typed.getRawHandle().getBlob();
    out["w"] = blob ? static_cast<int64_t>(blob->getData().size()) : 0;
    out["k"] = text(typed.getRawHandle().getKey());
  } else {
    // A splat is one element in an asset.
    auto dense = dyn_cast<DenseElementsAttr>(value);
    out["w"] = dense && !dense.isSplat() ? sizeOf(dense.getType()) : 0;
  }
}

//===----------------------------------------------------------------------===//
// Origins
//===----------------------------------------------------------------------===//

static std::string lineOf(FileLineColRange place) {
  StringRef file = place.getFilename().getValue();
  if (file == "-" || place.getStartLine() == 0)
    return "";
  return (file + ":" + Twine(place.getStartLine())).str();
}

static void readFact(debuginfo::MetadataAttr fact, Origin &origin) {
  if (fact.getName() == "op_id") {
    auto dictionary = dyn_cast<DictionaryAttr>(fact.getData());
    if (!dictionary)
      return;
    auto type = dictionary.getAs<StringAttr>("type");
    auto value = dictionary.getAs<IntegerAttr>("value");
    if (type && value && type.getValue() == "coreai")
      origin.id = value.getValue().getZExtValue();
  } else if (fact.getName() == "call_stack") {
    if (auto stack = dyn_cast<ArrayAttr>(fact.getData()))
      for (Attribute entry : llvm::reverse(stack))
        if (auto name = dyn_cast<StringAttr>(entry))
          origin.modules.push_back(name.getValue());
  } else if (fact.getName() == "module_path") {
    if (auto path = dyn_cast<StringAttr>(fact.getData()))
      origin.modulePath = path.getValue();
  } else if (fact.getName() == "sources") {
    auto sources = dyn_cast<ArrayAttr>(fact.getData());
    if (!sources)
      return;
    for (Attribute source : sources) {
      auto dictionary = dyn_cast<DictionaryAttr>(source);
      auto names =
          dictionary ? dictionary.getAs<ArrayAttr>("identifiers") : ArrayAttr();
      if (!names)
        continue;
      for (Attribute name : names)
        if (auto node = dyn_cast<StringAttr>(name)) {
          origin.nodes += origin.nodes.empty() ? "" : ", ";
          origin.nodes += node.getValue();
        }
    }
  }
}

/// A location that was fused from several is the first of them.
static void readLocation(Location location, Origin &origin) {
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    if (!fused.getLocations().empty())
      readLocation(fused.getLocations().front(), origin);
  } else if (auto debug = dyn_cast<debuginfo::DebugLocationAttr>(
                 LocationAttr(location))) {
    if (std::string line = lineOf(debug.getSource()); !line.empty())
      origin.lines.push_back(std::move(line));
    for (debuginfo::DebugLocationAttr caller : debug.getFusedWith())
      if (std::string line = lineOf(caller.getSource()); !line.empty())
        origin.lines.push_back(std::move(line));
    for (debuginfo::MetadataAttr fact : debug.getMetadata())
      readFact(fact, origin);
  } else if (auto facts = dyn_cast<debuginfo::MetadataLocationAttr>(
                 LocationAttr(location))) {
    for (debuginfo::MetadataAttr fact : facts.getMetadata())
      readFact(fact, origin);
  } else if (auto place = dyn_cast<FileLineColRange>(LocationAttr(location))) {
    if (std::string line = lineOf(place); !line.empty())
      origin.lines.push_back(std::move(line));
  } else if (auto named = dyn_cast<NameLoc>(location)) {
    readLocation(named.getChildLoc(), origin);
  }
}

int64_t DataWriter::addModule(int64_t parent, StringRef label) {
  int64_t number = text(label);
  auto [entry, isNew] = moduleNumbers.try_emplace(
      {parent, number}, static_cast<int64_t>(modules.size()));
  if (isNew)
    modules.push_back({parent, number, ""});
  return entry->second;
}

static StringRef className(StringRef use) { return use.split('$').first; }

/// A node for each module on the way, lists of modules among them: those are
/// not called and thus in no call stack. A module that is called twice is one.
int64_t DataWriter::addPath(int64_t root, const Origin &origin) {
  SmallVector<int64_t> nodes = {root};
  // Without those whose child has a number for a name.
  SmallVector<int64_t> noLists = {root};
  StringRef path = origin.modulePath;
  for (size_t begin = 0; begin < path.size();) {
    size_t end = std::min(path.find('.', begin), path.size());
    if (llvm::all_of(path.slice(begin, end), llvm::isDigit) &&
        nodes.size() > 1 && noLists.back() == nodes.back())
      noLists.pop_back();
    nodes.push_back(addModule(nodes.back(), path.take_front(end)));
    noLists.push_back(nodes.back());
    begin = end + 1;
  }
  modules[nodes.back()].className = className(origin.modules.back()).str();
  // Where it is clear which of them were called, so are their classes.
  for (ArrayRef<int64_t> called : {ArrayRef(nodes), ArrayRef(noLists)})
    if (called.size() == origin.modules.size())
      for (auto [node, use] : llvm::zip_equal(called, origin.modules))
        modules[node].className = className(use).str();
  return nodes.back();
}

int64_t DataWriter::moduleOf(const Origin &origin) {
  if (origin.modules.empty())
    return -1;
  StringRef model = className(origin.modules.front());
  int64_t current = addModule(-1, model);
  modules[current].className = model.str();
  if (!origin.modulePath.empty())
    return addPath(current, origin);
  for (StringRef use : llvm::drop_begin(origin.modules)) {
    auto [name, number] = use.split('$');
    current = addModule(current, (name + " " + number).str());
    modules[current].className = name.str();
  }
  return current;
}

void DataWriter::describeOrigin(Operation &op, json::Object &out) {
  Origin origin;
  readLocation(op.getLoc(), origin);
  if (origin.id)
    out["id"] = *origin.id;
  if (!origin.nodes.empty())
    out["t"] = text(origin.nodes);
  if (int64_t module = moduleOf(origin); module >= 0)
    out["m"] = module;
  json::Array lines;
  for (const std::string &line : origin.lines)
    lines.push_back(text(line));
  if (!lines.empty())
    out["l"] = std::move(lines);
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

json::Object DataWriter::operation(Operation &op, int64_t parent) {
  json::Object out;
  out["n"] = text(op.getName().getStringRef());
  json::Array operands, results;
  for (Value operand : op.getOperands())
    operands.push_back(values.lookup(operand));
  // The number of the first result; the others follow.
  if (op.getNumResults())
    out["v"] = static_cast<int64_t>(values.size());
  for (OpResult result : op.getResults()) {
    values.try_emplace(result, static_cast<int64_t>(values.size()));
    results.push_back(text(result.getType()));
  }
  if (!operands.empty())
    out["o"] = std::move(operands);
  if (!results.empty())
    out["r"] = std::move(results);
  if (parent >= 0)
    out["p"] = parent;

  auto invoke = dyn_cast<coreai::InvokeOp>(op);
  if (SymbolRefAttr callee =
          invoke ? invoke.getCalleeSymbol() : SymbolRefAttr()) {
    if (Operation *called = symbols.lookup(callee.getLeafReference()))
      if (auto number = graphNumbers.find(called); number != graphNumbers.end())
        out["c"] = number->second;
  } else {
    json::Array attributes;
    for (NamedAttribute attribute : op.getAttrDictionary()) {
      attributes.push_back(text(attribute.getName()));
      attributes.push_back(text(shortAttribute(attribute.getValue())));
    }
    if (!attributes.empty())
      out["a"] = std::move(attributes);
  }
  if (op.getName().getStringRef() == "coreai.constant")
    describeConstant(op, out);
  describeOrigin(op, out);
  return out;
}

void DataWriter::operations(Block &block, int64_t parent, json::Array &out) {
  for (Operation &op : block) {
    int64_t number = numOperations++;
    size_t place = out.size();
    out.push_back(operation(op, parent));
    json::Array arguments;
    for (Region &region : op.getRegions())
      for (Block &inner : region) {
        for (BlockArgument argument : inner.getArguments()) {
          values.try_emplace(argument, static_cast<int64_t>(values.size()));
          // (region, value, type)
          arguments.push_back(json::Array{region.getRegionNumber(),
                                          values[argument],
                                          text(argument.getType())});
        }
        size_t first = out.size();
        operations(inner, number, out);
        for (size_t i = first; i < out.size(); ++i)
          if (json::Object *nested = out[i].getAsObject();
              nested->getInteger("p") == number)
            (*nested)["g"] = region.getRegionNumber();
      }
    if (!arguments.empty())
      (*out[place].getAsObject())["b"] = std::move(arguments);
  }
}

static StringRef nameIn(ArrayAttr attributes, size_t index) {
  if (!attributes || index >= attributes.size())
    return "";
  auto dictionary = dyn_cast<DictionaryAttr>(attributes[index]);
  auto name =
      dictionary ? dictionary.getAs<StringAttr>("coreai.name") : StringAttr();
  return name ? name.getValue() : StringRef();
}

/// [(name, type, whether it is state)]
json::Array DataWriter::ports(coreai::GraphOp graph, bool results) {
  ArrayAttr attributes =
      results ? graph.getResAttrsAttr() : graph.getArgAttrsAttr();
  FunctionType type = graph.getFunctionType();
  json::Array out;
  for (auto [i, port] :
       llvm::enumerate(results ? type.getResults() : type.getInputs())) {
    auto dictionary = attributes && i < attributes.size()
                          ? dyn_cast<DictionaryAttr>(attributes[i])
                          : DictionaryAttr();
    bool isState =
        isa<coreai::HandleType, coreai::TokenType>(port) ||
        (dictionary && dictionary.contains("MutableBuffers.buffer_mutation"));
    out.push_back(
        json::Array{text(nameIn(attributes, i)), text(port), isState});
  }
  return out;
}

json::Object DataWriter::graph(coreai::GraphOp graph) {
  values.clear();
  numOperations = 0;
  json::Object out;
  out["name"] = graph.getSymName().str();
  if (auto declaration = graph.getCompositeDeclAttr()) {
    out["composite"] = declaration.getName().str();
    if (declaration.getAttributes())
      out["declaration"] = shortened(debugString(declaration.getAttributes()));
  }
  out["private"] = graph.getPriv();
  out["inputs"] = ports(graph, /*results=*/false);
  out["outputs"] = ports(graph, /*results=*/true);
  json::Array ops;
  if (!graph.isDeclaration())
    for (Block &block : graph.getBodyRegion()) {
      for (BlockArgument argument : block.getArguments())
        values.try_emplace(argument, static_cast<int64_t>(values.size()));
      operations(block, -1, ops);
    }
  out["ops"] = std::move(ops);
  return out;
}

static json::Object numbersOf(const OperationValues &values) {
  json::Object out;
  for (auto [id, value] : values)
    // JSON has no other numbers than finite ones.
    out[std::to_string(id)] = std::isfinite(value) ? json::Value(value)
                              : std::isnan(value)
                                  ? json::Value(nullptr)
                                  : json::Value(value > 0 ? "inf" : "-inf");
  return out;
}

json::Value DataWriter::write(const ViewOptions &options) {
  for (auto graph : module.getOps<coreai::GraphOp>())
    graphNumbers.try_emplace(graph, static_cast<int64_t>(graphNumbers.size()));
  json::Array graphs;
  for (auto graphOp : module.getOps<coreai::GraphOp>())
    graphs.push_back(graph(graphOp));
  json::Object out;
  out["title"] = options.title;
  out["graphs"] = std::move(graphs);
  json::Array tree;
  for (const auto &[parent, label, className] : modules)
    tree.push_back(json::Array{parent, label, text(className)});
  out["modules"] = std::move(tree);
  out["texts"] = std::move(texts);
  if (options.errors)
    out["errors"] = numbersOf(*options.errors);
  if (options.times)
    out["times"] = numbersOf(*options.times);
  return out;
}

json::Value corten::viewData(ModuleOp module, const ViewOptions &options) {
  return DataWriter(module).write(options);
}
