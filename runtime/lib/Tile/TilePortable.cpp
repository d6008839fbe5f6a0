// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile programs in plain loops: what they mean. Each instruction is what the
// portable kernel of its name does with an element.

#include "../Portable/Arithmetic.h"
#include "../Portable/Conversion.h"
#include "TileCode.h"

#include <algorithm>
#include <array>

using namespace corten::runtime;
using namespace corten::runtime::tile;
using namespace corten::runtime::portable;

namespace {

/// Elements of a tile, in one of the lanes.
union Lane {
  float f;
  int32_t i;
};
using Register = std::array<Lane, kTileSize>;

/// The functions of one float; those of double are rounded once.
namespace functions {
#define FLOATS(NAME, EXPRESSION)                                               \
  struct NAME {                                                                \
    static float apply(float operand) {                                        \
      double x = operand;                                                      \
      return float(EXPRESSION);                                                \
    }                                                                          \
  };
#define FLOATS_AND_COMPLEX(NAME, EXPRESSION) FLOATS(NAME, EXPRESSION)
#include "../Portable/Functions.def"

struct Abs {
  static float apply(float x) { return std::fabs(x); }
};
struct Erf {
  static float apply(float x) { return std::erf(x); }
};
struct Relu {
  static float apply(float x) { return x < 0 ? 0 : x; }
};
struct Round {
  static float apply(float x) { return std::nearbyint(x); }
};
struct RoundToF16 {
  static float apply(float x) { return Float16(x); }
};
struct RoundToBF16 {
  static float apply(float x) { return BFloat16(x); }
};
} // namespace functions
} // namespace

template <typename Function>
static void mapFloats(const Register &a, Register &to, int64_t count) {
  for (int64_t i = 0; i != count; ++i)
    to[i].f = Function::apply(a[i].f);
}

/// Of two floats: a float, or a truth value.
template <typename Op>
static void combineFloats(const Register &a, const Register &b, Register &to,
                          int64_t count) {
  for (int64_t i = 0; i != count; ++i) {
    auto result = Op::apply(a[i].f, b[i].f);
    if constexpr (std::is_same_v<decltype(result), bool>)
      to[i].i = result;
    else
      to[i].f = result;
  }
}

template <typename Op>
static void combineIntegers(const Register &a, const Register &b, Register &to,
                            int64_t count) {
  for (int64_t i = 0; i != count; ++i)
    to[i].i = Op::apply(a[i].i, b[i].i);
}

/// Calls `function` for each place.
template <typename Function>
static void forEach(int64_t count, Function &&function) {
  for (int64_t i = 0; i != count; ++i)
    function(i);
}

template <typename T>
static void wrap(const Register &a, Register &to, int64_t count) {
  for (int64_t i = 0; i != count; ++i)
    to[i].i = T(a[i].i);
}

static void execute(const Code &code, const TileInstruction &instruction,
                    Register *registers, int64_t count) {
  const Register &a = registers[instruction.a % kMaxTileRegisters];
  const Register &b = registers[instruction.b % kMaxTileRegisters];
  const Register &c = registers[instruction.c % kMaxTileRegisters];
  Register &to = registers[instruction.target];
  switch (instruction.opcode) {
  case TileOpcode::Immediate:
    return forEach(count, [&](int64_t i) {
      to[i].f = float(code.immediates[instruction.a]);
    });
  case TileOpcode::ImmediateInteger:
    return forEach(count, [&](int64_t i) {
      to[i].i = toInteger<int32_t>(code.immediates[instruction.a]);
    });
#define FUNCTION(NAME)                                                         \
  case TileOpcode::NAME:                                                       \
    return mapFloats<functions::NAME>(a, to, count);
#define FLOATS(NAME, EXPRESSION) FUNCTION(NAME)
#define FLOATS_AND_COMPLEX(NAME, EXPRESSION) FUNCTION(NAME)
#include "../Portable/Functions.def"
    FUNCTION(Abs)
    FUNCTION(Erf)
    FUNCTION(Relu)
    FUNCTION(Round)
    FUNCTION(RoundToF16)
    FUNCTION(RoundToBF16)
#define COMBINE(NAME)                                                          \
  case TileOpcode::NAME:                                                       \
    return combineFloats<portable::NAME>(a, b, to, count);
    COMBINE(Add)
    COMBINE(Divide)
    COMBINE(FloorDivide)
    COMBINE(Maximum)
    COMBINE(Minimum)
    COMBINE(Modulo)
    COMBINE(Mul)
    COMBINE(Pow)
    COMBINE(Sub)
    COMBINE(Equal)
    COMBINE(Greater)
    COMBINE(NotEqual)
#define COMBINE_INTEGERS(OPCODE, NAME)                                         \
  case TileOpcode::OPCODE:                                                     \
    return combineIntegers<portable::NAME>(a, b, to, count);
    COMBINE_INTEGERS(IntegerAdd, Add)
    COMBINE_INTEGERS(IntegerMaximum, Maximum)
    COMBINE_INTEGERS(IntegerMinimum, Minimum)
    COMBINE_INTEGERS(IntegerMul, Mul)
    COMBINE_INTEGERS(IntegerSub, Sub)
    COMBINE_INTEGERS(IntegerEqual, Equal)
    COMBINE_INTEGERS(IntegerGreater, Greater)
    COMBINE_INTEGERS(IntegerNotEqual, NotEqual)
    COMBINE_INTEGERS(And, BitwiseAnd)
    COMBINE_INTEGERS(Or, BitwiseOr)
    COMBINE_INTEGERS(Xor, BitwiseXor)
  case TileOpcode::IntegerAbs: // The smallest is its own.
    return forEach(count, [&](int64_t i) {
      to[i].i = a[i].i < 0 ? int32_t(0u - uint32_t(a[i].i)) : a[i].i;
    });
  case TileOpcode::IntegerRelu:
    return forEach(count, [&](int64_t i) { to[i].i = std::max(a[i].i, 0); });
  case TileOpcode::Not:
    return forEach(count, [&](int64_t i) { to[i].i = a[i].i == 0; });
  case TileOpcode::Where:
    return forEach(count,
                   [&](int64_t i) { to[i] = a[i].i != 0 ? b[i] : c[i]; });
  case TileOpcode::ToInteger:
    return forEach(count, [&](int64_t i) {
      to[i].i = toInteger<int32_t>(double(a[i].f));
    });
  case TileOpcode::ToFloat:
    return forEach(count, [&](int64_t i) { to[i].f = float(a[i].i); });
  case TileOpcode::FloatToTruth:
    return forEach(count, [&](int64_t i) { to[i].i = a[i].f != 0; });
  case TileOpcode::IntegerToTruth:
    return forEach(count, [&](int64_t i) { to[i].i = a[i].i != 0; });
  case TileOpcode::WrapToSI8:
    return wrap<int8_t>(a, to, count);
  case TileOpcode::WrapToSI16:
    return wrap<int16_t>(a, to, count);
  case TileOpcode::WrapToUI8:
    return wrap<uint8_t>(a, to, count);
  case TileOpcode::WrapToUI16:
    return wrap<uint16_t>(a, to, count);
  }
}

/// Calls `function.template operator()<T>()` with the C++ type of a type that
/// has a lane.
template <typename Function>
static void withLaneType(ElementType type, Function &&function) {
  withType(type, [&]<typename T>() {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, float> ||
                  std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16> ||
                  (IntegerElement<T> && sizeof(T) <= 4 &&
                   !detail::isSmallInteger<T> && !std::is_same_v<T, uint32_t>))
      function.template operator()<T>();
  });
}

static void load(const Rows &operand, int64_t first, Register &to,
                 int64_t count) {
  withLaneType(operand.type, [&]<typename T>() {
    const T *from = static_cast<const T *>(operand.data) + first * operand.step;
    for (int64_t i = 0; i != count; ++i)
      if constexpr (FloatElement<T>)
        to[i].f = from[i * operand.step];
      else
        to[i].i = from[i * operand.step];
  });
}

static void store(const Register &from, TileLane lane, const Rows &operand,
                  int64_t first, int64_t count) {
  withLaneType(operand.type, [&]<typename T>() {
    T *to = static_cast<T *>(operand.data) + first * operand.step;
    for (int64_t i = 0; i != count; ++i)
      to[i * operand.step] = lane == TileLane::F
                                 ? convert<T>(double(from[i].f))
                                 : convert<T>(int64_t(from[i].i));
  });
}

static Rows rowOf(Rows rows, int64_t row) {
  rows.data = static_cast<char *>(rows.data) +
              row * rows.rowStep * int64_t(byteSize(rows.type));
  return rows;
}

void tile::runPortable(const Job &job) {
  std::array<Register, kMaxTileRegisters> registers;
  const Code &code = job.code;
  for (int64_t row = 0; row != job.numRows; ++row)
    for (int64_t first = 0; first < job.count; first += kTileSize) {
      int64_t count = std::min<int64_t>(kTileSize, job.count - first);
      for (int i = 0; i != code.numInputs; ++i)
        load(rowOf(job.inputs[i], row), first, registers[i], count);
      for (int i = 0; i != code.numInstructions; ++i)
        execute(code, code.instructions[i], registers.data(), count);
      for (int i = 0; i != code.numResults; ++i)
        store(registers[code.results[i]], job.lanes[i],
              rowOf(job.outputs[i], row), first, count);
    }
}
