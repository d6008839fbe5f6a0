// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variants of kernels that are the same for every level of instructions, but
// for the table of functions they use.

#ifndef CORTEN_RUNTIME_LIB_VARIANTS_H
#define CORTEN_RUNTIME_LIB_VARIANTS_H

#include "Vectors.h"

#include "corten/Runtime/Kernel.h"

/// One of `FUNCTION(const Vectors &, const Invocation &)` for the kernel NAME
/// and a level.
#define CORTEN_VARIANT(NAME, LEVEL, NAMESPACE, ACCEPTS, FUNCTION, SCRATCH)     \
  constinit const corten::runtime::KernelVariant                               \
      corten::runtime::variants::NAME##LEVEL = {                               \
          #NAME #LEVEL,                                                        \
          PortableKernel::NAME,                                                \
          Isa::LEVEL,                                                          \
          ACCEPTS,                                                             \
          [](const Invocation &call) {                                         \
            return FUNCTION(NAMESPACE::kVectors, call);                        \
          },                                                                   \
          SCRATCH};

#ifdef CORTEN_RUNTIME_X86
#define CORTEN_VARIANTS(NAME, ACCEPTS, FUNCTION, SCRATCH)                      \
  CORTEN_VARIANT(NAME, Avx512, avx512, ACCEPTS, FUNCTION, SCRATCH)             \
  CORTEN_VARIANT(NAME, Avx2, avx2, ACCEPTS, FUNCTION, SCRATCH)
/// Of a kernel whose scratch depends on the level: SCRATCH is a function of the
/// same two.
#define CORTEN_VARIANTS_WITH_SCRATCH(NAME, ACCEPTS, FUNCTION, SCRATCH)         \
  CORTEN_VARIANT(                                                              \
      NAME, Avx512, avx512, ACCEPTS, FUNCTION,                                 \
      [](const Invocation &call) { return SCRATCH(avx512::kVectors, call); })  \
  CORTEN_VARIANT(                                                              \
      NAME, Avx2, avx2, ACCEPTS, FUNCTION,                                     \
      [](const Invocation &call) { return SCRATCH(avx2::kVectors, call); })
/// Of a kernel that also has products of several elements of k.
#define CORTEN_DOT_VARIANTS(NAME, ACCEPTS, FUNCTION, SCRATCH)                  \
  CORTEN_VARIANT(                                                              \
      NAME, Amx, amx, ACCEPTS, FUNCTION,                                       \
      [](const Invocation &call) { return SCRATCH(amx::kVectors, call); })     \
  CORTEN_VARIANT(NAME, Avx512Bf16, avx512_bf16, ACCEPTS, FUNCTION,             \
                 [](const Invocation &call) {                                  \
                   return SCRATCH(avx512_bf16::kVectors, call);                \
                 })                                                            \
  CORTEN_VARIANTS_WITH_SCRATCH(NAME, ACCEPTS, FUNCTION, SCRATCH)
#elif defined(CORTEN_RUNTIME_NEON)
#define CORTEN_VARIANTS(NAME, ACCEPTS, FUNCTION, SCRATCH)                      \
  CORTEN_VARIANT(NAME, Neon, neon, ACCEPTS, FUNCTION, SCRATCH)
#define CORTEN_VARIANTS_WITH_SCRATCH(NAME, ACCEPTS, FUNCTION, SCRATCH)         \
  CORTEN_VARIANT(                                                              \
      NAME, Neon, neon, ACCEPTS, FUNCTION,                                     \
      [](const Invocation &call) { return SCRATCH(neon::kVectors, call); })
#define CORTEN_DOT_VARIANTS(NAME, ACCEPTS, FUNCTION, SCRATCH)                  \
  CORTEN_VARIANTS_WITH_SCRATCH(NAME, ACCEPTS, FUNCTION, SCRATCH)
#else
#define CORTEN_DOT_VARIANTS(NAME, ACCEPTS, FUNCTION, SCRATCH)                  \
  CORTEN_VARIANTS_WITH_SCRATCH(NAME, ACCEPTS, FUNCTION, SCRATCH)
#define CORTEN_VARIANTS(NAME, ACCEPTS, FUNCTION, SCRATCH)                      \
  [[maybe_unused]] static constexpr auto k##NAME##Fast = FUNCTION;             \
  [[maybe_unused]] static constexpr auto k##NAME##Accepts = ACCEPTS;
#define CORTEN_VARIANTS_WITH_SCRATCH(NAME, ACCEPTS, FUNCTION, SCRATCH)         \
  CORTEN_VARIANTS(NAME, ACCEPTS, FUNCTION, SCRATCH)                            \
  [[maybe_unused]] static constexpr auto k##NAME##Scratch = SCRATCH;
#endif

namespace corten::runtime::variants {
#define VARIANT(NAME) extern const KernelVariant NAME;
#include "corten/Runtime/KernelVariants.def"
} // namespace corten::runtime::variants

#endif // CORTEN_RUNTIME_LIB_VARIANTS_H
