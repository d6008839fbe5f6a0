// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of this library in the order in which a program goes through them:
// the first stage of the engine's compiler, and what `corten optimize` does.

#ifndef CORTEN_TRANSFORMS_SIMPLIFICATION_H
#define CORTEN_TRANSFORMS_SIMPLIFICATION_H

#include "mlir/Pass/PassManager.h"

#include <string>
#include <vector>

namespace corten {

struct SimplificationOptions {
  /// Names of composites that stay calls, because the caller has something
  /// better for them than their body.
  std::vector<std::string> keptComposites;
  /// Keep all composites, externalized graphs and what is `noinline`: devices
  /// and other programs know them.
  bool keepMarked = false;
  /// The largest constant that is computed, and how much larger it may be than
  /// what it is computed from, in bytes.
  uint64_t maxConstantBytes = uint64_t(1) << 20;
  uint64_t maxConstantGrowth = uint64_t(1) << 16;
};

/// Adds the passes that bring a program of the `coreai` dialect, before or
/// after it was saved, into its simplest form. What it computes stays the same
/// bit for bit.
void buildSimplificationPipeline(mlir::OpPassManager &manager,
                                 const SimplificationOptions &options = {});

/// Makes the passes and the pipeline, `coreai-simplification`, known to
/// command lines.
void registerTransforms();

} // namespace corten

#endif // CORTEN_TRANSFORMS_SIMPLIFICATION_H
