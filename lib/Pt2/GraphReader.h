// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that are no more than their graph: the JSON of an archive without
// the archive. What a program says of its weights is type and shape; their
// elements are made up. For tests, which need neither torch nor files.

#ifndef CORTEN_LIB_PT2_GRAPHREADER_H
#define CORTEN_LIB_PT2_GRAPHREADER_H

#include "corten/Program/Program.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace corten::pt2 {

/// Reads a program from its JSON. Weights larger than `maxWeightBytes` are
/// missing, as they are in an archive that was cut short.
llvm::Expected<std::unique_ptr<Program>>
readGraph(llvm::StringRef json, size_t maxWeightBytes,
          llvm::function_ref<bool(const Operator &)> hasLowering);

} // namespace corten::pt2

#endif // CORTEN_LIB_PT2_GRAPHREADER_H
