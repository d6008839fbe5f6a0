// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of rows with the one of several packed matrices that an index says.
// Rows of the same matrix are taken together, so that it is read once; what no
// row goes to is not read at all.

#include "../Portable/Epilogue.h"
#include "../Portable/Portable.h"
#include "Blocks.h"
#include "LeftRows.h"

using namespace corten::runtime;
using namespace corten::runtime::products;
using portable::kRoutedOperands;

/// Rows that are multiplied with a panel at a time: whole tiles of any machine,
/// and not more than a block has.
static constexpr int64_t kSliceRows = 48;

/// So many threads do not need rows in blocks of their own: there is a slice
/// for each matrix.
static constexpr int kAllRows = 0;

namespace {
class RoutedProduct {
public:
  RoutedProduct(const Invocation &call, const Vectors &vectors)
      : call(call), vectors(vectors), packed(call.input(1)),
        indices(call.input(2)), rank(call.output().rank), left(call.input(0)),
        leftGrid(left.readable(), rank - 1),
        sink(call, call.output(), rank - 1, vectors, &leftGrid,
             kRoutedOperands),
        rows(sink.rows().count()),
        blocks(vectors,
               {std::min(rows, kSliceRows), sink.columns(), 1,
                packed.extents[2], factorOf(packed.type)},
               /*isWide=*/true, kAllRows) {}

  /// Gives out scratch memory, and says how much it was.
  size_t layOut(void *base) {
    Scratch scratch(base);
    if (left.isCopied())
      leftGrid.data =
          reinterpret_cast<char *>(scratch.take<float>(left.copySize()));
    matrices = scratch.take<int64_t>(rows);
    order = scratch.take<int64_t>(rows);
    ends = scratch.take<int64_t>(packed.extents[0]);
    slices = scratch.take<Slice>(std::min(rows, packed.extents[0]) +
                                 rows / kSliceRows);
    threadBytes = takeForThread(nullptr).second;
    threadBase = scratch.take<char>(int64_t(threadBytes) * threadsOf(call));
    return scratch.size();
  }

  Error run() {
    if (call.output().size() == 0)
      return Error::success();
    if (Error error = sortRows())
      return error;
    if (left.isCopied())
      left.makeCopy(call, vectors.products,
                    reinterpret_cast<float *>(leftGrid.data));
    // Slices of one matrix are neighbours: its panels are still near.
    forEachChunk(call, blocks.count() * numSlices,
                 [&](int64_t chunk, int thread) {
                   multiply(slices[chunk % numSlices],
                            blocks.at(chunk / numSlices), thread);
                 });
    return Error::success();
  }

private:
  /// Rows of one matrix, in `order`.
  struct Slice {
    int64_t matrix;
    int64_t first;
    int64_t count;
  };

  std::pair<Blocks::Memory, size_t> takeForThread(void *base) const {
    Scratch scratch(base);
    Blocks::Memory memory = blocks.take(scratch);
    return {memory, scratch.size()};
  }

  /// By matrix, and within one as they come.
  Error sortRows() {
    int64_t count = packed.extents[0];
    std::fill_n(ends, count, 0);
    portable::IndexReader read = portable::indexReader(indices.type);
    int64_t rowsOfIndex = call.output().extents[rank - 2];
    for (int64_t row = 0; row != rows; ++row) {
      if (row % rowsOfIndex != 0) {
        matrices[row] = matrices[row - 1];
      } else {
        int64_t index =
            read(indices, batchOffset(indices, 0, row / rowsOfIndex));
        auto matrix = portable::wrapIndex(index, count);
        if (!matrix)
          return portable::outOfRange("MatMulRouted", index, count);
        matrices[row] = *matrix;
      }
      ++ends[matrices[row]];
    }
    numSlices = 0;
    int64_t first = 0;
    for (int64_t matrix = 0; matrix != count; ++matrix) {
      int64_t some = ends[matrix];
      ends[matrix] = first;
      EvenParts parts(some, std::max<int64_t>(ceilDivide(some, kSliceRows), 1));
      for (int64_t done = 0; done != some;) {
        auto [start, length] = parts.next();
        slices[numSlices++] = {matrix, first + start, length};
        done += length;
      }
      first += some;
    }
    for (int64_t row = 0; row != rows; ++row)
      order[ends[matrices[row]]++] = row;
    return Error::success();
  }

  void multiply(const Slice &slice, Block block, int thread) const {
    block.row = 0;
    block.lastRow = slice.count;
    const int64_t *own = order + slice.first;
    const float *data = reinterpret_cast<const float *>(leftGrid.data);
    auto fill = [&](int64_t row, int64_t count, const float **table) {
      for (int64_t i = 0; i != count; ++i)
        table[i] = data + sink.rows().offset(own[row + i], leftGrid.rowSteps);
    };
    int64_t offset =
        slice.matrix * packed.steps[0] + block.panel * packed.steps[1];
    blocks.multiply(
        block, takeForThread(threadBase + size_t(thread) * threadBytes).first,
        fill,
        static_cast<const char *>(packed.data) +
            offset * int64_t(byteSize(packed.type)),
        sink, 0, 0, nullptr, -1, nullptr, own);
  }

  const Invocation &call;
  const Vectors &vectors;
  const Tensor &packed;
  const Tensor &indices;
  int rank;
  LeftRows left;
  Grid leftGrid;
  Sink sink;
  int64_t rows;
  Blocks blocks;
  /// The matrix of each row, all rows by matrix, and where those of each end.
  int64_t *matrices = nullptr;
  int64_t *order = nullptr;
  int64_t *ends = nullptr;
  Slice *slices = nullptr;
  int64_t numSlices = 0;
  char *threadBase = nullptr;
  size_t threadBytes = 0;
};
} // namespace

static bool acceptsRouted(const Invocation &call) {
  if (portable::checkRoutedProduct(call) ||
      Epilogue(call, kRoutedOperands).check("MatMulRouted"))
    return false;
  const Tensor &packed = call.input(1);
  return packed.steps[3] == 1 && packed.steps[2] == kPanelWidth &&
         packed.steps[1] == kPanelWidth * packed.extents[2];
}

static Error multiply(const Vectors &vectors, const Invocation &call) {
  RoutedProduct product(call, vectors);
  product.layOut(call.scratch);
  return product.run();
}

static size_t scratchOf(const Vectors &vectors, const Invocation &call) {
  return RoutedProduct(call, vectors).layOut(nullptr);
}

CORTEN_VARIANTS_WITH_SCRATCH(MatMulRouted, acceptsRouted, multiply, scratchOf)
