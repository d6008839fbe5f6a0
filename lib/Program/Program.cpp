// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Program.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using llvm::ArrayRef;
using llvm::StringRef;

std::string Operator::printedName() const {
  return (nameSpace + "." + name).str();
}

const Argument *Node::findArgument(StringRef name) const {
  // Schemas have a handful of parameters: a scan beats a map.
  for (auto [parameter, argument] : llvm::zip(callee->parameters, arguments))
    if (parameter.name == name)
      return &argument;
  return nullptr;
}

const Argument &Node::argument(StringRef name) const {
  const Argument *found = findArgument(name);
  assert(found && "the operator's schema has no such parameter");
  return *found;
}

/// Frames look like `File "path", line 12, in forward`, one per line, each
/// followed by the source text; the innermost comes last.
static constexpr StringRef kFile = "File \"";

/// Parses a frame from behind its opening quote.
static SourceLocation parseFrame(StringRef rest) {
  SourceLocation location;
  location.file = rest.take_until([](char c) { return c == '"'; });
  rest = rest.drop_front(location.file.size());
  if (!rest.consume_front("\", line ") ||
      rest.consumeInteger(10, location.line))
    return {};
  if (rest.consume_front(", in "))
    location.function = rest.take_until([](char c) { return c == '\n'; });
  return location;
}

/// The file of code that torch wrote itself, while it captured a branch.
static constexpr StringRef kGenerated = "<eval_with_key>";

SourceLocation Node::source() const {
  llvm::SmallVector<SourceLocation> frames = sourceFrames();
  return frames.empty() ? SourceLocation() : frames.back();
}

llvm::SmallVector<SourceLocation> Node::sourceFrames() const {
  llvm::SmallVector<SourceLocation> frames;
  StringRef rest = stackTrace;
  for (size_t begin = rest.find(kFile); begin != StringRef::npos;
       begin = rest.find(kFile)) {
    rest = rest.drop_front(begin + kFile.size());
    // A line of source text may look like a frame's beginning.
    SourceLocation frame = parseFrame(rest);
    if (frame.isKnown() && !frame.file.starts_with(kGenerated) &&
        frame.file != kBoundaryFile)
      frames.push_back(frame);
  }
  return frames;
}

void corten::forEachOperand(ArrayRef<Argument> arguments,
                            llvm::function_ref<void(const Node *)> visit) {
  for (const Argument &argument : arguments) {
    if (argument.isValue())
      visit(argument.asNode());
    else if (argument.isList())
      forEachOperand(argument.asList(), visit);
  }
}

llvm::DenseSet<const Node *> corten::liveNodes(const Graph &graph) {
  llvm::DenseSet<const Node *> live;
  auto mark = [&](const Node *node) { live.insert(node); };
  forEachOperand(graph.outputs, mark);
  for (const Node *node : llvm::reverse(graph.nodes))
    if (live.contains(node))
      forEachOperand(node->arguments, mark);
  return live;
}

StringRef corten::userName(ArrayRef<InputSpec> inputs,
                           const Node &placeholder) {
  const InputSpec *input =
      llvm::find_if(inputs, [&](const InputSpec &candidate) {
        return candidate.node == &placeholder;
      });
  bool isNamed = input != inputs.end() && !input->target.empty();
  return isNamed ? input->target : placeholder.name;
}

StringRef ModuleFrame::shortClassName() const {
  return className.drop_front(className.rfind('.') + 1);
}

int64_t TensorView::numElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

template <typename T>
static ArrayRef<T> copyInto(llvm::BumpPtrAllocator &arena, ArrayRef<T> values) {
  T *memory = arena.Allocate<T>(values.size());
  llvm::uninitialized_copy(values, memory);
  return {memory, values.size()};
}

StringRef ProgramBuilder::save(StringRef text) {
  return program->saver.save(text);
}
ArrayRef<Argument> ProgramBuilder::save(ArrayRef<Argument> arguments) {
  return copyInto(program->arena, arguments);
}
ArrayRef<Size> ProgramBuilder::save(ArrayRef<Size> sizes) {
  return copyInto(program->arena, sizes);
}
ArrayRef<ValueInfo> ProgramBuilder::save(ArrayRef<ValueInfo> infos) {
  return copyInto(program->arena, infos);
}
const std::complex<double> *ProgramBuilder::save(std::complex<double> value) {
  return copyInto(program->arena, ArrayRef<std::complex<double>>(value)).data();
}

unsigned ProgramBuilder::symbol(StringRef expression) {
  auto [entry, isNew] =
      symbolIds.try_emplace(expression, program->symbols.size());
  if (isNew)
    program->symbols.push_back({save(expression), std::nullopt, std::nullopt});
  return entry->second;
}

void ProgramBuilder::setRange(unsigned symbol, std::optional<int64_t> min,
                              std::optional<int64_t> max) {
  program->symbols[symbol].min = min;
  program->symbols[symbol].max = max;
}

const Operator *ProgramBuilder::addOperator(StringRef nameSpace, StringRef name,
                                            ArrayRef<Parameter> parameters,
                                            bool mutates, bool returnsView) {
  program->operators.push_back({save(nameSpace), save(name),
                                copyInto(program->arena, parameters), mutates,
                                returnsView});
  return &program->operators.back();
}

const ModuleFrame *ProgramBuilder::addModule(const ModuleFrame *caller,
                                             StringRef instance, StringRef path,
                                             StringRef className) {
  // What torch writes where it knows of no module.
  if (instance.starts_with("_empty_"))
    return caller;
  auto known = modulesByInstance.find({caller, instance});
  if (known == modulesByInstance.end())
    known = modulesByInstance.insert({{caller, save(instance)}, {}}).first;
  for (const ModuleFrame *frame : known->second)
    if (frame->path == path && frame->className == className)
      return frame;
  program->moduleFrames.push_back(
      {caller, known->first.second, save(path), save(className)});
  known->second.push_back(&program->moduleFrames.back());
  return known->second.back();
}

Node &ProgramBuilder::createNode(Node::Kind kind, StringRef name) {
  Node &node = program->nodes.emplace_back();
  node.kind = kind;
  node.name = save(name);
  node.index = program->nodes.size() - 1;
  return node;
}

Node &ProgramBuilder::addNode(Graph &graph, Node::Kind kind, StringRef name) {
  Node &node = createNode(kind, name);
  graph.nodes.push_back(&node);
  return node;
}

Graph &ProgramBuilder::addSubgraph(StringRef name) {
  Graph &graph = program->subgraphs.emplace_back();
  graph.name = save(name);
  return graph;
}

Graph &ProgramBuilder::edit(const Graph *graph) {
  if (graph == &program->main)
    return program->main;
  return *llvm::find_if(program->subgraphs, [&](const Graph &candidate) {
    return &candidate == graph;
  });
}

int ProgramBuilder::addWeight(ScalarType dtype, ArrayRef<int64_t> shape,
                              const void *data, size_t bytes,
                              std::shared_ptr<const void> owner) {
  // Empty tensors all share the null address; there is nothing to tie.
  llvm::SmallVector<int, 1> *known = nullptr;
  if (bytes != 0) {
    known = &weightsByAddress[data];
    for (int index : *known) {
      const TensorView &weight = program->weights[index];
      if (weight.dtype == dtype && weight.shape == shape)
        return index;
    }
  }
  int index = static_cast<int>(program->weights.size());
  program->weights.push_back(
      {dtype, copyInto(program->arena, shape), data, bytes, std::move(owner)});
  if (known)
    known->push_back(index);
  return index;
}

void ProgramBuilder::addInput(InputSpec spec) {
  program->inputs.push_back(spec);
}

void ProgramBuilder::addOutput(OutputSpec spec) {
  program->outputs.push_back(spec);
}
