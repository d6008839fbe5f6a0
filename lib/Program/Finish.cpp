// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Finish.h"

#include "corten/Program/QuantizedLinear.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static llvm::Error checkInputs(const Program &program) {
  llvm::DenseSet<const Node *> described;
  size_t numConstants = 0;
  for (const InputSpec &input : program.inputs) {
    if (!input.node)
      continue;
    // Constants may be attributes of the graph.
    bool isAttribute = input.node->kind == Node::Kind::Attribute;
    numConstants += isAttribute;
    if ((input.node->kind != Node::Kind::Placeholder && !isAttribute) ||
        !described.insert(input.node).second)
      return llvm::createStringError("'" + input.node->name +
                                     "' is no input, or one that stands twice");
  }
  size_t numInputs = llvm::count_if(program.main.nodes, [](const Node *node) {
    return node->kind == Node::Kind::Placeholder;
  });
  size_t numSpecs = program.inputs.size() - numConstants;
  if (numSpecs != numInputs)
    return llvm::createStringError("the graph has " + Twine(numInputs) +
                                   " inputs, its signature " + Twine(numSpecs));
  return llvm::Error::success();
}

/// Where a kind of output stands among the others.
static int rankOf(const OutputSpec &output) {
  switch (output.kind) {
  case OutputSpec::Kind::ParameterMutation:
    return 0;
  case OutputSpec::Kind::BufferMutation:
    return 1;
  case OutputSpec::Kind::UserInputMutation:
    return 2;
  default:
    return 3;
  }
}

static bool isState(const OutputSpec &output) { return rankOf(output) < 3; }

static llvm::Error checkOutputs(const Program &program) {
  auto outputs =
      llvm::make_filter_range(program.outputs, [](const OutputSpec &output) {
        return output.kind != OutputSpec::Kind::Token;
      });
  llvm::DenseSet<const Node *> tokens;
  for (const OutputSpec &output : program.outputs)
    if (output.kind == OutputSpec::Kind::Token && output.value.isValue())
      tokens.insert(output.value.asNode());
  llvm::DenseSet<const Node *> mutated;
  int last = 0;
  for (const OutputSpec &output : outputs) {
    if (isState(output) && !output.mutated)
      return llvm::createStringError("an output is the new value of nothing");
    if (rankOf(output) < last)
      return llvm::createStringError(
          "the new value of '" + userName(program.inputs, *output.mutated) +
          "' stands too late: those of state come before returned values, "
          "parameters and buffers first, then inputs");
    last = rankOf(output);
    if (output.mutated && !mutated.insert(output.mutated).second)
      return llvm::createStringError("'" +
                                     userName(program.inputs, *output.mutated) +
                                     "' has two new values");
  }
  // A graph may still return the tokens that order effects.
  std::vector<Argument> returned = program.main.outputs;
  llvm::erase_if(returned, [&](const Argument &value) {
    return value.isValue() && tokens.contains(value.asNode());
  });
  if (returned.size() != size_t(llvm::range_size(outputs)))
    return llvm::createStringError("the graph has " + Twine(returned.size()) +
                                   " outputs, its signature " +
                                   Twine(llvm::range_size(outputs)));
  for (auto [output, value] : llvm::zip_equal(outputs, returned))
    if (output.value.isValue() != value.isValue() ||
        (value.isValue() && output.value.asNode() != value.asNode()))
      return llvm::createStringError(
          "the graph returns another value than its signature says");
  return llvm::Error::success();
}

llvm::Error corten::checkSignature(const Program &program) {
  if (llvm::Error error = checkInputs(program))
    return error;
  return checkOutputs(program);
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

static void markMutatedInputs(ProgramBuilder &builder) {
  Program &program = builder.building();
  for (const OutputSpec &output : program.outputs)
    for (InputSpec &input : program.inputs)
      if (output.mutated && output.mutated == input.node)
        input.isMutated = true;
}

llvm::ArrayRef<ProgramPass> corten::finishingPasses() {
  static constexpr ProgramPass kPasses[] = {
      {"recognize-quantized-linear", recognizeQuantizedLinear},
      {"mark-mutated-inputs", markMutatedInputs},
  };
  return kPasses;
}

llvm::Expected<std::unique_ptr<Program>> ProgramBuilder::finish() {
  if (llvm::Error error = checkSignature(*program))
    return error;
  for (const ProgramPass &pass : finishingPasses())
    pass.run(*this);
  return std::move(program);
}
