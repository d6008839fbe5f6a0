// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Model/Engine.h"

#include "PlanCache.h"

#include "corten/Compiler/Compiler.h"
#include "corten/Inspect/Archive.h"
#include "corten/Model/Convert.h"
#include "corten/Support/DiagnosticError.h"

#include "llvm/Support/MathExtras.h"

#include <cstdlib>
#include <cstring>

using namespace corten;

using Loaded = runtime::Expected<std::shared_ptr<runtime::Model>>;

/// With the error as the other libraries have it.
static llvm::Expected<std::shared_ptr<runtime::Model>>
translate(Loaded loaded) {
  if (!loaded)
    return llvm::createStringError(loaded.takeError().message());
  return std::move(*loaded);
}

/// What it is to be compiled in; a plan that is made so has it, and need not be
/// asked for it.
static llvm::Expected<Precision> takePrecision(runtime::LoadOptions &options) {
  return parsePrecision(std::exchange(options.precision, {}));
}

llvm::Expected<std::shared_ptr<runtime::Model>>
corten::loadPlan(llvm::Expected<std::string> plan,
                 runtime::LoadOptions options) {
  if (!plan)
    return plan.takeError();
  if (!options.foreign)
    options.foreign = metalKernels();
  // Where a plan may lie.
  std::shared_ptr<void> memory(
      std::aligned_alloc(
          runtime::kMemoryAlignment,
          llvm::alignTo(plan->size(), runtime::kMemoryAlignment)),
      std::free);
  if (!memory)
    return llvm::createStringError("there is not enough memory for the plan");
  std::memcpy(memory.get(), plan->data(), plan->size());
  std::span bytes(static_cast<const std::byte *>(memory.get()), plan->size());
  return translate(
      runtime::Model::load(bytes, std::move(options), std::move(memory)));
}

llvm::Expected<std::shared_ptr<runtime::Model>>
corten::loadForEngine(Model &model, runtime::LoadOptions options) {
  llvm::Expected<Precision> precision = takePrecision(options);
  if (!precision)
    return precision.takeError();
  return loadPlan(model.compile(/*isSelfContained=*/false, *precision),
                  std::move(options));
}

llvm::Expected<std::shared_ptr<runtime::Model>>
corten::loadForEngine(mlir::ModuleOp program, runtime::LoadOptions options) {
  llvm::Expected<Precision> precision = takePrecision(options);
  if (!precision)
    return precision.takeError();
  CompileOptions compiling;
  compiling.precision = *precision;
  return loadPlan(compileProgram(program, compiling), std::move(options));
}

llvm::Expected<WatchedModel> corten::loadWatched(mlir::ModuleOp program,
                                                 llvm::StringRef graph,
                                                 llvm::ArrayRef<uint64_t> ops,
                                                 runtime::LoadOptions options) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = program.clone();
  DiagnosticError error(program.getContext(), DiagnosticError::Place::Shown);
  mlir::FailureOr<std::vector<WatchedValue>> values =
      watchValues(*copy, graph, ops);
  if (failed(values))
    return error.take("the program cannot be looked into");
  llvm::Expected<std::shared_ptr<runtime::Model>> model =
      loadForEngine(*copy, std::move(options));
  if (!model)
    return model.takeError();
  return WatchedModel{std::move(*model), std::move(*values)};
}

/// What `path` is, as a program that can be compiled.
static llvm::Expected<ConvertedFiles> openProgram(llvm::StringRef path,
                                                  const WeightSource &weights) {
  if (isArchivePath(path) || isArchivePath(path.rsplit(':').first)) {
    ConvertFilesOptions options;
    options.assertions = true;
    options.weights = weights;
    return convertFiles({ProgramFile{path.str(), "main", {}, {}, {}}}, options);
  }
  if (!weights.folder.empty())
    return llvm::createStringError(path + " has its own weights: only NAME.pt2 "
                                          "takes them from a folder");
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(path);
  if (!model)
    return model.takeError();
  return ConvertedFiles{std::move(*model), {}};
}

llvm::Expected<LoadedModel> corten::loadForEngine(llvm::StringRef path,
                                                  runtime::LoadOptions options,
                                                  const WeightSource &weights) {
  if (path.ends_with(".cplan") && weights.folder.empty()) {
    llvm::Expected<std::shared_ptr<runtime::Model>> model =
        translate(runtime::Model::load(path.str(), std::move(options)));
    if (!model)
      return llvm::createStringError(path + ": " +
                                     llvm::toString(model.takeError()));
    return LoadedModel{std::move(*model), {}};
  }
  if (!options.assetPath.empty())
    return llvm::createStringError(
        path + ": only a plan (NAME.cplan) takes weights from an asset that "
               "can be somewhere else");
  std::optional<CachedPlan> cached;
  if (weights.folder.empty())
    cached = CachedPlan::of(path, options.precision);
  llvm::Expected<Precision> precision = takePrecision(options);
  if (!precision)
    return precision.takeError();
  if (!options.foreign)
    options.foreign = metalKernels();
  if (cached) {
    options.preparedPath = cached->weightPath();
    if (std::shared_ptr<runtime::Model> model = cached->load(options))
      return LoadedModel{std::move(model), {}};
  }
  llvm::Expected<ConvertedFiles> program = openProgram(path, weights);
  if (!program)
    return program.takeError();
  llvm::Expected<std::string> plan =
      program->model->compile(/*isSelfContained=*/false, *precision);
  if (cached && plan)
    cached->store(*plan);
  llvm::Expected<std::shared_ptr<runtime::Model>> model =
      loadPlan(std::move(plan), std::move(options));
  if (cached)
    cached->finish();
  if (!model)
    return model.takeError();
  return LoadedModel{std::move(*model), std::move(program->warnings)};
}
