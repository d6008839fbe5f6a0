// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWEREDNODES_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWEREDNODES_H

#include "corten/Program/Program.h"

namespace corten {

/// The nodes of a graph that are lowered: those that some output depends on
/// and, where assertions are kept, these with what they need.
llvm::DenseSet<const Node *> loweredNodes(const Graph &graph,
                                          bool keepsAssertions);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWEREDNODES_H
