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
/// What a block should take at least, in nanoseconds, the least where blocks
/// would not come out even, and what is assumed to be done in one:
/// multiplications, and bytes of panels that come from memory.
static constexpr double kBlockTime = 20000;
static constexpr double kSmallestBlockTime = 4000;
static constexpr double kMultiplicationsPerTime = 55;
static constexpr double kBytesPerTime = 16;
/// Columns of a block if rows should not be cut short.
static constexpr int64_t kWidePanels = 8;
/// Panels of a block that rows go along, one tile after the other: so what is
/// stored and added is one stretch of memory. They stay in the second cache.
static constexpr int64_t kNearBytes = 128 << 10;
/// Panels of few rows are read once, as fast as memory gives them: what is
/// fetched far ahead keeps what the machine fetches by itself waiting.
static constexpr int64_t kStreamDistance = 512;

/// How many blocks a thread should have: one that is late has fewer.
static constexpr int64_t kBlocksOfThread = 3;
/// What the thread with the most may have beyond its share.
static constexpr double kMostUneven = 1.03;

static int64_t bytesOf(Factor factor) {
  return factor == Factor::F16 || factor == Factor::BF16 ? 2 : 4;
}

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
  double time = std::max(rows * double(depth * kPanelWidth) /
                             (kMultiplicationsPerTime * vectors.products.speed),
                         bytes / kBytesPerTime);
  groupPanels = std::max<int64_t>(int64_t(kBlockTime / (time + 1)), 1);
  groupPanels = std::min(groupPanels, 4 * kWidePanels);
  if (isWide)
    groupPanels = std::max(groupPanels, kWidePanels);
  // As many as are near, where that leaves threads enough to take.
  int64_t near = std::min<int64_t>(
      kNearBytes / std::max<int64_t>(int64_t(bytes), 1), kWidePanels);
  if (depth <= kPieceDepth && extents.rows > vectors.products.tileRows &&
      near > groupPanels &&
      rowBlocks * panels >= near * kBlocksOfThread * threads)
    groupPanels = near;
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
  // A few that do not come out even leave somebody with nothing to do.
  auto isUneven = [&] {
    int64_t blocks = rowBlocks * panelGroups;
    return double(ceilDivide(blocks, threads) * threads) >
           kMostUneven * double(blocks);
  };
  while (threads > 1 && isUneven() && rowBlocks * 2 <= tiles &&
         blockTime > 2 * kSmallestBlockTime) {
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

bool Blocks::isAlongColumns(const Block &block, int64_t panelBytes,
                            bool isDirect) const {
  return pieces == 1 && isDirect && block.panels() > 1 &&
         block.panels() * panelBytes <= kNearBytes;
}

Blocks::Memory Blocks::take(Scratch &scratch) const {
  int64_t most = ceilDivide(tiles, rowBlocks) + 1;
  return {scratch.take<float>(most * vectors.products.tileRows * groupPanels *
                              kPanelWidth),
          scratch.take<const float *>(most * extents.segments *
                                      vectors.products.tableStep)};
}

void Blocks::multiplyTiles(const Block &block, const Memory &memory,
                           const void *panels, const Sink &sink,
                           int64_t firstRow, int64_t firstColumn,
                           const int64_t *panelRows, int64_t panelDepth,
                           const RowScales *rowScales,
                           const int64_t *sinkRows) const {
  const MicroKernels &kernels = vectors.products;
  int64_t tiles = tilesOf(block);
  int64_t rowBytes = kPanelWidth * bytesOf(extents.factor);
  int64_t panelBytes = panelDepth * rowBytes;
  int64_t sumStep = block.panels() * kPanelWidth;
  bool isStream = extents.rows <= kernels.tileRows;
  Finish finish;
  Scales scales = {};
  TileCall call = {};
  auto startOf = [&](int64_t panel, int64_t panelRow) {
    return static_cast<const char *>(panels) +
           (panel - block.panel) * panelBytes + panelRow * rowBytes;
  };
  if (kernels.begin)
    kernels.begin();
  call.tableStep = kernels.tableStep;
  call.partialStep = sumStep;
  for (int64_t piece = 0; piece != pieces; ++piece) {
    int64_t segment = extents.segments == 1 ? 0 : piece * pieceSegments;
    call.segments = std::min(pieceSegments, extents.segments - segment);
    call.first = extents.segments == 1 ? piece * pieceDepth : 0;
    call.depth = std::min(pieceDepth, extents.depth - call.first);
    call.panelRows = panelRows ? panelRows + segment : nullptr;
    int64_t pieceRow = call.first + (panelRows ? 0 : segment * extents.depth);
    bool isLast = piece + 1 == pieces;
    bool isDirect = isLast && sink.isDirect() && !sinkRows;
    // A tile of rows with the columns of a panel from `first` on.
    auto multiplyTile = [&](int64_t panel, int64_t first, int64_t tile,
                            int64_t row, int64_t count, const char *ahead) {
      const char *start = startOf(panel, pieceRow);
      int64_t column = panel * kPanelWidth;
      int64_t here = std::min<int64_t>(
          kernels.tileColumns,
          std::min(kPanelWidth, extents.columns - column) - first);
      const TileFunctionOf *functions =
          kernels.tilesOf(extents.factor, here * 2 <= kernels.tileColumns);
      float *sums = memory.sums + row * sumStep + column -
                    block.panel * kPanelWidth + first;
      call.panel = start + first * bytesOf(extents.factor);
      call.columns = here;
      call.rows = memory.table +
                  (tile * extents.segments + segment) * kernels.tableStep;
      call.numRows = count;
      call.partial = piece ? sums : nullptr;
      call.target = sums;
      call.targetStep = sumStep;
      call.finish = nullptr;
      call.ahead = ahead;
      if (isDirect) {
        int64_t sinkRow = firstRow + block.row + row;
        int64_t sinkColumn = firstColumn + column + first;
        call.target = sink.target(sinkRow, sinkColumn);
        call.targetStep = sink.targetStep();
        if (sink.finish(sinkRow, sinkColumn, finish))
          call.finish = &finish;
      }
      if (isLast && rowScales) {
        scales = {
            rowScales->scales + block.row + row,
            rowScales->sums + block.row + row,
            reinterpret_cast<const float *>(start - (pieceRow + 1) * rowBytes) +
                first};
        call.scales = &scales;
      }
      functions[std::min<int64_t>(count, kMaxTileRows) - 1](call);
    };
    auto widthOf = [&](int64_t panel) {
      return std::min(kPanelWidth, extents.columns - panel * kPanelWidth);
    };
    if (isAlongColumns(block, panelBytes, isDirect)) {
      call.aheadStep = rowBytes;
      EvenParts parts(block.rows(), tiles);
      for (int64_t tile = 0; tile != tiles; ++tile) {
        auto [row, count] = parts.next();
        for (int64_t panel = block.panel; panel != block.lastPanel; ++panel) {
          bool isEnd = panel + 1 == block.lastPanel && tile + 1 != tiles;
          const char *next = startOf(isEnd ? block.panel : panel + 1, 0);
          for (int64_t first = 0; first < widthOf(panel);
               first += kernels.tileColumns)
            multiplyTile(panel, first, tile, row, count, next);
        }
      }
      continue;
    }
    for (int64_t panel = block.panel; panel != block.lastPanel; ++panel) {
      const char *start = startOf(panel, pieceRow);
      // Each tile fetches its part of what comes next.
      const char *next = start + panelBytes;
      if (panel + 1 == block.lastPanel)
        next = isLast ? next - pieceRow * rowBytes
                      : startOf(block.panel,
                                pieceRow + call.segments * call.depth);
      call.aheadStep = isStream ? rowBytes : ceilDivide(rowBytes, tiles);
      for (int64_t first = 0; first < widthOf(panel);
           first += kernels.tileColumns) {
        EvenParts parts(block.rows(), std::max<int64_t>(tiles, 1));
        for (int64_t tile = 0; tile != tiles; ++tile) {
          auto [row, count] = parts.next();
          const char *ahead = isStream ? start + kStreamDistance
                                       : next + tile * call.aheadStep *
                                                    call.segments * call.depth;
          multiplyTile(panel, first, tile, row, count, ahead);
        }
      }
    }
  }
  if (kernels.end)
    kernels.end();
  int64_t columns =
      std::min(sumStep, extents.columns - block.panel * kPanelWidth);
  int64_t column = firstColumn + block.panel * kPanelWidth;
  if (sinkRows)
    for (int64_t i = 0; i != block.rows(); ++i)
      sink.store(sinkRows[i], 1, column, columns, memory.sums + i * sumStep,
                 sumStep);
  else if (!sink.isDirect())
    sink.store(firstRow + block.row, block.rows(), column, columns, memory.sums,
               sumStep);
}
