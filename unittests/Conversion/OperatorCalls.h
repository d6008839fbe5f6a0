// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs to put something wrong into: a call of each operator of the table,
// made up from its schema, and the seeds of the convert fuzzer.

#ifndef CORTEN_UNITTESTS_CONVERSION_OPERATORCALLS_H
#define CORTEN_UNITTESTS_CONVERSION_OPERATORCALLS_H

#include "corten/Conversion/AtenToCoreAI/Conversion.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace corten {

/// What a conversion gave: a module, or a message.
struct Outcome {
  std::string module;
  std::string message;
};

/// Converts a program, and writes it as an asset.
Outcome convertedText(const Program &program);

/// Calls `visit` with a valid call of every operator that one can be made up
/// for. Returns how many that were, and how many operators there are.
std::pair<size_t, size_t>
forEachOperator(llvm::function_ref<void(Program &)> visit);

/// Calls `visit` with every seed that can be read. Returns how many that were.
size_t forEachSeed(llvm::function_ref<void(Program &)> visit);

} // namespace corten

#endif // CORTEN_UNITTESTS_CONVERSION_OPERATORCALLS_H
