// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a call has the shapes that its operator makes of its operands. torch
// sees to it that programs have; files that somebody changed, and graphs that
// were edited, may not, and lowerings rely on it.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_SHAPERULES_CALLSHAPES_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_SHAPERULES_CALLSHAPES_H

#include "corten/Program/Program.h"

#include "llvm/Support/Error.h"

namespace corten {

namespace shapes {
class CheckedCall;
} // namespace shapes

/// The rule of an operator's row in AtenTable.def.
struct ShapeRule {
  /// Shapes as a pattern; empty for a rule that is computed.
  llvm::StringRef pattern;
  void (*check)(shapes::CheckedCall &) = nullptr;
};

/// Says what contradicts itself in a call, if anything does.
llvm::Error checkShapes(const Node &node, const ShapeRule &rule);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_SHAPERULES_CALLSHAPES_H
