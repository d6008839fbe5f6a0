// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs to put something wrong into: a call of each operator of the table,
// made up from its schema, and the seeds of the convert fuzzer.

#ifndef CORTEN_UNITTESTS_CONVERSION_OPERATORCALLS_H
#define CORTEN_UNITTESTS_CONVERSION_OPERATORCALLS_H

#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Program/Program.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace corten {

/// What a conversion gave: a module, or a message.
struct Outcome {
  std::string module;
  std::string message;
};

/// Converts a program, and writes it as an asset.
Outcome convertedText(const Program &program);

/// An operator with its schema, which is empty if the table of schemas does not
/// have it.
struct OperatorText {
  llvm::StringRef nameSpace, name, schema;
};
OperatorText textOf(const SupportedOperator &op);

/// Something that makes a call of most operators valid.
struct Operand {
  ScalarType dtype;
  llvm::SmallVector<Size> shape;
  /// For each integer, and for how many of them a list is.
  int64_t integer;
  unsigned length;
};

/// Makes a program of one call, which is returned, on tensors that are all the
/// same.
Node &addCallOf(ProgramBuilder &builder, const OperatorText &op,
                const Operand &operand);

/// Calls `visit` with a valid call of every operator that one can be made up
/// for. Returns how many that were, and how many operators there are.
std::pair<size_t, size_t>
forEachOperator(llvm::function_ref<void(Program &)> visit);

/// Calls `visit` with every seed that can be read. Returns how many that were.
size_t forEachSeed(llvm::function_ref<void(Program &)> visit);

} // namespace corten

#endif // CORTEN_UNITTESTS_CONVERSION_OPERATORCALLS_H
