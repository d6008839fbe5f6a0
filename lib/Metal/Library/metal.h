// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Metal Shading Language for a C++23 compiler that makes code for a CPU.
// It includes no header of the system: nothing competes with Metal's names.

#ifndef CORTEN_METAL_METAL_H
#define CORTEN_METAL_METAL_H

#pragma clang system_header

#include "runtime.h"
#include "types.h"

// Calls vanish, so that what they do has the place of the call.
#pragma clang attribute push(__attribute__((always_inline)),                   \
                             apply_to = function)
#include "vector.h"

#include "math.h"

#include "matrix.h"

#include "tensor.h"

#include "tensor_ops.h"
#pragma clang attribute pop
#include "atomic.h"

#include "group.h"

namespace metal {

/// A variable that the threads of a group share.
template <class T> using corten_shared = T &;
/// The elements of an array of arrays.
template <class T> struct corten_element {
  using type = T;
};
template <class T, unsigned long N> struct corten_element<T[N]> {
  using type = typename corten_element<T>::type;
};
template <class T>
__attribute__((always_inline)) inline T &corten_share(const void *declaration,
                                                      const char *name) {
  return *static_cast<T *>(corten_threadgroup(
      declaration, sizeof(T), alignof(typename corten_element<T>::type), name));
}

/// A position as the type that the kernel asks for.
template <class T>
__attribute__((always_inline)) inline T
corten_position(const unsigned (&position)[3]) {
  T result;
  if constexpr (is_arithmetic_v<T>)
    result = static_cast<T>(position[0]);
  else
    for (int i = 0; i < components<T>; ++i)
      result.at(i) = static_cast<typename T::value_type>(position[i]);
  return result;
}

template <class T, size_t R>
__attribute__((always_inline)) inline tensor<T, dextents<int, R>, tensor_handle>
corten_argument(const CortenBuffer &buffer) {
  dextents<int, R> shape;
  for (size_t i = 0; i < R; ++i)
    shape.sizes[i] = buffer.extents[i];
  return {static_cast<T *>(buffer.data), shape, buffer.name};
}

/// What a parameter of a kernel is given: a tensor, a number or memory.
template <class P> struct corten_parameter;
template <class T, class E, class... Tags>
struct corten_parameter<tensor<T, E, Tags...>> {
  static tensor<T, E, Tags...> from(const CortenBuffer &buffer) {
    E shape;
    for (size_t i = 0; i < E::rank(); ++i)
      shape.sizes[i] = buffer.extents[i];
    return {static_cast<T *>(buffer.data), shape, buffer.name};
  }
};
template <class T> struct corten_parameter<T &> {
  static T &from(const CortenBuffer &buffer) {
    return *static_cast<T *>(buffer.data);
  }
};
template <class T> struct corten_parameter<T *> {
  static T *from(const CortenBuffer &buffer) {
    return static_cast<T *>(buffer.data);
  }
};

} // namespace metal

#define device
#define threadgroup
#define thread
#define constant const
#define kernel
#define METAL_FUNC inline
#define METAL_INTERNAL inline
#define __METAL_VERSION__ 400
#define __METAL__ 1

#endif // CORTEN_METAL_METAL_H
