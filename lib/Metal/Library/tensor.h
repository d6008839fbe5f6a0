// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors, the parameters of kernels. Extent 0 is the innermost one. Every
// index is held against the extent of its own axis.

#ifndef CORTEN_METAL_TENSOR_H
#define CORTEN_METAL_TENSOR_H

namespace metal {

constexpr size_t dynamic_extent = ~0ul;

/// The extents of a tensor; those that are dynamic_extent are given when it is
/// made.
template <class I, size_t... E> struct extents {
  using index_type = I;
  static constexpr size_t rank() { return sizeof...(E); }
  static constexpr size_t static_extent(size_t i) {
    constexpr size_t all[] = {E..., 0};
    return all[i];
  }
  constexpr I extent(size_t i) const {
    return static_extent(i) == dynamic_extent ? sizes[i] : I(static_extent(i));
  }
  I sizes[sizeof...(E) + 1] = {};
};

template <class I, size_t R, size_t... E>
struct corten_dextents : corten_dextents<I, R - 1, E..., dynamic_extent> {};
template <class I, size_t... E> struct corten_dextents<I, 0, E...> {
  using type = extents<I, E...>;
};
template <class I, size_t R>
using dextents = typename corten_dextents<I, R>::type;

struct tensor_handle {};
struct tensor_inline {};
struct tensor_offset {};

template <class T, class E, class... Tags> class tensor {
public:
  using element_type = T;
  using value_type = remove_cv_t<T>;
  using extents_type = E;
  using index_type = typename E::index_type;

  constexpr tensor(T *base, E shape, const char *name = "a tensor")
      : base(base), name(name), shape(shape) {
    long step = 1;
    for (size_t i = 0; i < get_rank(); ++i) {
      steps[i] = step;
      step *= shape.extent(i);
    }
  }
  template <class S>
  constexpr tensor(T *base, E shape, const array<S, E::rank()> &strides,
                   const char *name = "a tensor")
      : base(base), name(name), shape(shape) {
    for (size_t i = 0; i < get_rank(); ++i)
      steps[i] = strides[i];
  }
  /// A handle becomes an inline tensor where one is wanted.
  template <class... Other>
  constexpr tensor(const tensor<T, E, Other...> &other)
      : base(other.base), name(other.name), shape(other.shape) {
    for (size_t i = 0; i < get_rank(); ++i)
      steps[i] = other.steps[i];
  }
  tensor(const tensor &) = default;
  tensor &operator=(const tensor &) = default;

  static constexpr size_t get_rank() { return E::rank(); }
  static constexpr size_t get_static_extent(size_t i) {
    return E::static_extent(i);
  }
  constexpr index_type get_extent(size_t i) const {
    if (i >= get_rank())
      corten_component_index(long(i), int(get_rank()));
    return shape.extent(i);
  }
  constexpr index_type get_stride(size_t i) const {
    if (i >= get_rank())
      corten_component_index(long(i), int(get_rank()));
    return static_cast<index_type>(steps[i]);
  }
  constexpr T *data() const { return base; }

  template <class... I>
    requires(sizeof...(I) == E::rank() && (is_integral_v<I> && ...))
  constexpr T &operator[](I... indices) const {
    long all[] = {static_cast<long>(indices)..., 0};
    return element(all);
  }
  template <class I, int N>
    requires(N == int(E::rank()))
  constexpr T &operator[](vec<I, N> indices) const {
    long all[N];
    for (int i = 0; i < N; ++i)
      all[i] = static_cast<long>(indices.at(i));
    return element(all);
  }
  template <class I>
  constexpr T &operator[](const array<I, E::rank()> &indices) const {
    long all[E::rank() + 1];
    for (size_t i = 0; i < E::rank(); ++i)
      all[i] = static_cast<long>(indices[i]);
    return element(all);
  }
  template <class... I> constexpr value_type get(I... indices) const {
    return (*this)[indices...];
  }
  template <class... I>
  constexpr void set(value_type value, I... indices) const {
    (*this)[indices...] = value;
  }

  /// The part that begins at `origin`. Extents that are not given as template
  /// arguments reach to the end. Beyond the end there is nothing: a part that
  /// sticks out is that much smaller.
  template <size_t... Size, class... I>
    requires(sizeof...(I) == E::rank())
  constexpr auto slice(I... origin) const {
    long from[] = {static_cast<long>(origin)...};
    constexpr size_t sizes[] = {Size..., dynamic_extent};
    dextents<index_type, E::rank()> part;
    array<long, E::rank()> strides;
    T *start = base;
    for (size_t i = 0; i < E::rank(); ++i) {
      long extent = shape.extent(i);
      if (from[i] < 0 || from[i] > extent)
        corten_tensor_index(unsigned(i), from[i], extent, name);
      long size = extent - from[i];
      if (i < sizeof...(Size) && sizes[i] != dynamic_extent &&
          long(sizes[i]) < size)
        size = long(sizes[i]);
      part.sizes[i] = static_cast<index_type>(size);
      strides[i] = steps[i];
      start += from[i] * steps[i];
    }
    return tensor<T, dextents<index_type, E::rank()>, tensor_inline>(
        start, part, strides, name);
  }

private:
  template <class U, class F, class... Other> friend class tensor;

  constexpr T &element(const long *indices) const {
    T *address = base;
    for (size_t i = 0; i < E::rank(); ++i) {
      long extent = shape.extent(i);
      if (indices[i] < 0 || indices[i] >= extent)
        corten_tensor_index(unsigned(i), indices[i], extent, name);
      address += indices[i] * steps[i];
    }
    return *address;
  }

  T *base;
  const char *name;
  E shape;
  long steps[E::rank() + 1];
};

} // namespace metal

#endif // CORTEN_METAL_TENSOR_H
