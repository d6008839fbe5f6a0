// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of two to four components. They are classes rather than the
// compiler's own vectors, whose constructors and conversions differ from
// Metal's; properties give them swizzles that can be read and written.

#ifndef CORTEN_METAL_VECTOR_H
#define CORTEN_METAL_VECTOR_H

namespace metal {

template <class T, int N> struct vec;
template <class T, int N> struct packed_vec;

/// How many components an argument of a constructor brings; 0 for what is no
/// argument of one.
template <class T> constexpr int components = is_arithmetic_v<T> ? 1 : 0;
template <class T, int N> constexpr int components<vec<T, N>> = N;
template <class T, int N> constexpr int components<packed_vec<T, N>> = N;

/// A number that an operator may bring to the element type of a vector. A
/// fraction does not become an integer that way.
template <class S, class T>
concept Scalar =
    is_arithmetic_v<S> && (is_floating_point_v<T> || !is_floating_point_v<S>);

// Every tuple of letters, as arguments of M.
#define CORTEN_P2_(M, p, a, b) M(p, a) M(p, b)
#define CORTEN_P2(M, a, b) CORTEN_P2_(M, a, a, b) CORTEN_P2_(M, b, a, b)
#define CORTEN_T2__(M, p, q, a, b) M(p, q, a) M(p, q, b)
#define CORTEN_T2_(M, p, a, b)                                                 \
  CORTEN_T2__(M, p, a, a, b) CORTEN_T2__(M, p, b, a, b)
#define CORTEN_T2(M, a, b) CORTEN_T2_(M, a, a, b) CORTEN_T2_(M, b, a, b)
#define CORTEN_Q2___(M, p, q, r, a, b) M(p, q, r, a) M(p, q, r, b)
#define CORTEN_Q2__(M, p, q, a, b)                                             \
  CORTEN_Q2___(M, p, q, a, a, b) CORTEN_Q2___(M, p, q, b, a, b)
#define CORTEN_Q2_(M, p, a, b)                                                 \
  CORTEN_Q2__(M, p, a, a, b) CORTEN_Q2__(M, p, b, a, b)
#define CORTEN_Q2(M, a, b) CORTEN_Q2_(M, a, a, b) CORTEN_Q2_(M, b, a, b)

#define CORTEN_P3_(M, p, a, b, c) M(p, a) M(p, b) M(p, c)
#define CORTEN_P3(M, a, b, c)                                                  \
  CORTEN_P3_(M, a, a, b, c) CORTEN_P3_(M, b, a, b, c) CORTEN_P3_(M, c, a, b, c)
#define CORTEN_T3__(M, p, q, a, b, c) M(p, q, a) M(p, q, b) M(p, q, c)
#define CORTEN_T3_(M, p, a, b, c)                                              \
  CORTEN_T3__(M, p, a, a, b, c)                                                \
  CORTEN_T3__(M, p, b, a, b, c) CORTEN_T3__(M, p, c, a, b, c)
#define CORTEN_T3(M, a, b, c)                                                  \
  CORTEN_T3_(M, a, a, b, c) CORTEN_T3_(M, b, a, b, c) CORTEN_T3_(M, c, a, b, c)
#define CORTEN_Q3___(M, p, q, r, a, b, c)                                      \
  M(p, q, r, a) M(p, q, r, b) M(p, q, r, c)
#define CORTEN_Q3__(M, p, q, a, b, c)                                          \
  CORTEN_Q3___(M, p, q, a, a, b, c)                                            \
  CORTEN_Q3___(M, p, q, b, a, b, c) CORTEN_Q3___(M, p, q, c, a, b, c)
#define CORTEN_Q3_(M, p, a, b, c)                                              \
  CORTEN_Q3__(M, p, a, a, b, c)                                                \
  CORTEN_Q3__(M, p, b, a, b, c) CORTEN_Q3__(M, p, c, a, b, c)
#define CORTEN_Q3(M, a, b, c)                                                  \
  CORTEN_Q3_(M, a, a, b, c) CORTEN_Q3_(M, b, a, b, c) CORTEN_Q3_(M, c, a, b, c)

#define CORTEN_P4_(M, p, a, b, c, d) M(p, a) M(p, b) M(p, c) M(p, d)
#define CORTEN_P4(M, a, b, c, d)                                               \
  CORTEN_P4_(M, a, a, b, c, d)                                                 \
  CORTEN_P4_(M, b, a, b, c, d)                                                 \
  CORTEN_P4_(M, c, a, b, c, d) CORTEN_P4_(M, d, a, b, c, d)
#define CORTEN_T4__(M, p, q, a, b, c, d)                                       \
  M(p, q, a) M(p, q, b) M(p, q, c) M(p, q, d)
#define CORTEN_T4_(M, p, a, b, c, d)                                           \
  CORTEN_T4__(M, p, a, a, b, c, d)                                             \
  CORTEN_T4__(M, p, b, a, b, c, d)                                             \
  CORTEN_T4__(M, p, c, a, b, c, d) CORTEN_T4__(M, p, d, a, b, c, d)
#define CORTEN_T4(M, a, b, c, d)                                               \
  CORTEN_T4_(M, a, a, b, c, d)                                                 \
  CORTEN_T4_(M, b, a, b, c, d)                                                 \
  CORTEN_T4_(M, c, a, b, c, d) CORTEN_T4_(M, d, a, b, c, d)
#define CORTEN_Q4___(M, p, q, r, a, b, c, d)                                   \
  M(p, q, r, a) M(p, q, r, b) M(p, q, r, c) M(p, q, r, d)
#define CORTEN_Q4__(M, p, q, a, b, c, d)                                       \
  CORTEN_Q4___(M, p, q, a, a, b, c, d)                                         \
  CORTEN_Q4___(M, p, q, b, a, b, c, d)                                         \
  CORTEN_Q4___(M, p, q, c, a, b, c, d) CORTEN_Q4___(M, p, q, d, a, b, c, d)
#define CORTEN_Q4_(M, p, a, b, c, d)                                           \
  CORTEN_Q4__(M, p, a, a, b, c, d)                                             \
  CORTEN_Q4__(M, p, b, a, b, c, d)                                             \
  CORTEN_Q4__(M, p, c, a, b, c, d) CORTEN_Q4__(M, p, d, a, b, c, d)
#define CORTEN_Q4(M, a, b, c, d)                                               \
  CORTEN_Q4_(M, a, a, b, c, d)                                                 \
  CORTEN_Q4_(M, b, a, b, c, d)                                                 \
  CORTEN_Q4_(M, c, a, b, c, d) CORTEN_Q4_(M, d, a, b, c, d)

#define CORTEN_DIFFERENT(...)                                                  \
  static_assert(sizeof(T) && (__VA_ARGS__),                                    \
                "a swizzle that is written names each component once")
#define CORTEN_ALIAS(alias, component)                                         \
  __declspec(property(get = get_##alias, put = set_##alias)) T alias;          \
  constexpr T get_##alias() const { return component; }                        \
  constexpr void set_##alias(T value) { component = value; }
#define CORTEN_SWIZZLE2(a, b)                                                  \
  __declspec(property(get = get_##a##b, put = set_##a##b)) vec<T, 2> a##b;     \
  constexpr vec<T, 2> get_##a##b() const { return vec<T, 2>(a, b); }           \
  constexpr void set_##a##b(vec<T, 2> v) {                                     \
    CORTEN_DIFFERENT(#a[0] != #b[0]);                                          \
    a = v.x;                                                                   \
    b = v.y;                                                                   \
  }
#define CORTEN_SWIZZLE3(a, b, c)                                               \
  __declspec(property(get = get_##a##b##c, put = set_##a##b##c)) vec<T, 3>     \
      a##b##c;                                                                 \
  constexpr vec<T, 3> get_##a##b##c() const { return vec<T, 3>(a, b, c); }     \
  constexpr void set_##a##b##c(vec<T, 3> v) {                                  \
    CORTEN_DIFFERENT(#a[0] != #b[0] && #b[0] != #c[0] && #a[0] != #c[0]);      \
    a = v.x;                                                                   \
    b = v.y;                                                                   \
    c = v.z;                                                                   \
  }
#define CORTEN_SWIZZLE4(a, b, c, d)                                            \
  __declspec(property(get = get_##a##b##c##d,                                  \
                      put = set_##a##b##c##d)) vec<T, 4>                       \
      a##b##c##d;                                                              \
  constexpr vec<T, 4> get_##a##b##c##d() const {                               \
    return vec<T, 4>(a, b, c, d);                                              \
  }                                                                            \
  constexpr void set_##a##b##c##d(vec<T, 4> v) {                               \
    CORTEN_DIFFERENT(#a[0] != #b[0] && #a[0] != #c[0] && #a[0] != #d[0] &&     \
                     #b[0] != #c[0] && #b[0] != #d[0] && #c[0] != #d[0]);      \
    a = v.x;                                                                   \
    b = v.y;                                                                   \
    c = v.z;                                                                   \
    d = v.w;                                                                   \
  }

// What vectors of every size have: construction from nothing, from one number
// for all components, from any mix of numbers and vectors with the right total,
// and, explicitly, from a vector of another type.
#define CORTEN_VECTOR_MEMBERS(N)                                               \
  using value_type = T;                                                        \
  static constexpr int size = N;                                               \
  vec() = default;                                                             \
  template <class S>                                                           \
    requires is_arithmetic_v<S>                                                \
  constexpr vec(S value) {                                                     \
    for (int i = 0; i < N; ++i)                                                \
      at(i) = static_cast<T>(value);                                           \
  }                                                                            \
  template <class S>                                                           \
    requires(!is_same_v<S, T>)                                                 \
  constexpr explicit vec(vec<S, N> other) {                                    \
    for (int i = 0; i < N; ++i)                                                \
      at(i) = static_cast<T>(other.at(i));                                     \
  }                                                                            \
  template <class... A>                                                        \
    requires(sizeof...(A) > 1 && ((components<A> > 0) && ...) &&               \
             (components<A> + ...) == N)                                       \
  constexpr vec(A... arguments) {                                              \
    int next = 0;                                                              \
    (place(next, arguments), ...);                                             \
  }                                                                            \
  constexpr T &operator[](long i) {                                            \
    check(i);                                                                  \
    return at(i);                                                              \
  }                                                                            \
  constexpr const T &operator[](long i) const {                                \
    check(i);                                                                  \
    return at(i);                                                              \
  }                                                                            \
                                                                               \
private:                                                                       \
  static constexpr void check(long i) {                                        \
    if (i < 0 || i >= N)                                                       \
      corten_component_index(i, N);                                            \
  }                                                                            \
  template <class S> constexpr void place(int &next, S value) {                \
    if constexpr (is_arithmetic_v<S>)                                          \
      at(next++) = static_cast<T>(value);                                      \
    else                                                                       \
      for (int i = 0; i < components<S>; ++i)                                  \
        at(next++) = static_cast<T>(value.at(i));                              \
  }                                                                            \
                                                                               \
public:

template <class T> struct alignas(2 * sizeof(T)) vec<T, 2> {
  T x, y;
  constexpr T &at(int i) { return i == 0 ? x : y; }
  constexpr const T &at(int i) const { return i == 0 ? x : y; }
  CORTEN_VECTOR_MEMBERS(2)
  CORTEN_ALIAS(r, x)
  CORTEN_ALIAS(g, y)
  CORTEN_P2(CORTEN_SWIZZLE2, x, y)
  CORTEN_T2(CORTEN_SWIZZLE3, x, y)
  CORTEN_Q2(CORTEN_SWIZZLE4, x, y)
  CORTEN_P2(CORTEN_SWIZZLE2, r, g)
  CORTEN_T2(CORTEN_SWIZZLE3, r, g)
  CORTEN_Q2(CORTEN_SWIZZLE4, r, g)
};

template <class T> struct alignas(4 * sizeof(T)) vec<T, 3> {
  T x, y, z;
  constexpr T &at(int i) { return i == 0 ? x : i == 1 ? y : z; }
  constexpr const T &at(int i) const { return i == 0 ? x : i == 1 ? y : z; }
  CORTEN_VECTOR_MEMBERS(3)
  CORTEN_ALIAS(r, x)
  CORTEN_ALIAS(g, y)
  CORTEN_ALIAS(b, z)
  CORTEN_P3(CORTEN_SWIZZLE2, x, y, z)
  CORTEN_T3(CORTEN_SWIZZLE3, x, y, z)
  CORTEN_Q3(CORTEN_SWIZZLE4, x, y, z)
  CORTEN_P3(CORTEN_SWIZZLE2, r, g, b)
  CORTEN_T3(CORTEN_SWIZZLE3, r, g, b)
  CORTEN_Q3(CORTEN_SWIZZLE4, r, g, b)
};

template <class T> struct alignas(4 * sizeof(T)) vec<T, 4> {
  T x, y, z, w;
  constexpr T &at(int i) { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
  constexpr const T &at(int i) const {
    return i == 0 ? x : i == 1 ? y : i == 2 ? z : w;
  }
  CORTEN_VECTOR_MEMBERS(4)
  CORTEN_ALIAS(r, x)
  CORTEN_ALIAS(g, y)
  CORTEN_ALIAS(b, z)
  CORTEN_ALIAS(a, w)
  CORTEN_P4(CORTEN_SWIZZLE2, x, y, z, w)
  CORTEN_T4(CORTEN_SWIZZLE3, x, y, z, w)
  CORTEN_Q4(CORTEN_SWIZZLE4, x, y, z, w)
  CORTEN_P4(CORTEN_SWIZZLE2, r, g, b, a)
  CORTEN_T4(CORTEN_SWIZZLE3, r, g, b, a)
  CORTEN_Q4(CORTEN_SWIZZLE4, r, g, b, a)
};

#undef CORTEN_VECTOR_MEMBERS
#undef CORTEN_SWIZZLE2
#undef CORTEN_SWIZZLE3
#undef CORTEN_SWIZZLE4
#undef CORTEN_ALIAS
#undef CORTEN_DIFFERENT

// Assigns EXPR, written with `i` for the component, to all components of r.
#define CORTEN_EACH(EXPR)                                                      \
  {                                                                            \
    {                                                                          \
      constexpr int i = 0;                                                     \
      r.x = EXPR;                                                              \
    }                                                                          \
    {                                                                          \
      constexpr int i = 1;                                                     \
      r.y = EXPR;                                                              \
    }                                                                          \
    if constexpr (N > 2) {                                                     \
      constexpr int i = 2;                                                     \
      r.z = EXPR;                                                              \
    }                                                                          \
    if constexpr (N > 3) {                                                     \
      constexpr int i = 3;                                                     \
      r.w = EXPR;                                                              \
    }                                                                          \
  }

#define CORTEN_VECTOR_BINARY(op, R)                                            \
  template <class T, int N>                                                    \
  constexpr vec<R, N> operator op(vec<T, N> a, vec<T, N> b) {                  \
    vec<R, N> r;                                                               \
    CORTEN_EACH(static_cast<R>(a.at(i) op b.at(i)))                            \
    return r;                                                                  \
  }                                                                            \
  template <class T, int N, Scalar<T> S>                                       \
  constexpr vec<R, N> operator op(vec<T, N> a, S b) {                          \
    return a op vec<T, N>(b);                                                  \
  }                                                                            \
  template <class T, int N, Scalar<T> S>                                       \
  constexpr vec<R, N> operator op(S a, vec<T, N> b) {                          \
    return vec<T, N>(a) op b;                                                  \
  }
#define CORTEN_VECTOR_ARITHMETIC(op)                                           \
  CORTEN_VECTOR_BINARY(op, T)                                                  \
  template <class T, int N>                                                    \
  constexpr vec<T, N> &operator op## =                                         \
      (vec<T, N> & a, type_identity_t<vec<T, N>> b) {                          \
    return a = a op b;                                                         \
  }
CORTEN_VECTOR_ARITHMETIC(+)
CORTEN_VECTOR_ARITHMETIC(-)
CORTEN_VECTOR_ARITHMETIC(*)
CORTEN_VECTOR_ARITHMETIC(/)
CORTEN_VECTOR_ARITHMETIC(%)
CORTEN_VECTOR_ARITHMETIC(&)
CORTEN_VECTOR_ARITHMETIC(|)
CORTEN_VECTOR_ARITHMETIC(^)
CORTEN_VECTOR_ARITHMETIC(<<)
CORTEN_VECTOR_ARITHMETIC(>>)
CORTEN_VECTOR_BINARY(==, bool)
CORTEN_VECTOR_BINARY(!=, bool)
CORTEN_VECTOR_BINARY(<, bool)
CORTEN_VECTOR_BINARY(<=, bool)
CORTEN_VECTOR_BINARY(>, bool)
CORTEN_VECTOR_BINARY(>=, bool)
CORTEN_VECTOR_BINARY(&&, bool)
CORTEN_VECTOR_BINARY(||, bool)
#undef CORTEN_VECTOR_ARITHMETIC
#undef CORTEN_VECTOR_BINARY

template <class T, int N> constexpr vec<T, N> operator+(vec<T, N> a) {
  return a;
}
template <class T, int N> constexpr vec<T, N> operator-(vec<T, N> a) {
  vec<T, N> r;
  CORTEN_EACH(static_cast<T>(-a.at(i)))
  return r;
}
template <class T, int N> constexpr vec<T, N> operator~(vec<T, N> a) {
  vec<T, N> r;
  CORTEN_EACH(static_cast<T>(~a.at(i)))
  return r;
}
template <class T, int N> constexpr vec<bool, N> operator!(vec<T, N> a) {
  vec<bool, N> r;
  CORTEN_EACH(!a.at(i))
  return r;
}
template <class T, int N> constexpr vec<T, N> &operator++(vec<T, N> &a) {
  return a += T(1);
}
template <class T, int N> constexpr vec<T, N> &operator--(vec<T, N> &a) {
  return a -= T(1);
}
template <class T, int N> constexpr vec<T, N> operator++(vec<T, N> &a, int) {
  vec<T, N> old = a;
  a += T(1);
  return old;
}
template <class T, int N> constexpr vec<T, N> operator--(vec<T, N> &a, int) {
  vec<T, N> old = a;
  a -= T(1);
  return old;
}

/// A vector in memory without alignment beyond that of its elements.
template <class T, int N> struct packed_vec {
  T elements[N];
  packed_vec() = default;
  constexpr packed_vec(vec<T, N> v) {
    for (int i = 0; i < N; ++i)
      elements[i] = v.at(i);
  }
  template <class... A>
    requires(sizeof...(A) > 1 && ((components<A> > 0) && ...) &&
             (components<A> + ...) == N)
  constexpr packed_vec(A... arguments) : packed_vec(vec<T, N>(arguments...)) {}
  template <class S>
    requires is_arithmetic_v<S>
  constexpr packed_vec(S value) : packed_vec(vec<T, N>(value)) {}
  constexpr operator vec<T, N>() const {
    vec<T, N> v;
    for (int i = 0; i < N; ++i)
      v.at(i) = elements[i];
    return v;
  }
  constexpr T &at(int i) { return elements[i]; }
  constexpr const T &at(int i) const { return elements[i]; }
  constexpr T &operator[](long i) {
    if (i < 0 || i >= N)
      corten_component_index(i, N);
    return elements[i];
  }
  constexpr const T &operator[](long i) const {
    if (i < 0 || i >= N)
      corten_component_index(i, N);
    return elements[i];
  }
#define CORTEN_PACKED(name, index)                                             \
  __declspec(property(get = get_##name, put = set_##name)) T name;             \
  constexpr T get_##name() const {                                             \
    static_assert(index < N, "the vector has no such component");              \
    return elements[index];                                                    \
  }                                                                            \
  constexpr void set_##name(T value) {                                         \
    static_assert(index < N, "the vector has no such component");              \
    elements[index] = value;                                                   \
  }
  CORTEN_PACKED(x, 0)
  CORTEN_PACKED(y, 1)
  CORTEN_PACKED(z, 2)
  CORTEN_PACKED(w, 3)
  CORTEN_PACKED(r, 0)
  CORTEN_PACKED(g, 1)
  CORTEN_PACKED(b, 2)
  CORTEN_PACKED(a, 3)
#undef CORTEN_PACKED
#define CORTEN_PACKED(name, M)                                                 \
  __declspec(property(get = get_##name, put = set_##name)) vec<T, M> name;     \
  constexpr vec<T, M> get_##name() const { return vec<T, N>(*this).name; }     \
  constexpr void set_##name(vec<T, M> value) {                                 \
    vec<T, N> all = *this;                                                     \
    all.name = value;                                                          \
    *this = all;                                                               \
  }
  CORTEN_PACKED(xy, 2)
  CORTEN_PACKED(yz, 2)
  CORTEN_PACKED(zw, 2)
  CORTEN_PACKED(xyz, 3)
  CORTEN_PACKED(rgb, 3)
#undef CORTEN_PACKED
};

#define CORTEN_PACKED_BINARY(op)                                               \
  template <class T, int N>                                                    \
  constexpr auto operator op(packed_vec<T, N> a, packed_vec<T, N> b) {         \
    return vec<T, N>(a) op vec<T, N>(b);                                       \
  }                                                                            \
  template <class T, int N>                                                    \
  constexpr auto operator op(packed_vec<T, N> a, vec<T, N> b) {                \
    return vec<T, N>(a) op b;                                                  \
  }                                                                            \
  template <class T, int N>                                                    \
  constexpr auto operator op(vec<T, N> a, packed_vec<T, N> b) {                \
    return a op vec<T, N>(b);                                                  \
  }                                                                            \
  template <class T, int N, Scalar<T> S>                                       \
  constexpr auto operator op(packed_vec<T, N> a, S b) {                        \
    return vec<T, N>(a) op b;                                                  \
  }                                                                            \
  template <class T, int N, Scalar<T> S>                                       \
  constexpr auto operator op(S a, packed_vec<T, N> b) {                        \
    return a op vec<T, N>(b);                                                  \
  }
#define CORTEN_PACKED_ARITHMETIC(op)                                           \
  CORTEN_PACKED_BINARY(op)                                                     \
  template <class T, int N>                                                    \
  constexpr packed_vec<T, N> &operator op## =                                  \
      (packed_vec<T, N> & a, type_identity_t<vec<T, N>> b) {                   \
    return a = vec<T, N>(a) op b;                                              \
  }
CORTEN_PACKED_ARITHMETIC(+)
CORTEN_PACKED_ARITHMETIC(-)
CORTEN_PACKED_ARITHMETIC(*)
CORTEN_PACKED_ARITHMETIC(/)
CORTEN_PACKED_BINARY(==)
CORTEN_PACKED_BINARY(!=)
CORTEN_PACKED_BINARY(<)
CORTEN_PACKED_BINARY(>)
#undef CORTEN_PACKED_ARITHMETIC
#undef CORTEN_PACKED_BINARY
template <class T, int N> constexpr vec<T, N> operator-(packed_vec<T, N> a) {
  return -vec<T, N>(a);
}

#define CORTEN_VECTOR_NAMES(T, name)                                           \
  using name##2 = vec<T, 2>;                                                   \
  using name##3 = vec<T, 3>;                                                   \
  using name##4 = vec<T, 4>;                                                   \
  using packed_##name##2 = packed_vec<T, 2>;                                   \
  using packed_##name##3 = packed_vec<T, 3>;                                   \
  using packed_##name##4 = packed_vec<T, 4>;
CORTEN_VECTOR_NAMES(bool, bool)
CORTEN_VECTOR_NAMES(char, char)
CORTEN_VECTOR_NAMES(uchar, uchar)
CORTEN_VECTOR_NAMES(short, short)
CORTEN_VECTOR_NAMES(ushort, ushort)
CORTEN_VECTOR_NAMES(int, int)
CORTEN_VECTOR_NAMES(uint, uint)
CORTEN_VECTOR_NAMES(long, long)
CORTEN_VECTOR_NAMES(ulong, ulong)
CORTEN_VECTOR_NAMES(float, float)
CORTEN_VECTOR_NAMES(half, half)
CORTEN_VECTOR_NAMES(bfloat, bfloat)
#undef CORTEN_VECTOR_NAMES

} // namespace metal

#endif // CORTEN_METAL_VECTOR_H
