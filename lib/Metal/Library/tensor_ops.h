// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matrix product of Metal Performance Primitives. The threads that take
// part share the elements of the result; which of them has which is not
// specified by Metal, so a correct kernel does not depend on it.

#ifndef CORTEN_METAL_TENSOR_OPS_H
#define CORTEN_METAL_TENSOR_OPS_H

namespace metal {

/// Threads that do something together.
struct execution_thread {
  static constexpr uint corten_threads = 1;
};
template <int N> struct execution_simdgroups {
  static constexpr uint corten_threads = N * 32;
};
using execution_simdgroup = execution_simdgroups<1>;

template <class T> constexpr T dynamic_length_v = static_cast<T>(-1);

} // namespace metal

namespace mpp::tensor_ops {

using metal::dynamic_length_v;

struct matmul2d_descriptor {
  enum class mode { multiply, multiply_accumulate };

  int m, n, k;
  bool transpose_left, transpose_right, relaxed_precision;
  mode matmul_mode;

  constexpr matmul2d_descriptor(int m, int n, int k = -1,
                                bool transpose_left = false,
                                bool transpose_right = false,
                                bool relaxed_precision = false,
                                mode matmul_mode = mode::multiply)
      : m(m), n(n), k(k), transpose_left(transpose_left),
        transpose_right(transpose_right), relaxed_precision(relaxed_precision),
        matmul_mode(matmul_mode) {}
};

/// A result of m by n elements that the threads hold together.
template <class T, int M, int N, uint Threads> class corten_cooperative_tensor {
public:
  using element_type = T;
  static constexpr uint kCapacity = (M * N + Threads - 1) / Threads;

  static constexpr uint get_capacity() { return kCapacity; }
  /// Whether the thread's element `i` is one of the result.
  bool get_mask(uint i) const { return index(i) < M * N; }
  bool is_valid_element(uint i) const { return get_mask(i); }
  T &operator[](uint i) { return elements[i]; }
  const T &operator[](uint i) const { return elements[i]; }
  T *begin() { return elements; }
  T *end() { return elements + kCapacity; }
  /// (column, row) of the thread's element `i`.
  metal::array<int, 2> get_multidimensional_index(uint i) const {
    return {int(index(i) % N), int(index(i) / N)};
  }

  template <class Tensor> void store(const Tensor &to) const {
    each(to, [](auto &target, const T &value) {
      target = static_cast<typename Tensor::value_type>(value);
    });
  }
  template <class Tensor> void load(const Tensor &from) {
    each(from, [](auto &source, const T &value) {
      const_cast<T &>(value) = static_cast<T>(source);
    });
  }

private:
  static uint index(uint i) {
    return corten_thread_index() % Threads + i * Threads;
  }
  template <class Tensor, class F> void each(const Tensor &tensor, F f) const {
    for (uint i = 0; i < kCapacity; ++i) {
      int column = int(index(i) % N), row = int(index(i) / N);
      if (get_mask(i) && column < tensor.get_extent(0) &&
          row < tensor.get_extent(1))
        f(tensor[column, row], elements[i]);
    }
  }

  T elements[kCapacity];
};

template <matmul2d_descriptor D, class Scope> class matmul2d {
public:
  static constexpr uint kThreads = Scope::corten_threads;

  template <class Left, class Right, class T>
  static corten_cooperative_tensor<T, D.m, D.n, kThreads>
  get_destination_cooperative_tensor() {
    return {};
  }

  /// Into a tensor: those of its elements that are inside of it.
  template <class Left, class Right, class T, class E, class... Tags>
  static void run(const Left &left, const Right &right,
                  const metal::tensor<T, E, Tags...> &to) {
    for (uint e = corten_thread_index() % kThreads; e < uint(D.m * D.n);
         e += kThreads) {
      int column = int(e % D.n), row = int(e / D.n);
      if (column >= to.get_extent(0) || row >= to.get_extent(1))
        continue;
      T &element = to[column, row];
      element = static_cast<metal::remove_cv_t<T>>(
          sum(left, right, column, row, isAdded() ? float(element) : 0.0f));
    }
  }
  template <class Left, class Right, class T>
  static void run(const Left &left, const Right &right,
                  corten_cooperative_tensor<T, D.m, D.n, kThreads> &to) {
    for (uint i = 0; i < to.get_capacity(); ++i) {
      if (!to.get_mask(i))
        continue;
      auto [column, row] = to.get_multidimensional_index(i).elements;
      to[i] = static_cast<T>(
          sum(left, right, column, row, isAdded() ? float(to[i]) : 0.0f));
    }
  }

private:
  static constexpr bool isAdded() {
    return D.matmul_mode == matmul2d_descriptor::mode::multiply_accumulate;
  }

  /// One element, in the order of k. What is outside of an operand is zero.
  template <class Left, class Right>
  static float sum(const Left &left, const Right &right, int column, int row,
                   float start) {
    constexpr int inner = D.transpose_left ? 1 : 0;
    int depth = left.get_extent(inner);
    if (D.k >= 0 && D.k < depth)
      depth = D.k;
    bool isInside = row < left.get_extent(1 - inner) &&
                    column < right.get_extent(D.transpose_right ? 1 : 0);
    for (int k = 0; isInside && k < depth; ++k) {
      float a = D.transpose_left ? float(left[row, k]) : float(left[k, row]);
      float b =
          D.transpose_right ? float(right[k, column]) : float(right[column, k]);
      start += a * b;
    }
    return start;
  }
};

} // namespace mpp::tensor_ops

#endif // CORTEN_METAL_TENSOR_OPS_H
