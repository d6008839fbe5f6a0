// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/StridedMemory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>
#include <cstring>

using namespace corten;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// What a tensor covers, in bytes.
struct Extent {
  size_t begin = 0;
  /// Of its elements, were they in one piece.
  size_t size = 0;
  bool isRowMajor = true;
};
} // namespace

/// Nothing if the tensor does not lie in its storage.
static std::optional<Extent> extentOf(const StridedMemory &memory) {
  if (memory.shape.size() != memory.strides.size() || memory.offset < 0)
    return std::nullopt;
  int64_t count = 1, last = memory.offset, rowMajorStride = 1;
  bool isRowMajor = true, isEmpty = false;
  for (auto [extent, stride] :
       llvm::reverse(llvm::zip_equal(memory.shape, memory.strides))) {
    int64_t reach = 0;
    if (extent < 0 || stride < 0 || llvm::MulOverflow(count, extent, count) ||
        (extent != 0 &&
         (llvm::MulOverflow<int64_t>(extent - 1, stride, reach) ||
          llvm::AddOverflow(last, reach, last))))
      return std::nullopt;
    isRowMajor &= extent == 1 || stride == rowMajorStride;
    rowMajorStride = count;
    isEmpty |= extent == 0;
  }
  int64_t elementBytes = memory.elementBytes, size = 0, end = 0;
  if (isEmpty)
    return Extent();
  if (elementBytes == 0 || llvm::MulOverflow(count, elementBytes, size) ||
      llvm::AddOverflow<int64_t>(last, 1, end) ||
      llvm::MulOverflow(end, elementBytes, end) ||
      static_cast<uint64_t>(end) > memory.storage.data.size())
    return std::nullopt;
  return Extent{static_cast<size_t>(memory.offset * elementBytes),
                static_cast<size_t>(size), isRowMajor};
}

namespace {
/// One axis of a copy: how many steps, and how far each goes in bytes.
struct CopyAxis {
  int64_t extent = 1;
  int64_t from = 0;
  int64_t to = 0;
};
} // namespace

/// Copies a matrix of elements. In tiles, so that what one row of a transposed
/// matrix has brought into the cache is still there for the next. With the size
/// known, a copy of an element is one instruction.
template <size_t size>
static void copyMatrix(char *to, const char *from, const CopyAxis &rows,
                       const CopyAxis &columns) {
  constexpr int64_t kTile = 32;
  for (int64_t row = 0; row < rows.extent; row += kTile)
    for (int64_t column = 0; column < columns.extent; column += kTile)
      for (int64_t i = row; i < std::min(row + kTile, rows.extent); ++i)
        for (int64_t j = column; j < std::min(column + kTile, columns.extent);
             ++j)
          std::memcpy(to + i * rows.to + j * columns.to,
                      from + i * rows.from + j * columns.from, size);
}

static auto copierOf(size_t elementBytes) {
  switch (elementBytes) {
  case 1:
    return copyMatrix<1>;
  case 2:
    return copyMatrix<2>;
  case 4:
    return copyMatrix<4>;
  case 8:
    return copyMatrix<8>;
  default:
    assert(elementBytes == 16 && "elements have powers of two of bytes");
    return copyMatrix<16>;
  }
}

/// Copies the elements in row-major order: the last axis together with the one
/// that lies closest in memory, for each index of the others.
static void gather(const StridedMemory &memory, char *to, const char *from) {
  llvm::SmallVector<CopyAxis> axes;
  int64_t elementBytes = memory.elementBytes, step = elementBytes;
  for (auto [extent, stride] :
       llvm::reverse(llvm::zip_equal(memory.shape, memory.strides))) {
    axes.push_back({extent, stride * elementBytes, step});
    step *= extent;
  }
  axes.resize(std::max<size_t>(axes.size(), 2));
  auto *closest =
      std::min_element(axes.begin() + 1, axes.end(),
                       [](const CopyAxis &left, const CopyAxis &right) {
                         // There is nothing to be gained on an axis of one
                         // element.
                         return std::pair(left.extent == 1, left.from) <
                                std::pair(right.extent == 1, right.from);
                       });
  std::swap(axes[1], *closest);
  auto *copy = copierOf(memory.elementBytes);
  llvm::ArrayRef<CopyAxis> outer = llvm::ArrayRef(axes).drop_front(2);
  llvm::SmallVector<int64_t> index(outer.size());
  for (bool isDone = false; !isDone;) {
    copy(to, from, axes[1], axes[0]);
    isDone = true;
    for (auto [position, axis] : llvm::zip_equal(index, outer)) {
      to += axis.to;
      from += axis.from;
      isDone = ++position == axis.extent;
      if (!isDone)
        break;
      to -= axis.to * axis.extent;
      from -= axis.from * axis.extent;
      position = 0;
    }
  }
}

llvm::Expected<SharedBytes> corten::elementsOf(const StridedMemory &memory) {
  std::optional<Extent> extent = extentOf(memory);
  if (!extent)
    return llvm::createStringError("reaches beyond the " +
                                   Twine(memory.storage.data.size()) +
                                   " bytes of its storage");
  const char *begin = memory.storage.data.data() + extent->begin;
  if (extent->isRowMajor)
    return SharedBytes{StringRef(begin, extent->size), memory.storage.owner};
  // A tensor may be larger than its storage, if that is repeated.
  constexpr size_t kMaxGrowth = size_t{1} << 30;
  std::shared_ptr<char> elements;
  if (extent->size <= std::max(memory.storage.data.size(), kMaxGrowth))
    elements = allocateElements(extent->size);
  if (!elements)
    return llvm::createStringError("repeats its storage to " +
                                   Twine(extent->size) + " bytes");
  gather(memory, elements.get(), begin);
  StringRef data(elements.get(), extent->size);
  return SharedBytes{data, std::move(elements)};
}

llvm::Expected<AddedWeight> corten::addWeight(ProgramBuilder &builder,
                                              ScalarType dtype,
                                              llvm::ArrayRef<int64_t> shape,
                                              const StridedMemory &memory) {
  llvm::Expected<SharedBytes> elements = elementsOf(memory);
  if (!elements)
    return elements.takeError();
  bool isCopy = elements->owner != memory.storage.owner;
  int index =
      builder.addWeight(dtype, shape, elements->data.data(),
                        elements->data.size(), std::move(elements->owner));
  return AddedWeight{index, isCopy};
}
