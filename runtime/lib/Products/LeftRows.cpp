// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LeftRows.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::products;

/// Rows that a thread copies at once.
static constexpr int64_t kCopiedRows = 32;

int64_t products::batchesOf(const Tensor &tensor) {
  int64_t count = 1;
  for (int axis = 0; axis < tensor.rank - 2; ++axis)
    count *= tensor.extents[axis];
  return count;
}

int64_t products::batchOffset(const Tensor &tensor, int inner, int64_t batch) {
  int64_t offset = 0;
  for (int axis = tensor.rank - inner; axis-- > 0;) {
    offset += batch % tensor.extents[axis] * tensor.steps[axis];
    batch /= tensor.extents[axis];
  }
  return offset;
}

/// Rows of a whole number of pages would share their places in the nearest
/// cache.
static Tensor copyOf(const Tensor &left) {
  Tensor copy(ElementType::F32, nullptr, left.shape());
  int64_t depth = left.extents[left.rank - 1];
  int64_t step = depth % 1024 == 0 ? depth + 16 : depth;
  for (int axis = left.rank - 1; axis-- > 0;) {
    copy.steps[axis] = step;
    step *= left.extents[axis];
  }
  return copy;
}

LeftRows::LeftRows(const Tensor &left, bool isChanged)
    : left(left), needsCopy(isChanged || left.type != ElementType::F32 ||
                            (left.steps[left.rank - 1] != 1 &&
                             left.extents[left.rank - 1] > 1)),
      copy(needsCopy ? copyOf(left) : left) {}

int64_t LeftRows::copySize() const {
  return left.rank > 1 ? copy.steps[0] * left.extents[0] : left.extents[0];
}

void LeftRows::makeCopy(const Invocation &call, const MicroKernels &kernels,
                        float *to) const {
  int rank = left.rank;
  int64_t rows = left.extents[rank - 2];
  int64_t pieces = ceilDivide(rows, kCopiedRows);
  forEachChunk(call, batchesOf(left) * pieces, [&](int64_t chunk, int) {
    int64_t batch = chunk / pieces;
    int64_t row = chunk % pieces * kCopiedRows;
    Elements from{static_cast<const char *>(left.data) +
                      batchOffset(left, 2, batch) *
                          int64_t(byteSize(left.type)),
                  left.type, left.steps[rank - 2], left.steps[rank - 1]};
    int64_t step = copy.steps[rank - 2];
    gather(kernels, from.from(row, 0), std::min(kCopiedRows, rows - row),
           left.extents[rank - 1], to + (batch * rows + row) * step, step);
  });
}
