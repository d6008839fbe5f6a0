// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from `coreai` to `coreai`; Passes.td says what each does.

#ifndef CORTEN_TRANSFORMS_PASSES_H
#define CORTEN_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace corten {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "corten/Transforms/Passes.h.inc"

} // namespace corten

#endif // CORTEN_TRANSFORMS_PASSES_H
