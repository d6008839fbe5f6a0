// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exported programs as graphs.

#include "corten/GraphDiff/GraphDiff.h"
#include "corten/Program/Program.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <array>
#include <charconv>

using namespace corten;

using llvm::ArrayRef;
using llvm::StringRef;

namespace {

class ProgramGraphBuilder {
public:
  explicit ProgramGraphBuilder(const Program &program)
      : program(program), graph(std::make_shared<LabelledGraph>()),
        op(graph->text("op")), dataFlow(graph->text("data_flow")),
        type(graph->text("type")) {}

  std::shared_ptr<const LabelledGraph> build() {
    addGraph(program.main);
    return std::move(graph);
  }

private:
  using Attributes = llvm::SmallVector<LabelledGraph::Attribute, 8>;

  void addGraph(const Graph &body);
  void addAttribute(Attributes &attributes, StringRef name, StringRef value) {
    attributes.emplace_back(graph->text(name), graph->text(value));
  }
  std::string describe(const ValueInfo &info) const;
  /// The literals of an argument; values are appended to `operands` and leave a
  /// mark.
  std::string describe(const Argument &argument,
                       std::vector<const Node *> &operands);
  void addEdges(ArrayRef<const Node *> operands, unsigned node);

  const Program &program;
  std::shared_ptr<LabelledGraph> graph;
  LabelledGraph::Text op, dataFlow, type;
  llvm::DenseMap<const Node *, unsigned> nodes;
};

} // namespace

/// With as many digits as it takes to tell it from every other number.
static std::string printed(double number) {
  std::array<char, 32> digits;
  auto *end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  return {digits.begin(), end};
}

std::string ProgramGraphBuilder::describe(const ValueInfo &info) const {
  if (!info.isTensor())
    return info.kind == ValueInfo::Kind::None ? "none" : "number";
  std::string text = scalarTypeName(info.dtype).str() + "[";
  for (auto [i, size] : llvm::enumerate(info.sizes)) {
    text += i ? ", " : "";
    // The names of symbols differ from export to export, their order does not.
    text += size.isDynamic() ? "s" + std::to_string(size.symbol())
                             : std::to_string(size.get());
  }
  return text + "]";
}

std::string ProgramGraphBuilder::describe(const Argument &argument,
                                          std::vector<const Node *> &operands) {
  switch (argument.kind()) {
  case Argument::Kind::None:
    return "None";
  case Argument::Kind::Bool:
    return argument.asBool() ? "True" : "False";
  case Argument::Kind::Int:
    return std::to_string(argument.asInt());
  case Argument::Kind::Float:
    return printed(argument.asDouble());
  case Argument::Kind::Complex:
    return printed(argument.asComplex().real()) + "+" +
           printed(argument.asComplex().imag()) + "j";
  case Argument::Kind::String:
  case Argument::Kind::Opaque:
    return argument.asString().str();
  case Argument::Kind::DType:
    return scalarTypeName(argument.asDType()).str();
  case Argument::Kind::Value:
    operands.push_back(argument.asNode());
    return "%";
  case Argument::Kind::Graph:
    return "@graph";
  case Argument::Kind::List:
    break;
  }
  std::string text = "[";
  for (auto [i, element] : llvm::enumerate(argument.asList()))
    text += (i ? ", " : "") + describe(element, operands);
  return text + "]";
}

void ProgramGraphBuilder::addEdges(ArrayRef<const Node *> operands,
                                   unsigned node) {
  for (auto [i, operand] : llvm::enumerate(operands))
    if (auto found = nodes.find(operand); found != nodes.end())
      graph->addEdge(found->second, node, dataFlow, i);
}

void ProgramGraphBuilder::addGraph(const Graph &body) {
  for (const Node *node : body.nodes) {
    Attributes attributes;
    std::vector<const Node *> operands;
    std::string name;
    if (node->kind == Node::Kind::Call) {
      name = "call_function:" + node->callee->printedName();
      for (auto [i, argument] : llvm::enumerate(node->arguments)) {
        StringRef parameter = i < node->callee->parameters.size()
                                  ? node->callee->parameters[i].name
                                  : StringRef();
        std::string text = describe(argument, operands);
        addAttribute(attributes,
                     parameter.empty() ? std::to_string(i) : parameter.str(),
                     text);
      }
    } else {
      name = node->kind == Node::Kind::Placeholder ? "placeholder" : "get_attr";
    }
    std::string types;
    for (const ValueInfo &info : node->results)
      types += (types.empty() ? "" : ", ") + describe(info);
    attributes.emplace_back(type, graph->text(types));
    unsigned number = graph->addNode(op, graph->text(name), attributes);
    nodes[node] = number;
    addEdges(operands, number);
    // Branches and bodies of loops stand behind the call that has them.
    for (const Argument &argument : node->arguments)
      if (argument.kind() == Argument::Kind::Graph) {
        unsigned first = graph->nodes.size();
        addGraph(*argument.asGraph());
        for (unsigned inner = first; inner < graph->nodes.size(); ++inner)
          graph->addEdge(number, inner, graph->text("contains_op"), 0,
                         /*isContainment=*/true);
      }
  }
  std::vector<const Node *> operands;
  Attributes attributes;
  std::string literals;
  for (const Argument &output : body.outputs)
    literals += (literals.empty() ? "" : ", ") + describe(output, operands);
  addAttribute(attributes, "values", literals);
  addEdges(operands, graph->addNode(op, graph->text("output"), attributes));
}

std::shared_ptr<const LabelledGraph>
corten::programGraph(const Program &program) {
  return ProgramGraphBuilder(program).build();
}
