// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices, stored column by column: matrix<T, C, R> has C columns of R rows.

#ifndef CORTEN_METAL_MATRIX_H
#define CORTEN_METAL_MATRIX_H

namespace metal {

template <class T, int C, int R> struct matrix {
  vec<T, R> columns[C];

  matrix() = default;
  /// The number on the diagonal, zero elsewhere.
  template <class S>
    requires is_arithmetic_v<S>
  explicit constexpr matrix(S value) {
    for (int c = 0; c < C; ++c)
      for (int r = 0; r < R; ++r)
        columns[c].at(r) = c == r ? static_cast<T>(value) : T(0);
  }
  /// By columns, or by C * R numbers in the order of memory.
  template <class... A>
    requires(sizeof...(A) > 1 && ((components<A> > 0) && ...) &&
             (components<A> + ...) == C * R)
  constexpr matrix(A... arguments) {
    int next = 0;
    (place(next, arguments), ...);
  }
  template <class S>
    requires(!is_same_v<S, T>)
  explicit constexpr matrix(const matrix<S, C, R> &other) {
    for (int c = 0; c < C; ++c)
      columns[c] = vec<T, R>(other.columns[c]);
  }

  constexpr vec<T, R> &operator[](long c) {
    if (c < 0 || c >= C)
      corten_component_index(c, C);
    return columns[c];
  }
  constexpr const vec<T, R> &operator[](long c) const {
    if (c < 0 || c >= C)
      corten_component_index(c, C);
    return columns[c];
  }

private:
  template <class S> constexpr void place(int &next, S value) {
    if constexpr (is_arithmetic_v<S>) {
      columns[next / R].at(next % R) = static_cast<T>(value);
      ++next;
    } else {
      for (int i = 0; i < components<S>; ++i, ++next)
        columns[next / R].at(next % R) = static_cast<T>(value.at(i));
    }
  }
};

template <class T, int C, int R>
matrix<T, C, R> operator+(matrix<T, C, R> a, matrix<T, C, R> b) {
  for (int c = 0; c < C; ++c)
    a.columns[c] += b.columns[c];
  return a;
}
template <class T, int C, int R>
matrix<T, C, R> operator-(matrix<T, C, R> a, matrix<T, C, R> b) {
  for (int c = 0; c < C; ++c)
    a.columns[c] -= b.columns[c];
  return a;
}
template <class T, int C, int R> matrix<T, C, R> operator-(matrix<T, C, R> a) {
  for (int c = 0; c < C; ++c)
    a.columns[c] = -a.columns[c];
  return a;
}
template <class T, int C, int R, Scalar<T> S>
matrix<T, C, R> operator*(matrix<T, C, R> a, S s) {
  for (int c = 0; c < C; ++c)
    a.columns[c] *= T(s);
  return a;
}
template <class T, int C, int R, Scalar<T> S>
matrix<T, C, R> operator*(S s, matrix<T, C, R> a) {
  return a * s;
}
template <class T, int C, int R>
vec<T, R> operator*(matrix<T, C, R> a, type_identity_t<vec<T, C>> v) {
  vec<T, R> sum = a.columns[0] * v.at(0);
  for (int c = 1; c < C; ++c)
    sum += a.columns[c] * v.at(c);
  return sum;
}
template <class T, int C, int R>
vec<T, C> operator*(vec<T, R> v, matrix<T, C, R> a) {
  vec<T, C> result;
  for (int c = 0; c < C; ++c)
    result.at(c) = dot(v, a.columns[c]);
  return result;
}
template <class T, int C, int K, int R>
matrix<T, C, R> operator*(matrix<T, K, R> a, matrix<T, C, K> b) {
  matrix<T, C, R> result;
  for (int c = 0; c < C; ++c)
    result.columns[c] = a * b.columns[c];
  return result;
}
#define CORTEN_MATRIX_ASSIGN(op)                                               \
  template <class T, int C, int R, class B>                                    \
  matrix<T, C, R> &operator op## = (matrix<T, C, R> & a, B b) {                \
    return a = a op b;                                                         \
  }
CORTEN_MATRIX_ASSIGN(+)
CORTEN_MATRIX_ASSIGN(-)
CORTEN_MATRIX_ASSIGN(*)
#undef CORTEN_MATRIX_ASSIGN

template <class T, int C, int R> matrix<T, R, C> transpose(matrix<T, C, R> a) {
  matrix<T, R, C> result;
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < R; ++r)
      result.columns[r].at(c) = a.columns[c].at(r);
  return result;
}
template <class T> T determinant(matrix<T, 2, 2> m) {
  return m[0].x * m[1].y - m[1].x * m[0].y;
}
template <class T> T determinant(matrix<T, 3, 3> m) {
  return dot(m[0], cross(m[1], m[2]));
}
template <class T> T determinant(matrix<T, 4, 4> m) {
  T sum = 0;
  for (int c = 0; c < 4; ++c) {
    matrix<T, 3, 3> minor;
    for (int k = 0, to = 0; k < 4; ++k)
      if (k != c)
        minor[to++] = m[k].yzw;
    sum += (c % 2 ? -m[c].x : m[c].x) * determinant(minor);
  }
  return sum;
}

#define CORTEN_MATRIX_NAMES(T)                                                 \
  using T##2x2 = matrix<T, 2, 2>;                                              \
  using T##2x3 = matrix<T, 2, 3>;                                              \
  using T##2x4 = matrix<T, 2, 4>;                                              \
  using T##3x2 = matrix<T, 3, 2>;                                              \
  using T##3x3 = matrix<T, 3, 3>;                                              \
  using T##3x4 = matrix<T, 3, 4>;                                              \
  using T##4x2 = matrix<T, 4, 2>;                                              \
  using T##4x3 = matrix<T, 4, 3>;                                              \
  using T##4x4 = matrix<T, 4, 4>;
CORTEN_MATRIX_NAMES(float)
CORTEN_MATRIX_NAMES(half)
#undef CORTEN_MATRIX_NAMES

} // namespace metal

#endif // CORTEN_METAL_MATRIX_H
