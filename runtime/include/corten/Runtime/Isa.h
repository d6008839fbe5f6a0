// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which instructions kernels may use: found out when the first model is loaded.

#ifndef CORTEN_RUNTIME_ISA_H
#define CORTEN_RUNTIME_ISA_H

#include "corten/Runtime/Error.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace corten::runtime {

/// Levels; each has what those of its family that come before it have.
enum class Isa : uint8_t {
  Portable,
  /// With FMA and F16C.
  Avx2,
  /// F, BW, DQ, VL and VNNI.
  Avx512,
  Avx512Bf16,
  /// Tiles of bf16 and int8.
  Amx,
  /// Of AArch64, which has none of those before it but the first.
  Neon,
};

/// As in CORTEN_ISA: portable, avx2, avx512, avx512_bf16, amx, neon.
std::string_view name(Isa isa);

/// What there is for processors of this family, the least first.
std::span<const Isa> knownIsas();

/// What this CPU has, tried out where CPUID cannot be trusted.
Isa detectedIsa();

/// What to use: what the CPU has, or what CORTEN_ISA says, which must be no
/// more than that.
Expected<Isa> chooseIsa();

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_ISA_H
