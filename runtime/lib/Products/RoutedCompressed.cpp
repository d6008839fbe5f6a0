// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of rows with the one of several matrices of few bits that an index
// says: experts that stay compressed. A few rows of an expert are multiplied as
// its codes become floats in registers; for more, some of its panels are made
// floats in the memory of a thread.

#include "../Portable/CompressedProduct.h"
#include "../Portable/Portable.h"
#include "Blocks.h"
#include "CodePanels.h"
#include "LeftRows.h"
#include "RoutedRows.h"

using namespace corten::runtime;
using namespace corten::runtime::products;
using portable::CompressedRight;
using portable::kRoutedCompressedOperands;

namespace {
class RoutedCompressedProduct {
public:
  RoutedCompressedProduct(const Invocation &call, const Vectors &vectors,
                          const CompressedRight &right)
      : call(call), vectors(vectors), right(right), codes(right),
        rank(call.output().rank), left(call.input(0)),
        leftGrid(left.readable(), rank - 1),
        sink(call, call.output(), rank - 1, vectors, &leftGrid,
             kRoutedCompressedOperands),
        rows(sink.rows().count()),
        routed(*right.which, rows, call.output().extents[rank - 2],
               right.matrices()),
        blocks(vectors,
               {std::min(rows, RoutedRows::kSliceRows), sink.columns(), 1,
                right.depth, Factor::F32},
               /*isWide=*/true, RoutedRows::kAllRows) {}

  /// Gives out scratch memory, and says how much it was.
  size_t layOut(void *base) {
    Scratch scratch(base);
    if (left.isCopied())
      leftGrid.data =
          reinterpret_cast<char *>(scratch.take<float>(left.copySize()));
    routed.take(scratch);
    codes.take(scratch);
    if (needsRowSums())
      rowSums = scratch.take<float>(rows * right.blocks);
    threadBytes = takeForThread(nullptr).bytes;
    threadBase = scratch.take<char>(int64_t(threadBytes) * threadsOf(call));
    return scratch.size();
  }

  Error run() {
    if (call.output().size() == 0)
      return Error::success();
    if (Error error = routed.sort("MatMulRoutedCompressed"))
      return error;
    if (left.isCopied())
      left.makeCopy(call, vectors.products,
                    reinterpret_cast<float *>(leftGrid.data));
    codes.findTables();
    if (needsRowSums())
      forEachChunk(call, rows, [&](int64_t row, int) {
        sumBlocks(right, rowAt(row), rowSums + row * right.blocks);
      });
    int64_t mostFew =
        codes.hasColumnTables() ? 0 : vectors.codes.mostSkinnyRows(codes.at(0));
    auto slices = routed.slices();
    auto count = int64_t(slices.size());
    forEachChunk(call, blocks.count() * count, [&](int64_t chunk, int thread) {
      const RoutedRows::Slice &slice = slices[size_t(chunk % count)];
      Block block = blocks.at(chunk / count);
      ThreadMemory memory =
          takeForThread(threadBase + size_t(thread) * threadBytes);
      if (slice.count <= mostFew)
        multiplyFew(slice, block, memory);
      else
        multiplyMany(slice, block, memory);
    });
    return Error::success();
  }

private:
  struct ThreadMemory {
    Blocks::Memory block;
    float *panels;
    size_t bytes;
  };

  bool needsRowSums() const { return right.zeros.data || right.offsets.data; }
  /// Of the blocks of a row, where they are needed.
  const float *sumsAt(int64_t row) const {
    return needsRowSums() ? rowSums + row * right.blocks : nullptr;
  }

  ThreadMemory takeForThread(void *base) const {
    Scratch scratch(base);
    ThreadMemory memory = {};
    memory.block = blocks.take(scratch);
    memory.panels =
        scratch.take<float>(blocks.panelsOfBlock() * right.depth * kPanelWidth);
    memory.bytes = scratch.size();
    return memory;
  }

  const float *rowAt(int64_t row) const {
    return reinterpret_cast<const float *>(leftGrid.data) +
           sink.rows().offset(row, leftGrid.rowSteps);
  }
  CodePanel panelAt(const RoutedRows::Slice &slice, int64_t panel) const {
    return codes.at(slice.matrix * panelCount(sink.columns()) + panel);
  }

  void multiplyFew(const RoutedRows::Slice &slice, const Block &block,
                   const ThreadMemory &memory) const {
    const int64_t *own = routed.rowsOf(slice);
    int64_t step = block.panels() * kPanelWidth;
    for (int64_t i = 0; i != block.panels(); ++i) {
      CodePanel panel = panelAt(slice, block.panel + i);
      EvenParts parts(slice.count, ceilDivide(slice.count, kSkinnyRows));
      for (int64_t done = 0; done != slice.count;) {
        auto [first, some] = parts.next();
        const float *starts[kSkinnyRows], *sums[kSkinnyRows];
        for (int64_t j = 0; j != some; ++j) {
          int64_t row = own[first + j];
          starts[j] = rowAt(row);
          sums[j] = sumsAt(row);
        }
        vectors.codes.skinny[some - 1](
            {&panel, starts, needsRowSums() ? sums : nullptr,
             memory.block.sums + first * step + i * kPanelWidth, step});
        done += some;
      }
    }
    for (int64_t i = 0; i != slice.count; ++i)
      sink.store(own[i], 1, block.panel * kPanelWidth, step,
                 memory.block.sums + i * step, step);
  }

  void multiplyMany(const RoutedRows::Slice &slice, Block block,
                    const ThreadMemory &memory) const {
    block.row = 0;
    block.lastRow = slice.count;
    for (int64_t i = 0; i != block.panels(); ++i)
      vectors.codes.expand(panelAt(slice, block.panel + i),
                           memory.panels + i * right.depth * kPanelWidth);
    const int64_t *own = routed.rowsOf(slice);
    auto fill = [&](int64_t row, int64_t count, const float **table) {
      for (int64_t i = 0; i != count; ++i)
        table[i] = rowAt(own[row + i]);
    };
    blocks.multiply(block, memory.block, fill, memory.panels, sink, 0, 0,
                    nullptr, -1, nullptr, own);
  }

  const Invocation &call;
  const Vectors &vectors;
  const CompressedRight &right;
  CodePanels codes;
  int rank;
  LeftRows left;
  Grid leftGrid;
  Sink sink;
  int64_t rows;
  RoutedRows routed;
  Blocks blocks;
  float *rowSums = nullptr;
  char *threadBase = nullptr;
  size_t threadBytes = 0;
};
} // namespace

static bool acceptsRouted(const Invocation &call) {
  return portable::readRoutedCompressedProduct(call) &&
         !Epilogue(call, kRoutedCompressedOperands).check("a product");
}

static Error multiply(const Vectors &vectors, const Invocation &call) {
  auto right = portable::readRoutedCompressedProduct(call);
  if (!right)
    return right.takeError();
  RoutedCompressedProduct product(call, vectors, *right);
  product.layOut(call.scratch);
  return product.run();
}

static size_t scratchOf(const Vectors &vectors, const Invocation &call) {
  auto right = portable::readRoutedCompressedProduct(call);
  return right ? RoutedCompressedProduct(call, vectors, *right).layOut(nullptr)
               : 0;
}

CORTEN_VARIANTS_WITH_SCRATCH(MatMulRoutedCompressed, acceptsRouted, multiply,
                             scratchOf)
