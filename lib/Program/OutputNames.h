// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the outputs of an outlined program and of its bodies go by.

#ifndef CORTEN_LIB_PROGRAM_OUTPUTNAMES_H
#define CORTEN_LIB_PROGRAM_OUTPUTNAMES_H

#include "corten/Program/Program.h"

namespace corten {

/// Names outputs as an export of their graph alone would: nodes are counted
/// within it, results of a module go by its path. The numbers that the nodes
/// have in the whole program differ from call to call, and coreai-core makes
/// one graph of private ones only if they are equal, names included.
void nameOutputs(ProgramBuilder &builder);

} // namespace corten

#endif // CORTEN_LIB_PROGRAM_OUTPUTNAMES_H
