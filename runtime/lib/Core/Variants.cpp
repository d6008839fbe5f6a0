// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Runtime/Kernel.h"

using namespace corten::runtime;

namespace corten::runtime::variants {
#define VARIANT(NAME) extern const KernelVariant NAME;
#include "corten/Runtime/KernelVariants.def"
} // namespace corten::runtime::variants

// The last one only ends the list, which may be empty on other processors.
static constexpr const KernelVariant *kVariants[] = {
#define VARIANT(NAME) &variants::NAME,
#include "corten/Runtime/KernelVariants.def"
    nullptr,
};

std::span<const KernelVariant *const> corten::runtime::kernelVariants() {
  return std::span(kVariants).first(std::size(kVariants) - 1);
}

const KernelVariant *
corten::runtime::selectVariant(PortableKernel kernel, Isa isa,
                               const Invocation &invocation) {
  for (const KernelVariant *variant : kernelVariants())
    if (variant->kernel == kernel && variant->isa <= isa &&
        variant->accepts(invocation))
      return variant;
  return nullptr;
}
