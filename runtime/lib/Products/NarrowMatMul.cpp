// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products of narrow factors: rows of the left side are rounded to pairs
// or quantized to quads first, and then read in groups of four bytes.

#include "../Portable/Narrow.h"
#include "Blocks.h"
#include "LeftRows.h"

using namespace corten::runtime;
using namespace corten::runtime::products;

/// Rows that a thread rounds at once.
static constexpr int64_t kRowsAtOnce = 32;
/// Rows begin where loads are whole ones, and not all at the same place of a
/// page: these would share their places in the nearest cache. In groups.
static constexpr int64_t kRowUnit = 16;
static constexpr int64_t kPageUnit = 256;

namespace {
class NarrowProduct {
public:
  NarrowProduct(const Invocation &call, const Vectors &vectors, Factor factor)
      : call(call), vectors(vectors), factor(factor), left(call.input(0)),
        right(call.input(1)), rank(left.rank), depth(left.extents[rank - 1]),
        groups(factor == Factor::Pairs ? pairCount(depth) : quadCount(depth)),
        sink(call, call.output(), rank - 1, vectors),
        extents{batchesOf(left) * left.extents[rank - 2], sink.columns(), 1,
                groups, factor},
        blocks(vectors, extents, !sink.isDirect(), threadsOf(call)) {
    int64_t step = ceilDivide(groups, kRowUnit) * kRowUnit;
    rowStep = step % kPageUnit == 0 ? step + kRowUnit : step;
    readInPlace();
  }

  /// Gives out scratch memory, and says how much it was.
  size_t layOut(void *base) {
    Scratch scratch(base);
    int64_t rows = extents.rows;
    if (!data)
      copy = scratch.take<float>(rows * rowStep);
    if (factor == Factor::Quads) {
      scales = scratch.take<float>(rows);
      sums = scratch.take<int32_t>(rows);
    }
    threadBytes = std::max(takeBlock(nullptr).second, widenedBytes());
    threadBase = scratch.take<char>(int64_t(threadBytes) * threadsOf(call));
    return scratch.size();
  }

  Error run() {
    if (call.output().size() == 0)
      return Error::success();
    if (!data)
      narrowLeft();
    const float *rows = data ? data : copy;
    auto fill = [&](int64_t row, int64_t count, const float **table) {
      for (int64_t i = 0; i != count; ++i)
        table[i] = rows + (row + i) * rowStep;
    };
    bool isQuads = factor == Factor::Quads;
    // What columns are worth comes first.
    int64_t panelDepth = groups + (isQuads ? 1 : 0);
    constexpr int64_t kRowBytes = kPanelWidth * 4;
    RowScales rowScales{scales, sums};
    forEachChunk(call, blocks.count(), [&](int64_t chunk, int thread) {
      Block block = blocks.at(chunk);
      const char *panels = static_cast<const char *>(right.data) +
                           block.panel * panelDepth * kRowBytes +
                           (isQuads ? kRowBytes : 0);
      blocks.multiply(
          block, takeBlock(threadBase + size_t(thread) * threadBytes).first,
          fill, panels, sink, 0, 0, nullptr, panelDepth,
          isQuads ? &rowScales : nullptr);
    });
    return Error::success();
  }

private:
  /// Rows that are pairs already, evenly apart, are read where they are.
  void readInPlace() {
    if (factor != Factor::Pairs || left.type != ElementType::BF16 ||
        depth % 2 != 0 || left.steps[rank - 1] != 1)
      return;
    int64_t step = 0;
    int64_t rows = 1;
    for (int axis = rank - 1; axis-- > 0;) {
      if (left.extents[axis] == 1)
        continue;
      if (step == 0)
        step = left.steps[axis];
      else if (left.steps[axis] != step * rows)
        return;
      rows *= left.extents[axis];
    }
    if (step % 2 != 0 || (step == 0 && rows != 1))
      return;
    rowStep = step / 2;
    data = static_cast<const float *>(left.data);
  }

  std::pair<Blocks::Memory, size_t> takeBlock(void *base) const {
    Scratch scratch(base);
    Blocks::Memory memory = blocks.take(scratch);
    return {memory, scratch.size()};
  }

  bool isWidened() const {
    return left.type != ElementType::F32 ||
           (left.steps[rank - 1] != 1 && depth > 1);
  }
  size_t widenedBytes() const {
    return isWidened() && !data ? size_t(kRowsAtOnce * depth) * sizeof(float)
                                : 0;
  }

  void narrow(const float *from, int64_t row) const {
    const DotKernels &dots = *vectors.products.dots;
    float *to = copy + row * rowStep;
    if (factor == Factor::Pairs)
      dots.toPairs(from, depth, groups, to);
    else
      dots.toQuads(from, depth, groups, to, scales[row], sums[row]);
  }

  void narrowLeft() const {
    int64_t rows = left.extents[rank - 2];
    int64_t pieces = ceilDivide(rows, kRowsAtOnce);
    forEachChunk(
        call, batchesOf(left) * pieces, [&](int64_t chunk, int thread) {
          int64_t batch = chunk / pieces;
          int64_t row = chunk % pieces * kRowsAtOnce;
          int64_t count = std::min(kRowsAtOnce, rows - row);
          int64_t target = batch * rows + row;
          int64_t offset =
              batchOffset(left, 2, batch) + row * left.steps[rank - 2];
          Elements from{static_cast<const char *>(left.data) +
                            offset * int64_t(byteSize(left.type)),
                        left.type, left.steps[rank - 2], left.steps[rank - 1]};
          const auto *floats = static_cast<const float *>(from.data);
          int64_t step = from.rowStep;
          if (isWidened()) {
            auto *widened = reinterpret_cast<float *>(
                threadBase + size_t(thread) * threadBytes);
            gather(vectors.products, from, count, depth, widened, depth);
            floats = widened;
            step = depth;
          }
          for (int64_t i = 0; i != count; ++i)
            narrow(floats + i * step, target + i);
        });
  }

  const Invocation &call;
  const Vectors &vectors;
  Factor factor;
  const Tensor &left;
  const Tensor &right;
  int rank;
  int64_t depth;
  /// Along k, and from row to row.
  int64_t groups;
  int64_t rowStep = 0;
  Sink sink;
  Extents extents;
  Blocks blocks;
  const float *data = nullptr;
  float *copy = nullptr;
  float *scales = nullptr;
  int32_t *sums = nullptr;
  char *threadBase = nullptr;
  size_t threadBytes = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

/// What whole numbers of 32 bits can hold the sum of.
static constexpr int64_t kMaxQuadDepth = 1 << 16;

static bool acceptsPairs(const Invocation &call) {
  return !portable::checkPairProduct(call);
}
static bool acceptsQuads(const Invocation &call) {
  return !portable::checkQuadProduct(call) &&
         call.input(0).extents[call.input(0).rank - 1] <= kMaxQuadDepth;
}

template <Factor factor>
static Error multiply(const Vectors &vectors, const Invocation &call) {
  NarrowProduct product(call, vectors, factor);
  product.layOut(call.scratch);
  return product.run();
}

template <Factor factor>
static size_t scratchOf(const Vectors &vectors, const Invocation &call) {
  return NarrowProduct(call, vectors, factor).layOut(nullptr);
}

CORTEN_DOT_VARIANTS(MatMulPairs, acceptsPairs, multiply<Factor::Pairs>,
                    scratchOf<Factor::Pairs>)
CORTEN_DOT_VARIANTS(MatMulQuads, acceptsQuads, multiply<Factor::Quads>,
                    scratchOf<Factor::Quads>)
