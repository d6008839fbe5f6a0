// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_CONVERSION_ATENTOCOREAI_VALUENAMES_H
#define CORTEN_CONVERSION_ATENTOCOREAI_VALUENAMES_H

#include <string>
#include <vector>

namespace corten {

/// What the inputs, the outputs or the states of an entry point are to be
/// called. Without any they keep the names of the exported program.
struct ValueNames {
  /// One for each value, in order, unless there are originals.
  std::vector<std::string> names;
  /// As many, or none: the values that get the names; others keep theirs. The
  /// program's names, and of states that are buffers their paths
  /// ("layers.0.k").
  std::vector<std::string> originals;
};

} // namespace corten

#endif // CORTEN_CONVERSION_ATENTOCOREAI_VALUENAMES_H
