// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plan is as a file: the bytes that schema/Plan.fbs describes, and a
// digest of them at the end.

#ifndef CORTEN_RUNTIME_PLANFILE_H
#define CORTEN_RUNTIME_PLANFILE_H

#include "corten/Runtime/Error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace corten::runtime {

/// `Plan.version` that this runtime writes and reads.
inline constexpr uint32_t kPlanVersion = 1;

/// XXH3-128 of these bytes, as 32 hexadecimal digits. `passed` is told of each
/// piece that has been read.
std::string
digestOf(std::span<const std::byte> bytes,
         const std::function<void(std::span<const std::byte>)> &passed = {});

/// What to append to the bytes of a finished plan: how many they are, and their
/// digest. A plan that was cut off or damaged is found by it.
std::string planTrailer(std::span<const std::byte> plan);

/// The bytes of the plan in those of a file, if the trailer is right.
Expected<std::span<const std::byte>> openPlan(std::span<const std::byte> file);

/// The digest in a trailer that is right.
std::array<unsigned char, 16> digestInTrailer(std::span<const std::byte> file);

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_PLANFILE_H
