// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions by squares of results. The points of squares make matrices, one
// for each point, of squares and channels; their products with transformed
// weights are transformed back. A few squares at a time, so that what was
// transformed is still near when it is multiplied.

#include "../Portable/Winograd.h"
#include "Sink.h"
#include "WindowRows.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::products;

/// What transformed inputs may take, in bytes: they stay in the last cache.
static constexpr int64_t kTransformedBytes = 2 << 20;
/// Those of a block, if its thread transforms them for itself: they stay in the
/// second cache.
static constexpr int64_t kOwnTransformedBytes = 640 << 10;
/// Squares whose products a thread computes and transforms at once: their sums
/// stay in the second cache.
static constexpr int64_t kBlockSquares = 32;
/// The same where threads have panels enough to themselves: each panel, which
/// has to come from far, then comes to one of them only.
static constexpr int64_t kManySquares = 64;
/// Squares that a thread transforms at once, and those of the last blocks that
/// threads take: one that is late has fewer.
static constexpr int64_t kFewSquares = 8;
/// Elements of k at a time. Sums of few are more exact: with so many, no less
/// than those of a convolution as it is, which has nine times as many.
static constexpr int64_t kPieceDepth = 256;

/// How far points are apart in memory: not so that all of them would share
/// their places in the nearest cache.
static int64_t spread(int64_t count) {
  return ceilDivide(count, 1024) * 1024 + 80;
}

namespace {
class WinogradConvolution {
public:
  WinogradConvolution(const Vectors &vectors, const Invocation &call);
  size_t layOut(void *base);
  void run();

private:
  /// Squares [first, last) of all.
  struct Range {
    int64_t first;
    int64_t last;

    int64_t count() const { return last - first; }
  };
  struct ThreadMemory {
    float *sums;
    float *results;
    /// Of its own squares.
    float *transformed;
    size_t bytes;
  };

  ThreadMemory takeForThread(void *base) const {
    Scratch scratch(base);
    ThreadMemory memory = {};
    memory.sums = scratch.take<float>(points * sumStep);
    if (!sink.isDirect())
      memory.results =
          scratch.take<float>(square * square * blockSquares * kPanelWidth);
    if (isOwn())
      memory.transformed = scratch.take<float>(points * pointStep);
    memory.bytes = scratch.size();
    return memory;
  }

  /// Whether each thread transforms what it multiplies, with all panels: where
  /// that is near enough to it, and there is enough of it for all.
  bool isOwn() const {
    return points * kBlockSquares * rowStep * 4 <= kOwnTransformedBytes &&
           squares >= 2 * kBlockSquares * threadsOf(call);
  }
  void transformInput(const ChannelRows &rows, int64_t index, float *to) const;
  /// `from` is the first of them, transformed.
  void multiply(int64_t count, const float *from, int64_t panel,
                float *sums) const;
  void store(Range squares, int64_t panel, const ThreadMemory &memory) const;
  void storeLine(Range squares, int64_t panel, const float *sums,
                 float *results) const;
  void runLot(const ChannelRows &rows, Range lot);
  void runOwn(const ChannelRows &rows);

  const Vectors &vectors;
  const Invocation &call;
  const Tensor &x;
  const Tensor &packed;
  Sink sink;
  int64_t points;
  /// The side of one.
  int64_t square;
  const WinogradKernels &kernels;
  int64_t channels;
  int64_t columns;
  /// Of the output, and how many squares they take.
  int64_t height, width, down, across;
  int64_t squares;
  /// Those that are transformed before they are multiplied.
  int64_t lotSquares;
  /// Those that a thread takes at once.
  int64_t blockSquares;
  int64_t rowStep;
  int64_t pointStep;
  int64_t sumStep;
  CopyForm form;
  float *copy = nullptr;
  float *zeros = nullptr;
  float *transformed = nullptr;
  char *threadBase = nullptr;
  size_t threadBytes = 0;
};
} // namespace

WinogradConvolution::WinogradConvolution(const Vectors &vectors,
                                         const Invocation &call)
    : vectors(vectors), call(call), x(call.input(0)), packed(call.input(1)),
      sink(call, call.output(), 1, vectors), points(packed.extents[0]),
      square(winogradSquare(points)), kernels(vectors.winograd[square / 4]),
      channels(x.extents[1]), columns(call.output().extents[1]),
      height(call.output().extents[2]), width(call.output().extents[3]),
      down(ceilDivide(height, square)), across(ceilDivide(width, square)),
      squares(x.extents[0] * down * across),
      form{x.extents[0], channels, {}, portable::spaceOf(x)} {
  rowStep = channels % 512 == 0 ? channels + 16 : channels;
  lotSquares = kTransformedBytes / 4 / std::max<int64_t>(points * rowStep, 1);
  lotSquares = std::max(lotSquares / kBlockSquares, int64_t(2)) * kBlockSquares;
  lotSquares = std::min(isOwn() ? kBlockSquares : lotSquares, squares);
  pointStep = spread(lotSquares * rowStep);
  blockSquares = !isOwn() && packed.extents[1] / 2 >= threadsOf(call)
                     ? kManySquares
                     : kBlockSquares;
  sumStep = spread(blockSquares * kPanelWidth);
}

size_t WinogradConvolution::layOut(void *base) {
  Scratch scratch(base);
  if (!hasChannelRows(x))
    copy = scratch.take<float>(form.size());
  zeros = scratch.take<float>(channels);
  if (!isOwn())
    transformed = scratch.take<float>(points * pointStep);
  threadBytes = takeForThread(nullptr).bytes;
  threadBase = scratch.take<char>(int64_t(threadBytes) * threadsOf(call));
  return scratch.size();
}

void WinogradConvolution::transformInput(const ChannelRows &rows, int64_t index,
                                         float *to) const {
  int64_t side = square + kWinogradKernel - 1;
  int64_t top = index / across % down * square - call.number(0);
  int64_t left = index % across * square - call.number(1);
  const float *base = rows.data + index / (across * down) * rows.batchStep;
  const float *places[kMaxWinogradPoints];
  for (int64_t i = 0; i != points; ++i) {
    int64_t y = top + i / side;
    int64_t z = left + i % side;
    bool isInside = y >= 0 && z >= 0 && y < rows.space[0] && z < rows.space[1];
    places[i] = isInside ? base + y * rows.steps[0] + z * rows.steps[1] : zeros;
  }
  kernels.input({places, channels, to, pointStep});
}

/// The products of all points of some squares with a panel.
void WinogradConvolution::multiply(int64_t numSquares, const float *from,
                                   int64_t panel, float *sums) const {
  const MicroKernels &products = vectors.products;
  int64_t tiles = ceilDivide(numSquares, products.tileRows);
  int64_t panelSize = channels * kPanelWidth;
  const float *rows[kMaxTileRows];
  TileCall tile = {};
  tile.rows = rows;
  tile.segments = 1;
  tile.columns = products.tileColumns;
  tile.targetStep = tile.partialStep = kPanelWidth;
  tile.aheadStep = ceilDivide(kPanelWidth * 4, tiles);
  for (int64_t point = 0; point != points; ++point) {
    const float *weights =
        packed.as<float>() + (point * packed.extents[1] + panel) * panelSize;
    const char *next =
        reinterpret_cast<const char *>(weights + packed.extents[1] * panelSize);
    for (int64_t depth = 0; depth < channels; depth += kPieceDepth) {
      tile.first = depth;
      tile.depth = std::min(kPieceDepth, channels - depth);
      EvenParts parts(numSquares, tiles);
      for (int64_t i = 0; i != tiles; ++i) {
        auto [row, count] = parts.next();
        for (int64_t j = 0; j != count; ++j)
          rows[j] = from + point * pointStep + (row + j) * rowStep;
        tile.ahead =
            next + (depth * kPanelWidth * 4) + i * tile.aheadStep * tile.depth;
        for (int64_t column = 0; column < kPanelWidth;
             column += products.tileColumns) {
          tile.panel = weights + depth * kPanelWidth + column;
          tile.target = sums + point * sumStep + row * kPanelWidth + column;
          tile.partial = depth ? tile.target : nullptr;
          products.tile[int(Factor::F32)][count - 1](tile);
        }
      }
    }
  }
}

/// Squares of one line.
void WinogradConvolution::storeLine(Range range, int64_t panel,
                                    const float *sums, float *results) const {
  int64_t column = panel * kPanelWidth;
  int64_t top = range.first / across % down * square;
  int64_t left = range.first % across * square;
  int64_t length = std::min(range.count() * square, width - left);
  int64_t first = (range.first / (across * down) * height + top) * width + left;
  bool isDirect = sink.isDirect();
  Finish finish;
  WinogradOutput output = {};
  output.pointStep = sumStep;
  output.columns = std::min(kPanelWidth, columns - column);
  output.target = isDirect ? sink.target(first, column) : results;
  output.targetStep = isDirect ? sink.targetStep() : kPanelWidth;
  if (isDirect && sink.finish(first, column, finish))
    output.finish = &finish;
  int64_t lines = std::min(square, height - top);
  int64_t lineStep = isDirect ? width : length;
  int64_t rows[kMaxWinogradPoints];
  output.rows = rows;
  for (int64_t i = 0; i != range.count(); ++i) {
    for (int64_t y = 0; y != square; ++y)
      for (int64_t z = 0; z != square; ++z) {
        int64_t place = i * square + z;
        bool isInside = y < lines && place < length;
        rows[y * square + z] = isInside ? y * lineStep + place : -1;
      }
    output.sums = sums + i * kPanelWidth;
    kernels.output(output);
  }
  for (int64_t y = 0; y != lines && !isDirect; ++y)
    sink.store(first + y * width, length, column, output.columns,
               results + y * length * kPanelWidth, kPanelWidth);
}

void WinogradConvolution::store(Range range, int64_t panel,
                                const ThreadMemory &memory) const {
  for (int64_t first = range.first; first != range.last;) {
    int64_t last = std::min(range.last, (first / across + 1) * across);
    storeLine({first, last}, panel,
              memory.sums + (first - range.first) * kPanelWidth,
              memory.results);
    first = last;
  }
}

void WinogradConvolution::runLot(const ChannelRows &rows, Range lot) {
  forEachChunk(
      call, ceilDivide(lot.count(), kFewSquares), [&](int64_t chunk, int) {
        int64_t last = std::min((chunk + 1) * kFewSquares, lot.count());
        for (int64_t i = chunk * kFewSquares; i != last; ++i)
          transformInput(rows, lot.first + i, transformed + i * rowStep);
      });
  int64_t blocks = ceilDivide(lot.count(), blockSquares);
  forEachChunk(call, blocks * packed.extents[1],
               [&](int64_t chunk, int thread) {
                 int64_t panel = chunk / blocks;
                 int64_t block = chunk % blocks;
                 Range inLot{lot.count() * block / blocks,
                             lot.count() * (block + 1) / blocks};
                 Range range{lot.first + inLot.first, lot.first + inLot.last};
                 ThreadMemory memory =
                     takeForThread(threadBase + size_t(thread) * threadBytes);
                 multiply(range.count(), transformed + inLot.first * rowStep,
                          panel, memory.sums);
                 store(range, panel, memory);
               });
}

void WinogradConvolution::runOwn(const ChannelRows &rows) {
  // In groups of a few squares. The thread that has the last of them takes two
  // at once, with what is left over: tiles of fewer rows would sum in another
  // order, and results must not depend on how many threads there are.
  constexpr int64_t kGroupsOfBlock = kBlockSquares / kFewSquares;
  int64_t threads = threadsOf(call);
  int64_t groups = squares / kFewSquares;
  // Of each thread: some blocks, and then its groups one by one.
  int64_t blocks = groups / threads / kGroupsOfBlock - 1;
  int64_t chunks =
      blocks + ceilDivide(groups, threads) - blocks * kGroupsOfBlock;
  forEachChunk(call, chunks * threads, [&](int64_t chunk, int thread) {
    int64_t share = chunk / chunks;
    int64_t index = chunk % chunks;
    bool isBlock = index < blocks;
    int64_t group = groups * share / threads + index +
                    std::min(index, blocks) * (kGroupsOfBlock - 1);
    if (group >= groups * (share + 1) / threads || group + 1 == groups)
      return;
    int64_t first = group * kFewSquares;
    Range range{first, first + (isBlock ? kBlockSquares : kFewSquares)};
    if (group + 2 == groups)
      range.last = squares;
    ThreadMemory memory =
        takeForThread(threadBase + size_t(thread) * threadBytes);
    for (int64_t i = 0; i != range.count(); ++i)
      transformInput(rows, first + i, memory.transformed + i * rowStep);
    for (int64_t panel = 0; panel != packed.extents[1]; ++panel) {
      multiply(range.count(), memory.transformed, panel, memory.sums);
      store(range, panel, memory);
    }
  });
}

void WinogradConvolution::run() {
  if (call.output().size() == 0)
    return;
  std::fill(zeros, zeros + channels, 0.0f);
  ChannelRows rows =
      copy ? copyChannelRows(call, vectors.products, x, form, copy)
           : channelRows(x);
  if (isOwn())
    return runOwn(rows);
  int64_t lots = ceilDivide(squares, lotSquares);
  for (int64_t lot = 0; lot != lots; ++lot)
    runLot(rows, {squares * lot / lots, squares * (lot + 1) / lots});
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

static bool accepts(const Invocation &call) {
  return !portable::checkWinograd(call) && call.input(1).isContiguous() &&
         call.input(0).extents[1] > 0;
}

static Error convolve(const Vectors &vectors, const Invocation &call) {
  WinogradConvolution convolution(vectors, call);
  convolution.layOut(call.scratch);
  convolution.run();
  return Error::success();
}

static size_t scratchOf(const Vectors &vectors, const Invocation &call) {
  return WinogradConvolution(vectors, call).layOut(nullptr);
}

CORTEN_VARIANTS_WITH_SCRATCH(ConvolutionWinograd, accepts, convolve, scratchOf)

static bool acceptsWeights(const Invocation &call) {
  return !portable::checkPackWinograd(call) && call.output().isContiguous();
}

static Error packWeights(const Vectors &vectors, const Invocation &call) {
  constexpr int kTaps = kWinogradKernel * kWinogradKernel;
  const Tensor &weights = call.input();
  const Tensor &output = call.output();
  int64_t channels = weights.extents[1];
  int64_t pointStep = output.steps[0];
  const WinogradKernels &kernels =
      vectors.winograd[winogradSquare(output.extents[0]) / 4];
  forEachChunk(call, output.extents[1], [&](int64_t panel, int) {
    int64_t first = panel * kPanelWidth;
    int64_t count = std::min(kPanelWidth, weights.extents[0] - first);
    float taps[kTaps * kPanelWidth] = {};
    for (int64_t channel = 0; channel != channels; ++channel) {
      const float *from = weights.as<float>() + first * weights.steps[0] +
                          channel * weights.steps[1];
      for (int64_t column = 0; column != count; ++column)
        for (int tap = 0; tap != kTaps; ++tap)
          taps[tap * kPanelWidth + column] =
              from[column * weights.steps[0] +
                   tap / kWinogradKernel * weights.steps[2] +
                   tap % kWinogradKernel * weights.steps[3]];
      kernels.weights(
          {taps,
           output.as<float>() + (panel * channels + channel) * kPanelWidth,
           pointStep});
    }
  });
  return Error::success();
}

CORTEN_VARIANTS(PackWinograd, acceptsWeights, packWeights, nullptr)
