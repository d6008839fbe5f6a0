// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a program to the engine: what `corten run` and `corten.load` do,
// whatever the program lies in.

#ifndef CORTEN_MODEL_ENGINE_H
#define CORTEN_MODEL_ENGINE_H

#include "corten/Model/Model.h"
#include "corten/Pt2/WeightSource.h"
#include "corten/Runtime/Model.h"
#include "corten/Transforms/WatchedValues.h"

namespace corten {

/// A model that runs, and what the user should know about it all the same.
struct LoadedModel {
  std::shared_ptr<runtime::Model> model;
  std::vector<std::string> warnings;
};

/// Compiles Metal kernels for the CPU, and runs each call in a process that can
/// do nothing else.
runtime::ForeignLoader metalKernels();

/// Loads a plan (NAME.cplan), or compiles and loads an asset, the text of a
/// program, or what torch.export.save wrote (NAME.pt2). Weights of an asset
/// stay in it, mapped. Metal kernels of a plan, which may be from anywhere, are
/// run only where `options.foreign` says how; those of a program that is
/// compiled here are. `weights` says where those of NAME.pt2 are, if not in it.
llvm::Expected<LoadedModel> loadForEngine(llvm::StringRef path,
                                          runtime::LoadOptions options = {},
                                          const WeightSource &weights = {});

/// Loads the bytes of a plan, which become the model's.
llvm::Expected<std::shared_ptr<runtime::Model>>
loadPlan(llvm::Expected<std::string> plan, runtime::LoadOptions options);

/// Compiles an opened program as it is now, and loads it.
llvm::Expected<std::shared_ptr<runtime::Model>>
loadForEngine(Model &model, runtime::LoadOptions options = {});

/// The same for a program that is in no model. Weights are copied: it may go.
llvm::Expected<std::shared_ptr<runtime::Model>>
loadForEngine(mlir::ModuleOp program, runtime::LoadOptions options = {});

/// A model that also returns what ops inside of a graph compute.
struct WatchedModel {
  std::shared_ptr<runtime::Model> model;
  std::vector<WatchedValue> values;
};

/// The same with the results of some ops as further outputs of a graph.
llvm::Expected<WatchedModel> loadWatched(mlir::ModuleOp program,
                                         llvm::StringRef graph,
                                         llvm::ArrayRef<uint64_t> ops,
                                         runtime::LoadOptions options = {});

} // namespace corten

#endif // CORTEN_MODEL_ENGINE_H
