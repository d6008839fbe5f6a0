// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of rows with the one of several packed matrices that an index says.

#include "../Portable/Epilogue.h"
#include "../Portable/Portable.h"
#include "Blocks.h"
#include "LeftRows.h"
#include "RoutedRows.h"

using namespace corten::runtime;
using namespace corten::runtime::products;
using portable::kRoutedOperands;

namespace {
class RoutedProduct {
public:
  RoutedProduct(const Invocation &call, const Vectors &vectors)
      : call(call), vectors(vectors), packed(call.input(1)),
        rank(call.output().rank), left(call.input(0)),
        leftGrid(left.readable(), rank - 1),
        sink(call, call.output(), rank - 1, vectors, &leftGrid,
             kRoutedOperands),
        rows(sink.rows().count()),
        routed(call.input(2), rows, call.output().extents[rank - 2],
               packed.extents[0]),
        blocks(vectors,
               {std::min(rows, RoutedRows::kSliceRows), sink.columns(), 1,
                packed.extents[2], factorOf(packed.type)},
               /*isWide=*/true, RoutedRows::kAllRows) {}

  /// Gives out scratch memory, and says how much it was.
  size_t layOut(void *base) {
    Scratch scratch(base);
    if (left.isCopied())
      leftGrid.data =
          reinterpret_cast<char *>(scratch.take<float>(left.copySize()));
    routed.take(scratch);
    threadBytes = takeForThread(nullptr).second;
    threadBase = scratch.take<char>(int64_t(threadBytes) * threadsOf(call));
    return scratch.size();
  }

  Error run() {
    if (call.output().size() == 0)
      return Error::success();
    if (Error error = routed.sort("MatMulRouted"))
      return error;
    if (left.isCopied())
      left.makeCopy(call, vectors.products,
                    reinterpret_cast<float *>(leftGrid.data));
    // Slices of one matrix are neighbours: its panels are still near.
    auto slices = routed.slices();
    auto count = int64_t(slices.size());
    forEachChunk(call, blocks.count() * count, [&](int64_t chunk, int thread) {
      multiply(slices[size_t(chunk % count)], blocks.at(chunk / count), thread);
    });
    return Error::success();
  }

private:
  std::pair<Blocks::Memory, size_t> takeForThread(void *base) const {
    Scratch scratch(base);
    Blocks::Memory memory = blocks.take(scratch);
    return {memory, scratch.size()};
  }

  void multiply(const RoutedRows::Slice &slice, Block block, int thread) const {
    block.row = 0;
    block.lastRow = slice.count;
    const int64_t *own = routed.rowsOf(slice);
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
  int rank;
  LeftRows left;
  Grid leftGrid;
  Sink sink;
  int64_t rows;
  RoutedRows routed;
  Blocks blocks;
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
