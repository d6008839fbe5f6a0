// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of a program's building: what was handed over is checked, and
// rewritten by the passes that every program goes through.

#ifndef CORTEN_PROGRAM_FINISH_H
#define CORTEN_PROGRAM_FINISH_H

#include "corten/Program/Program.h"

#include "llvm/Support/Error.h"

namespace corten {

/// A rewriting of a program that is complete.
struct ProgramPass {
  llvm::StringLiteral name;
  void (*run)(ProgramBuilder &builder);
};

/// What ProgramBuilder::finish() does to a program, in this order.
llvm::ArrayRef<ProgramPass> finishingPasses();

/// Checks that the extents of a node's results are those of tensors: none is
/// negative, each can be counted in 32 bits, as Core AI does, and products of
/// some of those of a tensor never overflow.
llvm::Error checkExtents(const Node &node);

/// Checks that the signature is that of the main graph: it describes every
/// input once and every output in order, and new values of state stand where
/// their names are looked for: before returned values, first those of
/// parameters, then of buffers, then of inputs.
llvm::Error checkSignature(const Program &program);

} // namespace corten

#endif // CORTEN_PROGRAM_FINISH_H
