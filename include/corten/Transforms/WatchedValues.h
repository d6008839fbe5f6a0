// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looking into a program: what its ops compute becomes something that it
// returns.

#ifndef CORTEN_TRANSFORMS_WATCHEDVALUES_H
#define CORTEN_TRANSFORMS_WATCHEDVALUES_H

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace corten {

/// The number that an op has in debug locations, by which tools call it.
std::optional<uint64_t> opNumber(mlir::Location location);

/// A result of an op, and the output that it has become.
struct WatchedValue {
  uint64_t op = 0;
  unsigned result = 0;
  std::string output;
};

/// Inlines calls, and has the graph of this name return the results of the ops
/// with these numbers as well, those of calls included. What is inside of loops
/// and branches stays there. Of ops that have the same number, as those of a
/// graph that is called twice, the last counts. Fails, with a diagnostic, if
/// there is no such graph.
mlir::FailureOr<std::vector<WatchedValue>>
watchValues(mlir::ModuleOp program, llvm::StringRef graph,
            llvm::ArrayRef<uint64_t> ops);

} // namespace corten

#endif // CORTEN_TRANSFORMS_WATCHEDVALUES_H
