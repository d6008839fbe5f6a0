// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What vectors need of NEON, as every AArch64 has it. SimdAvx.h says what each
// function is to do. Included by Simd.h.

#ifndef CORTEN_RUNTIME_LIB_SIMDNEON_H
#define CORTEN_RUNTIME_LIB_SIMDNEON_H

#include <arm_neon.h>

namespace corten::runtime::CORTEN_LEVEL {

inline F fma(F a, F b, F c) { return F(vfmaq_f32(c, a, b)); }
inline D fma(D a, D b, D c) { return D(vfmaq_f64(c, a, b)); }

// The instructions for it give NaN whichever operand is NaN.
inline F larger(F a, F b) { return I(a > b) ? a : b; }
inline F smaller(F a, F b) { return I(a < b) ? a : b; }
inline D larger(D a, D b) { return L(a > b) ? a : b; }
inline D smaller(D a, D b) { return L(a < b) ? a : b; }

inline F sqrt(F x) { return F(vsqrtq_f32(x)); }
inline D sqrt(D x) { return D(vsqrtq_f64(x)); }

inline constexpr int kToNearest = 0;
inline constexpr int kToZero = 1;
inline constexpr int kDown = 2;
template <int direction> inline F round(F x) {
  if constexpr (direction == kToNearest)
    return F(vrndnq_f32(x));
  else if constexpr (direction == kToZero)
    return F(vrndq_f32(x));
  else
    return F(vrndmq_f32(x));
}
template <int direction> inline D round(D x) {
  if constexpr (direction == kToNearest)
    return D(vrndnq_f64(x));
  else if constexpr (direction == kToZero)
    return D(vrndq_f64(x));
  else
    return D(vrndmq_f64(x));
}

inline I toNearest(F x) { return I(vcvtnq_s32_f32(x)); }
inline I truncate(F x) { return I(vcvtq_s32_f32(x)); }

inline F scaleBy(F x, F n) {
  I power = toNearest(n) + 127;
  power = I(power > 0) ? power : I{};
  return x * F(power << 23);
}

inline D firstHalf(F x) { return D(vcvt_f64_f32(vget_low_f32(x))); }
inline D secondHalf(F x) { return D(vcvt_high_f64_f32(x)); }
inline F join(D first, D second) {
  return F(vcvt_high_f32_f64(vcvt_f32_f64(first), second));
}

inline F fromF16(UI16s x) {
  return F(vcvt_f32_f16(vreinterpret_f16_u16(uint16x4_t(x))));
}
inline UI16s toF16(F x) { return UI16s(vreinterpret_u16_f16(vcvt_f16_f32(x))); }

inline bool any(I mask) { return vmaxvq_u32(uint32x4_t(mask)) != 0; }

inline float sumOfLanes(F x) { return (x[0] + x[2]) + (x[1] + x[3]); }
inline float mostOfLanes(F x) { return vmaxvq_f32(x); }

inline F loadSome(const float *from, int64_t count) {
  if (count >= kWidth)
    return load(from);
  F x = {};
  for (int lane = 0; lane < kWidth - 1; ++lane)
    if (lane < count)
      x[lane] = from[lane];
  return x;
}
inline void storeSome(float *to, F x, int64_t count) {
  if (count >= kWidth)
    return store(to, x);
  for (int lane = 0; lane < kWidth - 1; ++lane)
    if (lane < count)
      to[lane] = x[lane];
}

//===----------------------------------------------------------------------===//
// Of several vectors
//===----------------------------------------------------------------------===//

/// Sums of two neighbouring products of words.
inline I multiplyWords(int16x8_t a, int16x8_t b) {
  return I(vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)),
                      vmull_high_s16(a, b)));
}

inline I addQuads(I sum, I a, I b) {
  // Every second byte of each, as words.
  int16x8_t evenA = vshrq_n_s16(vshlq_n_s16(int16x8_t(a), 8), 8);
  int16x8_t oddA = vshrq_n_s16(int16x8_t(a), 8);
  I evenB = b & 0x00ff00ff;
  I oddB = I(U(b) >> 8) & 0x00ff00ff;
  return sum + multiplyWords(evenA, int16x8_t(evenB)) +
         multiplyWords(oddA, int16x8_t(oddB));
}

/// Four rows of four.
inline void transpose4(const float *from, int64_t fromStep, float *to,
                       int64_t toStep) {
  float32x4_t r[4];
  CORTEN_UNROLL
  for (int i = 0; i < 4; ++i)
    r[i] = vld1q_f32(from + i * fromStep);
  auto even = [](float32x4_t a, float32x4_t b) {
    return vreinterpretq_f64_f32(vtrn1q_f32(a, b));
  };
  auto odd = [](float32x4_t a, float32x4_t b) {
    return vreinterpretq_f64_f32(vtrn2q_f32(a, b));
  };
  float64x2_t t[4] = {even(r[0], r[1]), odd(r[0], r[1]), even(r[2], r[3]),
                      odd(r[2], r[3])};
  CORTEN_UNROLL
  for (int i = 0; i < 2; ++i) {
    vst1q_f32(to + i * toStep,
              vreinterpretq_f32_f64(vtrn1q_f64(t[i], t[i + 2])));
    vst1q_f32(to + (i + 2) * toStep,
              vreinterpretq_f32_f64(vtrn2q_f64(t[i], t[i + 2])));
  }
}

inline void transpose8(const float *from, int64_t fromStep, float *to,
                       int64_t toStep) {
  for (int i = 0; i != 8; i += 4)
    for (int j = 0; j != 8; j += 4)
      transpose4(from + i * fromStep + j, fromStep, to + j * toStep + i,
                 toStep);
}

/// For each mask of four lanes, where the bytes of each are among those of the
/// next numbers; 0xff: nowhere.
struct BytesOfMasks {
  uint8_t bytes[16][16] = {};

  constexpr BytesOfMasks() {
    for (int mask = 0; mask != 16; ++mask)
      for (int lane = 0, next = 0; lane != 4; ++lane) {
        bool isSet = mask >> lane & 1;
        for (int byte = 0; byte != 4; ++byte)
          bytes[mask][4 * lane + byte] =
              isSet ? uint8_t(4 * next + byte) : 0xff;
        next += isSet;
      }
  }
};
inline constexpr BytesOfMasks kBytesOfMasks;

inline F spread(uint32_t mask, const float *from, F elsewhere) {
  return F(vqtbx1q_u8(uint8x16_t(elsewhere), uint8x16_t(load(from)),
                      vld1q_u8(kBytesOfMasks.bytes[mask & 15])));
}

/// All bytes of the numbers are looked up at once.
struct Table16 {
  uint8x16x4_t bytes;

  explicit Table16(const float *entries, int count) {
    float numbers[16];
    for (int i = 0; i != 16; ++i)
      numbers[i] = entries[i & (count - 1)];
    for (int i = 0; i != 4; ++i)
      bytes.val[i] = vreinterpretq_u8_f32(vld1q_f32(numbers + 4 * i));
  }
  F at(I index) const {
    I places = (index & 15) * 0x04040404 + 0x03020100;
    return F(vqtbl4q_u8(bytes, uint8x16_t(places)));
  }
};

inline F lookUp(const float *table, I index) {
  return F{table[index[0]], table[index[1]], table[index[2]], table[index[3]]};
}

template <int count> struct LargeTable {
  const float *entries;

  explicit LargeTable(const float *entries) : entries(entries) {}
  F at(I index) const { return lookUp(entries, index); }
};

} // namespace corten::runtime::CORTEN_LEVEL

#endif // CORTEN_RUNTIME_LIB_SIMDNEON_H
