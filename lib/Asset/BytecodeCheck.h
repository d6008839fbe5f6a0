// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A look at bytecode before MLIR's reader gets it.
//
// That reader is made for files of its own making: it sets aside memory for as
// many results, values or strings as the file claims, and follows regions as
// deep as they go. Here every count is held against the bytes that are there
// to back it, and every depth against what a program can need.

#ifndef CORTEN_LIB_ASSET_BYTECODECHECK_H
#define CORTEN_LIB_ASSET_BYTECODECHECK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace corten {

/// Succeeds if it is safe to read `bytecode`, which does not mean that it is
/// right.
llvm::Error checkBytecode(llvm::StringRef bytecode);

} // namespace corten

#endif // CORTEN_LIB_ASSET_BYTECODECHECK_H
