// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that C++ has no type for: floats of 16 bits and fewer, integers of
// fewer than 8. Arithmetic is done on what they convert to.

#ifndef CORTEN_RUNTIME_SMALLTYPES_H
#define CORTEN_RUNTIME_SMALLTYPES_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace corten::runtime {

/// What a format does with the codes of its largest exponent.
enum class FloatKind {
  /// Infinities and NaNs, as IEEE 754 has it.
  Ieee,
  /// All ones are NaN, the rest are numbers; too large becomes NaN.
  NaNOnly,
  /// All are numbers; too large becomes the largest.
  Finite,
};

/// A float with a sign, E bits of exponent and M of mantissa. Made from a float
/// by rounding to nearest, ties to even.
template <int E, int M, FloatKind K> class SmallFloat {
public:
  using Storage = std::conditional_t<(1 + E + M > 8), uint16_t, uint8_t>;

  SmallFloat() = default;
  explicit SmallFloat(float value) : code(encode(value)) {}
  static SmallFloat fromBits(Storage bits) {
    SmallFloat result;
    result.code = bits;
    return result;
  }

  Storage bits() const { return code; }
  operator float() const { return decode(code); }

private:
  static constexpr int kBias = (1 << (E - 1)) - 1;
  static constexpr uint32_t kExponentMask = (1u << E) - 1;
  static constexpr uint32_t kMantissaMask = (1u << M) - 1;
  static constexpr uint32_t kSign = 1u << (E + M);
  static constexpr uint32_t kInfinity = kExponentMask << M;
  /// The code of the largest number.
  static constexpr uint32_t kLargest = K == FloatKind::Ieee ? kInfinity - 1
                                       : K == FloatKind::NaNOnly
                                           ? (kSign - 1) - 1
                                           : kSign - 1;

  static float decode(uint32_t code) {
    uint32_t exponent = (code >> M) & kExponentMask;
    uint32_t mantissa = code & kMantissaMask;
    float magnitude;
    if (K == FloatKind::Ieee && exponent == kExponentMask)
      magnitude = mantissa ? std::numeric_limits<float>::quiet_NaN()
                           : std::numeric_limits<float>::infinity();
    else if (K == FloatKind::NaNOnly && (code & (kSign - 1)) == kSign - 1)
      magnitude = std::numeric_limits<float>::quiet_NaN();
    else if (exponent == 0)
      // A subnormal of bfloat16 is one of float, and the scale has no float.
      magnitude =
          E == 8 ? std::bit_cast<float>(mantissa << (23 - M))
                 : float(mantissa) *
                       std::bit_cast<float>(uint32_t(128 - kBias - M) << 23);
    else
      magnitude = std::bit_cast<float>(((exponent + 127 - kBias) << 23) |
                                       (mantissa << (23 - M)));
    return code & kSign ? -magnitude : magnitude;
  }

  static Storage encode(float value) {
    uint32_t bits = std::bit_cast<uint32_t>(value);
    uint32_t sign = bits >> 31 ? kSign : 0;
    uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) {
      if (K == FloatKind::Finite)
        return 0;
      uint32_t nan =
          K == FloatKind::Ieee ? kInfinity | (1u << (M - 1)) : kSign - 1;
      return Storage(sign | nan);
    }
    uint32_t code;
    if (magnitude >= uint32_t(128 - kBias) << 23) {
      // Normal: drop bits of the mantissa; a carry goes on into the exponent.
      uint32_t dropped = 23 - M;
      uint32_t odd = (magnitude >> dropped) & 1;
      uint32_t rounded = magnitude + ((1u << (dropped - 1)) - 1) + odd;
      code = (rounded >> dropped) - (uint32_t(127 - kBias) << M);
    } else {
      // Subnormal: a whole number of the smallest steps. The scaling is exact.
      double steps =
          std::ldexp(double(std::bit_cast<float>(magnitude)), kBias - 1 + M);
      code = uint32_t(std::nearbyint(steps));
    }
    if (code > kLargest)
      code = K == FloatKind::Ieee      ? kInfinity
             : K == FloatKind::NaNOnly ? kSign - 1
                                       : kLargest;
    return Storage(sign | code);
  }

  Storage code = 0;
};

using Float16 = SmallFloat<5, 10, FloatKind::Ieee>;
using BFloat16 = SmallFloat<8, 7, FloatKind::Ieee>;
using Float8E5M2 = SmallFloat<5, 2, FloatKind::Ieee>;
using Float8E4M3FN = SmallFloat<4, 3, FloatKind::NaNOnly>;
using Float4E2M1FN = SmallFloat<2, 1, FloatKind::Finite>;

/// A power of two, or NaN: the scale of a block.
class Float8E8M0FNU {
public:
  Float8E8M0FNU() = default;
  explicit Float8E8M0FNU(float value) {
    if (std::isnan(value)) {
      code = 0xff;
      return;
    }
    // The nearest power of two; nothing is below the smallest.
    int exponent = 0;
    float fraction = std::frexp(value, &exponent);
    if (!(value > 0))
      exponent = -127;
    else if (std::isinf(value))
      exponent = 127;
    else
      exponent += fraction >= 0.75f ? 0 : -1;
    code = uint8_t(exponent < -127 ? 0 : exponent > 127 ? 254 : exponent + 127);
  }
  static Float8E8M0FNU fromBits(uint8_t bits) {
    Float8E8M0FNU result;
    result.code = bits;
    return result;
  }

  uint8_t bits() const { return code; }
  operator float() const {
    return code == 0xff ? std::numeric_limits<float>::quiet_NaN()
                        : std::ldexp(1.0f, int(code) - 127);
  }

private:
  uint8_t code = 0;
};

/// An integer of fewer than 8 bits, a byte in memory.
template <int Bits, bool IsSigned> class SmallInteger {
public:
  using Storage = std::conditional_t<IsSigned, int8_t, uint8_t>;
  static constexpr int kMin = IsSigned ? -(1 << (Bits - 1)) : 0;
  static constexpr int kMax = (1 << (IsSigned ? Bits - 1 : Bits)) - 1;

  SmallInteger() = default;
  /// Takes the lowest bits.
  explicit SmallInteger(int64_t number) {
    uint8_t low = uint8_t(number) & ((1u << Bits) - 1);
    value = IsSigned && (low >> (Bits - 1)) ? Storage(int(low) - (1 << Bits))
                                            : Storage(low);
  }

  operator Storage() const { return value; }

private:
  Storage value = 0;
};

template <int Bits> using SmallInt = SmallInteger<Bits, true>;
template <int Bits> using SmallUInt = SmallInteger<Bits, false>;

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_SMALLTYPES_H
