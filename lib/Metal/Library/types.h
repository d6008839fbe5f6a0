// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar types of Metal, the traits that its standard library has, and limits.

#ifndef CORTEN_METAL_TYPES_H
#define CORTEN_METAL_TYPES_H

using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;
using half = _Float16;
using bfloat = __bf16;

using int8_t = char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long;
using uint64_t = unsigned long;
using size_t = unsigned long;
using ptrdiff_t = long;
using uintptr_t = unsigned long;
using intptr_t = long;

namespace metal {

using ::bfloat;
using ::half;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::ptrdiff_t;
using ::size_t;
using ::uchar;
using ::uint;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::ulong;
using ::ushort;

template <class T, T V> struct integral_constant {
  static constexpr T value = V;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const { return V; }
};
template <bool V> using bool_constant = integral_constant<bool, V>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <class A, class B> struct is_same : bool_constant<__is_same(A, B)> {};
template <class A, class B> constexpr bool is_same_v = __is_same(A, B);
template <bool C, class A, class B> struct conditional {
  using type = A;
};
template <class A, class B> struct conditional<false, A, B> {
  using type = B;
};
template <bool C, class A, class B>
using conditional_t = typename conditional<C, A, B>::type;
template <bool C, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> {
  using type = T;
};
template <bool C, class T = void>
using enable_if_t = typename enable_if<C, T>::type;
template <class... T> using void_t = void;

template <class T> struct type_identity {
  using type = T;
};
template <class T> using type_identity_t = typename type_identity<T>::type;
template <class T> struct remove_const : type_identity<__remove_const(T)> {};
template <class T>
struct remove_volatile : type_identity<__remove_volatile(T)> {};
template <class T> struct remove_cv : type_identity<__remove_cv(T)> {};
template <class T>
struct remove_reference : type_identity<__remove_reference_t(T)> {};
template <class T>
struct remove_pointer : type_identity<__remove_pointer(T)> {};
template <class T> struct remove_extent : type_identity<__remove_extent(T)> {};
template <class T> struct decay : type_identity<__decay(T)> {};
template <class T> struct make_unsigned : type_identity<__make_unsigned(T)> {};
template <class T> struct make_signed : type_identity<__make_signed(T)> {};
template <class T> struct add_pointer : type_identity<__add_pointer(T)> {};
template <class T> struct add_const : type_identity<const T> {};
template <class T> using remove_const_t = __remove_const(T);
template <class T> using remove_volatile_t = __remove_volatile(T);
template <class T> using remove_cv_t = __remove_cv(T);
template <class T> using remove_reference_t = __remove_reference_t(T);
template <class T> using remove_pointer_t = __remove_pointer(T);
template <class T> using remove_extent_t = __remove_extent(T);
template <class T> using decay_t = __decay(T);
template <class T> using make_unsigned_t = __make_unsigned(T);
template <class T> using make_signed_t = __make_signed(T);
template <class T> using add_pointer_t = __add_pointer(T);

#define CORTEN_TRAIT(name, ...)                                                \
  template <class T> constexpr bool name##_v = __VA_ARGS__;                    \
  template <class T> struct name : bool_constant<name##_v<T>> {};
CORTEN_TRAIT(is_floating_point, is_same_v<remove_cv_t<T>, float> ||
                                    is_same_v<remove_cv_t<T>, half> ||
                                    is_same_v<remove_cv_t<T>, bfloat>)
CORTEN_TRAIT(is_integral, __is_integral(T))
CORTEN_TRAIT(is_arithmetic, is_integral_v<T> || is_floating_point_v<T>)
CORTEN_TRAIT(is_scalar, is_arithmetic_v<T> || __is_enum(T) || __is_pointer(T))
CORTEN_TRAIT(is_signed, is_floating_point_v<T> || __is_signed(T))
CORTEN_TRAIT(is_unsigned, __is_unsigned(T))
CORTEN_TRAIT(is_const, __is_const(T))
CORTEN_TRAIT(is_pointer, __is_pointer(T))
CORTEN_TRAIT(is_reference, __is_reference(T))
CORTEN_TRAIT(is_array, __is_array(T))
CORTEN_TRAIT(is_enum, __is_enum(T))
CORTEN_TRAIT(is_class, __is_class(T))
CORTEN_TRAIT(is_void, __is_void(T))
CORTEN_TRAIT(is_empty, __is_empty(T))
CORTEN_TRAIT(is_trivially_copyable, __is_trivially_copyable(T))
#undef CORTEN_TRAIT
template <class A, class B>
constexpr bool is_convertible_v = __is_convertible(A, B);
template <class A, class B>
struct is_convertible : bool_constant<is_convertible_v<A, B>> {};
template <class A, class B> constexpr bool is_base_of_v = __is_base_of(A, B);
template <class A, class B>
struct is_base_of : bool_constant<is_base_of_v<A, B>> {};

template <class T> T &&declval();
template <class T> constexpr T &&forward(remove_reference_t<T> &value) {
  return static_cast<T &&>(value);
}
template <class T> constexpr remove_reference_t<T> &&move(T &&value) {
  return static_cast<remove_reference_t<T> &&>(value);
}

/// The same bits as another type.
template <class To, class From> constexpr To as_type(From value) {
  static_assert(sizeof(To) == sizeof(From),
                "as_type needs types of the same size");
  return __builtin_bit_cast(To, value);
}

template <class T, size_t N> struct array {
  T elements[N];
  constexpr T &operator[](size_t i) { return elements[i]; }
  constexpr const T &operator[](size_t i) const { return elements[i]; }
  constexpr size_t size() const { return N; }
  constexpr T *data() { return elements; }
  constexpr const T *data() const { return elements; }
  constexpr T *begin() { return elements; }
  constexpr T *end() { return elements + N; }
  constexpr const T *begin() const { return elements; }
  constexpr const T *end() const { return elements + N; }
};

template <class T> struct numeric_limits {
  static constexpr bool is_specialized = false;
};
#define CORTEN_INTEGER_LIMITS(T)                                               \
  template <> struct numeric_limits<T> {                                       \
    static constexpr bool is_specialized = true, is_integer = true,            \
                          is_signed = __is_signed(T);                          \
    static constexpr int digits = sizeof(T) * 8 - is_signed;                   \
    static constexpr T max() {                                                 \
      return T(~0ul >> (64 - sizeof(T) * 8 + is_signed));                      \
    }                                                                          \
    static constexpr T min() { return is_signed ? T(-max() - 1) : T(0); }      \
    static constexpr T lowest() { return min(); }                              \
  };
CORTEN_INTEGER_LIMITS(char)
CORTEN_INTEGER_LIMITS(uchar)
CORTEN_INTEGER_LIMITS(short)
CORTEN_INTEGER_LIMITS(ushort)
CORTEN_INTEGER_LIMITS(int)
CORTEN_INTEGER_LIMITS(uint)
CORTEN_INTEGER_LIMITS(long)
CORTEN_INTEGER_LIMITS(ulong)
#undef CORTEN_INTEGER_LIMITS
template <> struct numeric_limits<bool> {
  static constexpr bool is_specialized = true, is_integer = true,
                        is_signed = false;
  static constexpr int digits = 1;
  static constexpr bool max() { return true; }
  static constexpr bool min() { return false; }
  static constexpr bool lowest() { return false; }
};
#define CORTEN_FLOAT_LIMITS(T, DIGITS, MAX, MIN, EPSILON, DENORM)              \
  template <> struct numeric_limits<T> {                                       \
    static constexpr bool is_specialized = true, is_integer = false,           \
                          is_signed = true, has_infinity = true;               \
    static constexpr int digits = DIGITS;                                      \
    static constexpr T max() { return T(MAX); }                                \
    static constexpr T min() { return T(MIN); }                                \
    static constexpr T lowest() { return T(-MAX); }                            \
    static constexpr T epsilon() { return T(EPSILON); }                        \
    static constexpr T denorm_min() { return T(DENORM); }                      \
    static constexpr T infinity() { return T(__builtin_inff()); }              \
    static constexpr T quiet_NaN() { return T(__builtin_nanf("")); }           \
  };
CORTEN_FLOAT_LIMITS(float, 24, 0x1.fffffep127f, 0x1p-126f, 0x1p-23f, 0x1p-149f)
CORTEN_FLOAT_LIMITS(half, 11, 65504.0f, 0x1p-14f, 0x1p-10f, 0x1p-24f)
CORTEN_FLOAT_LIMITS(bfloat, 8, 0x1.fep127f, 0x1p-126f, 0x1p-7f, 0x1p-133f)
#undef CORTEN_FLOAT_LIMITS

} // namespace metal

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define HUGE_VALH half(__builtin_inff())
#define MAXFLOAT 0x1.fffffep127f
#define MAXHALF half(65504.0f)
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1p-126f
#define FLT_EPSILON 0x1p-23f
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define HALF_MAX half(65504.0f)
#define HALF_MIN half(0x1p-14f)
#define HALF_EPSILON half(0x1p-10f)
#define BFLT_MAX bfloat(0x1.fep127f)
#define BFLT_MIN bfloat(0x1p-126f)
#define BFLT_EPSILON bfloat(0x1p-7f)
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-9223372036854775807l - 1)
#define ULONG_MAX 18446744073709551615ul

#define M_E_F 2.71828182845904523536f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.43429448190325182765f
#define M_LN2_F 0.69314718055994530942f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.78539816339744830962f
#define M_1_PI_F 0.31830988618379067154f
#define M_2_PI_F 0.63661977236758134308f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.70710678118654752440f
#define M_E_H half(M_E_F)
#define M_LOG2E_H half(M_LOG2E_F)
#define M_LN2_H half(M_LN2_F)
#define M_PI_H half(M_PI_F)
#define M_PI_2_H half(M_PI_2_F)
#define M_1_PI_H half(M_1_PI_F)
#define M_SQRT2_H half(M_SQRT2_F)
#define M_SQRT1_2_H half(M_SQRT1_2_F)

#endif // CORTEN_METAL_TYPES_H
