// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models for commands that run them.

#ifndef CORTEN_TOOLS_CORTEN_ENGINE_H
#define CORTEN_TOOLS_CORTEN_ENGINE_H

#include "corten/Runtime/Kernel.h"
#include "corten/Runtime/Model.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace corten::tool {

/// Loads a plan, or compiles an asset or a program of torch.export.save.
llvm::Expected<std::shared_ptr<runtime::Model>>
loadForRunning(llvm::StringRef path, int threads);

} // namespace corten::tool

#endif // CORTEN_TOOLS_CORTEN_ENGINE_H
