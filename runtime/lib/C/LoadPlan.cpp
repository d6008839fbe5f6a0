// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading without a compiler: only in the library that has none.

#include "corten/C/Handles.h"

using namespace corten;

CortenError *cortenEngineLoad(const char *path,
                              const CortenLoadOptions *options,
                              CortenEngine **engine) {
  if (!path)
    return capi::makeError("no path of a plan");
  std::string name = path;
  while (name.ends_with('/'))
    name.pop_back();
  if (name.ends_with(".aimodel") || name.ends_with(".pt2"))
    return capi::makeError(name +
                           ": the runtime alone loads plans: make one with "
                           "`corten compile`, or link libcorten");
  if (capi::take(options).weights)
    return capi::makeError(name + " is a plan, which has its own weights: only "
                                  "NAME.pt2 takes them from a folder");
  runtime::Expected<runtime::LoadOptions> chosen = capi::loadOptions(options);
  if (!chosen)
    return capi::makeError(chosen.takeError().message());
  runtime::Expected<std::shared_ptr<runtime::Model>> model =
      runtime::Model::load(path, *chosen);
  if (!model)
    return capi::makeError(model.takeError().message());
  *engine = new CortenEngine(std::move(*model));
  return nullptr;
}
