// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lowerings/Control/MetalKernel.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/CoreAIX/IR/CoreAIXDialect.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

/// What Metal calls an element type; empty if the op does not take it. Its
/// kernels have no 64-bit and no 8-bit float operands.
static StringRef metalType(Type element) {
  if (element.isF32())
    return "float";
  if (element.isF16())
    return "half";
  if (element.isBF16())
    return "bfloat";
  if (element.isInteger(1))
    return "bool";
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || integer.isSignless())
    return "";
  switch (integer.getWidth()) {
  case 8:
    return integer.isSigned() ? "int8_t" : "uint8_t";
  case 16:
    return integer.isSigned() ? "int16_t" : "uint16_t";
  case 32:
    return integer.isSigned() ? "int" : "uint";
  default:
    return "";
  }
}

/// The type in a buffer without padding. A bool there is a byte: the op does
/// not take i1.
static RankedTensorType bufferType(Emitter &emit, RankedTensorType type) {
  SmallVector<int64_t> alignments(type.getRank() + 1, 1);
  SmallVector<int64_t> interleave(type.getRank(), 1);
  Type element = type.getElementType();
  if (element.isInteger(1))
    element = emit.builder.getIntegerType(8, /*isSigned=*/false);
  return RankedTensorType::get(
      type.getShape(), element,
      coreaix::HWConstraintsAttr::get(type.getContext(),
                                      coreaix::Backing::MTLBuffer, alignments,
                                      interleave));
}

/// In messages types stand without the quotes of diagnostics.
static std::string printed(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// A number of the call as the value and the literal that stand for it.
///
///   int   : tensor<si32>, float : tensor<f32>, bool : tensor<ui8>
///
/// The runtime binds an operand of rank 0 as a handle that a kernel cannot
/// read, so a number that is known also stands in the source, and one that is
/// not (a size) crosses as a vector of one element.
static FailureOr<Value> numberOperand(const metal::Kernel::Input &input,
                                      const Argument &argument,
                                      const AtenNode &node, Emitter &emit,
                                      metal::Operand &operand) {
  auto refuse = [&](llvm::Error error) -> FailureOr<Value> {
    return emit.error(node) << llvm::toString(std::move(error));
  };
  if (argument.isValue()) {
    operand.isElement = true;
    operand.rank = 1;
    Value value = emit.value(argument);
    switch (input.kind) {
    case metal::InputKind::Float:
      operand.type = "float";
      return emit.cast(value, emit.f32());
    case metal::InputKind::Bool:
      operand.type = "bool";
      return emit.cast(value, emit.i1());
    default:
      operand.type = "int";
      return emit.cast(value, emit.si32());
    }
  }
  switch (input.kind) {
  case metal::InputKind::Int: {
    llvm::Expected<std::string> literal =
        metal::intLiteral(input.name, node.integer(argument));
    if (!literal)
      return refuse(literal.takeError());
    operand.type = "int";
    operand.literal = *literal;
    return emit.index(node.integer(argument));
  }
  case metal::InputKind::Float: {
    llvm::Expected<std::string> literal =
        metal::floatLiteral(input.name, node.number(argument));
    if (!literal)
      return refuse(literal.takeError());
    operand.type = "float";
    operand.literal = *literal;
    return emit.scalar(node.number(argument), emit.f32());
  }
  default:
    operand.type = "bool";
    operand.literal = node.flag(argument) ? "true" : "false";
    return emit.scalar(static_cast<int64_t>(node.flag(argument)),
                       emit.builder.getIntegerType(8, /*isSigned=*/false));
  }
}

/// Fills in what the source says of tensors, and the types of the results.
/// Fails for elements that kernels do not take.
static LogicalResult describeTensors(const metal::Kernel &kernel,
                                     const AtenNode &node, Emitter &emit,
                                     MutableArrayRef<metal::Operand> inputs,
                                     MutableArrayRef<metal::Operand> outputs,
                                     SmallVectorImpl<RankedTensorType> &types) {
  const Node &call = node.get();
  for (auto [i, info, output] : llvm::enumerate(call.results, outputs)) {
    types.push_back(emit.typeOf(info));
    Type element = types.back().getElementType();
    output.type = metalType(element);
    output.rank = types.back().getRank();
    if (output.type.empty())
      return emit.typeError(node)
             << "Result type at index " << i
             << " has unsupported dtype: " << printed(element);
  }
  for (auto [i, argument] :
       llvm::enumerate(call.arguments.take_front(inputs.size()))) {
    if (kernel.inputs[i].kind != metal::InputKind::Tensor)
      continue;
    RankedTensorType type = Emitter::type(emit.value(argument));
    inputs[i].type = metalType(type.getElementType());
    inputs[i].rank = type.getRank();
    if (inputs[i].type.empty())
      return emit.typeError(node)
             << "kernel input at index " << i
             << " has unsupported dtype: " << printed(type.getElementType());
  }
  return success();
}

FailureOr<Results> corten::lowerMetalKernel(const metal::Kernel &kernel,
                                            const AtenNode &node,
                                            Emitter &emit) {
  const Node &call = node.get();
  size_t numInputs = kernel.inputs.size();
  size_t numResults = kernel.results.size();
  size_t want = numInputs + 2 + numResults;
  if (call.arguments.size() != want)
    return emit.error(node) << "kernel '" << kernel.name << "' takes " << want
                            << " arguments, got " << call.arguments.size();
  if (call.results.size() != numResults)
    return emit.error(node) << "Expected " << numResults << " results, got "
                            << call.results.size();

  SmallVector<metal::Operand> inputs(numInputs), outputs(numResults);
  SmallVector<RankedTensorType> types;
  if (failed(describeTensors(kernel, node, emit, inputs, outputs, types)))
    return failure();

  Results operands;
  for (auto [i, input] : llvm::enumerate(kernel.inputs)) {
    const Argument &argument = call.arguments[i];
    FailureOr<Value> value =
        input.kind == metal::InputKind::Tensor
            ? FailureOr<Value>(emit.value(argument))
            : numberOperand(input, argument, node, emit, inputs[i]);
    if (failed(value))
      return failure();
    operands.push_back(*value);
  }
  llvm::Expected<metal::KernelText> text =
      metal::instantiate(kernel, inputs, outputs);
  if (!text)
    return emit.error(node) << llvm::toString(text.takeError());

  for (Value &operand : operands) {
    RankedTensorType placed = bufferType(emit, Emitter::type(operand));
    operand = emit.createTyped<coreaix::CopyWithConstraintsOp>(
        placed, {emit.cast(operand, placed.getElementType())});
  }
  for (const Argument &argument : call.arguments.drop_front(numInputs))
    operands.push_back(emit.cast(emit.value(argument), emit.ui32()));

  SmallVector<Type> placed;
  for (RankedTensorType type : types)
    placed.push_back(bufferType(emit, type));
  ValueRange all(operands);
  auto op = coreai::Metal4KernelOp::create(
      emit.builder, emit.location, placed, all.take_front(numInputs),
      all[numInputs], all[numInputs + 1], all.drop_front(numInputs + 2),
      text->name, text->source);

  Results results;
  for (auto [type, buffer] : llvm::zip_equal(types, op.getOutputs())) {
    auto unplaced = RankedTensorType::get(
        type.getShape(), Emitter::type(buffer).getElementType());
    Value plain = emit.createTyped<coreaix::CopyDiscardingConstraintsOp>(
        unplaced, {buffer});
    results.push_back(emit.cast(plain, type.getElementType()));
  }
  return results;
}
