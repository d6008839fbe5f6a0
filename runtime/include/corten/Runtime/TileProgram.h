// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element by element work that was fused: a short list of instructions, each of
// which is executed over a tile, some hundred elements that stay in the nearest
// cache. Nothing is generated; a program is data.

#ifndef CORTEN_RUNTIME_TILEPROGRAM_H
#define CORTEN_RUNTIME_TILEPROGRAM_H

#include "corten/Runtime/Error.h"
#include "corten/Runtime/Isa.h"
#include "corten/Runtime/Tensor.h"

#include <vector>

namespace corten::runtime {

enum class TileOpcode : uint16_t {
#define OPCODE(NAME, OPERANDS, OPERAND, RESULT) NAME,
#include "corten/Runtime/TileOpcodes.def"
};

/// What a register holds.
enum class TileLane : uint8_t { F, I, M, X };

struct TileOpcodeInfo {
  std::string_view name;
  int numOperands;
  TileLane operand;
  TileLane result;
};

const TileOpcodeInfo &info(TileOpcode opcode);
std::span<const TileOpcodeInfo> tileOpcodes();

struct TileInstruction {
  TileOpcode opcode;
  uint16_t target = 0;
  uint16_t a = 0, b = 0, c = 0;
};

struct TileProgram {
  /// Registers 0 to numInputs-1 begin with the elements of the inputs.
  uint16_t numInputs = 0;
  uint16_t numRegisters = 0;
  std::vector<TileInstruction> instructions;
  std::vector<double> immediates;
  /// A register for each output.
  std::vector<uint16_t> results;

  /// Bounds, that registers are written before they are read, and that lanes
  /// fit. A program that came from a file is checked once.
  Error check() const;
};

/// More registers than a fused chain gets; they are on the stack.
inline constexpr int kMaxTileRegisters = 32;
/// Elements of a tile.
inline constexpr int kTileSize = 256;

/// The lane in which elements of a type are computed; none if tile programs do
/// not know it. f32, f16 and bf16 are F; bool is M; si8, si16, si32, ui8 and
/// ui16 are I.
std::optional<TileLane> tileLane(ElementType type);

/// Elements along a run: where they begin, and how many elements lie between
/// one and the next (0: the same one again).
struct TileOperand {
  void *data;
  int64_t step;
  ElementType type;
};

/// Runs a program over `count` elements. Outputs may lie where inputs of the
/// same type and step do. Narrowing to the type of an output is as a cast does.
using TileFunction = void (*)(const TileProgram &program,
                              std::span<const TileOperand> inputs,
                              std::span<const TileOperand> outputs,
                              int64_t count);

TileFunction tileFunction(Isa isa);

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_TILEPROGRAM_H
