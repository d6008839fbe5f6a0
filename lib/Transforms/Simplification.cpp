// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Transforms/Simplification.h"

#include "corten/Transforms/Passes.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace corten;
using namespace mlir;

void corten::buildSimplificationPipeline(OpPassManager &manager,
                                         const SimplificationOptions &options) {
  InlineGraphsOptions inlining;
  inlining.keptComposites.assign(options.keptComposites.begin(),
                                 options.keptComposites.end());
  inlining.keepMarked = options.keepMarked;
  manager.addPass(createInlineGraphs(inlining));
  manager.addPass(createSymbolDCEPass());
  // Shapes that are known make constants, and constants make shapes known.
  FoldConstantsOptions folding;
  folding.maxBytes = options.maxConstantBytes;
  folding.maxGrowth = options.maxConstantGrowth;
  manager.addPass(createSimplify());
  manager.addPass(createFoldConstants(folding));
  manager.addPass(createFoldBranches());
  manager.addPass(createSimplify());
  manager.addPass(createMergeCommonSubexpressions());
  manager.addPass(createRemoveDeadCode());
}

namespace {
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  ListOption<std::string> keptComposites{
      *this, "keep-composites",
      llvm::cl::desc("Names of composites that stay calls")};
  Option<bool> keepMarked{
      *this, "keep-marked",
      llvm::cl::desc("Keep composites, externalized graphs and noinline"),
      llvm::cl::init(false)};
  Option<uint64_t> maxBytes{
      *this, "max-bytes",
      llvm::cl::desc("The largest constant that is computed"),
      llvm::cl::init(SimplificationOptions().maxConstantBytes)};
  Option<uint64_t> maxGrowth{
      *this, "max-growth",
      llvm::cl::desc("How much larger it may be than what it is made of"),
      llvm::cl::init(SimplificationOptions().maxConstantGrowth)};
};
} // namespace

void corten::registerTransforms() {
  registerCortenPasses();
  PassPipelineRegistration<PipelineOptions>(
      "coreai-simplification", "Brings programs into their simplest form",
      [](OpPassManager &manager, const PipelineOptions &given) {
        SimplificationOptions options;
        options.keptComposites.assign(given.keptComposites.begin(),
                                      given.keptComposites.end());
        options.keepMarked = given.keepMarked;
        options.maxConstantBytes = given.maxBytes;
        options.maxConstantGrowth = given.maxGrowth;
        buildSimplificationPipeline(manager, options);
      });
}
