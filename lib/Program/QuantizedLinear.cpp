// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/QuantizedLinear.h"

#include "corten/Program/Arguments.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace {
/// What a layer is made of.
struct Layer {
  const Node *scaled = nullptr;
  const Node *product = nullptr;
  const Node *transposed = nullptr;
  const Node *weight = nullptr;
  const Node *scale = nullptr;
};

class Recognizer {
public:
  explicit Recognizer(ProgramBuilder &builder) : builder(builder) {}
  void run();

private:
  void visit(Graph &graph);
  std::optional<Layer> match(const Node &node) const;
  void rewrite(Graph &graph, const Layer &layer);
  /// The operand of a call of `name`, if nothing else uses it.
  const Node *onlyOperand(const Node &call, StringRef parameter) const;

  ProgramBuilder &builder;
  llvm::DenseSet<const Node *> weights;
  llvm::DenseMap<const Node *, unsigned> uses;
  const Operator *dequantize = nullptr;
  const Operator *identity = nullptr;
};
} // namespace

static bool isCall(const Node *node, ArrayRef<StringRef> names) {
  return node && node->kind == Node::Kind::Call &&
         node->callee->nameSpace == "aten" &&
         llvm::is_contained(names, node->callee->name);
}

static const Node *operand(const Node &call, StringRef parameter) {
  const Argument *argument = call.findArgument(parameter);
  return argument && argument->isValue() ? argument->asNode() : nullptr;
}

const Node *Recognizer::onlyOperand(const Node &call,
                                    StringRef parameter) const {
  const Node *node = operand(call, parameter);
  return node && uses.lookup(node) == 1 ? node : nullptr;
}

/// Swaps the axes of a matrix.
static bool isTransposed(const Node *node) {
  if (isCall(node, {"t.default"}))
    return true;
  // Axes may be symbolic, as far as a schema goes.
  if (isCall(node, {"permute.default"})) {
    const Argument &dims = node->argument("dims");
    return dims.isList() && dims.asList().size() == 2 &&
           dims.asList()[0].isInt() && dims.asList()[0].asInt() != 0 &&
           dims.asList()[0].asInt() != -2;
  }
  if (!isCall(node, {"transpose.int"}) || node->info().sizes.size() != 2)
    return false;
  const Argument &first = node->argument("dim0");
  const Argument &second = node->argument("dim1");
  return first.isInt() && second.isInt() && first.asInt() != second.asInt();
}

std::optional<Layer> Recognizer::match(const Node &node) const {
  Layer layer;
  layer.scaled = &node;
  if (!isCall(&node, {"mul.Tensor"}))
    return std::nullopt;
  layer.product = onlyOperand(node, "self");
  if (!isCall(layer.product, {"mm.default"}))
    return std::nullopt;
  const Node *converted = onlyOperand(*layer.product, "mat2");
  if (!isCall(converted, {"_to_copy.default", "to.dtype"}))
    return std::nullopt;
  layer.transposed = onlyOperand(*converted, "self");
  if (!isTransposed(layer.transposed))
    return std::nullopt;
  layer.weight = operand(*layer.transposed, "self");
  if (!layer.weight || !weights.contains(layer.weight) ||
      layer.weight->info().sizes.size() != 2 ||
      layer.weight->info().dtype != ScalarType::Int8)
    return std::nullopt;

  // One scale for each row of the weight, which is a column of the product.
  const Node *factor = operand(node, "other");
  if (!factor || !isTensor(*factor) || factor->info().sizes.empty())
    return std::nullopt;
  Size rows = layer.weight->info().sizes.front();
  bool isRow = factor->info().sizes.back() == rows &&
               llvm::all_of(factor->info().sizes.drop_back(),
                            [](Size size) { return size == Size(1); });
  layer.scale = factor;
  while (isCall(layer.scale, {"view.default", "reshape.default",
                              "_unsafe_view.default", "squeeze.dim"}))
    layer.scale = operand(*layer.scale, "self");
  if (!isRow || !layer.scale || !weights.contains(layer.scale) ||
      layer.scale->info().dtype != node.info().dtype)
    return std::nullopt;
  return layer;
}

void Recognizer::rewrite(Graph &graph, const Layer &layer) {
  if (!dequantize) {
    SmallVector<Parameter> parameters;
    for (StringRef name : {"input", "scales", "zero_points", "axis",
                           "quant_min", "quant_max", "dtype", "out_dtype"})
      parameters.push_back({builder.save(name), false, {}});
    dequantize = builder.addOperator(
        "quantized_decomposed", "dequantize_per_channel.default", parameters);
    Parameter self{builder.save("self"), false, {}};
    identity = builder.addOperator("aten", "alias.default", self);
  }
  Node &numbers = builder.createNode(
      Node::Kind::Call, (layer.weight->name + "_dequantized").str());
  ScalarType type = layer.scaled->info().dtype;
  numbers.callee = dequantize;
  numbers.arguments = builder.save(ArrayRef<Argument>{
      Argument::node(layer.weight), Argument::node(layer.scale), Argument(),
      Argument::integer(0), Argument::integer(-128), Argument::integer(127),
      Argument::dtype(ScalarType::Int8), Argument::dtype(type)});
  ValueInfo info = layer.weight->info();
  info.dtype = type;
  numbers.results = builder.save(info);
  numbers.stackTrace = layer.scaled->stackTrace;
  numbers.module = layer.scaled->module;
  graph.nodes.insert(llvm::find(graph.nodes, layer.transposed), &numbers);

  Node &transposed = builder.edit(layer.transposed);
  SmallVector<Argument> arguments(transposed.arguments);
  arguments.front() = Argument::node(&numbers);
  transposed.arguments = builder.save(arguments);
  info = transposed.info();
  info.dtype = type;
  transposed.results = builder.save(info);

  Node &scaled = builder.edit(layer.scaled);
  scaled.callee = identity;
  scaled.arguments = builder.save(Argument::node(layer.product));
}

void Recognizer::visit(Graph &graph) {
  SmallVector<Layer> layers;
  for (const Node *node : graph.nodes)
    if (std::optional<Layer> layer = match(*node))
      layers.push_back(*layer);
  for (const Layer &layer : layers)
    rewrite(graph, layer);
}

void Recognizer::run() {
  for (const InputSpec &input : builder.inputs())
    if (input.node && input.weight >= 0)
      weights.insert(input.node);
  for (const ModuleCall &call : builder.building().moduleCalls)
    for (auto [node, weight] : call.weights)
      weights.insert(node);
  // What a program writes to is no weight.
  for (const OutputSpec &output : builder.outputs())
    weights.erase(output.mutated);
  auto count = [&](const Graph &graph) {
    // Assertions about a value are no use of it.
    llvm::DenseSet<const Node *> live = liveNodes(graph);
    auto use = [&](const Node *node) { ++uses[node]; };
    for (const Node *node : graph.nodes)
      if (live.contains(node))
        forEachOperand(node->arguments, use);
    forEachOperand(graph.outputs, use);
  };
  count(builder.mainGraph());
  llvm::for_each(builder.subgraphs(), count);
  visit(builder.mainGraph());
  for (Graph &graph : builder.subgraphs())
    visit(graph);
}

void corten::recognizeQuantizedLinear(ProgramBuilder &builder) {
  Recognizer(builder).run();
}
