// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Portable.h"

#include "corten/Runtime/Foreign.h"

#include <algorithm>

using namespace corten::runtime;

Error portable::runForeign(const Invocation &call) {
  if (!call.foreign)
    return Error("Foreign has no kernel to run");
  auto isDense = [](const Tensor &tensor) { return tensor.isContiguous(); };
  if (!std::ranges::all_of(call.inputs, isDense) ||
      !std::ranges::all_of(call.outputs, isDense))
    return Error("Foreign takes tensors in row-major order only");
  return call.foreign->run(call);
}
