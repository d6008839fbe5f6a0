// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"
#include "WithoutGil.h"

NB_MODULE(_native, module) {
  // torch keeps the functions of custom ops until the process ends, and with
  // them all globals of the user's script: converters live on.
  nanobind::set_leak_warnings(false);
  module.doc() = "The C++ side of both packages.";
  corten::bindings::watchForTheEnd();
  corten::bindings::bindModules(module);
  corten::bindings::bindWeights(module);
  corten::bindings::bindProgram(module);
  corten::bindings::bindMetal(module);
  corten::bindings::bindConversion(module);
  corten::bindings::bindPt2(module);
  corten::bindings::bindInspect(module);
  corten::bindings::bindReceive(module);
  corten::bindings::bindGraphDiff(module);
  corten::bindings::bindView(module);
  corten::bindings::bindAsset(module);
  corten::bindings::bindEngine(module);
  corten::bindings::bindSampling(module);
}
