// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Signature.h"

#include "corten/Program/Finish.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace corten;
using llvm::StringRef;

/// What an input is by torch's name for it. A value that is burnt into the
/// graph is an input of the user's without a node.
static std::optional<InputSpec::Kind> inputKind(StringRef kind) {
  using Kind = InputSpec::Kind;
  return llvm::StringSwitch<std::optional<Kind>>(kind)
      .Cases({"user_input", "constant_input"}, Kind::UserInput)
      .Case("parameter", Kind::Parameter)
      .Case("buffer", Kind::Buffer)
      // In files, and in Python.
      .Cases({"tensor_constant", "constant_tensor"}, Kind::Constant)
      .Case("custom_obj", Kind::CustomObject)
      .Case("token", Kind::Token)
      .Default(std::nullopt);
}

llvm::Error SignatureBuilder::addInput(const RecordedInput &input) {
  std::optional<InputSpec::Kind> kind = inputKind(input.kind);
  if (!kind)
    return llvm::createStringError("an input of the unknown kind '" +
                                   input.kind + "'");
  InputSpec spec;
  spec.kind = *kind;
  spec.node = input.node;
  spec.target = builder.save(input.target);
  bool isOwned =
      *kind == InputSpec::Kind::Parameter || *kind == InputSpec::Kind::Buffer;
  if (isOwned)
    owned[spec.target] = spec.node;
  if (isOwned || *kind == InputSpec::Kind::Constant) {
    if (!spec.node)
      return llvm::createStringError("the graph has no input for '" +
                                     input.target + "'");
    bool isState = *kind == InputSpec::Kind::Parameter ||
                   (*kind == InputSpec::Kind::Buffer && input.isPersistent);
    llvm::Expected<AddedWeight> weight =
        weights.add(builder, spec.target, *spec.node, isState, input.tensor);
    if (!weight)
      return weight.takeError();
    spec.weight = weight->index;
    isSomeCopied |= weight->isCopy;
  }
  builder.addInput(spec);
  return llvm::Error::success();
}

/// The placeholder of an input of the user's; null if there is none.
const Node *SignatureBuilder::inputCalled(StringRef name) const {
  const auto *found =
      llvm::find_if(builder.inputs(), [&](const InputSpec &input) {
        return input.kind == InputSpec::Kind::UserInput && input.node &&
               input.node->name == name;
      });
  return found == builder.inputs().end() ? nullptr : found->node;
}

llvm::Error SignatureBuilder::addOutput(const RecordedOutput &output) {
  using Kind = OutputSpec::Kind;
  auto kind = llvm::StringSwitch<std::optional<Kind>>(output.kind)
                  .Cases({"user_output", "loss_output"}, Kind::UserOutput)
                  .Case("parameter_mutation", Kind::ParameterMutation)
                  .Case("buffer_mutation", Kind::BufferMutation)
                  .Case("user_input_mutation", Kind::UserInputMutation)
                  .Case("token", Kind::Token)
                  .Default(std::nullopt);
  if (!kind && output.kind.starts_with("gradient_"))
    return llvm::createStringError(
        "output " + llvm::Twine(builder.outputs().size()) +
        " is a gradient: only programs for inference can be converted.\n"
        "Fix: export the model alone, without its backward pass.");
  if (!kind)
    return llvm::createStringError("an output of the unknown kind '" +
                                   output.kind + "'");
  OutputSpec spec;
  spec.kind = *kind;
  // Plain values are burnt into the graph.
  if (output.value.isValue())
    spec.value = output.value;
  if (*kind == Kind::UserInputMutation)
    spec.mutated = inputCalled(output.target);
  else if (*kind == Kind::ParameterMutation || *kind == Kind::BufferMutation)
    spec.mutated = owned.lookup(output.target);
  bool isState = *kind != Kind::UserOutput && *kind != Kind::Token;
  if (isState &&
      (!spec.mutated || spec.mutated->kind != Node::Kind::Placeholder))
    return llvm::createStringError("'" + output.target + "' is no state");
  builder.addOutput(spec);
  return llvm::Error::success();
}

static llvm::Error checkObjects(const Program &program) {
  llvm::DenseMap<const Node *, StringRef> objects;
  for (const InputSpec &input : program.inputs)
    if (input.kind == InputSpec::Kind::CustomObject)
      objects[input.node] = input.target;
  for (const Node *node : program.main.nodes) {
    std::optional<StringRef> object;
    forEachOperand(node->arguments, [&](const Node *operand) {
      if (auto found = objects.find(operand); found != objects.end())
        object = found->second;
    });
    if (object)
      return llvm::createStringError(
          "call '" + node->name + "': " + node->callee->printedName() +
          " uses '" + *object +
          "', an object of a class of its own, which has no form in an asset");
  }
  return llvm::Error::success();
}

llvm::Error SignatureBuilder::finish(Purpose purpose) {
  if (llvm::Error error = weights.check())
    return error;
  if (llvm::Error error = checkSignature(builder.building()))
    return error;
  if (purpose == Purpose::Looking)
    return llvm::Error::success();
  return checkObjects(builder.building());
}
