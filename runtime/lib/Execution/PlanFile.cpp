// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Runtime/PlanFile.h"

#include <algorithm>
#include <array>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace corten::runtime;

namespace {
/// In the byte order of FlatBuffers, which is also that of every machine that
/// this runs on.
struct Trailer {
  uint64_t bytes;
  std::array<unsigned char, 16> digest;
};
static_assert(sizeof(Trailer) == 24);
} // namespace

static std::array<unsigned char, 16>
computeDigest(std::span<const std::byte> bytes) {
  XXH128_canonical_t digits;
  XXH128_canonicalFromHash(&digits, XXH3_128bits(bytes.data(), bytes.size()));
  std::array<unsigned char, 16> result;
  std::memcpy(result.data(), digits.digest, result.size());
  return result;
}

std::string corten::runtime::digestOf(
    std::span<const std::byte> bytes,
    const std::function<void(std::span<const std::byte>)> &passed) {
  constexpr size_t kPiece = size_t(1) << 24;
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  while (!bytes.empty()) {
    std::span<const std::byte> piece =
        bytes.first(std::min(bytes.size(), kPiece));
    XXH3_128bits_update(&state, piece.data(), piece.size());
    if (passed)
      passed(piece);
    bytes = bytes.subspan(piece.size());
  }
  XXH128_canonical_t digits;
  XXH128_canonicalFromHash(&digits, XXH3_128bits_digest(&state));
  std::string text;
  for (unsigned char byte : digits.digest) {
    text += "0123456789abcdef"[byte / 16];
    text += "0123456789abcdef"[byte % 16];
  }
  return text;
}

std::string corten::runtime::planTrailer(std::span<const std::byte> plan) {
  Trailer trailer = {plan.size(), computeDigest(plan)};
  return {reinterpret_cast<const char *>(&trailer), sizeof trailer};
}

Expected<std::span<const std::byte>>
corten::runtime::openPlan(std::span<const std::byte> file) {
  // Root offset, and then the identifier.
  if (file.size() < 8 || std::memcmp(file.data() + 4, "CPLN", 4) != 0)
    return Error("this is no plan: make one with `corten compile`");
  Trailer trailer;
  if (file.size() < 8 + sizeof trailer)
    return Error("the plan was cut off: compile the model again");
  std::span<const std::byte> plan = file.first(file.size() - sizeof trailer);
  std::memcpy(&trailer, plan.data() + plan.size(), sizeof trailer);
  if (trailer.bytes != plan.size())
    return Error("the plan was cut off: compile the model again");
  if (trailer.digest != computeDigest(plan))
    return Error("the plan is damaged: compile the model again");
  return plan;
}

std::array<unsigned char, 16>
corten::runtime::digestInTrailer(std::span<const std::byte> file) {
  Trailer trailer;
  std::memcpy(&trailer, file.data() + file.size() - sizeof trailer,
              sizeof trailer);
  return trailer.digest;
}
