// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading for the engine with a compiler; the rest of its C interface is in
// runtime/lib/C.

#include "corten/Model/Engine.h"

#include "Weights.h"

#include "corten/C/Handles.h"

using namespace corten;

CortenError *cortenEngineLoad(const char *path,
                              const CortenLoadOptions *options,
                              CortenEngine **engine) {
  if (!path)
    return capi::makeError("no path of a model");
  runtime::Expected<runtime::LoadOptions> chosen = capi::loadOptions(options);
  if (!chosen)
    return capi::makeError(chosen.takeError().message());
  llvm::Expected<LoadedModel> loaded =
      loadForEngine(path, *chosen, capi::weightsOf(capi::take(options)));
  if (!loaded)
    return capi::makeError(llvm::toString(loaded.takeError()));
  *engine =
      new CortenEngine(std::move(loaded->model), std::move(loaded->warnings));
  return nullptr;
}
