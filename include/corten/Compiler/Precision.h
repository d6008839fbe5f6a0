// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How exact a plan has to be.

#ifndef CORTEN_COMPILER_PRECISION_H
#define CORTEN_COMPILER_PRECISION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace corten {

/// What products with constant weights are computed in, where a user allows it.
/// Sums, and all else, are as in the program.
enum class Factors {
  /// As the program says.
  Full,
  /// Both sides rounded to bf16.
  BF16,
  /// Of matrices: weights quantized to bytes for each column, the other side
  /// for each row in every call.
  Int8,
};

/// What a user allows. Nothing, unless it is said.
struct Precision {
  Factors factors = Factors::Full;
  /// Forms of convolutions whose errors are up to ten times those of the sum of
  /// all products.
  bool isFastMath = false;
};

/// Of names with commas between them: `bf16` or `int8`, and `fast_math`.
llvm::Expected<Precision> parsePrecision(llvm::StringRef names);

} // namespace corten

#endif // CORTEN_COMPILER_PRECISION_H
