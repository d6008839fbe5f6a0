// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of element-wise work: as few and as long as the strides of all
// operands allow, whatever the order of the axes is called.

#ifndef CORTEN_RUNTIME_LIB_NEST_H
#define CORTEN_RUNTIME_LIB_NEST_H

#include "TileCode.h"

#include "corten/Runtime/ThreadPool.h"

#include <algorithm>

namespace corten::runtime::tile {

/// Operands of a nest; a program's inputs and outputs.
inline constexpr int kMaxOperands = 2 * kMaxTileRegisters;

/// Axes from the outermost to the innermost, all longer than 1.
struct Nest {
  int rank = 0;
  int numOperands = 0;
  std::array<int64_t, kMaxRank> extents;
  /// Of each axis: of each operand, in elements.
  std::array<std::array<int64_t, kMaxOperands>, kMaxRank> steps;

  /// Tensors of one shape. Axes come in the order of the strides of the one
  /// that repeats least, and those that are one long axis in all become one.
  explicit Nest(std::span<const Tensor *const> operands);

  int64_t size() const;
};

/// Elements that are worth a chunk of their own when `cost` is that of one.
int64_t chunkSize(int64_t cost);

/// Calls `body(chunk)` for chunks 0 to count-1 on a pool, or on this thread.
template <typename Body>
void runChunks(ThreadPool *pool, int64_t count, Body &&body) {
  if (pool && count > 1)
    return pool->run(count, [&](int64_t chunk, int) { body(chunk); });
  for (int64_t chunk = 0; chunk != count; ++chunk)
    body(chunk);
}

/// Calls `body(offsets, rows, count)` for pieces of a nest, in which operands
/// are `rows` rows of `count` elements along the two innermost axes. Where
/// pieces begin depends on the nest alone.
template <typename Body>
void forEachPiece(const Nest &nest, int64_t cost, ThreadPool *pool,
                  Body &&body) {
  int64_t size = nest.size();
  if (size == 0)
    return;
  int inner = nest.rank - 1;
  int64_t length = nest.rank == 0 ? 1 : nest.extents[inner];
  int64_t wanted = chunkSize(cost);
  // A long row is cut, as evenly as whole tiles allow; short ones are taken
  // together.
  int64_t piece = length;
  if (length >= 2 * wanted) {
    int64_t whole = wanted < kTileSize ? 1 : kTileSize;
    int64_t pieces = (length + wanted - 1) / wanted;
    piece = (length + pieces * whole - 1) / (pieces * whole) * whole;
  }
  int64_t piecesOfRow = (length + piece - 1) / piece;
  int64_t rows = size / length;
  int64_t rowsOfChunk =
      piecesOfRow > 1 ? 1 : std::max<int64_t>(1, wanted / length);
  int64_t chunks = piecesOfRow * ((rows + rowsOfChunk - 1) / rowsOfChunk);
  runChunks(pool, chunks, [&](int64_t chunk) {
    int64_t first = chunk % piecesOfRow * piece;
    int64_t count = std::min(piece, length - first);
    int64_t row = chunk / piecesOfRow * rowsOfChunk;
    int64_t end = std::min(rows, row + rowsOfChunk);
    int64_t along = nest.rank < 2 ? 1 : nest.extents[inner - 1];
    std::array<int64_t, kMaxOperands> offsets;
    while (row != end) {
      // As many rows as lie along the axis before the innermost.
      int64_t number = std::min(end - row, along - row % along);
      int64_t rest = row;
      for (int i = 0; i != nest.numOperands; ++i)
        offsets[i] = nest.rank == 0 ? 0 : first * nest.steps[inner][i];
      for (int axis = inner - 1; axis >= 0; --axis) {
        int64_t index = rest % nest.extents[axis];
        rest /= nest.extents[axis];
        for (int i = 0; i != nest.numOperands; ++i)
          offsets[i] += index * nest.steps[axis][i];
      }
      body(offsets, number, count);
      row += number;
    }
  });
}

/// A program over tensors of one shape: inputs, then outputs.
Error runProgram(Form form, const Code &code, std::span<const Tensor> inputs,
                 std::span<const Tensor> outputs, ThreadPool *pool);

} // namespace corten::runtime::tile

#endif // CORTEN_RUNTIME_LIB_NEST_H
