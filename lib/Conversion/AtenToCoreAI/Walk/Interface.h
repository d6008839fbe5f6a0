// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the graph of an entry point takes and returns, and what that is called.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_INTERFACE_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_INTERFACE_H

#include "corten/Conversion/AtenToCoreAI/Conversion.h"

#include "mlir/IR/Location.h"

#include "llvm/ADT/SmallVector.h"

namespace corten {

/// The inputs and outputs of one graph, in order, with their final names.
struct GraphInterface {
  struct Input {
    const InputSpec *spec;
    std::string name;
  };
  struct Output {
    const OutputSpec *spec;
    std::string name;
  };
  llvm::SmallVector<Input> inputs;
  llvm::SmallVector<Output> outputs;
};

/// Fails, with a message out, for names that do not fit.
mlir::FailureOr<GraphInterface> nameInterface(const EntryPoint &entry,
                                              mlir::Location location);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_INTERFACE_H
