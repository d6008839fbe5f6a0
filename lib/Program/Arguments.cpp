// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Arguments.h"

#include "corten/Program/Axis.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace corten;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// What the parameters of others mean is not known, and the lowerings of those
/// of `coreai` look themselves.
static bool hasKnownParameters(const Operator &op) {
  return llvm::is_contained(
      {"aten", "quantized_decomposed", "torchao", "transformers"},
      op.nameSpace);
}

bool corten::isAxisParameter(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"axis", "axis0", "axis1", "ch_axis"}, true)
      .Cases({"dim", "dim0", "dim1", "dim2", "dimension", "dims"}, true)
      .Cases({"start_dim", "end_dim", "source", "destination"}, true)
      .Default(false);
}

/// Whether axes are those of the result, which has one more than the operand.
static bool makesAxis(StringRef name) {
  return name.starts_with("unsqueeze") || name.starts_with("diag_embed");
}

/// The tensor that the operator is about, if there is one.
static const Node *operandOf(const Operator &op, ArrayRef<Argument> arguments) {
  for (auto [parameter, argument] : llvm::zip(op.parameters, arguments))
    if (parameter.name == "self" || parameter.name == "input")
      return isTensor(argument) ? argument.asNode() : nullptr;
  return nullptr;
}

/// The name of an argument that is no axis of the operand, though it has to be.
static std::optional<StringRef> findWrongAxis(const Operator &op,
                                              ArrayRef<Argument> arguments) {
  // What tile calls dims says how often, not along what.
  if (!hasKnownParameters(op) || op.name == "tile.default")
    return std::nullopt;
  const Node *operand = nullptr;
  for (auto [parameter, argument] : llvm::zip(op.parameters, arguments)) {
    if (!isAxisParameter(parameter.name))
      continue;
    if (!operand && !(operand = operandOf(op, arguments)))
      return std::nullopt;
    size_t rank = operand->info().sizes.size() + (makesAxis(op.name) ? 1 : 0);
    auto isAxis = [&](const Argument &axis) {
      return !axis.isInt() || axisOf(axis.asInt(), rank);
    };
    if (argument.isList() ? !llvm::all_of(argument.asList(), isAxis)
                          : !isAxis(argument))
      return parameter.name;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The argument as the parameter takes it.
static Argument widen(ProgramBuilder &builder, const ParameterType &type,
                      Argument argument) {
  if (type.base == ParameterType::Base::Int &&
      argument.kind() == Argument::Kind::Bool)
    argument = Argument::integer(argument.asInt());
  // A value may be a list.
  if (!type.isList || argument.isList() || argument.isNone() ||
      argument.isValue())
    return argument;
  SmallVector<Argument> repeated(std::max(type.length, 1U), argument);
  return Argument::list(builder.save(repeated));
}

llvm::Error corten::setArguments(ProgramBuilder &builder, Node &call,
                                 const OperatorSchema *schema,
                                 ArrayRef<GivenArgument> given) {
  SmallVector<Argument> arguments;
  if (!schema) {
    for (const GivenArgument &argument : given)
      arguments.push_back(argument.value);
    call.arguments = builder.save(arguments);
    return llvm::Error::success();
  }

  const Operator &op = *call.callee;
  ArrayRef<Parameter> parameters = op.parameters;
  auto refuse = [&](const Twine &what) {
    return llvm::createStringError("call '" + call.name + "': " + what);
  };
  auto describe = [&](const Parameter &parameter) {
    return ("the argument '" + parameter.name + "' of " + op.printedName())
        .str();
  };
  SmallVector<bool> isGiven(parameters.size(), false);
  for (const Parameter &parameter : parameters)
    arguments.push_back(parameter.defaultValue);
  for (auto [position, argument] : llvm::enumerate(given)) {
    size_t index = position;
    if (!argument.name.empty())
      index = llvm::find_if(parameters,
                            [&](const Parameter &candidate) {
                              return candidate.name == argument.name;
                            }) -
              parameters.begin();
    if (index >= parameters.size())
      return refuse(op.printedName() + " has no parameter '" + argument.name +
                    "'");
    const ParameterType &type = schema->types[index];
    if (!type.accepts(argument.value))
      return refuse(describe(parameters[index]) + " is of the wrong type");
    arguments[index] = widen(builder, type, argument.value);
    isGiven[index] = true;
  }
  for (auto [parameter, known] : llvm::zip_equal(parameters, isGiven))
    if (!known && !parameter.hasDefault)
      return refuse(describe(parameter) + " is missing");
  if (std::optional<StringRef> axis = findWrongAxis(op, arguments))
    return refuse("'" + *axis + "' of " + op.printedName() +
                  " is no axis of '" + operandOf(op, arguments)->name + "'");
  call.arguments = builder.save(arguments);
  return llvm::Error::success();
}
