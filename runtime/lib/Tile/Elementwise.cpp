// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element-wise kernels that stand alone, as programs of one or two
// instructions. Each accepts what the program means the same for; all else, and
// what is wrong, is the portable kernel's.

#include "../Vector/Variants.h"
#include "Nest.h"
#include "Programs.h"

#include <optional>

using namespace corten::runtime;
using namespace corten::runtime::tile;

using Op = TileOpcode;

/// Makes the program of a call, or nothing.
using Maker = std::optional<SmallProgram> (*)(const Invocation &);

static bool haveShapeOfOutput(const Invocation &call) {
  for (const Tensor &input : call.inputs)
    if (!std::ranges::equal(input.shape(), call.output().shape()))
      return false;
  return true;
}

/// The lane of all inputs, if they have one type, and that of the output is of
/// the lane `result`, or of their type if that is X.
static std::optional<TileLane> laneOf(const Invocation &call, TileLane result) {
  ElementType type = call.input().type;
  for (const Tensor &input : call.inputs)
    if (input.type != type)
      return std::nullopt;
  bool fits = result == TileLane::X ? call.output().type == type
                                    : tileLane(call.output().type) == result;
  return fits ? tileLane(type) : std::nullopt;
}

/// The opcodes of an operation for floats, whole numbers and truth values.
struct Opcodes {
  std::optional<Op> floats = {};
  std::optional<Op> integers = {};
  std::optional<Op> truths = {};
};

static std::optional<SmallProgram>
makeProgram(const Invocation &call, const Opcodes &opcodes, TileLane result) {
  std::optional<TileLane> lane = laneOf(call, result);
  if (!lane || !haveShapeOfOutput(call))
    return std::nullopt;
  std::optional<Op> opcode = *lane == TileLane::F   ? opcodes.floats
                             : *lane == TileLane::I ? opcodes.integers
                                                    : opcodes.truths;
  if (!opcode)
    return std::nullopt;
  SmallProgram program(int(call.inputs.size()));
  program.add(*opcode, 0, 1);
  if (*lane == TileLane::I && result == TileLane::X)
    program.wrapTo(call.output().type);
  return program;
}

static Error runMade(const Vectors &vectors, const Invocation &call,
                     std::optional<SmallProgram> program,
                     std::span<const Tensor> inputs,
                     std::span<const Tensor> outputs) {
  if (!program)
    return Error("a variant of a kernel was called with what it does not take");
  return runProgram(vectors.runTiles, program->code(), inputs, outputs,
                    call.pool);
}

template <Maker make> static bool accepts(const Invocation &call) {
  return make(call).has_value();
}
template <Maker make>
static Error runFast(const Vectors &vectors, const Invocation &call) {
  return runMade(vectors, call, make(call), call.inputs, call.outputs);
}

#define ELEMENTWISE(NAME, RESULT, ...)                                         \
  static std::optional<SmallProgram> make##NAME(const Invocation &call) {      \
    return makeProgram(call, Opcodes{__VA_ARGS__}, TileLane::RESULT);          \
  }                                                                            \
  CORTEN_VARIANTS(NAME, accepts<make##NAME>, runFast<make##NAME>, nullptr)
#define FLOATS(NAME) ELEMENTWISE(NAME, X, Op::NAME)

FLOATS(Acos)
FLOATS(Acosh)
FLOATS(Asin)
FLOATS(Asinh)
FLOATS(Atan)
FLOATS(Atanh)
FLOATS(Cos)
FLOATS(Cosh)
FLOATS(Erf)
FLOATS(Exp)
FLOATS(Gelu)
FLOATS(GeluSigmoid)
FLOATS(GeluTanh)
FLOATS(Log)
FLOATS(Round)
FLOATS(Rsqrt)
FLOATS(Sigmoid)
FLOATS(Silu)
FLOATS(Sin)
FLOATS(Sinh)
FLOATS(Sqrt)
FLOATS(Tan)
FLOATS(Tanh)
FLOATS(Divide)
FLOATS(FloorDivide)
FLOATS(Modulo)
FLOATS(Pow)
ELEMENTWISE(Abs, X, Op::Abs, Op::IntegerAbs)
ELEMENTWISE(Relu, X, Op::Relu, Op::IntegerRelu)
ELEMENTWISE(Not, M, std::nullopt, std::nullopt, Op::Not)
ELEMENTWISE(Add, X, Op::Add, Op::IntegerAdd, Op::Or)
ELEMENTWISE(Mul, X, Op::Mul, Op::IntegerMul, Op::And)
ELEMENTWISE(Sub, X, Op::Sub, Op::IntegerSub)
ELEMENTWISE(Maximum, X, Op::Maximum, Op::IntegerMaximum)
ELEMENTWISE(Minimum, X, Op::Minimum, Op::IntegerMinimum)
ELEMENTWISE(BitwiseAnd, X, std::nullopt, Op::And, Op::And)
ELEMENTWISE(BitwiseOr, X, std::nullopt, Op::Or, Op::Or)
ELEMENTWISE(BitwiseXor, X, std::nullopt, Op::Xor, Op::Xor)
ELEMENTWISE(Equal, M, Op::Equal, Op::IntegerEqual, Op::IntegerEqual)
ELEMENTWISE(NotEqual, M, Op::NotEqual, Op::IntegerNotEqual, Op::IntegerNotEqual)
ELEMENTWISE(Greater, M, Op::Greater, Op::IntegerGreater, Op::IntegerGreater)

static std::optional<SmallProgram> makeCast(const Invocation &call) {
  if (!haveShapeOfOutput(call) || !tileLane(call.input().type) ||
      !tileLane(call.output().type))
    return std::nullopt;
  return SmallProgram(1);
}
CORTEN_VARIANTS(Cast, accepts<makeCast>, runFast<makeCast>, nullptr)

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Whole numbers that are as wide: their bits stay what they are.
static std::optional<ElementType> bitsOf(ElementType type) {
  switch (byteSize(type)) {
  case 1:
    return ElementType::UI8;
  case 2:
    return ElementType::UI16;
  case 4:
    return ElementType::SI32;
  default:
    return std::nullopt;
  }
}

static bool acceptsWhere(const Invocation &call) {
  ElementType type = call.output().type;
  return haveShapeOfOutput(call) && bitsOf(type) &&
         call.input(0).type == ElementType::Bool &&
         call.input(1).type == type && call.input(2).type == type;
}

static Error runWhere(const Vectors &vectors, const Invocation &call) {
  SmallProgram program(3);
  program.add(Op::Where, 0, 1, 2);
  std::array<Tensor, 3> inputs = {call.input(0), call.input(1), call.input(2)};
  Tensor output = call.output();
  inputs[1].type = inputs[2].type = output.type = *bitsOf(output.type);
  return runMade(vectors, call, program, inputs, {&output, 1});
}
CORTEN_VARIANTS(Where, acceptsWhere, runWhere, nullptr)

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

/// The type as which tile programs read one of fewer bits, which has a byte in
/// memory.
static ElementType wholeByte(ElementType type) {
  switch (type) {
  case ElementType::SI2:
  case ElementType::SI4:
    return ElementType::SI8;
  case ElementType::UI1:
  case ElementType::UI2:
  case ElementType::UI3:
  case ElementType::UI4:
  case ElementType::UI6:
    return ElementType::UI8;
  default:
    return type;
  }
}

/// What a byte can hold; nothing if it is no such type.
static std::optional<std::pair<int, int>> rangeOf(ElementType type) {
  if (!isInteger(type) || byteSize(type) != 1)
    return std::nullopt;
  int bits = int(packedBits(type));
  if (wholeByte(type) == ElementType::SI8)
    return std::pair(-(1 << (bits - 1)), (1 << (bits - 1)) - 1);
  return std::pair(0, (1 << bits) - 1);
}

/// The operands with bytes for fewer bits. Whole numbers of more than 24 bits
/// would be rounded before they are subtracted.
static bool readOperands(const Invocation &call,
                         std::array<Tensor, 4> &operands) {
  for (size_t i = 0; i != 4; ++i) {
    operands[i] = call.input(i);
    operands[i].type = wholeByte(operands[i].type);
    if (!tileLane(operands[i].type) || operands[i].type == ElementType::SI32)
      return false;
  }
  return haveShapeOfOutput(call);
}

/// The registers of the operands, all as floats.
static std::array<uint16_t, 4> asFloats(SmallProgram &program,
                                        const std::array<Tensor, 4> &operands) {
  std::array<uint16_t, 4> registers;
  for (uint16_t i = 0; i != 4; ++i)
    registers[i] = tileLane(operands[i].type) == TileLane::F
                       ? i
                       : program.add(Op::ToFloat, i);
  return registers;
}

static bool acceptsDequantize(const Invocation &call) {
  std::array<Tensor, 4> operands;
  return readOperands(call, operands) &&
         tileLane(call.output().type) == TileLane::F;
}

static Error runDequantize(const Vectors &vectors, const Invocation &call) {
  std::array<Tensor, 4> operands;
  readOperands(call, operands);
  SmallProgram program(4);
  auto [x, scale, zero, offset] = asFloats(program, operands);
  uint16_t moved = program.add(Op::Sub, x, zero);
  program.add(Op::Add, program.add(Op::Mul, moved, scale), offset);
  return runMade(vectors, call, program, operands, call.outputs);
}
CORTEN_VARIANTS(Dequantize, acceptsDequantize, runDequantize, nullptr)

static bool acceptsQuantize(const Invocation &call) {
  std::array<Tensor, 4> operands;
  return readOperands(call, operands) && rangeOf(call.output().type);
}

static Error runQuantize(const Vectors &vectors, const Invocation &call) {
  std::array<Tensor, 4> operands;
  readOperands(call, operands);
  Tensor output = call.output();
  auto [low, high] = *rangeOf(output.type);
  output.type = wholeByte(output.type);
  SmallProgram program(4);
  auto [x, scale, zero, offset] = asFloats(program, operands);
  uint16_t steps =
      program.add(Op::Divide, program.add(Op::Sub, x, offset), scale);
  uint16_t moved = program.add(Op::Add, program.add(Op::Round, steps), zero);
  uint16_t bounded =
      program.add(Op::Minimum, moved, program.addNumber(double(high)));
  program.add(Op::Maximum, bounded, program.addNumber(double(low)));
  return runMade(vectors, call, program, operands, {&output, 1});
}
CORTEN_VARIANTS(Quantize, acceptsQuantize, runQuantize, nullptr)
