// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chains of elements, as one program: rotary embedding, gated activations; and
// single functions.

#include "MemoryCase.h"

using namespace corten;
using namespace corten::runtime;
using namespace corten::benchmarks;

static constexpr int64_t kRows = 1024;

/// Half of a rotary embedding: a cos - b sin, where both halves of a row lie
/// beside each other, and cosines and sines are those of a position.
static MemoryCase rotary() {
  constexpr int64_t kHeads = 16, kHalf = 64;
  std::vector<int64_t> shape = {kRows, kHeads, kHalf};
  Operand half{.shape = shape, .steps = {kHeads * 2 * kHalf, 2 * kHalf, 1}};
  Operand angle{.shape = shape, .steps = {kHalf, 0, 1}};
  MemoryCase test{"half of a rotary embedding of 1024 x 16 x 128",
                  PortableKernel::Tile,
                  {half, half, angle, angle},
                  {half}};
  test.program.numInputs = 4;
  test.program.numRegisters = 4;
  test.program.instructions = {{TileOpcode::Mul, 0, 0, 2},
                               {TileOpcode::Mul, 1, 1, 3},
                               {TileOpcode::Sub, 0, 0, 1}};
  test.program.results = {0};
  test.bytes = 4.0 * kRows * (3 * kHeads * kHalf + 2 * kHalf);
  return test;
}

/// function(x) y
static MemoryCase gated(std::string name, TileOpcode function) {
  constexpr int64_t kLength = 1024;
  Operand rows{.shape = {kRows, kLength}};
  MemoryCase test{
      name + " 1024 x 1024", PortableKernel::Tile, {rows, rows}, {rows}};
  test.program.numInputs = 2;
  test.program.numRegisters = 2;
  test.program.instructions = {{function, 0, 0}, {TileOpcode::Mul, 0, 0, 1}};
  test.program.results = {0};
  test.bytes = 12.0 * kRows * kLength;
  return test;
}

/// Of numbers that stay in the nearest cache, so that what is computed counts.
static MemoryCase function(TileOpcode opcode) {
  constexpr int64_t kLength = 4096;
  Operand row{.shape = {kLength}};
  const TileOpcodeInfo &entry = info(opcode);
  MemoryCase test{std::string(entry.name) + " of 4096",
                  PortableKernel::Tile,
                  std::vector<Operand>(size_t(entry.numOperands), row),
                  {row}};
  test.program.numInputs = test.program.numRegisters =
      uint16_t(entry.numOperands);
  test.program.instructions = {{opcode, 0, 0, 1}};
  test.program.results = {0};
  test.bytes = 4.0 * (entry.numOperands + 1) * kLength;
  return test;
}

std::vector<MemoryCase> benchmarks::elementCases() {
  std::vector<MemoryCase> cases = {rotary(),
                                   gated("gated silu", TileOpcode::Silu),
                                   gated("gated gelu", TileOpcode::Gelu)};
  for (TileOpcode opcode :
       {TileOpcode::Exp, TileOpcode::Log, TileOpcode::Tanh, TileOpcode::Erf,
        TileOpcode::Gelu, TileOpcode::Sin, TileOpcode::Cos, TileOpcode::Pow})
    cases.push_back(function(opcode));
  return cases;
}
