// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that the user lowers. The user's functions build with coreai-core's
// own MLIR, so they run after the module has been handed over. Here each call
// gets a stand-in of the types that torch recorded, and the values that a
// function may ask for by name are noted.

#include "Walk/ProgramEmitter.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

StringRef ProgramEmitter::userLowering(const Operator &op) {
  if (options.userLowerings.empty())
    return {};
  auto [known, isNew] = userLoweringOf.try_emplace(&op);
  if (!isNew)
    return known->second;
  StringRef nameSpace = op.nameSpace == "_operator" ? "None" : op.nameSpace;
  SmallVector<StringRef, 2> names = {op.name};
  if (StringRef base = op.name; base.consume_back(".default"))
    names.push_back(base);
  for (StringRef name : names) {
    auto found = options.userLowerings.find((nameSpace + "::" + name).str());
    if (found == options.userLowerings.end())
      continue;
    known->second = found->getKey();
    break;
  }
  return known->second;
}

void ProgramEmitter::beginScope(const Graph &graph) {
  scope.reset();
  if (llvm::none_of(graph.nodes, [&](const Node *node) {
        return node->callee && !userLowering(*node->callee).empty();
      }))
    return;
  scope = result.scopes.size();
  result.scopes.emplace_back();
  for (const Node *node : graph.nodes)
    if (node->kind == Node::Kind::Placeholder)
      noteValues(*node);
}

void ProgramEmitter::noteValues(const Node &node) {
  if (!scope)
    return;
  for (auto [i, value] : llvm::enumerate(results(node)))
    if (value)
      result.scopes[*scope].push_back({&node, static_cast<unsigned>(i), value});
}

static void appendOperands(Emitter &emit, ArrayRef<Argument> arguments,
                           SmallVectorImpl<Value> &operands) {
  for (const Argument &argument : arguments) {
    if (argument.isList())
      appendOperands(emit, argument.asList(), operands);
    else if (argument.isValue())
      llvm::copy_if(emit.results(*argument.asNode()),
                    std::back_inserter(operands),
                    [](Value value) { return value != nullptr; });
  }
}

LogicalResult ProgramEmitter::emitUserCall(const Node &node,
                                           StringRef lowering) {
  SmallVector<Type> types;
  for (auto [i, info] : llvm::enumerate(node.results)) {
    if (info.kind == ValueInfo::Kind::None)
      continue;
    if (info.kind == ValueInfo::Kind::Other)
      return error(node) << "result " << i << " of '" << node.name
                         << "' is neither a tensor nor a number";
    types.push_back(typeOf(info));
  }
  if (types.empty())
    return error(node) << "'" << node.name << "' has no result";

  SmallVector<Value> operands;
  appendOperands(*this, node.arguments, operands);
  auto standIn =
      UnrealizedConversionCastOp::create(builder, location, types, operands);
  auto next = standIn->result_begin();
  Results lowered;
  for (const ValueInfo &info : node.results)
    lowered.push_back(info.kind == ValueInfo::Kind::None ? Value() : *next++);
  setResults(node, std::move(lowered));
  result.userCalls.push_back({entryName, &node, lowering.str(), standIn, *scope,
                              result.scopes[*scope].size()});
  return success();
}
