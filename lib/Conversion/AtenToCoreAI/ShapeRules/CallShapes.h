// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a call has the shapes that its operator makes of its operands. torch
// sees to it that programs have; files that somebody changed, and graphs that
// were edited, may not, and lowerings rely on it.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_SHAPERULES_CALLSHAPES_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_SHAPERULES_CALLSHAPES_H

#include "corten/Program/Program.h"

#include <string>

namespace corten {

/// What contradicts itself in a call, for a message; empty if nothing does.
/// `isElementwise` is said of operators that broadcast their operands.
std::string findContradiction(const Node &node, bool isElementwise);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_SHAPERULES_CALLSHAPES_H
