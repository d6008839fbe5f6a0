// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Blocks.h"

using namespace corten::runtime;
using namespace corten::runtime::products;

/// Rows of a block; with a piece of k they stay in the second cache.
static constexpr int64_t kBlockRows = 128;
/// Elements of k at a time: a piece of a panel stays in the second cache, from
/// which it comes fast enough, and sums are seldom stored and loaded again.
static constexpr int64_t kPieceDepth = 1024;
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

Blocks::Memory Blocks::take(Scratch &scratch) const {
  int64_t most = ceilDivide(tiles, rowBlocks) + 1;
  return {scratch.take<float>(most * vectors.products.tileRows * groupPanels *
                              kPanelWidth),
          scratch.take<const float *>(most * extents.segments *
                                      vectors.products.tableStep)};
}

namespace corten::runtime::products {
/// A block while it is multiplied. Tiles with few elements of k are done in as
/// little time as it takes to look up what they need, so what those of some
/// rows have in common is looked up once.
class Blocks::Walk {
public:
  Walk(const Blocks &blocks, const Block &block, const Memory &memory,
       const void *panels, int64_t panelDepth, const Target &target)
      : blocks(blocks), kernels(blocks.vectors.products),
        extents(blocks.extents), block(block), memory(memory),
        panels(static_cast<const char *>(panels)), to(target),
        tiles(blocks.tilesOf(block)),
        rowBytes(kPanelWidth * bytesOf(extents.factor)),
        panelBytes(panelDepth * rowBytes),
        sumStep(block.panels() * kPanelWidth),
        columns(extents.columns - block.panel * kPanelWidth),
        wide(kernels.tilesOf(extents.factor, false)),
        narrow(kernels.tilesOf(extents.factor, true)) {
    call.tableStep = kernels.tableStep;
    call.partialStep = sumStep;
  }

  void run() {
    if (kernels.begin)
      kernels.begin();
    for (int64_t piece = 0; piece != blocks.pieces; ++piece) {
      beginPiece(piece);
      if (isAlongColumns())
        multiplyAlongColumns();
      else
        multiplyAlongRows();
    }
    if (kernels.end)
      kernels.end();
    store();
  }

private:
  /// Elements of k that all panels are multiplied with, before the next ones.
  void beginPiece(int64_t piece) {
    bool isOne = extents.segments == 1;
    segment = isOne ? 0 : piece * blocks.pieceSegments;
    call.segments = std::min(blocks.pieceSegments, extents.segments - segment);
    call.first = isOne ? piece * blocks.pieceDepth : 0;
    call.depth = std::min(blocks.pieceDepth, extents.depth - call.first);
    call.panelRows = to.panelRows ? to.panelRows + segment : nullptr;
    pieceRow = call.first + (to.panelRows ? 0 : segment * extents.depth);
    isFirst = piece == 0;
    isLast = piece + 1 == blocks.pieces;
    isDirect = isLast && to.sink.isDirect() && !to.sinkRows;
  }

  /// Whether each tile of rows is multiplied with all panels before the next
  /// one is.
  bool isAlongColumns() const {
    return blocks.pieces == 1 && isDirect && block.panels() > 1 &&
           block.panels() * panelBytes <= kNearBytes;
  }

  void multiplyAlongColumns() {
    call.aheadStep = rowBytes;
    EvenParts parts(block.rows(), tiles);
    for (int64_t tile = 0; tile != tiles; ++tile) {
      auto [row, count] = parts.next();
      beginRows(tile, row, count);
      for (int64_t panel = block.panel; panel != block.lastPanel; ++panel) {
        bool isEnd = panel + 1 == block.lastPanel && tile + 1 != tiles;
        call.ahead = startOf(isEnd ? block.panel : panel + 1, 0);
        for (int64_t first = 0; first < widthOf(panel);
             first += kernels.tileColumns)
          multiplyColumns(panel, first);
      }
    }
  }

  void multiplyAlongRows() {
    bool isStream = extents.rows <= kernels.tileRows;
    call.aheadStep = isStream ? rowBytes : ceilDivide(rowBytes, tiles);
    for (int64_t panel = block.panel; panel != block.lastPanel; ++panel) {
      const char *start = startOf(panel, pieceRow);
      // Each tile fetches its part of what comes next.
      const char *next = start + panelBytes;
      if (panel + 1 == block.lastPanel)
        next = isLast ? next - pieceRow * rowBytes
                      : startOf(block.panel,
                                pieceRow + call.segments * call.depth);
      for (int64_t first = 0; first < widthOf(panel);
           first += kernels.tileColumns) {
        EvenParts parts(block.rows(), std::max<int64_t>(tiles, 1));
        for (int64_t tile = 0; tile != tiles; ++tile) {
          auto [row, count] = parts.next();
          call.ahead = isStream ? start + kStreamDistance
                                : next + tile * call.aheadStep * call.segments *
                                             call.depth;
          beginRows(tile, row, count);
          multiplyColumns(panel, first);
        }
      }
    }
  }

  /// What tiles of these rows have in common: where the first column is.
  void beginRows(int64_t tile, int64_t row, int64_t count) {
    call.rows =
        memory.table + (tile * extents.segments + segment) * kernels.tableStep;
    call.numRows = count;
    function = std::min<int64_t>(count, kMaxTileRows) - 1;
    sums = memory.sums + row * sumStep;
    start = sums;
    call.targetStep = sumStep;
    call.finish = nullptr;
    if (isDirect) {
      int64_t sinkRow = to.firstRow + block.row + row;
      int64_t sinkColumn = to.firstColumn + block.panel * kPanelWidth;
      start = to.sink.target(sinkRow, sinkColumn);
      call.targetStep = to.sink.targetStep();
      if (to.sink.finish(sinkRow, sinkColumn, finish)) {
        call.finish = &finish;
        bias = finish.bias;
        residual = finish.residual;
      }
    }
    if (isLast && to.scales) {
      scales.rows = to.scales->scales + block.row + row;
      scales.sums = to.scales->sums + block.row + row;
      call.scales = &scales;
    }
  }

  /// Those rows, with the columns of a panel from `first` on.
  void multiplyColumns(int64_t panel, int64_t first) {
    int64_t column = (panel - block.panel) * kPanelWidth + first;
    const char *rows = startOf(panel, pieceRow);
    call.panel = rows + first * bytesOf(extents.factor);
    call.columns = std::min<int64_t>(kernels.tileColumns, columns - column);
    call.partial = isFirst ? nullptr : sums + column;
    call.target = start + column;
    if (call.finish) {
      finish.bias = bias ? bias + column : nullptr;
      finish.residual = residual ? residual + column : nullptr;
    }
    // What columns are worth is in the row before each panel.
    if (call.scales)
      scales.columns =
          reinterpret_cast<const float *>(rows - (pieceRow + 1) * rowBytes) +
          first;
    bool isNarrow = call.columns * 2 <= kernels.tileColumns;
    (isNarrow ? narrow : wide)[function](call);
  }

  /// Sums whose program is not done as they are stored.
  void store() const {
    int64_t column = to.firstColumn + block.panel * kPanelWidth;
    int64_t width = std::min(sumStep, columns);
    if (to.sinkRows)
      for (int64_t i = 0; i != block.rows(); ++i)
        to.sink.store(to.sinkRows[i], 1, column, width,
                      memory.sums + i * sumStep, sumStep);
    else if (!to.sink.isDirect())
      to.sink.store(to.firstRow + block.row, block.rows(), column, width,
                    memory.sums, sumStep);
  }

  const char *startOf(int64_t panel, int64_t panelRow) const {
    return panels + (panel - block.panel) * panelBytes + panelRow * rowBytes;
  }
  int64_t widthOf(int64_t panel) const {
    return std::min(kPanelWidth, extents.columns - panel * kPanelWidth);
  }

  const Blocks &blocks;
  const MicroKernels &kernels;
  const Extents &extents;
  const Block &block;
  const Memory &memory;
  const char *panels;
  const Target &to;
  int64_t tiles;
  int64_t rowBytes;
  int64_t panelBytes;
  int64_t sumStep;
  /// From the first of the block to the last of all.
  int64_t columns;
  const TileFunctionOf *wide;
  const TileFunctionOf *narrow;

  // Of a piece.
  int64_t segment = 0;
  int64_t pieceRow = 0;
  bool isFirst = true;
  bool isLast = true;
  bool isDirect = false;

  // Of some rows, in the first column of the block.
  int64_t function = 0;
  float *sums = nullptr;
  float *start = nullptr;
  const float *bias = nullptr;
  const float *residual = nullptr;

  TileCall call = {};
  Finish finish = {};
  Scales scales = {};
};
} // namespace corten::runtime::products

void Blocks::multiplyTiles(const Block &block, const Memory &memory,
                           const void *panels, int64_t panelDepth,
                           const Target &target) const {
  Walk(*this, block, memory, panels, panelDepth, target).run();
}
