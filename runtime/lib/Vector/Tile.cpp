// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile programs in vectors. A register is a part of the stack that stays in the
// nearest cache; inputs that are in memory as lanes have them are read from
// there, and the last instruction writes where its result belongs.

#include "Elements.h"
#include "Math.h"
#include "Reductions.h"
#include "Vectors.h"

namespace corten::runtime::CORTEN_LEVEL {
namespace {

using tile::Job;
using tile::Rows;

/// A tile, and a vector that loads may write too much.
struct alignas(64) Storage {
  int32_t lanes[kTileSize + kWidth];
};

template <typename Function>
inline void map(const int32_t *a, int32_t *to, int64_t count,
                Function &&function) {
  for (int64_t i = 0; i < count; i += kWidth)
    store(to + i, I(function(F(load(a + i)))));
}

template <typename Function>
inline void map(const int32_t *a, const int32_t *b, int32_t *to, int64_t count,
                Function &&function) {
  for (int64_t i = 0; i < count; i += kWidth)
    store(to + i, I(function(F(load(a + i)), F(load(b + i)))));
}

template <typename Function>
inline void mapIntegers(const int32_t *a, int32_t *to, int64_t count,
                        Function &&function) {
  for (int64_t i = 0; i < count; i += kWidth)
    store(to + i, I(function(load(a + i))));
}

template <typename Function>
inline void mapIntegers(const int32_t *a, const int32_t *b, int32_t *to,
                        int64_t count, Function &&function) {
  for (int64_t i = 0; i < count; i += kWidth)
    store(to + i, I(function(load(a + i), load(b + i))));
}

void fill(int32_t *to, I value) {
  for (int i = 0; i != kTileSize; i += kWidth)
    store(to + i, value);
}

void choose(const int32_t *condition, const int32_t *a, const int32_t *b,
            int32_t *to, int64_t count) {
  for (int64_t i = 0; i < count; i += kWidth)
    store(to + i, I(load(condition + i) != 0) ? load(a + i) : load(b + i));
}

/// Instructions that read nothing.
void executeImmediate(const tile::Code &code,
                      const TileInstruction &instruction, int32_t *to) {
  double number = code.immediates[instruction.a];
  if (instruction.opcode == TileOpcode::Immediate)
    return fill(to, I(splat(float(number))));
  // As a cast does it.
  int32_t whole = !(number == number) ? 0
                  : number >= 0x1p31  ? INT32_MAX
                  : number <= -0x1p31 ? INT32_MIN
                                      : int32_t(number);
  fill(to, splat(whole));
}

void executeIntegers(TileOpcode opcode, const int32_t *a, const int32_t *b,
                     int32_t *to, int64_t count) {
  switch (opcode) {
#define MAP(NAME, EXPRESSION)                                                  \
  case TileOpcode::NAME:                                                       \
    return mapIntegers(a, to, count, [](I x) { return EXPRESSION; });
#define MAP2(NAME, EXPRESSION)                                                 \
  case TileOpcode::NAME:                                                       \
    return mapIntegers(a, b, to, count, [](I x, I y) { return EXPRESSION; });
    MAP(IntegerAbs, I(x < 0) ? I(0 - U(x)) : x)
    MAP(IntegerRelu, I(x < 0) ? I{} : x)
    MAP(Not, I(x == 0) & 1)
    MAP(ToFloat, toFloat(x))
    MAP(IntegerToTruth, I(x != 0) & 1)
    MAP(WrapToSI8, I(U(x) << 24) >> 24)
    MAP(WrapToSI16, I(U(x) << 16) >> 16)
    MAP(WrapToUI8, x & 0xff)
    MAP(WrapToUI16, x & 0xffff)
    MAP2(IntegerAdd, U(x) + U(y))
    MAP2(IntegerMaximum, I(x > y) ? x : y)
    MAP2(IntegerMinimum, I(x < y) ? x : y)
    MAP2(IntegerMul, U(x) * U(y))
    MAP2(IntegerSub, U(x) - U(y))
    MAP2(IntegerEqual, I(x == y) & 1)
    MAP2(IntegerGreater, I(x > y) & 1)
    MAP2(IntegerNotEqual, I(x != y) & 1)
    MAP2(And, x & y)
    MAP2(Or, x | y)
    MAP2(Xor, x ^ y)
#undef MAP
#undef MAP2
  default:
    return;
  }
}

void execute(TileOpcode opcode, const int32_t *a, const int32_t *b, int32_t *to,
             int64_t count) {
  switch (opcode) {
#define MAP(NAME, EXPRESSION)                                                  \
  case TileOpcode::NAME:                                                       \
    return map(a, to, count, [](F x) { return EXPRESSION; });
#define MAP2(NAME, EXPRESSION)                                                 \
  case TileOpcode::NAME:                                                       \
    return map(a, b, to, count, [](F x, F y) { return EXPRESSION; });
    MAP(Abs, abs(x))
    MAP(Acos, acos(x))
    MAP(Acosh, acosh(x))
    MAP(Asin, asin(x))
    MAP(Asinh, asinh(x))
    MAP(Atan, atan(x))
    MAP(Atanh, atanh(x))
    MAP(Cos, cos(x))
    MAP(Cosh, cosh(x))
    MAP(Erf, erf(x))
    MAP(Exp, exp(x))
    MAP(Gelu, gelu(x))
    MAP(GeluSigmoid, geluSigmoid(x))
    MAP(GeluTanh, geluTanh(x))
    MAP(Log, log(x))
    MAP(Relu, larger(F{}, x))
    MAP(Round, round<kToNearest>(x))
    MAP(Rsqrt, 1.0f / sqrt(x))
    MAP(Sigmoid, sigmoid(x))
    MAP(Silu, silu(x))
    MAP(Sin, sin(x))
    MAP(Sinh, sinh(x))
    MAP(Sqrt, sqrt(x))
    MAP(Tan, tan(x))
    MAP(Tanh, tanh(x))
    MAP(ToInteger, saturate(x))
    MAP(FloatToTruth, I(x != 0.0f) & 1)
    MAP(RoundToF16, fromF16(toF16(x)))
    MAP(RoundToBF16, fromBF16(toBF16(x)))
    MAP2(Add, x + y)
    MAP2(Divide, x / y)
    MAP2(FloorDivide, floorDivide(x, y))
    MAP2(Maximum, maximum(x, y))
    MAP2(Minimum, minimum(x, y))
    MAP2(Modulo, modulo(x, y))
    MAP2(Mul, x * y)
    MAP2(Pow, pow(x, y))
    MAP2(Sub, x - y)
    MAP2(Equal, I(x == y) & 1)
    MAP2(Greater, I(x > y) & 1)
    MAP2(NotEqual, I(x != y) & 1)
#undef MAP
#undef MAP2
  default:
    return executeIntegers(opcode, a, b, to, count);
  }
}

bool isImmediate(TileOpcode opcode) {
  return opcode == TileOpcode::Immediate ||
         opcode == TileOpcode::ImmediateInteger;
}

/// Whether lanes of a type are in memory as they are in registers.
bool isLane(ElementType type) {
  return type == ElementType::F32 || type == ElementType::SI32;
}

int64_t bytesOf(ElementType type) {
  int64_t bytes = 0;
  withElement(type, [&]<typename Element>() {
    bytes = sizeof(typename Element::Type);
  });
  return bytes;
}

/// Some rows of a job, or a part of one.
struct Part {
  int64_t row;
  int64_t numRows;
  int64_t first;
  int64_t count;

  int64_t size() const { return numRows * count; }
};

class Machine {
public:
  explicit Machine(const Job &job) : job(job) {
    for (int i = 0; i != job.code.numInstructions; ++i)
      ++numWrites[job.code.instructions[i].target];
    // What is written once and needs no input is there from the beginning.
    for (int i = 0; i != job.code.numInstructions; ++i) {
      const TileInstruction &instruction = job.code.instructions[i];
      if (!isImmediate(instruction.opcode) || !isKept(instruction.target))
        continue;
      executeImmediate(job.code, instruction,
                       storage[instruction.target].lanes);
      source[instruction.target] = storage[instruction.target].lanes;
    }
  }

  void run() {
    // Short rows share a tile.
    if (job.count <= kTileSize / 2) {
      int64_t numRows = kTileSize / job.count;
      for (int64_t row = 0; row < job.numRows; row += numRows)
        executeAll({row, least(numRows, job.numRows - row), 0, job.count});
      return;
    }
    for (int64_t row = 0; row != job.numRows; ++row)
      for (int64_t first = 0; first < job.count; first += kTileSize)
        executeAll({row, 1, first, least(kTileSize, job.count - first)});
  }

private:
  const Job &job;
  Storage storage[kMaxTileRegisters];
  const int32_t *source[kMaxTileRegisters];
  uint16_t numWrites[kMaxTileRegisters] = {};
  /// What registers of inputs hold that stay the same: the beginning of a part,
  /// and how much of it.
  const char *held[kMaxTileRegisters] = {};
  int64_t heldSize[kMaxTileRegisters] = {};

  static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

  /// Whether a register that an instruction writes is written by no other, nor
  /// by an input.
  bool isKept(int reg) const {
    return reg >= job.code.numInputs && numWrites[reg] == 1;
  }

  /// Whether an input is also a result, beside others: one of those may lie in
  /// its memory and be written first.
  bool isPassedOn(int input) const {
    for (int i = 0; i != job.code.numResults; ++i)
      if (job.code.numResults > 1 && job.code.results[i] == input)
        return true;
    return false;
  }

  /// Whether the elements of a part lie one after the other.
  static bool isDense(const Rows &rows, const Part &part) {
    return rows.step == 1 && (part.numRows == 1 || rows.rowStep == part.count);
  }

  static char *begin(const Rows &rows, const Part &part) {
    return static_cast<char *>(rows.data) +
           (part.row * rows.rowStep + part.first * rows.step) *
               bytesOf(rows.type);
  }

  void loadInput(int input, const Part &part) {
    const Rows &rows = job.inputs[input];
    const char *from = begin(rows, part);
    int32_t *to = storage[input].lanes;
    bool isWhole = part.size() % kWidth == 0;
    if (isLane(rows.type) && isDense(rows, part) && isWhole &&
        !isPassedOn(input)) {
      source[input] = reinterpret_cast<const int32_t *>(from);
      return;
    }
    source[input] = to;
    bool repeats = (rows.step == 0 || part.first == 0) &&
                   (rows.rowStep == 0 || part.numRows == 1);
    if (repeats && numWrites[input] == 0 && held[input] == from &&
        heldSize[input] >= part.size())
      return;
    held[input] = from;
    heldSize[input] = rows.step == 0 && part.numRows == 1 ? kTileSize
                      : repeats                           ? part.size()
                                                          : 0;
    withElement(rows.type, [&]<typename Element>() {
      using Type = typename Element::Type;
      const auto *elements = reinterpret_cast<const Type *>(from);
      if (rows.step == 0 && part.numRows == 1) {
        typename Element::Memory all = {};
        for (int lane = 0; lane != kWidth; ++lane)
          all[lane] = *elements;
        return fill(to, Element::lanes(all));
      }
      if (isDense(rows, part))
        return loadLanes<Element>(elements, 1, to, part.size());
      for (int64_t row = 0; row != part.numRows; ++row)
        loadLanes<Element>(elements + row * rows.rowStep, rows.step,
                           to + row * part.count, part.count);
    });
  }

  void storeOutput(int output, const Part &part) {
    const Rows &rows = job.outputs[output];
    const int32_t *from = source[job.code.results[output]];
    char *to = begin(rows, part);
    // The last instruction may have written it.
    if (reinterpret_cast<const char *>(from) == to && isLane(rows.type))
      return;
    bool isFloat = job.lanes[output] == TileLane::F;
    withElement(rows.type, [&]<typename Element>() {
      auto *elements = reinterpret_cast<typename Element::Type *>(to);
      auto storeRow = [&](const int32_t *lanes, int64_t offset, int64_t count) {
        if (isFloat)
          storeLanes<Element, true>(lanes, elements + offset, rows.step, count);
        else
          storeLanes<Element, false>(lanes, elements + offset, rows.step,
                                     count);
      };
      if (isDense(rows, part))
        return storeRow(from, 0, part.size());
      for (int64_t row = 0; row != part.numRows; ++row)
        storeRow(from + row * part.count, row * rows.rowStep, part.count);
    });
  }

  /// Where the last instruction writes: to the memory of its result, if that
  /// is as the register would be.
  int32_t *lastTarget(int target, const Part &part) {
    for (int i = 0; i != job.code.numResults; ++i) {
      const Rows &rows = job.outputs[i];
      bool isSame =
          rows.type ==
          (job.lanes[i] == TileLane::F ? ElementType::F32 : ElementType::SI32);
      if (job.code.results[i] == target && isSame && isDense(rows, part) &&
          part.size() % kWidth == 0)
        return reinterpret_cast<int32_t *>(begin(rows, part));
    }
    return storage[target].lanes;
  }

  void executeAll(const Part &part) {
    const tile::Code &code = job.code;
    for (int i = 0; i != code.numInputs; ++i)
      loadInput(i, part);
    for (int i = 0; i != code.numInstructions; ++i) {
      const TileInstruction &instruction = code.instructions[i];
      int target = instruction.target;
      TileOpcode opcode = instruction.opcode;
      if (isImmediate(opcode)) {
        if (!isKept(target)) {
          executeImmediate(code, instruction, storage[target].lanes);
          source[target] = storage[target].lanes;
        }
        continue;
      }
      bool isLast = i == code.numInstructions - 1;
      int32_t *to = isLast ? lastTarget(target, part) : storage[target].lanes;
      // Operands that an instruction does not have may be any number.
      const int32_t *a = source[instruction.a % kMaxTileRegisters];
      const int32_t *b = source[instruction.b % kMaxTileRegisters];
      const int32_t *c = source[instruction.c % kMaxTileRegisters];
      if (opcode == TileOpcode::Where)
        choose(a, b, c, to, part.size());
      else
        CORTEN_LEVEL::execute(opcode, a, b, to, part.size());
      source[target] = to;
    }
    for (int i = 0; i != code.numResults; ++i)
      storeOutput(i, part);
  }
};
} // namespace

void runTiles(const Job &job) {
  if (job.count == 0)
    return;
  Machine(job).run();
}

} // namespace corten::runtime::CORTEN_LEVEL
