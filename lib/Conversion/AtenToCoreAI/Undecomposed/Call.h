// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lowering that is another operator's, on other operands: softmax.int is
// _softmax of the input in another type. The other's lowering runs at once, on
// stand-ins for the nodes that it would see in a decomposed program.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_UNDECOMPOSED_CALL_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_UNDECOMPOSED_CALL_H

#include "Emission/ScalarExpr.h"

#include <variant>

namespace corten {

/// An argument of such a call: a value that has been emitted, several, or an
/// argument as a node has it.
struct CallArgument {
  using Content =
      std::variant<Argument, mlir::Value, llvm::SmallVector<mlir::Value>>;

  CallArgument(llvm::StringRef name, const Argument &argument)
      : name(name), content(argument) {}
  CallArgument(llvm::StringRef name, mlir::Value value)
      : name(name), content(value) {}
  CallArgument(llvm::StringRef name, llvm::ArrayRef<mlir::Value> values)
      : name(name), content(llvm::SmallVector<mlir::Value>(values)) {}
  CallArgument(llvm::StringRef name, bool value)
      : CallArgument(name, Argument::boolean(value)) {}
  CallArgument(llvm::StringRef name, int value)
      : CallArgument(name, Argument::integer(value)) {}
  CallArgument(llvm::StringRef name, int64_t value)
      : CallArgument(name, Argument::integer(value)) {}
  CallArgument(llvm::StringRef name, double value)
      : CallArgument(name, Argument::floating(value)) {}
  CallArgument(llvm::StringRef name, const ScalarExpr &value) : name(name) {
    if (std::optional<double> known = value.known())
      content = Argument::floating(*known);
    else
      content = value.unknown();
  }

  llvm::StringRef name;
  Content content;
};

/// Lowers a call of `op` in place of `caller`, whose results have the given
/// metadata. Every parameter of the schema that the lowering of `op` asks for
/// must be given: there are no defaults.
mlir::FailureOr<Results> call(const AtenNode &caller, Emitter &emit,
                              llvm::StringRef op,
                              llvm::ArrayRef<CallArgument> arguments,
                              llvm::ArrayRef<ValueInfo> results);
/// The same for a call with one result that is the caller's.
mlir::FailureOr<mlir::Value> call(const AtenNode &caller, Emitter &emit,
                                  llvm::StringRef op,
                                  llvm::ArrayRef<CallArgument> arguments);
/// The same for a call whose first result has another type; only that one may
/// be used.
mlir::FailureOr<mlir::Value> call(const AtenNode &caller, Emitter &emit,
                                  llvm::StringRef op,
                                  llvm::ArrayRef<CallArgument> arguments,
                                  mlir::RankedTensorType type);

/// A list of numbers as an argument. `storage` holds it and must outlive it.
Argument listOf(llvm::ArrayRef<int64_t> values,
                llvm::SmallVectorImpl<Argument> &storage);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_UNDECOMPOSED_CALL_H
