// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that codes of a byte stand for, and what products with panels of
// codes have in common.

#ifndef CORTEN_RUNTIME_LIB_VECTOR_CODEVALUES_H
#define CORTEN_RUNTIME_LIB_VECTOR_CODEVALUES_H

#include "../Products/CodeKernels.h"
#include "Simd.h"

namespace corten::runtime::CORTEN_LEVEL {

inline constexpr int kPanelColumns = 32;
inline constexpr int kPanelVectors = kPanelColumns / kWidth;
/// Panels are read once: that many bytes ahead, into the second cache. More
/// than that many in the first would be in each other's way.
inline constexpr int64_t kAhead = 8192;

/// Numbers of 8 bits.
template <CodeKind> struct Byte;
template <> struct Byte<CodeKind::Signed> {
  static F load(const uint8_t *from) {
    return toFloat(__builtin_convertvector(loadAs<SI8s>(from), I));
  }
};
template <> struct Byte<CodeKind::Unsigned> {
  static F load(const uint8_t *from) {
    return toFloat(__builtin_convertvector(loadAs<UI8s>(from), I));
  }
};
template <> struct Byte<CodeKind::F8E5M2> {
  // The upper half of an f16.
  static F load(const uint8_t *from) {
    return fromF16(__builtin_convertvector(loadAs<UI8s>(from), UI16s) << 8);
  }
};
template <> struct Byte<CodeKind::F8E4M3FN> {
  // An f16 has the same bits elsewhere, and 8 more powers of two below. All
  // ones are no number.
  static F load(const uint8_t *from) {
    SI16s wide = __builtin_convertvector(loadAs<SI8s>(from), SI16s);
    F value = fromF16(UI16s(wide << 7) & 0xbfff) * 256.0f;
    I bits = __builtin_convertvector(wide, I) & 0x7f;
    return I(bits == 0x7f) ? value * splat(__builtin_nanf("")) : value;
  }
};

} // namespace corten::runtime::CORTEN_LEVEL

#endif // CORTEN_RUNTIME_LIB_VECTOR_CODEVALUES_H
