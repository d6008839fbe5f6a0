// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Finish.h"

#include "corten/Program/QuantizedLinear.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

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

/// An error about a result of a node, with the user's line where it is known.
static llvm::Error refuse(const Node &node, const Twine &what,
                          const Twine &remedy) {
  bool isCall = node.kind == Node::Kind::Call;
  std::string text =
      ((isCall ? "call '" : "'") + node.name + "': " + what).str();
  if (SourceLocation source = node.source(); source.isKnown())
    text += ("\n  at " + source.file + ":" + Twine(source.line)).str();
  return llvm::createStringError(text + "\nFix: " + remedy);
}

llvm::Error corten::checkExtents(const Node &node) {
  constexpr int64_t kMaxExtent = std::numeric_limits<int32_t>::max();
  constexpr int64_t kMaxElements = int64_t{1} << 48;
  for (const ValueInfo &info : node.results) {
    if (!info.isTensor())
      continue;
    int64_t count = 1;
    for (Size size : info.sizes) {
      if (size.isDynamic())
        continue;
      if (size.get() < 0)
        return refuse(node, "a size of " + Twine(size.get()),
                      "export the program anew: no tensor has such a shape.");
      if (size.get() > kMaxExtent)
        return refuse(node,
                      "a size of " + Twine(size.get()) +
                          ", and Core AI counts in 32 bits",
                      "split the tensor into parts whose extents are at most " +
                          Twine(kMaxExtent) + ".");
      if (size.get() != 0 &&
          (llvm::MulOverflow(count, size.get(), count) || count > kMaxElements))
        return refuse(node, "a tensor that is larger than any memory",
                      "export the program with smaller inputs.");
    }
  }
  return llvm::Error::success();
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
  for (const Node &node : program->nodes)
    if (llvm::Error error = checkExtents(node))
      return error;
  for (const ProgramPass &pass : finishingPasses())
    pass.run(*this);
  return std::move(program);
}
