// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Runtime/Kernel.h"

#include "../Portable/Portable.h"

#include <algorithm>

using namespace corten::runtime;

static constexpr KernelInfo kKernels[] = {
#define KERNEL(NAME, INPUTS, OUTPUTS, NUMBERS)                                 \
  {#NAME, &portable::run##NAME, INPUTS, OUTPUTS, NUMBERS},
#include "corten/Runtime/PortableKernels.def"
};

const KernelInfo &corten::runtime::info(PortableKernel kernel) {
  return kKernels[size_t(kernel)];
}

std::span<const KernelInfo> corten::runtime::portableKernels() {
  return kKernels;
}

Error corten::runtime::call(PortableKernel kernel,
                            const Invocation &invocation) {
  const KernelInfo &entry = info(kernel);
  auto differs = [](int wanted, size_t count) {
    return wanted >= 0 && size_t(wanted) != count;
  };
  if (differs(entry.numInputs, invocation.inputs.size()) ||
      differs(entry.numOutputs, invocation.outputs.size()) ||
      differs(entry.numNumbers, invocation.numbers.size()))
    return Error(std::string(entry.name) +
                 " was called with too many or too few tensors or numbers");
  return entry.function(invocation);
}

std::optional<PortableKernel>
corten::runtime::findKernel(std::string_view name) {
  const auto *found = std::ranges::find(kKernels, name, &KernelInfo::name);
  if (found == std::end(kKernels))
    return std::nullopt;
  return PortableKernel(found - std::begin(kKernels));
}
