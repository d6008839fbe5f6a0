// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomic operations. The threads of a kernel take turns here, so plain memory
// does; the checker is told that the access was atomic.

#ifndef CORTEN_METAL_ATOMIC_H
#define CORTEN_METAL_ATOMIC_H

namespace metal {

enum memory_order {
  memory_order_relaxed,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
enum thread_scope {
  thread_scope_thread,
  thread_scope_simdgroup,
  thread_scope_threadgroup,
  thread_scope_device
};

template <class T> struct atomic {
  T value;
};
using atomic_bool = atomic<bool>;
using atomic_int = atomic<int>;
using atomic_uint = atomic<uint>;
using atomic_ulong = atomic<ulong>;
using atomic_float = atomic<float>;

/// The memory behind an atomic, for an access that was announced.
template <class T>
__attribute__((noinline, no_sanitize("thread"))) T
corten_peek(const volatile atomic<T> *object) {
  return object->value;
}
template <class T>
__attribute__((noinline, no_sanitize("thread"))) void
corten_poke(volatile atomic<T> *object, T value) {
  object->value = value;
}

/// A call vanishes: the access has its place.
#define CORTEN_INLINE __attribute__((always_inline)) inline

template <class T>
CORTEN_INLINE T atomic_load_explicit(const volatile atomic<T> *object,
                                     memory_order) {
  corten_atomic(object, sizeof(T), kCortenLoad);
  return corten_peek(object);
}
template <class T>
CORTEN_INLINE void atomic_store_explicit(volatile atomic<T> *object,
                                         type_identity_t<T> value,
                                         memory_order) {
  corten_atomic(object, sizeof(T), kCortenStore);
  corten_poke(object, value);
}

#define CORTEN_ATOMIC(name, EXPR)                                              \
  template <class T>                                                           \
  CORTEN_INLINE T atomic_##name##_explicit(                                    \
      volatile atomic<T> *object, type_identity_t<T> value, memory_order) {    \
    corten_atomic(object, sizeof(T), kCortenModify);                           \
    T old = corten_peek(object);                                               \
    corten_poke(object, static_cast<T>(EXPR));                                 \
    return old;                                                                \
  }
CORTEN_ATOMIC(exchange, value)
CORTEN_ATOMIC(fetch_add, old + value)
CORTEN_ATOMIC(fetch_sub, old - value)
CORTEN_ATOMIC(fetch_max, old < value ? value : old)
CORTEN_ATOMIC(fetch_min, value < old ? value : old)
CORTEN_ATOMIC(fetch_and, old &value)
CORTEN_ATOMIC(fetch_or, old | value)
CORTEN_ATOMIC(fetch_xor, old ^ value)
#undef CORTEN_ATOMIC
#define CORTEN_ATOMIC(name)                                                    \
  template <class T>                                                           \
  CORTEN_INLINE void atomic_##name##_explicit(volatile atomic<T> *object,      \
                                              type_identity_t<T> value,        \
                                              memory_order order) {            \
    atomic_fetch_##name##_explicit(object, value, order);                      \
  }
CORTEN_ATOMIC(max)
CORTEN_ATOMIC(min)
#undef CORTEN_ATOMIC

template <class T>
CORTEN_INLINE bool
atomic_compare_exchange_weak_explicit(volatile atomic<T> *object, T *expected,
                                      type_identity_t<T> desired, memory_order,
                                      memory_order) {
  corten_atomic(object, sizeof(T), kCortenModify);
  T old = corten_peek(object);
  // Bits are compared, not numbers: a NaN equals itself.
  if (__builtin_memcmp(&old, expected, sizeof(T)) == 0) {
    corten_poke(object, desired);
    return true;
  }
  *expected = old;
  return false;
}

#undef CORTEN_INLINE

} // namespace metal

#endif // CORTEN_METAL_ATOMIC_H
