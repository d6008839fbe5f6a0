// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether an asset computes what the programs do that it was converted from.

#ifndef CORTEN_TOOLS_CORTEN_CHECK_H
#define CORTEN_TOOLS_CORTEN_CHECK_H

#include "Commands.h"
#include "corten/Model/Convert.h"

namespace corten::tool {

/// What an asset is compared with.
enum class Reference : uint8_t {
  /// The program as it is converted without any optimization: each operation
  /// on its own, in portable code, with checks of memory.
  Engine,
  /// PyTorch, which the Python package brings.
  Torch,
};

struct CheckOptions {
  Reference reference = Reference::Engine;
  WeightSource weights;
  /// Print all tables to the standard output; otherwise only those of what
  /// differs, to the standard error.
  bool isShown = true;
  /// What this command was called as.
  std::string command;
};

/// Runs each entry point on the inputs that its program was exported with, or
/// on random ones of their shapes where those are without data, and compares
/// results and states; tables go to the standard output. Found if something is
/// too far off.
llvm::Expected<int> checkAsset(llvm::StringRef asset,
                               llvm::ArrayRef<ProgramFile> files,
                               const CheckOptions &options);

} // namespace corten::tool

#endif // CORTEN_TOOLS_CORTEN_CHECK_H
