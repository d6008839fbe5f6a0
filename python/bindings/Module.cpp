// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"

NB_MODULE(_native, module) {
  module.doc() = "The C++ side of coreai_torch.";
  corten::bindings::bindModules(module);
  corten::bindings::bindProgram(module);
  corten::bindings::bindConversion(module);
}
