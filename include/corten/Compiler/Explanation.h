// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler made of a program, for people.

#ifndef CORTEN_COMPILER_EXPLANATION_H
#define CORTEN_COMPILER_EXPLANATION_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <utility>
#include <vector>

namespace corten {

/// What stages and passes took, in milliseconds, in the order in which they
/// were run first.
using StageTimes = std::vector<std::pair<std::string, double>>;

/// Each kernel with its layout, what was fused into it and where it comes from;
/// what was not fused, and why; what is nearly one kernel, and why not; what
/// stages took.
void explainPlan(mlir::ModuleOp plans, const StageTimes &times,
                 llvm::raw_ostream &out);

} // namespace corten

#endif // CORTEN_COMPILER_EXPLANATION_H
