// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Vector/Vectors.h"

#include <algorithm>
#include <array>

using namespace corten::runtime;
using namespace corten::runtime::tile;

using enum TileLane;

static constexpr TileOpcodeInfo kOpcodes[] = {
#define OPCODE(NAME, OPERANDS, OPERAND, RESULT)                                \
  {#NAME, OPERANDS, OPERAND, RESULT},
#include "corten/Runtime/TileOpcodes.def"
};

const TileOpcodeInfo &corten::runtime::info(TileOpcode opcode) {
  return kOpcodes[size_t(opcode)];
}

std::span<const TileOpcodeInfo> corten::runtime::tileOpcodes() {
  return kOpcodes;
}

std::optional<TileLane> corten::runtime::tileLane(ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::F16:
  case ElementType::BF16:
    return F;
  case ElementType::Bool:
    return M;
  case ElementType::SI8:
  case ElementType::SI16:
  case ElementType::SI32:
  case ElementType::UI8:
  case ElementType::UI16:
    return I;
  default:
    return std::nullopt;
  }
}

Code tile::codeOf(const TileProgram &program) {
  return {program.instructions.data(), program.immediates.data(),
          program.results.data(),      int(program.instructions.size()),
          int(program.numInputs),      int(program.results.size())};
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

namespace {

/// What is known of the lanes of registers. Inputs of which nothing is known
/// yet, but that they have the same lane, share a group; a register has the
/// group of the last value that was written to it.
class Lanes {
public:
  /// Registers 0 to n-1 hold inputs.
  explicit Lanes(int numInputs) {
    group.fill(kNone);
    known.fill(kUnknown);
    for (int i = 0; i != numInputs; ++i)
      group[i] = uint8_t(i);
  }

  bool isWritten(uint16_t reg) const { return group[reg] != kNone; }
  uint8_t lane(uint16_t reg) const { return known[group[reg]]; }

  /// True if a register can be taken for a lane. A truth value is a whole
  /// number as well.
  bool take(uint16_t reg, TileLane lane) {
    uint8_t &entry = known[group[reg]];
    if (entry == kUnknown || (entry == kWhole && lane == M))
      entry = lane == I ? kWhole : uint8_t(lane);
    return entry == uint8_t(lane) ||
           (lane == I && (entry == uint8_t(M) || entry == kWhole));
  }

  /// True if two registers can have the same lane.
  bool unite(uint16_t a, uint16_t b) {
    if (lane(a) < kWhole && lane(b) < kWhole)
      return lane(a) == lane(b);
    // What is less is known better.
    uint16_t better = lane(a) <= lane(b) ? a : b;
    uint16_t other = better == a ? b : a;
    if (lane(other) == kWhole && lane(better) == uint8_t(F))
      return false;
    uint8_t from = group[other];
    for (uint8_t &entry : group)
      if (entry == from)
        entry = group[better];
    return true;
  }

  void set(uint16_t reg, TileLane lane) {
    group[reg] = uint8_t(kMaxTileRegisters + int(lane));
    known[group[reg]] = uint8_t(lane);
  }
  void setLike(uint16_t reg, uint16_t other) { group[reg] = group[other]; }

private:
  /// I or M.
  static constexpr uint8_t kWhole = 4;
  static constexpr uint8_t kUnknown = 5;
  static constexpr uint8_t kNone = 0xff;
  std::array<uint8_t, kMaxTileRegisters> group;
  std::array<uint8_t, kMaxTileRegisters + 4> known;
};
} // namespace

/// Takes an instruction whose registers exist. False if lanes do not fit.
static bool takeLanes(Lanes &lanes, const TileInstruction &instruction) {
  const TileOpcodeInfo &entry = info(instruction.opcode);
  if (instruction.opcode == TileOpcode::Where) {
    if (!lanes.take(instruction.a, M) ||
        !lanes.unite(instruction.b, instruction.c))
      return false;
    lanes.setLike(instruction.target, instruction.b);
    return true;
  }
  const uint16_t operands[] = {instruction.a, instruction.b, instruction.c};
  for (int i = 0; i != entry.numOperands; ++i)
    if (entry.operand == X ? i != 0 && !lanes.unite(operands[0], operands[i])
                           : !lanes.take(operands[i], entry.operand))
      return false;
  if (entry.result == X) {
    // Bits of floats have no meaning of their own.
    if (lanes.lane(instruction.a) == uint8_t(F))
      return false;
    lanes.setLike(instruction.target, instruction.a);
  } else {
    lanes.set(instruction.target, entry.result);
  }
  return true;
}

Error TileProgram::check() const {
  auto fail = [](size_t place, std::string_view what) {
    return Error("tile program, instruction " + std::to_string(place) + ": " +
                 std::string(what));
  };
  if (numRegisters > kMaxTileRegisters)
    return Error("tile program: " + std::to_string(numRegisters) +
                 " registers are more than " +
                 std::to_string(kMaxTileRegisters));
  if (numInputs > numRegisters)
    return Error("tile program: there are more inputs than registers");
  Lanes lanes(numInputs);
  for (size_t i = 0; i != instructions.size(); ++i) {
    const TileInstruction &instruction = instructions[i];
    if (size_t(instruction.opcode) >= std::size(kOpcodes))
      return fail(i, "there is no such opcode");
    const TileOpcodeInfo &entry = info(instruction.opcode);
    if (instruction.target >= numRegisters)
      return fail(i, "there is no such register");
    bool isImmediate = instruction.opcode == TileOpcode::Immediate ||
                       instruction.opcode == TileOpcode::ImmediateInteger;
    if (isImmediate && instruction.a >= immediates.size())
      return fail(i, "there is no such immediate");
    const uint16_t operands[] = {instruction.a, instruction.b, instruction.c};
    for (int operand = 0; operand != entry.numOperands; ++operand) {
      if (operands[operand] >= numRegisters)
        return fail(i, "there is no such register");
      if (!lanes.isWritten(operands[operand]))
        return fail(i, "reads a register that nothing was written to");
    }
    if (!takeLanes(lanes, instruction))
      return fail(i, std::string(entry.name) +
                         " does not take what its operands hold");
  }
  if (results.size() > kMaxTileRegisters)
    return Error("tile program: there are more than " +
                 std::to_string(kMaxTileRegisters) + " results");
  for (uint16_t result : results)
    if (result >= numRegisters || !lanes.isWritten(result))
      return Error("tile program: a result is a register that nothing was "
                   "written to");
  return Error::success();
}

Error tile::resolveLanes(const Code &code, std::span<const ElementType> inputs,
                         std::span<TileLane> results) {
  if (inputs.size() != size_t(code.numInputs) ||
      results.size() != size_t(code.numResults))
    return Error("tile program: of " + std::to_string(code.numInputs) +
                 " inputs and " + std::to_string(code.numResults) +
                 " results, called with " + std::to_string(inputs.size()) +
                 " and " + std::to_string(results.size()));
  Lanes lanes(code.numInputs);
  for (size_t i = 0; i != inputs.size(); ++i) {
    std::optional<TileLane> lane = tileLane(inputs[i]);
    if (!lane)
      return Error("tile program: there is no lane for " +
                   std::string(spelling(inputs[i])));
    lanes.set(uint16_t(i), *lane);
  }
  for (int i = 0; i != code.numInstructions; ++i)
    if (!takeLanes(lanes, code.instructions[i]))
      return Error("tile program: " +
                   std::string(info(code.instructions[i].opcode).name) +
                   " does not take what its operands hold");
  for (size_t i = 0; i != results.size(); ++i)
    results[i] = TileLane(lanes.lane(code.results[i]));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

Form tile::formFor(Isa isa) {
#if defined(CORTEN_RUNTIME_X86)
  if (isa >= Isa::Avx512)
    return avx512::runTiles;
  if (isa >= Isa::Avx2)
    return avx2::runTiles;
#elif defined(CORTEN_RUNTIME_NEON)
  if (isa == Isa::Neon)
    return neon::runTiles;
#endif
  return runPortable;
}

/// One row, by a form. Types and program were checked.
template <Form form>
static void runOneRow(const TileProgram &program,
                      std::span<const TileOperand> inputs,
                      std::span<const TileOperand> outputs, int64_t count) {
  constexpr size_t kMost = kMaxTileRegisters;
  std::array<Rows, kMost> from;
  std::array<ElementType, kMost> types;
  std::array<Rows, kMost> to;
  std::array<TileLane, kMost> lanes;
  for (size_t i = 0; i != inputs.size(); ++i) {
    from[i] = {inputs[i].data, inputs[i].step, 0, inputs[i].type};
    types[i] = inputs[i].type;
  }
  Code code = codeOf(program);
  if (resolveLanes(code, {types.data(), inputs.size()},
                   {lanes.data(), program.results.size()}))
    return;
  for (size_t i = 0; i != outputs.size(); ++i)
    to[i] = {outputs[i].data, outputs[i].step, 0, outputs[i].type};
  form({code, from.data(), to.data(), lanes.data(), 1, count});
}

TileFunction corten::runtime::tileFunction(Isa isa) {
#if defined(CORTEN_RUNTIME_X86)
  if (isa >= Isa::Avx512)
    return runOneRow<avx512::runTiles>;
  if (isa >= Isa::Avx2)
    return runOneRow<avx2::runTiles>;
#elif defined(CORTEN_RUNTIME_NEON)
  if (isa == Isa::Neon)
    return runOneRow<neon::runTiles>;
#endif
  return runOneRow<runPortable>;
}
