// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way back: a program of coreai-core's becomes a module in a context of
// ours. It crosses as text that mentions weights by key; the data of a weight
// is attached afterwards, as a view where its memory is known on this side and
// as bytecode where only coreai-core knows it. Tools that look at programs
// (diff, view, save) start here; nothing here changes one.

#ifndef CORTEN_HANDOVER_RECEIVE_H
#define CORTEN_HANDOVER_RECEIVE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace corten {

/// A module and the context it lives in. Weights are resources of the context,
/// which keeps their memory alive.
struct ReceivedModule {
  /// Declared first: the module must go before its context does.
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Reads the text, or the bytecode, of a program. Locations are those that the
/// text has. The error says what the parser or the verifier said.
llvm::Expected<std::unique_ptr<ReceivedModule>> receive(llvm::StringRef text);

/// A weight that the module mentions and whose data it does not have.
struct MissingWeight {
  std::string key;
  /// Place of the first operation that mentions it, in the order of a walk that
  /// visits an operation after what it contains.
  unsigned operation = 0;
};

/// In the order of the walk; each key once.
std::vector<MissingWeight> missingWeights(const ReceivedModule &received);

/// Gives the weight its data. It is copied only if it does not start where a
/// weight may; else `owner` is kept as long as the context lives.
void attachWeight(ReceivedModule &received, llvm::StringRef key,
                  llvm::ArrayRef<char> data, std::shared_ptr<const void> owner);

/// The same for data that comes as bytecode of a module with one operation,
/// which mentions one weight. The data is copied once.
llvm::Error attachWeight(ReceivedModule &received, llvm::StringRef key,
                         llvm::StringRef bytecode);

} // namespace corten

#endif // CORTEN_HANDOVER_RECEIVE_H
