// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules as graphs.

#include "Symbols.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/GraphDiff/GraphDiff.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Support/DebugStringHelper.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace corten;
using namespace mlir;

llvm::StringRef corten::withoutRandomSuffix(llvm::StringRef symbol) {
  constexpr size_t kLetters = 8;
  if (symbol.size() <= kLetters + 1)
    return symbol;
  llvm::StringRef suffix = symbol.take_back(kLetters);
  bool isRandom =
      symbol[symbol.size() - kLetters - 1] == '_' &&
      llvm::all_of(suffix, [](char c) { return c >= 'a' && c <= 'z'; });
  return isRandom ? symbol.drop_back(kLetters + 1) : symbol;
}

namespace {

class ModuleGraphBuilder {
public:
  explicit ModuleGraphBuilder(WeightPolicy weights)
      : weights(weights), graph(std::make_shared<LabelledGraph>()),
        op(graph->text("op")), value(graph->text("value")),
        region(graph->text("region")), block(graph->text("block")),
        index(graph->text("index")), irType(graph->text("ir_type")),
        resultTypes(graph->text("result types")),
        opResult(graph->text("op_result")),
        blockArgument(graph->text("block_arg")),
        containsRegion(graph->text("contains_region")),
        containsBlock(graph->text("contains_block")),
        containsOp(graph->text("contains_op")), defines(graph->text("defines")),
        operand(graph->text("operand")), unnamed(graph->text("")) {}

  std::shared_ptr<const LabelledGraph> build(Operation *root) {
    addOperation(root);
    // Operands may be defined further down.
    for (auto [user, node] : users)
      for (OpOperand &use : user->getOpOperands())
        if (auto found = values.find(use.get()); found != values.end())
          graph->addEdge(found->second, node, operand, use.getOperandNumber());
    return std::move(graph);
  }

private:
  using Text = LabelledGraph::Text;

  unsigned addOperation(Operation *operation);
  void addRegion(Region &body, unsigned parent);
  void addValue(Value defined, unsigned parent, Text name, Text kind,
                unsigned number);

  Text textOf(Attribute attribute);
  Text textOf(Type type);
  std::string describe(Attribute attribute);
  std::string describeWeight(Type type, ArrayRef<char> data);

  WeightPolicy weights;
  std::shared_ptr<LabelledGraph> graph;
  Text op, value, region, block, index, irType, resultTypes, opResult,
      blockArgument, containsRegion, containsBlock, containsOp, defines,
      operand, unnamed;
  llvm::DenseMap<Attribute, Text> attributeTexts;
  llvm::DenseMap<Type, Text> typeTexts;
  llvm::DenseMap<Value, unsigned> values;
  std::vector<std::pair<Operation *, unsigned>> users;
};

} // namespace

/// What only says how a graph or its arguments are called, or how they are
/// stored.
static bool isDisplayName(StringRef name) {
  return name == "sym_name" || name == "coreai.name" || name == "name" ||
         name == "sym_visibility";
}

LabelledGraph::Text ModuleGraphBuilder::textOf(Type type) {
  auto [entry, isNew] = typeTexts.try_emplace(type);
  if (isNew)
    entry->second = graph->text(debugString(type));
  return entry->second;
}

LabelledGraph::Text ModuleGraphBuilder::textOf(Attribute attribute) {
  if (auto known = attributeTexts.find(attribute);
      known != attributeTexts.end())
    return known->second;
  Text text = graph->text(describe(attribute));
  attributeTexts[attribute] = text;
  return text;
}

/// A splat is described by one element, whichever way it is stored.
std::string ModuleGraphBuilder::describeWeight(Type type, ArrayRef<char> data) {
  std::string text = "weight " + debugString(type);
  if (weights == WeightPolicy::Ignore)
    return text;
  auto shaped = dyn_cast<ShapedType>(type);
  int64_t count =
      shaped && shaped.hasStaticShape() ? shaped.getNumElements() : 0;
  size_t element = count && data.size() % count == 0 ? data.size() / count : 0;
  if (element &&
      std::equal(data.begin(), data.end() - element, data.begin() + element))
    data = data.take_front(element);
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(data.data()), data.size()));
  return text + " #" + llvm::utohexstr(hash.high64, /*LowerCase=*/true) +
         llvm::utohexstr(hash.low64, /*LowerCase=*/true, /*Width=*/16);
}

std::string ModuleGraphBuilder::describe(Attribute attribute) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return describeWeight(resource.getType(),
                          blob ? blob->getData() : ArrayRef<char>());
  }
  if (auto resource = dyn_cast<coreai::TypedResourceAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return describeWeight(resource.getType(),
                          blob ? blob->getData() : ArrayRef<char>());
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute);
      dense && dense.getType().getRank() > 0 &&
      isa<FloatType, ComplexType>(dense.getElementType()))
    return describeWeight(dense.getType(), dense.getRawData());
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    std::string text = "{";
    for (NamedAttribute entry : dictionary)
      if (!isDisplayName(entry.getName()))
        text += (text.size() > 1 ? ", " : "") + entry.getName().str() + " = " +
                describe(entry.getValue());
    return text + "}";
  }
  if (auto array = dyn_cast<ArrayAttr>(attribute)) {
    std::string text = "[";
    for (Attribute element : array)
      text += (text.size() > 1 ? ", " : "") + describe(element);
    return text + "]";
  }
  return debugString(attribute);
}

void ModuleGraphBuilder::addValue(Value defined, unsigned parent, Text name,
                                  Text kind, unsigned number) {
  LabelledGraph::Attribute type(irType, textOf(defined.getType()));
  unsigned node = graph->addNode(value, name, type);
  values[defined] = node;
  graph->addEdge(parent, node, kind, number);
}

unsigned ModuleGraphBuilder::addOperation(Operation *operation) {
  SmallVector<LabelledGraph::Attribute, 8> attributes;
  if (auto invoke = dyn_cast<coreai::InvokeOp>(operation)) {
    // Which graph is called is compared by what it is, in a diff of its own.
    if (SymbolRefAttr callee = invoke.getCalleeSymbol())
      attributes.emplace_back(
          graph->text("callee"),
          graph->text(
              "@" +
              withoutRandomSuffix(callee.getLeafReference().getValue()).str()));
  } else {
    for (NamedAttribute attribute : operation->getAttrDictionary())
      if (!isDisplayName(attribute.getName()))
        attributes.emplace_back(graph->text(attribute.getName()),
                                textOf(attribute.getValue()));
  }
  std::string types;
  for (Type type : operation->getResultTypes())
    types += (types.empty() ? "" : ", ") + graph->str(textOf(type)).str();
  if (!types.empty())
    attributes.emplace_back(resultTypes, graph->text(types));

  unsigned node = graph->addNode(
      op, graph->text(operation->getName().getStringRef()), attributes);
  users.emplace_back(operation, node);
  for (OpResult result : operation->getResults())
    addValue(result, node, opResult, defines, result.getResultNumber());
  for (Region &body : operation->getRegions())
    addRegion(body, node);
  return node;
}

void ModuleGraphBuilder::addRegion(Region &body, unsigned parent) {
  unsigned regionNumber = body.getRegionNumber();
  unsigned regionNode =
      graph->addNode(region, unnamed,
                     LabelledGraph::Attribute(
                         index, graph->text(std::to_string(regionNumber))));
  graph->addEdge(parent, regionNode, containsRegion, regionNumber,
                 /*isContainment=*/true);
  for (auto [blockNumber, content] : llvm::enumerate(body)) {
    unsigned blockNode =
        graph->addNode(block, unnamed,
                       LabelledGraph::Attribute(
                           index, graph->text(std::to_string(blockNumber))));
    graph->addEdge(regionNode, blockNode, containsBlock, blockNumber,
                   /*isContainment=*/true);
    for (BlockArgument argument : content.getArguments())
      addValue(argument, blockNode, blockArgument, blockArgument,
               argument.getArgNumber());
    for (Operation &operation : content)
      graph->addEdge(blockNode, addOperation(&operation), containsOp, 0,
                     /*isContainment=*/true);
  }
}

std::shared_ptr<const LabelledGraph> corten::moduleGraph(Operation *root,
                                                         WeightPolicy weights) {
  return ModuleGraphBuilder(weights).build(root);
}
