// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products: with weights that were packed, and of two matrices that were
// just computed, whose right one is packed on the way.

#include "../Portable/Portable.h"
#include "Blocks.h"
#include "LeftRows.h"

using namespace corten::runtime;
using namespace corten::runtime::products;

/// Whether the right side has a matrix for each batch.
static bool hasBatches(const Tensor &right, bool isPacked) {
  for (int axis = 0; axis < right.rank - (isPacked ? 3 : 2); ++axis)
    if (right.extents[axis] != 1 && right.steps[axis] != 0)
      return true;
  return false;
}

namespace {
class Product {
public:
  Product(const Invocation &call, const Vectors &vectors, bool isPacked)
      : call(call), vectors(vectors), left(call.input(0)), right(call.input(1)),
        isPacked(isPacked), isBatched(hasBatches(right, isPacked)),
        rank(left.rank), depth(left.extents[rank - 1]), rows(left),
        leftGrid(rows.readable(), rank - 1),
        sink(call, call.output(), rank - 1, vectors, &leftGrid),
        batches(isBatched ? batchesOf(left) : 1),
        extents{isBatched ? left.extents[rank - 2] : sink.rows().count(),
                sink.columns(), 1, depth,
                isPacked ? factorOf(right.type) : Factor::F32},
        blocks(vectors, extents, !sink.isDirect(),
               isPacked ? threadsOf(call) : 1) {}

  /// Gives out scratch memory, and says how much it was.
  size_t layOut(void *base) {
    Scratch scratch(base);
    if (rows.isCopied())
      leftGrid.data =
          reinterpret_cast<char *>(scratch.take<float>(rows.copySize()));
    if (!isPacked && !isPackedInBlocks())
      packed = scratch.take<float>(batches * matrixSize());
    threadBytes = takeForThread(nullptr).bytes;
    threadBase = scratch.take<char>(int64_t(threadBytes) * threadsOf(call));
    return scratch.size();
  }

  Error run() {
    if (call.output().size() == 0)
      return Error::success();
    if (rows.isCopied())
      rows.makeCopy(call, vectors.products,
                    reinterpret_cast<float *>(leftGrid.data));
    if (packed)
      packRight();
    forEachChunk(
        call, batches * blocks.count(), [&](int64_t chunk, int thread) {
          multiply(chunk / blocks.count(), blocks.at(chunk % blocks.count()),
                   takeForThread(threadBase + size_t(thread) * threadBytes));
        });
    return Error::success();
  }

private:
  struct ThreadMemory {
    Blocks::Memory block;
    float *panels;
    size_t bytes;
  };

  /// Where each panel is used only once, it is packed when it is.
  bool isPackedInBlocks() const {
    return !isPacked && blocks.areRowsTogether();
  }
  int64_t panels() const { return panelCount(extents.columns); }
  int64_t matrixSize() const { return panels() * depth * kPanelWidth; }

  ThreadMemory takeForThread(void *base) const {
    Scratch scratch(base);
    ThreadMemory memory = {};
    memory.block = blocks.take(scratch);
    if (isPackedInBlocks())
      memory.panels =
          scratch.take<float>(blocks.panelsOfBlock() * depth * kPanelWidth);
    memory.bytes = scratch.size();
    return memory;
  }

  void pack(int64_t batch, int64_t panel, float *to) const {
    Elements from{static_cast<const char *>(right.data) +
                      (isBatched ? batchOffset(right, 2, batch) : 0) *
                          int64_t(byteSize(right.type)),
                  right.type, right.steps[rank - 2], right.steps[rank - 1]};
    int64_t column = panel * kPanelWidth;
    packPanel(vectors.products, from.from(0, column), depth,
              std::min(kPanelWidth, extents.columns - column), to);
  }

  void packRight() const {
    forEachChunk(call, batches * panels(), [&](int64_t chunk, int) {
      pack(chunk / panels(), chunk % panels(),
           packed + chunk * depth * kPanelWidth);
    });
  }

  /// The first panel of a block.
  const void *panelsOf(int64_t batch, const Block &block,
                       const ThreadMemory &memory) const {
    int64_t offset = block.panel * depth * kPanelWidth;
    if (isPacked) {
      offset += isBatched ? batchOffset(right, 3, batch) : 0;
      return static_cast<const char *>(right.data) +
             offset * int64_t(byteSize(right.type));
    }
    if (packed)
      return packed + batch * matrixSize() + offset;
    for (int64_t i = 0; i != block.panels(); ++i)
      pack(batch, block.panel + i, memory.panels + i * depth * kPanelWidth);
    return memory.panels;
  }

  void multiply(int64_t batch, const Block &block,
                const ThreadMemory &memory) const {
    int64_t firstRow = batch * extents.rows;
    const float *data = reinterpret_cast<const float *>(leftGrid.data);
    auto fill = [&](int64_t row, int64_t count, const float **table) {
      for (int64_t i = 0; i != count; ++i)
        table[i] =
            data + sink.rows().offset(firstRow + row + i, leftGrid.rowSteps);
    };
    blocks.multiply(block, memory.block, fill, panelsOf(batch, block, memory),
                    sink, firstRow);
  }

  const Invocation &call;
  const Vectors &vectors;
  const Tensor &left;
  const Tensor &right;
  bool isPacked;
  bool isBatched;
  int rank;
  int64_t depth;
  LeftRows rows;
  Grid leftGrid;
  Sink sink;
  int64_t batches;
  Extents extents;
  Blocks blocks;
  float *packed = nullptr;
  char *threadBase = nullptr;
  size_t threadBytes = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

static bool acceptsPacked(const Invocation &call) {
  if (portable::checkPackedProduct(call) ||
      Epilogue(call, 2).check("MatMulPacked"))
    return false;
  const Tensor &packed = call.input(1);
  int rank = packed.rank;
  return packed.steps[rank - 1] == 1 && packed.steps[rank - 2] == kPanelWidth &&
         packed.steps[rank - 3] == kPanelWidth * packed.extents[rank - 2];
}

static bool acceptsMatrices(const Invocation &call) {
  if (call.inputs.size() != 2 || call.program)
    return false;
  const Tensor &x = call.input(0);
  const Tensor &y = call.input(1);
  const Tensor &output = call.output();
  int rank = output.rank;
  if (rank < 2 || x.rank != rank || y.rank != rank || x.type != y.type ||
      x.type != output.type || !portable::isFactor(x.type))
    return false;
  for (int axis = 0; axis < rank - 2; ++axis)
    if (x.extents[axis] != output.extents[axis] ||
        y.extents[axis] != output.extents[axis])
      return false;
  return x.extents[rank - 2] == output.extents[rank - 2] &&
         y.extents[rank - 1] == output.extents[rank - 1] &&
         x.extents[rank - 1] == y.extents[rank - 2];
}

template <bool isPacked>
static Error multiply(const Vectors &vectors, const Invocation &call) {
  Product product(call, vectors, isPacked);
  product.layOut(call.scratch);
  return product.run();
}

template <bool isPacked>
static size_t scratchOf(const Vectors &vectors, const Invocation &call) {
  return Product(call, vectors, isPacked).layOut(nullptr);
}

CORTEN_VARIANTS_WITH_SCRATCH(MatMulPacked, acceptsPacked, multiply<true>,
                             scratchOf<true>)
CORTEN_VARIANTS_WITH_SCRATCH(MatMul, acceptsMatrices, multiply<false>,
                             scratchOf<false>)
