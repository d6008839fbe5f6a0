// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the fast products have in common.

#ifndef CORTEN_RUNTIME_LIB_PRODUCTS_COMMON_H
#define CORTEN_RUNTIME_LIB_PRODUCTS_COMMON_H

#include "../Vector/Variants.h"

#include "corten/Runtime/Kernel.h"
#include "corten/Runtime/Panels.h"
#include "corten/Runtime/ThreadPool.h"

namespace corten::runtime::products {

/// Hands out scratch memory. Without any it only counts, so that what a call
/// asks for and what it takes are written once.
class Scratch {
public:
  explicit Scratch(void *base) : base(static_cast<char *>(base)) {}

  template <typename T> T *take(int64_t count) {
    char *result = base ? base + used : nullptr;
    used += (size_t(count) * sizeof(T) + 63) / 64 * 64;
    return reinterpret_cast<T *>(result);
  }
  size_t size() const { return used; }

private:
  char *base;
  size_t used = 0;
};

inline int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Cuts rows into parts that differ by one at most: part i begins at
/// `count * i / parts`. Tiles are short, and divisions long.
class EvenParts {
public:
  EvenParts(int64_t count, int64_t parts)
      : parts(parts), whole(count / parts), rest(count % parts) {}

  struct Part {
    int64_t first;
    int64_t count;
  };
  Part next() {
    int64_t first = position;
    position += whole;
    fraction += rest;
    if (fraction >= parts) {
      fraction -= parts;
      ++position;
    }
    return {first, position - first};
  }

private:
  int64_t parts, whole, rest;
  int64_t position = 0;
  int64_t fraction = 0;
};

inline int threadsOf(const Invocation &call) {
  return call.pool ? call.pool->threads() : 1;
}

/// Calls `body(chunk, thread)` on the threads of a call.
template <typename Body>
void forEachChunk(const Invocation &call, int64_t count, Body &&body) {
  if (call.pool)
    return call.pool->run(count, body);
  for (int64_t chunk = 0; chunk < count; ++chunk)
    body(chunk, 0);
}

inline Factor factorOf(ElementType type) {
  return type == ElementType::F16    ? Factor::F16
         : type == ElementType::BF16 ? Factor::BF16
                                     : Factor::F32;
}

/// Elements of a matrix that lie anywhere.
struct Elements {
  const void *data;
  ElementType type;
  int64_t rowStep;
  int64_t columnStep;

  Elements from(int64_t row, int64_t column) const {
    int64_t offset = row * rowStep + column * columnStep;
    return {static_cast<const char *>(data) +
                offset * (type == ElementType::F32 ? 4 : 2),
            type, rowStep, columnStep};
  }
};

/// Copies them as floats to rows that are `toStep` apart.
void gather(const MicroKernels &kernels, const Elements &from, int64_t rows,
            int64_t columns, float *to, int64_t toStep);

/// Packs up to kPanelWidth columns of a matrix.
void packPanel(const MicroKernels &kernels, const Elements &from, int64_t rows,
               int64_t columns, float *to);

} // namespace corten::runtime::products

#endif // CORTEN_RUNTIME_LIB_PRODUCTS_COMMON_H
