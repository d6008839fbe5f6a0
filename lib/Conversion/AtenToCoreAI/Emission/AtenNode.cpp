// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emission/AtenNode.h"

#include "Emission/Emitter.h"

#include "corten/Program/Axis.h"

using namespace corten;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

/// In place of an argument that is not given.
static const Argument kNone;

const Argument &AtenNode::operator[](StringRef parameter) const {
  if (const Argument *found = node.findArgument(parameter))
    return *found;
  emit.missingArgument(node, parameter);
  return kNone;
}

const Argument &AtenNode::operator[](unsigned position) const {
  return position < node.arguments.size() ? node.arguments[position] : kNone;
}

int64_t AtenNode::integer(const Argument &argument) const {
  if (argument.isInt() || argument.kind() == Argument::Kind::Bool)
    return argument.asInt();
  emit.wrongArgument(node, argument, "an integer");
  return 1;
}

double AtenNode::number(const Argument &argument) const {
  if (argument.isNumber())
    return argument.asDouble();
  emit.wrongArgument(node, argument, "a number");
  return 1;
}

bool AtenNode::flag(const Argument &argument) const {
  if (argument.isInt() || argument.kind() == Argument::Kind::Bool)
    return argument.asInt() != 0;
  emit.wrongArgument(node, argument, "a bool");
  return false;
}

StringRef AtenNode::string(StringRef parameter) const {
  const Argument &argument = (*this)[parameter];
  if (argument.kind() == Argument::Kind::String)
    return argument.asString();
  emit.wrongArgument(node, argument, "a string");
  return "";
}

ScalarType AtenNode::dtype(StringRef parameter) const {
  const Argument &argument = (*this)[parameter];
  if (argument.kind() == Argument::Kind::DType)
    return argument.asDType();
  emit.wrongArgument(node, argument, "a dtype");
  return ScalarType::Float32;
}

ArrayRef<Argument> AtenNode::list(const Argument &argument) const {
  if (argument.isList())
    return argument.asList();
  emit.wrongArgument(node, argument, "a list");
  return {};
}

const Graph &AtenNode::graph(const Argument &argument) const {
  static const Graph empty;
  if (argument.kind() == Argument::Kind::Graph)
    return *argument.asGraph();
  emit.wrongArgument(node, argument, "a graph");
  return empty;
}

SmallVector<int64_t> AtenNode::integers(StringRef parameter) const {
  SmallVector<int64_t> result;
  if (has(parameter))
    for (const Argument &element : list(parameter))
      result.push_back(integer(element));
  return result;
}

const ValueInfo &AtenNode::info(const Argument &argument) const {
  static const ValueInfo unknown;
  if (argument.isValue() && !argument.asNode()->results.empty())
    return argument.asNode()->info();
  emit.wrongArgument(node, argument, "a tensor");
  return unknown;
}

int64_t AtenNode::axis(const Argument &argument, int64_t rank) const {
  if (!argument.isInt()) {
    emit.wrongArgument(node, argument, "an axis");
    return 0;
  }
  if (std::optional<size_t> axis = axisOf(argument.asInt(), rank))
    return static_cast<int64_t>(*axis);
  emit.wrongArgument(node, argument,
                     "an axis of a tensor of rank " + llvm::Twine(rank));
  return 0;
}

SmallVector<int64_t> AtenNode::axesOrAll(StringRef parameter,
                                         int64_t rank) const {
  SmallVector<int64_t> dims;
  if (has(parameter) && !(*this)[parameter].isList())
    dims.push_back(axis(parameter, rank));
  else
    dims = axes(parameter, rank);
  return Emitter::axesOrAll(dims, rank);
}

SmallVector<int64_t> AtenNode::axes(StringRef parameter, int64_t rank) const {
  SmallVector<int64_t> result;
  if (has(parameter))
    for (const Argument &element : list(parameter))
      result.push_back(axis(element, rank));
  return result;
}
