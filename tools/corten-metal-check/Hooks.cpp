// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that a kernel calls: those of runtime.h, and those that the
// compiler puts before every access to memory (-fsanitize=thread) and behind
// every array index (-fsanitize=array-bounds). No sanitizer's runtime is here;
// these are all there is.

#include "Scheduler.h"

#include <cstring>

using namespace corten::check;

// The compiler chose the names.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)

#define EXPORT extern "C" __attribute__((visibility("default")))
#define CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

//===----------------------------------------------------------------------===//
// runtime.h
//===----------------------------------------------------------------------===//

EXPORT void corten_barrier(unsigned flags, const CortenPlace *place) {
  scheduler->barrier(flags, *place);
}

EXPORT void corten_simd_barrier(unsigned flags, const CortenPlace *place) {
  scheduler->simdBarrier(flags, *place);
}

EXPORT const unsigned char *corten_exchange(const void *value, unsigned bytes,
                                            unsigned *active,
                                            const CortenPlace *place) {
  return scheduler->exchange(value, bytes, *active, *place);
}

EXPORT void *corten_threadgroup(const void *declaration, unsigned long bytes,
                                unsigned long granule, const char *name) {
  return scheduler->shared(declaration, bytes, granule, name);
}

EXPORT unsigned corten_lane() { return scheduler->lane(); }

EXPORT unsigned corten_thread_index() { return scheduler->threadIndex(); }

EXPORT void corten_atomic(const volatile void *address, unsigned bytes,
                          int kind) {
  AccessKind kinds[] = {AccessKind::AtomicRead, AccessKind::AtomicWrite,
                        AccessKind::AtomicModify};
  scheduler->access(const_cast<const void *>(address), bytes, kinds[kind],
                    CALLER);
}

EXPORT void corten_tensor_index(unsigned axis, long index, long extent,
                                const char *name) {
  scheduler->report("out of bounds", name,
                    "index " + std::to_string(index) + " in dimension " +
                        std::to_string(axis) + " of '" + name +
                        "', which has the extent " + std::to_string(extent),
                    CALLER);
  scheduler->stop();
}

EXPORT void corten_component_index(long index, int size) {
  scheduler->report("out of bounds", "",
                    "index " + std::to_string(index) + " of " +
                        std::to_string(size) + " components",
                    CALLER);
  scheduler->stop();
}

EXPORT void corten_inactive_lane(unsigned lane, const CortenPlace *place) {
  scheduler->report("inactive lane", "",
                    "takes a value from lane " + std::to_string(lane) +
                        " of the simdgroup, which is not at this operation",
                    0, place);
}

//===----------------------------------------------------------------------===//
// Accesses to memory
//===----------------------------------------------------------------------===//

#define ACCESS(bytes)                                                          \
  EXPORT void __tsan_read##bytes(void *address) {                              \
    scheduler->access(address, bytes, AccessKind::Read, CALLER);               \
  }                                                                            \
  EXPORT void __tsan_write##bytes(void *address) {                             \
    scheduler->access(address, bytes, AccessKind::Write, CALLER);              \
  }                                                                            \
  EXPORT void __tsan_unaligned_read##bytes(void *address) {                    \
    scheduler->access(address, bytes, AccessKind::Read, CALLER);               \
  }                                                                            \
  EXPORT void __tsan_unaligned_write##bytes(void *address) {                   \
    scheduler->access(address, bytes, AccessKind::Write, CALLER);              \
  }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
#undef ACCESS

EXPORT void __tsan_init() {}

EXPORT void *__tsan_memcpy(void *to, const void *from, size_t bytes) {
  scheduler->access(from, bytes, AccessKind::Read, CALLER);
  scheduler->access(to, bytes, AccessKind::Write, CALLER);
  return std::memcpy(to, from, bytes);
}
EXPORT void *__tsan_memmove(void *to, const void *from, size_t bytes) {
  scheduler->access(from, bytes, AccessKind::Read, CALLER);
  scheduler->access(to, bytes, AccessKind::Write, CALLER);
  return std::memmove(to, from, bytes);
}
EXPORT void *__tsan_memset(void *to, int value, size_t bytes) {
  scheduler->access(to, bytes, AccessKind::Write, CALLER);
  return std::memset(to, value, bytes);
}

namespace {
/// What -fsanitize=array-bounds says about an index; its layout is fixed.
struct ArrayIndex {
  CortenPlace place;
  const void *arrayType;
  const void *indexType;
};
} // namespace

EXPORT void __ubsan_handle_out_of_bounds(ArrayIndex *data, uintptr_t index) {
  CortenPlace place = data->place;
  scheduler->report("out of bounds", "",
                    "index " + std::to_string(static_cast<intptr_t>(index)) +
                        " beyond the declared size of the array",
                    0, &place);
  scheduler->stop();
}

//===----------------------------------------------------------------------===//
// Conversions that older compiler libraries lack
//===----------------------------------------------------------------------===//

/// Rounds to the nearest, ties to even; a NaN stays one.
EXPORT __bf16 __truncsfbf2(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  if ((bits & 0x7fffffff) > 0x7f800000)
    bits |= 0x400000;
  else
    bits += 0x7fff + (bits >> 16 & 1);
  uint16_t high = bits >> 16;
  __bf16 result;
  std::memcpy(&result, &high, sizeof(result));
  return result;
}

// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
