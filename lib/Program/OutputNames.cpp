// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OutputNames.h"

#include "corten/Program/Outline.h"

#include "llvm/ADT/StringExtras.h"

using namespace corten;
using llvm::DenseMap;
using llvm::StringRef;
using llvm::Twine;

namespace {

class OutputNamer {
public:
  explicit OutputNamer(ProgramBuilder &builder)
      : builder(builder), program(builder.building()) {
    for (const ModuleCall &call : program.moduleCalls)
      calls[call.body] = &call;
  }

  /// `counts` has the names of the graph's inputs.
  void nameOutputs(const Graph &graph, StringRef path,
                   llvm::StringMap<unsigned> counts);

private:
  StringRef numbered(StringRef base, unsigned number);
  StringRef resultName(const Node &call, size_t position, StringRef path);
  unsigned numPicks(const Node &node) const;
  const ModuleCall &callOf(const Node &node) const {
    return *calls.at(node.arguments.front().asGraph());
  }

  ProgramBuilder &builder;
  const Program &program;
  DenseMap<const Graph *, const ModuleCall *> calls;
};

} // namespace

/// A node's name without the number that made it unique in the program.
static StringRef baseName(StringRef name) {
  StringRef base = name.rtrim("0123456789");
  bool isNumbered = base != name && base.size() > 1 && base.ends_with("_");
  return isNumbered ? base.drop_back() : name;
}

StringRef OutputNamer::numbered(StringRef base, unsigned number) {
  return number ? builder.save((base + "_" + Twine(number)).str()) : base;
}

/// What a result of a module goes by in the graph of the module at `path`.
StringRef OutputNamer::resultName(const Node &call, size_t position,
                                  StringRef path) {
  const ModuleCall &callee = callOf(call);
  StringRef inner = program.modules[callee.module].path;
  // The root is as if it were not there.
  if (inner.empty())
    return nameAsOutput(*callee.body->outputs[position].asNode());
  if (!path.empty() && inner.starts_with((path + ".").str()))
    inner = inner.drop_front(path.size() + 1);
  std::string name = inner.str();
  llvm::replace(name, '.', '_');
  if (callee.numResults != 1)
    name += "_" + std::to_string(position);
  return builder.save(StringRef(name));
}

/// How many `getitem`s the export made for a call, used or not.
unsigned OutputNamer::numPicks(const Node &node) const {
  if (!isModuleCall(node))
    return node.returnsTuple ? node.results.size() : 0;
  unsigned results = callOf(node).numResults;
  return results == 1 ? 0 : results;
}

void OutputNamer::nameOutputs(const Graph &graph, StringRef path,
                              llvm::StringMap<unsigned> counts) {
  DenseMap<const Node *, unsigned> firstPick;
  DenseMap<const Node *, StringRef> names;
  for (const Argument &output : graph.outputs)
    if (output.isValue())
      names[output.asNode()];
  for (const Node *node : graph.nodes) {
    if (node->kind != Node::Kind::Call)
      continue;
    if (unsigned picks = numPicks(*node)) {
      firstPick[node] = counts["getitem"];
      counts["getitem"] += picks;
    }
    auto name = names.find(node);
    if (isPick(*node)) {
      if (name == names.end())
        continue;
      const Node &tuple = *node->arguments[0].asNode();
      size_t position = node->arguments[1].asInt();
      bool isEscape =
          isModuleCall(tuple) && position >= callOf(tuple).numResults;
      if (!isEscape)
        builder.edit(*node).outputName =
            isModuleCall(tuple)
                ? resultName(tuple, position, path)
                : numbered("getitem", firstPick.lookup(&tuple) + position);
      continue;
    }
    StringRef base = baseName(node->name);
    unsigned number = counts[base]++;
    if (name != names.end())
      builder.edit(*node).outputName = numbered(base, number);
  }
}

void corten::nameOutputs(ProgramBuilder &builder) {
  OutputNamer namer(builder);
  const Program &program = builder.building();
  for (const ModuleCall &call : program.moduleCalls) {
    // The nodes that stand for them are called after what is passed.
    llvm::StringMap<unsigned> inputs;
    for (const auto &name : call.argumentNames)
      ++inputs[name];
    namer.nameOutputs(*call.body, program.modules[call.module].path,
                      std::move(inputs));
  }
  llvm::StringMap<unsigned> inputs;
  for (const Node *node : program.main.nodes)
    if (node->kind != Node::Kind::Call)
      ++inputs[node->name];
  namer.nameOutputs(program.main, "", std::move(inputs));
}
