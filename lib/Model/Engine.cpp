// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Model/Engine.h"

#include "corten/Compiler/Compiler.h"
#include "corten/Inspect/Archive.h"
#include "corten/Model/Convert.h"

using namespace corten;

using Loaded = runtime::Expected<std::shared_ptr<runtime::Model>>;

/// With the error as the other libraries have it.
static llvm::Expected<std::shared_ptr<runtime::Model>>
translate(Loaded loaded) {
  if (!loaded)
    return llvm::createStringError(loaded.takeError().message());
  return std::move(*loaded);
}

/// The plan becomes the model's.
static llvm::Expected<std::shared_ptr<runtime::Model>>
loadPlan(llvm::Expected<std::string> plan, runtime::LoadOptions options) {
  if (!plan)
    return plan.takeError();
  auto owner = std::make_shared<const std::string>(std::move(*plan));
  std::span bytes(owner->data(), owner->size());
  return translate(runtime::Model::load(std::as_bytes(bytes),
                                        std::move(options), std::move(owner)));
}

llvm::Expected<std::shared_ptr<runtime::Model>>
corten::loadForEngine(Model &model, runtime::LoadOptions options) {
  return loadPlan(model.compile(), std::move(options));
}

llvm::Expected<std::shared_ptr<runtime::Model>>
corten::loadForEngine(mlir::ModuleOp program, runtime::LoadOptions options) {
  return loadPlan(compileProgram(program), std::move(options));
}

/// What `path` is, as a program that can be compiled.
static llvm::Expected<ConvertedFiles> openProgram(llvm::StringRef path) {
  if (isArchivePath(path) || isArchivePath(path.rsplit(':').first))
    return convertFiles({ProgramFile{path.str(), "main", {}, {}, {}}});
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(path);
  if (!model)
    return model.takeError();
  return ConvertedFiles{std::move(*model), {}};
}

llvm::Expected<LoadedModel>
corten::loadForEngine(llvm::StringRef path, runtime::LoadOptions options) {
  if (path.ends_with(".cplan")) {
    llvm::Expected<std::shared_ptr<runtime::Model>> model =
        translate(runtime::Model::load(path.str(), std::move(options)));
    if (!model)
      return model.takeError();
    return LoadedModel{std::move(*model), {}};
  }
  llvm::Expected<ConvertedFiles> program = openProgram(path);
  if (!program)
    return program.takeError();
  llvm::Expected<std::shared_ptr<runtime::Model>> model =
      loadForEngine(*program->model, std::move(options));
  if (!model)
    return model.takeError();
  return LoadedModel{std::move(*model), std::move(program->warnings)};
}
