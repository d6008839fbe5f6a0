// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/StridedMemory.h"

#include "corten/Support/Limits.h"
#include "corten/Support/ReadWindow.h"
#include "corten/Support/ScratchMemory.h"

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

/// Copies all elements that the axes reach: the first axis together with the
/// one that lies closest in memory, for each index of the others.
static void copyElements(llvm::SmallVector<CopyAxis> axes, size_t elementBytes,
                         char *to, const char *from) {
  auto *closest =
      std::min_element(axes.begin() + 1, axes.end(),
                       [](const CopyAxis &left, const CopyAxis &right) {
                         // There is nothing to be gained on an axis of one
                         // element.
                         return std::pair(left.extent == 1, left.from) <
                                std::pair(right.extent == 1, right.from);
                       });
  std::swap(axes[1], *closest);
  auto *copy = copierOf(elementBytes);
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

namespace {
/// A copy between mapped files, in parts of which each brings less than a
/// window into memory. The larger they are, the less often is a page written
/// to.
class WindowedCopy {
public:
  explicit WindowedCopy(size_t elementBytes) : elementBytes(elementBytes) {}

  void run(const llvm::SmallVector<CopyAxis> &axes, char *to, const char *from);

private:
  static constexpr size_t kMost = ReadWindow::kSize / 4 * 3;

  size_t reach(llvm::ArrayRef<CopyAxis> axes, int64_t CopyAxis::*step) const;
  size_t touched(llvm::SmallVector<CopyAxis> axes, int64_t CopyAxis::*step,
                 size_t around) const;
  /// Reading brings what is around a place with it, writing its page.
  size_t touched(const llvm::SmallVector<CopyAxis> &axes) const {
    return touched(axes, &CopyAxis::from, ReadWindow::kLook) +
           touched(axes, &CopyAxis::to, kPageBytes);
  }

  size_t elementBytes;
  ReadWindow window;
};
} // namespace

/// From the first byte of one side to its last.
size_t WindowedCopy::reach(llvm::ArrayRef<CopyAxis> axes,
                           int64_t CopyAxis::*step) const {
  size_t bytes = elementBytes;
  for (const CopyAxis &axis : axes)
    bytes += (axis.extent - 1) * axis.*step;
  return bytes;
}

/// About how much of one side is in memory when a part has been copied: its
/// pieces without large gaps, each with what is `around` it.
size_t WindowedCopy::touched(llvm::SmallVector<CopyAxis> axes,
                             int64_t CopyAxis::*step, size_t around) const {
  llvm::sort(axes, [&](const CopyAxis &left, const CopyAxis &right) {
    return left.*step < right.*step;
  });
  size_t piece = elementBytes, pieces = 1;
  for (const CopyAxis &axis : axes) {
    if (static_cast<size_t>(axis.*step) <= piece + around)
      piece += (axis.extent - 1) * axis.*step;
    else
      pieces *= axis.extent;
  }
  return pieces * (piece + around);
}

void WindowedCopy::run(const llvm::SmallVector<CopyAxis> &axes, char *to,
                       const char *from) {
  size_t whole = touched(axes);
  if (whole <= kMost) {
    copyElements(axes, elementBytes, to, from);
    window.passed({from, reach(axes, &CopyAxis::from)}, whole);
    window.passed({to, reach(axes, &CopyAxis::to)}, 0);
    window.giveBack();
    return;
  }
  // The axis that is best cut in two: what lies together on one side may be
  // scattered on the other.
  size_t least = SIZE_MAX, best = 0;
  for (size_t place = 0; place < axes.size(); ++place) {
    if (axes[place].extent == 1)
      continue;
    llvm::SmallVector<CopyAxis> half = axes;
    half[place].extent -= half[place].extent / 2;
    if (size_t size = touched(half); size < least)
      std::tie(least, best) = std::pair(size, place);
  }
  int64_t second = axes[best].extent / 2, first = axes[best].extent - second;
  llvm::SmallVector<CopyAxis> half = axes;
  half[best].extent = first;
  run(half, to, from);
  half[best].extent = second;
  run(half, to + first * half[best].to, from + first * half[best].from);
}

/// Copies the elements in row-major order.
static void gather(const StridedMemory &memory, char *to, const char *from) {
  llvm::SmallVector<CopyAxis> axes;
  int64_t elementBytes = memory.elementBytes, step = elementBytes;
  for (auto [extent, stride] :
       llvm::reverse(llvm::zip_equal(memory.shape, memory.strides))) {
    axes.push_back({extent, stride * elementBytes, step});
    step *= extent;
  }
  axes.resize(std::max<size_t>(axes.size(), 2));
  if (static_cast<size_t>(step) < kLeastScratch)
    copyElements(std::move(axes), memory.elementBytes, to, from);
  else
    WindowedCopy(memory.elementBytes).run(axes, to, from);
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
    elements = allocateScratch(extent->size);
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
