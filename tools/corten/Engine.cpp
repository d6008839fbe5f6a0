// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Engine.h"

#include "corten/Model/Convert.h"
#include "llvm/Support/MathExtras.h"

#include <cstdlib>
#include <cstring>

using namespace corten;

static llvm::Expected<std::unique_ptr<Model>>
openProgram(llvm::StringRef path) {
  if (!path.ends_with(".pt2"))
    return Model::open(path);
  std::vector<ProgramFile> files(1);
  files.front().path = path.str();
  llvm::Expected<ConvertedFiles> converted = convertFiles(files);
  if (!converted)
    return converted.takeError();
  return std::move(converted->model);
}

llvm::Expected<std::shared_ptr<runtime::Model>>
tool::loadForRunning(llvm::StringRef path, int threads) {
  runtime::LoadOptions options;
  options.threads = threads;
  auto loaded = [&](runtime::Expected<std::shared_ptr<runtime::Model>> model)
      -> llvm::Expected<std::shared_ptr<runtime::Model>> {
    if (!model)
      return llvm::createStringError(path + ": " + model.takeError().message());
    return std::move(*model);
  };
  if (path.ends_with(".cplan"))
    return loaded(runtime::Model::load(path.str(), options));
  llvm::Expected<std::unique_ptr<Model>> program = openProgram(path);
  if (!program)
    return program.takeError();
  llvm::Expected<std::string> plan = (*program)->compile();
  if (!plan)
    return plan.takeError();
  // Where a plan may lie.
  std::shared_ptr<void> memory(
      std::aligned_alloc(64, llvm::alignTo(plan->size(), 64)), std::free);
  if (!memory)
    return llvm::createStringError("there is not enough memory for the plan");
  std::memcpy(memory.get(), plan->data(), plan->size());
  return loaded(runtime::Model::load(
      std::span(static_cast<const std::byte *>(memory.get()), plan->size()),
      options, memory));
}
