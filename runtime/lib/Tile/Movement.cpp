// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fast forms of kernels that move elements: long runs as a whole, transposes in
// blocks that stay in the nearest cache.

#include "Movement.h"

#include "../Vector/Variants.h"

#include <cstring>

using namespace corten::runtime;
using namespace corten::runtime::tile;
using portable::IndexReader;

/// A transposed block has this many elements along either axis.
static constexpr int64_t kBlock = 32;

/// `rows` rows of `count` elements, with steps of each.
template <typename T> struct Plane {
  T *data;
  int64_t step;
  int64_t rowStep;
};

template <typename T>
static void copyPlane(Plane<const T> from, Plane<T> to, int64_t rows,
                      int64_t count) {
  if (from.step == 1 && to.step == 1) {
    for (int64_t row = 0; row != rows; ++row)
      std::memcpy(to.data + row * to.rowStep, from.data + row * from.rowStep,
                  size_t(count) * sizeof(T));
    return;
  }
  if (from.step == 0 && to.step == 1) {
    for (int64_t row = 0; row != rows; ++row)
      std::fill_n(to.data + row * to.rowStep, count,
                  from.data[row * from.rowStep]);
    return;
  }
  for (int64_t row = 0; row < rows; row += kBlock)
    for (int64_t first = 0; first < count; first += kBlock) {
      int64_t endRow = std::min(rows, row + kBlock);
      int64_t end = std::min(count, first + kBlock);
      for (int64_t r = row; r != endRow; ++r) {
        const T *source = from.data + r * from.rowStep;
        T *target = to.data + r * to.rowStep;
        for (int64_t i = first; i != end; ++i)
          target[i * to.step] = source[i * from.step];
      }
    }
}

void tile::copyFast(const Tensor &input, const Tensor &output,
                    ThreadPool *pool) {
  const Tensor *operands[] = {&output, &input};
  Nest nest(operands);
  // A transpose: the axis along which the input's elements are neighbours
  // comes next to the one along which the output's are.
  int inner = nest.rank - 1;
  if (inner > 1 && nest.steps[inner][1] != 1)
    for (int axis = 0; axis != inner; ++axis)
      if (nest.steps[axis][1] == 1) {
        std::rotate(nest.extents.begin() + axis,
                    nest.extents.begin() + axis + 1,
                    nest.extents.begin() + inner);
        std::rotate(nest.steps.begin() + axis, nest.steps.begin() + axis + 1,
                    nest.steps.begin() + inner);
        break;
      }
  portable::withWidth(output.type, [&]<typename T>() {
    forEachPiece(
        nest, int64_t(sizeof(T)), pool,
        [&](const auto &offsets, int64_t rows, int64_t count) {
          auto step = [&](int axis, int operand) -> int64_t {
            return axis < 0 ? 1 : nest.steps[axis][operand];
          };
          copyPlane<T>(
              {input.as<T>() + offsets[1], step(inner, 1), step(inner - 1, 1)},
              {output.as<T>() + offsets[0], step(inner, 0), step(inner - 1, 0)},
              rows, count);
        });
  });
}

static bool acceptsCopy(const Invocation &call) {
  return call.input().type == call.output().type &&
         std::ranges::equal(call.input().shape(), call.output().shape());
}
static Error runCopy(const Vectors &, const Invocation &call) {
  copyFast(call.input(), call.output(), call.pool);
  return Error::success();
}
CORTEN_VARIANTS(Copy, acceptsCopy, runCopy, nullptr)

static bool acceptsFill(const Invocation &call) {
  return call.input().type == call.output().type && call.input().size() == 1;
}
static Error runFill(const Vectors &, const Invocation &call) {
  std::array<int64_t, kMaxRank> none = {};
  const Tensor &output = call.output();
  copyFast(call.input().view(output.shape(), {none.data(), output.rank}),
           output, call.pool);
  return Error::success();
}
CORTEN_VARIANTS(Fill, acceptsFill, runFill, nullptr)

//===----------------------------------------------------------------------===//
// Rows by their number
//===----------------------------------------------------------------------===//

static bool acceptsGatherNd(const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &indices = call.input(1);
  const Tensor &output = call.output();
  if (!fitsParts(input, indices, output))
    return false;
  int outer = indices.rank - 1;
  return isDenseFrom(input, int(indices.extents[outer])) &&
         isDenseFrom(output, outer);
}

static Error runGatherNd(const Vectors &, const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &output = call.output();
  PartIndices parts(input, call.input(1));
  // All are looked at before any is used.
  Error error;
  for (int64_t row = 0; row != parts.rows() && !error; ++row)
    parts.offset("GatherNd", row, error);
  if (error || parts.length() == 0)
    return error;
  auto bytes = int64_t(byteSize(input.type));
  int64_t length = parts.length();
  int64_t some = std::max<int64_t>(1, chunkSize(bytes) / length);
  runChunks(call.pool, (parts.rows() + some - 1) / some, [&](int64_t chunk) {
    Error none;
    int64_t end = std::min(parts.rows(), (chunk + 1) * some);
    for (int64_t row = chunk * some; row != end; ++row)
      std::memcpy(
          output.as<char>() + offsetOfRow(output, parts.shape(), row) * bytes,
          input.as<char>() + parts.offset("GatherNd", row, none) * bytes,
          size_t(length * bytes));
  });
  return error;
}
CORTEN_VARIANTS(GatherNd, acceptsGatherNd, runGatherNd, nullptr)

//===----------------------------------------------------------------------===//
// Along one axis
//===----------------------------------------------------------------------===//

static bool acceptsGatherAlongAxis(const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &indices = call.input(1);
  int64_t axis = call.number(0);
  bool fits = isInteger(indices.type) && input.type == call.output().type &&
              input.rank == indices.rank && axis >= 0 && axis < input.rank &&
              std::ranges::equal(indices.shape(), call.output().shape());
  for (int i = 0; fits && i != input.rank; ++i)
    fits = i == axis || indices.extents[i] <= input.extents[i];
  return fits;
}

static Error runGatherAlongAxis(const Vectors &, const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &indices = call.input(1);
  const Tensor &output = call.output();
  int axis = int(call.number(0));
  int64_t extent = input.extents[axis];
  IndexReader read = portable::indexReader(indices.type);
  if (Error error = checkIndices("GatherAlongAxis", indices, extent))
    return error;
  // The input without the axis that indices choose from.
  Tensor from = input;
  from.extents = output.extents;
  from.steps[axis] = 0;
  const Tensor *operands[] = {&output, &from, &indices};
  Nest nest(operands);
  int inner = nest.rank - 1;
  int64_t along = input.steps[axis];
  auto step = [&](int level, int operand) -> int64_t {
    return level < 0 ? 0 : nest.steps[level][operand];
  };
  portable::withWidth(output.type, [&]<typename T>() {
    forEachPiece(
        nest, 4, call.pool,
        [&](const auto &offsets, int64_t rows, int64_t count) {
          for (int64_t row = 0; row != rows; ++row) {
            T *to = output.as<T>() + offsets[0] + row * step(inner - 1, 0);
            const T *source =
                input.as<T>() + offsets[1] + row * step(inner - 1, 1);
            int64_t place = offsets[2] + row * step(inner - 1, 2);
            auto chosen = [&](int64_t i) {
              return *portable::wrapIndex(
                         read(indices, place + i * step(inner, 2)), extent) *
                     along;
            };
            // One index for the whole row.
            if (step(inner, 2) == 0) {
              copyPlane<T>({source + chosen(0), step(inner, 1), 0},
                           {to, step(inner, 0), 0}, 1, count);
              continue;
            }
            for (int64_t i = 0; i != count; ++i)
              to[i * step(inner, 0)] = source[i * step(inner, 1) + chosen(i)];
          }
        });
  });
  return Error::success();
}
CORTEN_VARIANTS(GatherAlongAxis, acceptsGatherAlongAxis, runGatherAlongAxis,
                nullptr)
