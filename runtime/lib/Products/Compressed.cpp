// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with weights that stay in few bits. A few rows are multiplied as
// codes become floats in registers; for more, panels are made floats in the
// memory of a thread, and then it is a product as any other.

#include "../Portable/CompressedProduct.h"
#include "../Portable/Portable.h"
#include "Blocks.h"
#include "CodePanels.h"
#include "LeftRows.h"

#include <atomic>
#include <cstring>
#include <functional>

using namespace corten::runtime;
using namespace corten::runtime::products;
using portable::CompressedRight;

/// What a thread should read at a time in a product of a few rows.
static constexpr int64_t kChunkBytes = 128 << 10;
static constexpr int64_t kMaxChunkPanels = 8;
/// The most rows that are not rounded and read codes again and again.
static constexpr int64_t kMostFewRows = 16;
/// Elements of rows that are worth several threads before they are multiplied.
static constexpr int64_t kSharedElements = 8192;
/// Rows that have been rounded and are multiplied with the same panels.
static constexpr int64_t kRoundedRows = 64;

static int64_t rowsOf(const Invocation &call) {
  const Tensor &output = call.output();
  int64_t rows = 1;
  for (int axis = 0; axis < output.rank - 1; ++axis)
    rows *= output.extents[axis];
  return rows;
}

namespace {
class CompressedProduct {
public:
  CompressedProduct(const Invocation &call, const Vectors &vectors,
                    const CompressedRight &right)
      : call(call), vectors(vectors), right(right), codes(right),
        rank(call.output().rank),
        hasDots(!right.places && vectors.codes.dots.writeRow &&
                hasByteProducts(right.kind, right.bits, right.blockDepth) &&
                rowsOf(call) <=
                    vectors.codes.dots
                        .mostRows[right.bits == 8][right.hasRoundedRows]),
        left(call.input(0), right.hasRoundedRows && !hasDots),
        leftGrid(left.readable(), rank - 1),
        sink(call, call.output(), rank - 1, vectors, &leftGrid,
             right.operands()),
        rows(sink.rows().count()), panels(panelCount(right.columns)),
        blocks(vectors, {rows, right.columns, 1, right.depth, Factor::F32},
               !sink.isDirect(), threadsOf(call)),
        chunkPanels(std::clamp<int64_t>(
            kChunkBytes / std::max<int64_t>(right.panelBytes(), 1), 1,
            kMaxChunkPanels)) {}

  /// Gives out scratch memory, and says how much it was.
  size_t layOut(void *base) {
    Scratch scratch(base);
    if (left.isCopied())
      leftGrid.data =
          reinterpret_cast<char *>(scratch.take<float>(left.copySize()));
    codes.take(scratch);
    if (isSkinny())
      rowSums = scratch.take<float>(rows * right.blocks);
    if (isSkinny() && hasDots)
      takeDots(scratch);
    threadBytes = takeForThread(nullptr).bytes;
    threadBase = scratch.take<char>(int64_t(threadBytes) * threadsOf(call));
    return scratch.size();
  }

  Error run() {
    if (call.output().size() == 0)
      return Error::success();
    if (left.isCopied())
      left.makeCopy(call, vectors.products,
                    reinterpret_cast<float *>(leftGrid.data));
    if (right.hasRoundedRows && !hasDots)
      forEachChunk(call, rows, [&](int64_t row, int) {
        float *copy = reinterpret_cast<float *>(leftGrid.data) +
                      sink.rows().offset(row, leftGrid.rowSteps);
        portable::roundRow(right, copy, copy);
      });
    codes.findTables();
    if (isSkinny() && right.hasRoundedRows && hasDots)
      return runRounded();
    if (isSkinny()) {
      runSkinny();
    } else {
      forEachChunk(call, blocks.count(), [&](int64_t chunk, int thread) {
        multiply(blocks.at(chunk), memoryOf(thread));
      });
    }
    return isDamaged ? portable::placesDoNotFit("MatMulSparse", right.codes)
                     : Error::success();
  }

private:
  struct ThreadMemory {
    Blocks::Memory block;
    float *panels;
    float *sums;
    size_t bytes;
  };

  bool isSkinny() const {
    if (right.places)
      return rows <= kSparseRows;
    return !codes.hasColumnTables() &&
           (hasDots || rows <= vectors.codes.mostSkinnyRows(codes.at(0)));
  }
  bool needsRowSums() const { return right.zeros.data || right.offsets.data; }
  /// Of the blocks of a row, where they are needed.
  const float *sumsAt(int64_t row) const {
    return needsRowSums() ? rowSums + row * right.blocks : nullptr;
  }

  ThreadMemory takeForThread(void *base) const {
    Scratch scratch(base);
    ThreadMemory memory = {};
    if (isSkinny()) {
      memory.sums = scratch.take<float>(std::min(rows, kRoundedRows) *
                                        chunkPanels * kPanelWidth);
    } else {
      memory.block = blocks.take(scratch);
      memory.panels = scratch.take<float>(blocks.panelsOfBlock() * right.depth *
                                          kPanelWidth);
    }
    memory.bytes = scratch.size();
    return memory;
  }
  ThreadMemory memoryOf(int thread) const {
    return takeForThread(threadBase + size_t(thread) * threadBytes);
  }

  const float *rowAt(int64_t row) const {
    return reinterpret_cast<const float *>(leftGrid.data) +
           sink.rows().offset(row, leftGrid.rowSteps);
  }

  //===--------------------------------------------------------------------===//
  // A few rows
  //===--------------------------------------------------------------------===//

  /// Of floats, for all blocks.
  void sumRow(int64_t row) const {
    sumBlocks(right, rowAt(row), rowSums + row * right.blocks);
  }

  /// The same of whole numbers: exactly what products are made of.
  void sumNumbers(int64_t row) const {
    const DotRow &numbers = dotRows[row];
    for (int64_t block = 0; block != right.blocks; ++block) {
      double sum = 0;
      for (int64_t i = 0; i != groupsOfBlock(); ++i) {
        int64_t group = block * groupsOfBlock() + i;
        double whole = 0;
        for (int64_t digit = 0; digit != digits(); ++digit)
          whole = whole * 256 + numbers.sums[group * digits() + digit];
        sum += whole * double(numbers.units[group]);
      }
      rowSums[row * right.blocks + block] = float(sum);
    }
  }

  int64_t digits() const { return right.hasRoundedRows ? 1 : kDotDigits; }
  int64_t groupsOfBlock() const {
    return ceilDivide(right.blockDepth, dotGroup(right.hasRoundedRows));
  }

  void takeDots(Scratch &scratch) {
    int64_t groups = right.blocks * groupsOfBlock();
    dotRows = scratch.take<DotRow>(rows);
    isNumbers = scratch.take<bool>(rows);
    int64_t rowBytes =
        groups * dotGroupBytes(right.hasRoundedRows, right.blockDepth);
    auto *bytes = scratch.take<int8_t>(rows * rowBytes + kDotSlack);
    auto *sums = scratch.take<int32_t>(rows * groups * digits());
    auto *starts = scratch.take<int32_t>(rows * groups * digits());
    auto *units = scratch.take<float>(rows * groups);
    // There is no memory yet when it is asked how much will be taken.
    for (int64_t row = 0; dotRows && row != rows; ++row)
      dotRows[row] = {bytes + row * rowBytes, sums + row * groups * digits(),
                      starts + row * groups * digits(), units + row * groups};
  }

  /// Whether all of a row are numbers, and are written as whole ones.
  bool writeDots(int64_t row) const {
    const CodeDots &dots = vectors.codes.dots;
    auto write = right.hasRoundedRows ? dots.writeRoundedRow : dots.writeRow;
    if (!write(codes.at(0), rowAt(row), dotRows[row]))
      return false;
    if (needsRowSums())
      sumNumbers(row);
    return true;
  }
  bool writeAllDots() const {
    auto write = [&](int64_t row, int) { isNumbers[row] = writeDots(row); };
    if (rows * right.depth >= kSharedElements)
      forEachChunk(call, rows, write);
    else
      for (int64_t row = 0; row != rows; ++row)
        write(row, 0);
    return std::all_of(isNumbers, isNumbers + rows, std::identity());
  }

  /// Rows that have been rounded, any number of them.
  Error runRounded() const {
    forEachChunk(call, rows, [&](int64_t row, int) {
      isNumbers[row] = writeDots(row);
      if (!isNumbers[row] && needsRowSums())
        sumRow(row);
    });
    int64_t pieces = ceilDivide(panels, chunkPanels);
    forEachChunk(call, pieces * ceilDivide(rows, kRoundedRows),
                 [&](int64_t chunk, int thread) {
                   int64_t row = chunk / pieces * kRoundedRows;
                   multiplyRounded(row, std::min(kRoundedRows, rows - row),
                                   chunk % pieces * chunkPanels,
                                   memoryOf(thread).sums);
                 });
    return Error::success();
  }

  void multiplyRounded(int64_t firstRow, int64_t rowCount, int64_t first,
                       float *target) const {
    int64_t count = std::min(chunkPanels, panels - first);
    int64_t step = count * kPanelWidth;
    for (int64_t i = 0; i != count; ++i) {
      CodePanel panel = codes.at(first + i);
      float *to = target + i * kPanelWidth;
      for (int64_t row = 0; row < rowCount; row += kDotRows) {
        int64_t some = std::min<int64_t>(kDotRows, rowCount - row);
        const float *sums[kDotRows] = {};
        for (int64_t j = 0; j != some; ++j)
          sums[j] = sumsAt(firstRow + row + j);
        vectors.codes.dots.dotRounded[some - 1](
            {&panel, dotRows + firstRow + row, needsRowSums() ? sums : nullptr,
             to + row * step, step});
        for (int64_t j = 0; j != some; ++j) {
          if (isNumbers[firstRow + row + j])
            continue;
          const float *start = rowAt(firstRow + row + j);
          vectors.codes.skinny[0]({&panel, &start,
                                   needsRowSums() ? sums + j : nullptr,
                                   to + (row + j) * step, step});
        }
      }
    }
    int64_t column = first * kPanelWidth;
    sink.store(firstRow, rowCount, column,
               std::min(step, right.columns - column), target, step);
  }

  /// False if values are missing.
  bool multiplyFew(int64_t count, const SkinnyCall &few) const {
    if (!few.panel->places) {
      vectors.codes.skinny[count - 1](few);
      return true;
    }
    if (vectors.codes.sparse.skinny[count - 1](few))
      return true;
    isDamaged = true;
    return false;
  }

  void runSkinny() const {
    const float *starts[kMostFewRows] = {};
    const float *sums[kMostFewRows] = {};
    bool areDots = hasDots && writeAllDots();
    for (int64_t row = 0; row != rows; ++row) {
      starts[row] = rowAt(row);
      sums[row] = sumsAt(row);
      if (!areDots && needsRowSums())
        sumRow(row);
    }
    const float *const *allSums = needsRowSums() ? sums : nullptr;
    int64_t mostAtOnce = areDots        ? kDotRows
                         : right.places ? kSparseRows
                                        : kSkinnyRows;
    forEachChunk(
        call, ceilDivide(panels, chunkPanels), [&](int64_t chunk, int thread) {
          float *target = memoryOf(thread).sums;
          int64_t first = chunk * chunkPanels;
          int64_t count = std::min(chunkPanels, panels - first);
          int64_t step = count * kPanelWidth;
          for (int64_t i = 0; i != count; ++i) {
            CodePanel panel = codes.at(first + i);
            float *to = target + i * kPanelWidth;
            EvenParts parts(rows, ceilDivide(rows, mostAtOnce));
            for (int64_t done = 0; done != rows;) {
              auto [row, some] = parts.next();
              float *at = to + row * step;
              const float *const *own = allSums ? allSums + row : nullptr;
              if (areDots)
                vectors.codes.dots.dot(some)(
                    {&panel, dotRows + row, own, at, step});
              else if (!multiplyFew(some,
                                    {&panel, starts + row, own, at, step}))
                return;
              done += some;
            }
          }
          int64_t column = first * kPanelWidth;
          sink.store(0, rows, column, std::min(step, right.columns - column),
                     target, step);
        });
  }

  //===--------------------------------------------------------------------===//
  // Many rows
  //===--------------------------------------------------------------------===//

  void multiply(const Block &block, const ThreadMemory &memory) const {
    for (int64_t i = 0; i != block.panels(); ++i) {
      CodePanel panel = codes.at(block.panel + i);
      float *to = memory.panels + i * right.depth * kPanelWidth;
      if (!panel.places) {
        vectors.codes.expand(panel, to);
      } else if (!vectors.codes.sparse.expand(panel, to)) {
        isDamaged = true;
        return;
      }
    }
    auto fill = [&](int64_t row, int64_t count, const float **table) {
      for (int64_t i = 0; i != count; ++i)
        table[i] = rowAt(row + i);
    };
    blocks.multiply(block, memory.block, fill, memory.panels, sink);
  }

  const Invocation &call;
  const Vectors &vectors;
  const CompressedRight &right;
  CodePanels codes;
  int rank;
  /// Whether products can be made of whole numbers.
  bool hasDots;
  LeftRows left;
  Grid leftGrid;
  Sink sink;
  int64_t rows;
  int64_t panels;
  Blocks blocks;
  int64_t chunkPanels;
  float *rowSums = nullptr;
  DotRow *dotRows = nullptr;
  bool *isNumbers = nullptr;
  char *threadBase = nullptr;
  size_t threadBytes = 0;
  mutable std::atomic<bool> isDamaged = false;
};
} // namespace

using ReadRight = Expected<CompressedRight> (*)(const Invocation &);

template <ReadRight read> static bool accepts(const Invocation &call) {
  auto right = read(call);
  return right && !Epilogue(call, right->operands()).check("a product");
}

template <ReadRight read>
static Error multiply(const Vectors &vectors, const Invocation &call) {
  auto right = read(call);
  if (!right)
    return right.takeError();
  CompressedProduct product(call, vectors, *right);
  product.layOut(call.scratch);
  return product.run();
}

template <ReadRight read>
static size_t scratchOf(const Vectors &vectors, const Invocation &call) {
  auto right = read(call);
  return right ? CompressedProduct(call, vectors, *right).layOut(nullptr) : 0;
}

CORTEN_VARIANTS_WITH_SCRATCH(MatMulCompressed,
                             accepts<portable::readCompressedProduct>,
                             multiply<portable::readCompressedProduct>,
                             scratchOf<portable::readCompressedProduct>)
CORTEN_VARIANTS_WITH_SCRATCH(MatMulSparse, accepts<portable::readSparseProduct>,
                             multiply<portable::readSparseProduct>,
                             scratchOf<portable::readSparseProduct>)

//===----------------------------------------------------------------------===//
// PackCodes
//===----------------------------------------------------------------------===//

static bool acceptsCodes(const Invocation &call) {
  return !portable::checkPackCodes(call);
}

static Error packCodes(const Vectors &, const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int bits = int(call.number(0));
  int64_t depth = input.extents[0] / output.extents[1];
  forEachChunk(call, output.extents[0], [&](int64_t panel, int) {
    uint8_t *codes = output.as<uint8_t>() + panel * output.steps[0];
    std::memset(codes, 0, size_t(output.extents[1] * output.extents[2]));
    int64_t first = panel * kPanelWidth;
    int64_t columns = std::min(kPanelWidth, input.extents[1] - first);
    const uint8_t *from = input.as<uint8_t>() + first * input.steps[1];
    for (int64_t block = 0; block != output.extents[1]; ++block)
      for (int64_t column = 0; column != columns; ++column)
        for (int64_t k = 0; k != depth; ++k)
          portable::putCode(codes + block * output.extents[2], bits, k, column,
                            from[(block * depth + k) * input.steps[0] +
                                 column * input.steps[1]]);
  });
  return Error::success();
}

CORTEN_VARIANTS(PackCodes, acceptsCodes, packCodes, nullptr)
