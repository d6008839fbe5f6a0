// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel that was compiled for the CPU and the program that runs it
// know of each other. Both sides include this file, so it includes nothing.

#ifndef CORTEN_METAL_RUNTIME_H
#define CORTEN_METAL_RUNTIME_H

// NOLINTBEGIN(readability-identifier-naming): names of C.
extern "C" {

/// A line of the kernel's source. `file` tells the parts of the source apart.
struct CortenPlace {
  const char *file;
  unsigned line;
  unsigned column;
};

/// Where a thread stands. Fixed while it runs.
struct CortenThread {
  unsigned positionInGrid[3];
  unsigned positionInGroup[3];
  unsigned groupPosition[3];
  unsigned groupSize[3];
  /// Of all groups but the last ones along an axis.
  unsigned fullGroupSize[3];
  unsigned numGroups[3];
  unsigned gridSize[3];
  unsigned indexInGroup;
};

/// An argument of the kernel.
struct CortenBuffer {
  void *data;
  const char *name;
  /// Innermost first, as Metal has them.
  const int *extents;
};

/// The function that the checker looks up: one thread of the kernel.
void corten_kernel(const CortenThread *thread, const CortenBuffer *buffers);

// Memory that a barrier orders.
enum { kCortenDevice = 1, kCortenThreadgroup = 2 };

void corten_barrier(unsigned flags, const CortenPlace *place);
void corten_simd_barrier(unsigned flags, const CortenPlace *place);

/// Gives the lane's value to the others that are at the same operation and
/// waits for them. Returns 32 slots of kCortenSlot bytes, valid until the lane
/// comes here again, and sets `active` to the lanes whose slots hold something.
enum { kCortenSlot = 64 };
const unsigned char *corten_exchange(const void *value, unsigned bytes,
                                     unsigned *active,
                                     const CortenPlace *place);

/// Storage that the threads of a group share; one piece for each declaration.
void *corten_threadgroup(const void *declaration, unsigned long bytes,
                         unsigned long granule, const char *name);

// How an atomic operation touches memory.
enum { kCortenLoad = 0, kCortenStore = 1, kCortenModify = 2 };
void corten_atomic(const volatile void *address, unsigned bytes, int kind);

// These end the thread.
[[noreturn]] void corten_tensor_index(unsigned axis, long index, long extent,
                                      const char *name);
[[noreturn]] void corten_component_index(long index, int size);

/// The place of the thread in its simdgroup, and in its group.
unsigned corten_lane();
unsigned corten_thread_index();

/// A lane that reads a value of a lane that gave none.
void corten_inactive_lane(unsigned lane, const CortenPlace *place);
}
// NOLINTEND(readability-identifier-naming)

#endif // CORTEN_METAL_RUNTIME_H
