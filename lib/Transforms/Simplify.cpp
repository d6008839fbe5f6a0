// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Rewriting.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Transforms/Passes.h"

using namespace corten;

namespace corten {
#define GEN_PASS_DEF_SIMPLIFY
#include "corten/Transforms/Passes.h.inc"
} // namespace corten

namespace {
struct Simplify : corten::impl::SimplifyBase<Simplify> {
  void runOnOperation() override {
    rewrite(getOperation(), {simplifyAlgebra, mergeCasts, simplifyShapes,
                             simplifyBroadcasts, mergeReorderings});
  }
};
} // namespace
