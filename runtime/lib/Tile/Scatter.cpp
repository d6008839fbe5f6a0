// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fast scatters. Updates of one element are done in the order of the portable
// kernels by one thread: threads take parts of the output that have no element
// in common.

#include "../Portable/Scatter.h"
#include "../Vector/Variants.h"
#include "Movement.h"

#include <cstring>

using namespace corten::runtime;
using namespace corten::runtime::tile;
using portable::IndexReader;

/// The elements that no update replaces; an update may happen in place.
static void startWith(const Invocation &call) {
  if (call.input(0).data != call.output().data)
    copyFast(call.input(0), call.output(), call.pool);
}

//===----------------------------------------------------------------------===//
// Parts by several axes at once
//===----------------------------------------------------------------------===//

/// Bytes that are worth a chunk of their own.
static constexpr int64_t kBytesOfChunk = 64 << 10;
static constexpr int64_t kMostChunks = 16;

static bool acceptsScatterNd(const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &indices = call.input(1);
  const Tensor &updates = call.input(2);
  const Tensor &output = call.output();
  if (input.type != output.type ||
      !std::ranges::equal(input.shape(), output.shape()) ||
      !fitsParts(output, indices, updates))
    return false;
  int outer = indices.rank - 1;
  return isDenseFrom(output, int(indices.extents[outer])) &&
         isDenseFrom(updates, outer);
}

/// Where each part begins.
static size_t scratchOfScatterNd(const Invocation &call) {
  return size_t(PartIndices(call.output(), call.input(1)).rows()) *
         sizeof(int64_t);
}

static Error runScatterNd(const Vectors &, const Invocation &call) {
  const Tensor &updates = call.input(2);
  const Tensor &output = call.output();
  PartIndices parts(output, call.input(1));
  auto *offsets = static_cast<int64_t *>(call.scratch);
  int64_t rows = parts.rows();
  // All are looked at before any is used.
  Error error;
  for (int64_t row = 0; row != rows && !error; ++row)
    offsets[row] = parts.offset("ScatterNd", row, error);
  if (error)
    return error;
  startWith(call);
  auto width = int64_t(byteSize(output.type));
  int64_t bytes = parts.length() * width;
  if (call.number(0) == 0 || rows == 0 || bytes == 0)
    return Error::success();
  auto write = [&](int64_t row, int64_t first, int64_t count) {
    std::memcpy(output.as<char>() + offsets[row] * width + first,
                updates.as<char>() +
                    offsetOfRow(updates, parts.shape(), row) * width + first,
                size_t(count));
  };
  int64_t chunks =
      std::clamp<int64_t>(rows * bytes / kBytesOfChunk, 1, kMostChunks);
  if (bytes >= kBytesOfChunk) {
    // A slice of each part.
    int64_t slice = (bytes + chunks - 1) / chunks;
    runChunks(call.pool, (bytes + slice - 1) / slice, [&](int64_t chunk) {
      int64_t first = chunk * slice;
      for (int64_t row = 0; row != rows; ++row)
        write(row, first, std::min(slice, bytes - first));
    });
    return Error::success();
  }
  // Parts that begin in a range of the output. Each thread looks at all of
  // them, so there are no more ranges than threads; none changes what another
  // gets.
  chunks = std::min<int64_t>(chunks, call.pool ? call.pool->threads() : 1);
  if (chunks == 1) {
    for (int64_t row = 0; row != rows; ++row)
      write(row, 0, bytes);
    return Error::success();
  }
  auto [least, most] = std::minmax_element(offsets, offsets + rows);
  int64_t begin = *least;
  int64_t span = (*most - begin) / chunks + 1;
  runChunks(call.pool, chunks, [&](int64_t chunk) {
    int64_t first = begin + chunk * span;
    for (int64_t row = 0; row != rows; ++row)
      if (offsets[row] >= first && offsets[row] < first + span)
        write(row, 0, bytes);
  });
  return Error::success();
}
CORTEN_VARIANTS(ScatterNd, acceptsScatterNd, runScatterNd, scratchOfScatterNd)

//===----------------------------------------------------------------------===//
// Along one axis
//===----------------------------------------------------------------------===//

static bool acceptsScatterAlongAxis(const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &indices = call.input(1);
  const Tensor &updates = call.input(2);
  const Tensor &output = call.output();
  int64_t axis = call.number(0);
  auto mode = modeOf<ScatterMode>(call.number(1));
  // Integers may be divided by zero, which is an error.
  bool fits = mode && isInteger(indices.type) && input.type == output.type &&
              updates.type == output.type && input.rank == indices.rank &&
              axis >= 0 && axis < input.rank &&
              std::ranges::equal(input.shape(), output.shape()) &&
              std::ranges::equal(updates.shape(), indices.shape()) &&
              (*mode != ScatterMode::Div || isFloat(output.type));
  for (int i = 0; fits && i != input.rank; ++i)
    fits = i == axis || indices.extents[i] <= input.extents[i];
  return fits;
}

/// The instruction that does what a mode says; none if there is none. Narrow
/// integers would not wrap around.
static std::optional<TileOpcode> opcodeOf(ScatterMode mode, ElementType type) {
  bool isFloat = tileLane(type) == TileLane::F;
  if (!isFloat && type != ElementType::SI32)
    return std::nullopt;
  switch (mode) {
  case ScatterMode::Add:
    return isFloat ? TileOpcode::Add : TileOpcode::IntegerAdd;
  case ScatterMode::Sub:
    return isFloat ? TileOpcode::Sub : TileOpcode::IntegerSub;
  case ScatterMode::Mul:
    return isFloat ? TileOpcode::Mul : TileOpcode::IntegerMul;
  case ScatterMode::Max:
    return isFloat ? TileOpcode::Maximum : TileOpcode::IntegerMaximum;
  case ScatterMode::Min:
    return isFloat ? TileOpcode::Minimum : TileOpcode::IntegerMinimum;
  case ScatterMode::Div:
    return isFloat ? std::optional(TileOpcode::Divide) : std::nullopt;
  case ScatterMode::Update:
    return std::nullopt;
  }
  __builtin_unreachable();
}

namespace {
/// An operand of some updates: rows and columns of a piece, and the axis that
/// is indexed.
struct Strided {
  int64_t offset;
  int64_t step;
  int64_t along;
};

/// Updates of one call.
class AxisScatter {
public:
  AxisScatter(const Vectors &vectors, const Invocation &call)
      : vectors(vectors), indices(call.input(1)), updates(call.input(2)),
        output(call.output()), axis(int(call.number(0))),
        mode(ScatterMode(call.number(1))), length(indices.extents[axis]),
        extent(output.extents[axis]),
        read(portable::indexReader(indices.type)) {
    opcode = opcodeOf(mode, output.type);
    if (opcode) {
      lane = *tileLane(output.type);
      instruction = {*opcode, 0, 0, 1};
    }
  }

  void run(ThreadPool *pool);

private:
  const Vectors &vectors;
  const Tensor &indices;
  const Tensor &updates;
  const Tensor &output;
  int axis;
  ScatterMode mode;
  int64_t length;
  int64_t extent;
  IndexReader read;
  /// Of whole rows at a time.
  std::optional<TileOpcode> opcode;
  TileInstruction instruction;
  TileLane lane = TileLane::F;

  /// How far the element that an index points to is from the first.
  int64_t placeOf(int64_t offset) const {
    return *portable::wrapIndex(read(indices, offset), extent) *
           output.steps[axis];
  }

  void writeRow(int64_t to, int64_t toStep, int64_t from, int64_t fromStep,
                int64_t count) const;
  template <typename T> void writeElement(int64_t to, int64_t from) const {
    using Number = ComputeType<T>;
    T &element = output.as<T>()[to];
    element = T(portable::combine(mode, Number(element),
                                  Number(updates.as<T>()[from])));
  }
  void writeElements(Strided to, Strided from, Strided index,
                     int64_t count) const;
};
} // namespace

/// A row of updates that have one index.
void AxisScatter::writeRow(int64_t to, int64_t toStep, int64_t from,
                           int64_t fromStep, int64_t count) const {
  auto width = int64_t(byteSize(output.type));
  char *target = output.as<char>() + to * width;
  char *source = updates.as<char>() + from * width;
  if (mode == ScatterMode::Update && toStep == 1 && fromStep == 1) {
    std::memcpy(target, source, size_t(count * width));
    return;
  }
  if (!opcode)
    return withType(output.type, [&]<typename T>() {
      for (int64_t i = 0; i != count; ++i)
        writeElement<T>(to + i * toStep, from + i * fromStep);
    });
  constexpr uint16_t kResult = 0;
  const tile::Rows inputs[] = {{target, toStep, 0, output.type},
                               {source, fromStep, 0, output.type}};
  // The result lies where the first input does.
  vectors.runTiles({.code = {.instructions = &instruction,
                             .immediates = nullptr,
                             .results = &kResult,
                             .numInstructions = 1,
                             .numInputs = 2,
                             .numResults = 1},
                    .inputs = inputs,
                    .outputs = inputs,
                    .lanes = &lane,
                    .numRows = 1,
                    .count = count});
}

/// Elements that have an index each. Those that may meet keep their order.
void AxisScatter::writeElements(Strided to, Strided from, Strided index,
                                int64_t count) const {
  withType(output.type, [&]<typename T>() {
    auto write = [&](int64_t column, int64_t i) {
      writeElement<T>(
          to.offset + column * to.step +
              placeOf(index.offset + column * index.step + i * index.along),
          from.offset + column * from.step + i * from.along);
    };
    // Neighbours in memory come one after the other.
    if (std::abs(to.step) <= std::abs(output.steps[axis]))
      for (int64_t i = 0; i != length; ++i)
        for (int64_t column = 0; column != count; ++column)
          write(column, i);
    else
      for (int64_t column = 0; column != count; ++column)
        for (int64_t i = 0; i != length; ++i)
          write(column, i);
  });
}

void AxisScatter::run(ThreadPool *pool) {
  // Without the axis, along which updates may meet.
  Tensor to = output, from = updates, index = indices;
  for (Tensor *tensor : {&to, &from, &index}) {
    tensor->extents = indices.extents;
    tensor->extents[axis] = 1;
  }
  const Tensor *operands[] = {&to, &from, &index};
  Nest nest(operands);
  int inner = nest.rank - 1;
  auto step = [&](int level, int operand) -> int64_t {
    return level < 0 ? 0 : nest.steps[level][operand];
  };
  auto strided = [&](const auto &offsets, int64_t row, int operand) -> Strided {
    return {offsets[operand] + row * step(inner - 1, operand),
            step(inner, operand), operands[operand]->steps[axis]};
  };
  forEachPiece(nest, 4 * length, pool,
               [&](const auto &offsets, int64_t rows, int64_t count) {
                 for (int64_t row = 0; row != rows; ++row) {
                   Strided target = strided(offsets, row, 0);
                   Strided source = strided(offsets, row, 1);
                   Strided place = strided(offsets, row, 2);
                   if (place.step == 0 && count > 1) {
                     for (int64_t i = 0; i != length; ++i)
                       writeRow(target.offset +
                                    placeOf(place.offset + i * place.along),
                                target.step, source.offset + i * source.along,
                                source.step, count);
                     continue;
                   }
                   writeElements(target, source, place, count);
                 }
               });
}

static Error runScatterAlongAxis(const Vectors &vectors,
                                 const Invocation &call) {
  if (Error error = checkIndices("ScatterAlongAxis", call.input(1),
                                 call.input(0).extents[size_t(call.number(0))]))
    return error;
  startWith(call);
  if (call.input(1).size() != 0)
    AxisScatter(vectors, call).run(call.pool);
  return Error::success();
}
CORTEN_VARIANTS(ScatterAlongAxis, acceptsScatterAlongAxis, runScatterAlongAxis,
                nullptr)
