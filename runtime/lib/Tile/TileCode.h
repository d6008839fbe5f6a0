// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the forms of tile programs are given: plain pointers. A form is compiled
// for certain instructions, so it must not instantiate anything that the linker
// could take for others.

#ifndef CORTEN_RUNTIME_LIB_TILECODE_H
#define CORTEN_RUNTIME_LIB_TILECODE_H

#include "corten/Runtime/TileProgram.h"

namespace corten::runtime::tile {

/// A program that somebody else owns.
struct Code {
  const TileInstruction *instructions;
  const double *immediates;
  const uint16_t *results;
  int numInstructions;
  int numInputs;
  int numResults;
};

Code codeOf(const TileProgram &program);

/// An operand of rows: `rowStep` elements lie between the beginnings of two.
struct Rows {
  void *data;
  int64_t step;
  int64_t rowStep;
  ElementType type;
};

/// Runs a program over `numRows` rows of `count` elements. `lanes` are those of
/// the results.
struct Job {
  Code code;
  const Rows *inputs;
  const Rows *outputs;
  const TileLane *lanes;
  int64_t numRows;
  int64_t count;
};

using Form = void (*)(const Job &);

void runPortable(const Job &job);

Form formFor(Isa isa);

/// Finds the lanes of results. An error if an input's type is not that of an
/// instruction that takes it.
Error resolveLanes(const Code &code, std::span<const ElementType> inputs,
                   std::span<TileLane> results);

} // namespace corten::runtime::tile

#endif // CORTEN_RUNTIME_LIB_TILECODE_H
