// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short programs that kernels make for themselves, without memory of their own.

#ifndef CORTEN_RUNTIME_LIB_PROGRAMS_H
#define CORTEN_RUNTIME_LIB_PROGRAMS_H

#include "TileCode.h"

#include <array>

namespace corten::runtime::tile {

/// One result; without instructions it is the first input.
class SmallProgram {
public:
  explicit SmallProgram(int numInputs)
      : numInputs(numInputs), numRegisters(uint16_t(numInputs)) {}

  /// The register of the result.
  uint16_t result() const { return resultRegister; }

  /// Adds an instruction, whose target is the result so far.
  uint16_t add(TileOpcode opcode, uint16_t a, uint16_t b = 0, uint16_t c = 0) {
    instructions[numInstructions++] = {opcode, numRegisters, a, b, c};
    return resultRegister = numRegisters++;
  }

  uint16_t addNumber(double number) {
    immediates[numImmediates] = number;
    return add(TileOpcode::Immediate, numImmediates++);
  }

  /// The result as arithmetic in a type would give it, if that is a narrow one
  /// of whole numbers.
  void wrapTo(ElementType type) {
    switch (type) {
    case ElementType::SI8:
      add(TileOpcode::WrapToSI8, resultRegister);
      return;
    case ElementType::SI16:
      add(TileOpcode::WrapToSI16, resultRegister);
      return;
    case ElementType::UI8:
      add(TileOpcode::WrapToUI8, resultRegister);
      return;
    case ElementType::UI16:
      add(TileOpcode::WrapToUI16, resultRegister);
      return;
    default:
      return;
    }
  }

  Code code() const {
    return {instructions.data(), immediates.data(), &resultRegister,
            numInstructions,     numInputs,         1};
  }

private:
  std::array<TileInstruction, 16> instructions;
  std::array<double, 4> immediates;
  int numInputs;
  int numInstructions = 0;
  uint16_t numImmediates = 0;
  uint16_t numRegisters;
  uint16_t resultRegister = 0;
};

} // namespace corten::runtime::tile

#endif // CORTEN_RUNTIME_LIB_PROGRAMS_H
