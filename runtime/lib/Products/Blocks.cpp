// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Blocks.h"

using namespace corten::runtime;
using namespace corten::runtime::products;

/// Rows of a block; with a piece of k they stay in the second cache.
static constexpr int64_t kBlockRows = 128;
/// Elements of k at a time: a piece of a panel stays in the nearest caches.
static constexpr int64_t kPieceDepth = 512;
/// Of convolutions, whose rows overlap.
static constexpr int64_t kPieceDepthInSegments = 1152;
/// What a block should take at least, in nanoseconds, and what is assumed to be
/// done in one: multiplications, and bytes of panels that come from memory.
static constexpr double kBlockTime = 20000;
static constexpr double kMultiplicationsPerTime = 55;
static constexpr double kBytesPerTime = 16;
/// Columns of a block if rows should not be cut short.
static constexpr int64_t kWidePanels = 8;
/// Panels of few rows are read once: that far ahead.
static constexpr int64_t kStreamDistance = 2048;

static int64_t bytesOf(Factor factor) { return factor == Factor::F32 ? 4 : 2; }

/// How many blocks a thread should have: one that is late has fewer.
static constexpr int64_t kBlocksOfThread = 3;

Blocks::Blocks(const Vectors &vectors, const Extents &extents, bool isWide,
               int threads)
    : vectors(vectors), extents(extents),
      tiles(ceilDivide(extents.rows, vectors.products.tileRows)) {
  int64_t blockRows = isWide ? kBlockRows / 2 : kBlockRows;
  rowBlocks = std::max<int64_t>(
      ceilDivide(tiles * vectors.products.tileRows, blockRows), 1);
  rowBlocks = std::min(rowBlocks, std::max<int64_t>(tiles, 1));
  int64_t panels = panelCount(extents.columns);
  int64_t depth = extents.segments * extents.depth;
  double rows = double(ceilDivide(extents.rows, rowBlocks));
  double bytes = double(depth * kPanelWidth * bytesOf(extents.factor));
  double time =
      std::max(rows * double(depth * kPanelWidth) / kMultiplicationsPerTime,
               bytes / kBytesPerTime);
  groupPanels = std::max<int64_t>(int64_t(kBlockTime / (time + 1)), 1);
  groupPanels = std::min(groupPanels, 4 * kWidePanels);
  if (isWide)
    groupPanels = std::max(groupPanels, kWidePanels);
  // All groups but the last are the same: as even as they can be.
  panelGroups = std::max<int64_t>(ceilDivide(panels, groupPanels), 1);
  groupPanels = std::max<int64_t>(ceilDivide(panels, panelGroups), 1);
  panelGroups = std::max<int64_t>(ceilDivide(panels, groupPanels), 1);

  // Many threads: fewer rows in each.
  double blockTime = time * double(groupPanels);
  while (rowBlocks * panelGroups < kBlocksOfThread * threads &&
         rowBlocks * 2 <= tiles && blockTime > 2 * kBlockTime) {
    rowBlocks *= 2;
    blockTime /= 2;
  }

  pieces = 1;
  pieceSegments = extents.segments;
  pieceDepth = extents.depth;
  if (extents.rows <= vectors.products.tileRows || depth == 0)
    return;
  if (extents.segments == 1) {
    pieceDepth = ceilDivide(depth, ceilDivide(depth, kPieceDepth));
    pieceDepth = ceilDivide(pieceDepth, 16) * 16;
    pieces = ceilDivide(depth, pieceDepth);
    return;
  }
  pieceSegments = std::max<int64_t>(kPieceDepthInSegments / extents.depth, 1);
  pieces = ceilDivide(extents.segments, pieceSegments);
}

Block Blocks::at(int64_t index) const {
  int64_t rowBlock = index / panelGroups;
  int64_t group = index % panelGroups;
  auto rowOf = [&](int64_t block) {
    return extents.rows * (tiles * block / rowBlocks) /
           std::max<int64_t>(tiles, 1);
  };
  return {rowOf(rowBlock), rowOf(rowBlock + 1), group * groupPanels,
          std::min((group + 1) * groupPanels, panelCount(extents.columns))};
}

Blocks::Memory Blocks::take(Scratch &scratch) const {
  int64_t most = ceilDivide(tiles, rowBlocks) + 1;
  return {scratch.take<float>(most * vectors.products.tileRows * groupPanels *
                              kPanelWidth),
          scratch.take<const float *>(most * extents.segments * kMaxTileRows)};
}

void Blocks::multiplyTiles(const Block &block, const Memory &memory,
                           const void *panels, const Sink &sink,
                           int64_t firstRow, int64_t firstColumn,
                           const int64_t *panelRows, int64_t panelDepth) const {
  const MicroKernels &kernels = vectors.products;
  int64_t tiles = tilesOf(block);
  int64_t rowBytes = kPanelWidth * bytesOf(extents.factor);
  int64_t panelBytes = panelDepth * rowBytes;
  int64_t sumStep = block.panels() * kPanelWidth;
  bool isStream = extents.rows <= kernels.tileRows;
  Finish finish;
  TileCall call = {};
  call.partialStep = sumStep;
  for (int64_t piece = 0; piece != pieces; ++piece) {
    int64_t segment = extents.segments == 1 ? 0 : piece * pieceSegments;
    call.segments = std::min(pieceSegments, extents.segments - segment);
    call.first = extents.segments == 1 ? piece * pieceDepth : 0;
    call.depth = std::min(pieceDepth, extents.depth - call.first);
    call.panelRows = panelRows ? panelRows + segment : nullptr;
    int64_t pieceRow = call.first + (panelRows ? 0 : segment * extents.depth);
    bool isLast = piece + 1 == pieces;
    bool isDirect = isLast && sink.isDirect();
    for (int64_t panel = block.panel; panel != block.lastPanel; ++panel) {
      const char *start = static_cast<const char *>(panels) +
                          (panel - block.panel) * panelBytes +
                          pieceRow * rowBytes;
      int64_t column = panel * kPanelWidth;
      int64_t inBlock = column - block.panel * kPanelWidth;
      int64_t width = std::min(kPanelWidth, extents.columns - column);
      // Each tile fetches its part of what comes next.
      const char *next = start + panelBytes;
      if (panel + 1 == block.lastPanel)
        next = isLast ? next - pieceRow * rowBytes
                      : static_cast<const char *>(panels) +
                            (pieceRow + call.segments * call.depth) * rowBytes;
      call.aheadStep = isStream ? rowBytes : ceilDivide(rowBytes, tiles);
      for (int64_t first = 0; first < width; first += kernels.tileColumns) {
        int64_t here = std::min<int64_t>(kernels.tileColumns, width - first);
        const auto &functions = here * 2 <= kernels.tileColumns
                                    ? kernels.narrowTile[int(extents.factor)]
                                    : kernels.tile[int(extents.factor)];
        call.panel = start + first * bytesOf(extents.factor);
        call.columns = here;
        for (int64_t tile = 0; tile != tiles; ++tile) {
          int64_t row = block.rows() * tile / tiles;
          int64_t count = block.rows() * (tile + 1) / tiles - row;
          float *sums = memory.sums + row * sumStep + inBlock + first;
          call.rows =
              memory.table + (tile * extents.segments + segment) * kMaxTileRows;
          call.partial = piece ? sums : nullptr;
          call.target = sums;
          call.targetStep = sumStep;
          call.finish = nullptr;
          call.ahead = isStream ? start + kStreamDistance
                                : next + tile * call.aheadStep * call.segments *
                                             call.depth;
          if (isDirect) {
            int64_t sinkRow = firstRow + block.row + row;
            int64_t sinkColumn = firstColumn + column + first;
            call.target = sink.target(sinkRow, sinkColumn);
            call.targetStep = sink.targetStep();
            if (sink.finish(sinkRow, sinkColumn, finish))
              call.finish = &finish;
          }
          functions[count - 1](call);
        }
      }
    }
  }
  if (!sink.isDirect())
    sink.store(firstRow + block.row, block.rows(),
               firstColumn + block.panel * kPanelWidth,
               std::min(sumStep, extents.columns - block.panel * kPanelWidth),
               memory.sums, sumStep);
}
