// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements from anywhere into the order that micro-kernels read.

#include "../Portable/Epilogue.h"
#include "Common.h"

#include <algorithm>
#include <cstring>

using namespace corten::runtime;
using namespace corten::runtime::products;

/// Elements that are `step` apart, one after the other.
template <typename Bits>
static void collect(const void *from, int64_t step, int64_t count, Bits *to) {
  for (int64_t i = 0; i != count; ++i)
    to[i] = static_cast<const Bits *>(from)[i * step];
}

static constexpr int64_t kSide = 32;

/// Whose columns lie one after the other. Elements of 16 bits are floats before
/// they change places.
static void gatherColumns(const MicroKernels &kernels, const Elements &from,
                          int64_t rows, int64_t columns, float *to,
                          int64_t toStep) {
  if (from.type == ElementType::F32)
    return kernels.transpose(static_cast<const float *>(from.data),
                             from.columnStep, columns, rows, to, toStep);
  auto widen = kernels.widen[int(factorOf(from.type))];
  float square[kSide * kSide];
  for (int64_t row = 0; row < rows; row += kSide)
    for (int64_t column = 0; column < columns; column += kSide) {
      int64_t height = std::min(kSide, rows - row);
      int64_t width = std::min(kSide, columns - column);
      for (int64_t j = 0; j != width; ++j)
        widen(from.from(row, column + j).data, square + j * kSide, height);
      kernels.transpose(square, kSide, width, height,
                        to + row * toStep + column, toStep);
    }
}

void products::gather(const MicroKernels &kernels, const Elements &from,
                      int64_t rows, int64_t columns, float *to,
                      int64_t toStep) {
  auto widen = kernels.widen[int(factorOf(from.type))];
  if (from.columnStep == 1 || columns == 1) {
    for (int64_t row = 0; row < rows; ++row)
      widen(from.from(row, 0).data, to + row * toStep, columns);
    return;
  }
  if (from.rowStep == 1)
    return gatherColumns(kernels, from, rows, columns, to, toStep);
  for (int64_t row = 0; row < rows; ++row) {
    const void *line = from.from(row, 0).data;
    float *target = to + row * toStep;
    if (from.type == ElementType::F32) {
      collect(line, from.columnStep, columns, target);
      continue;
    }
    uint16_t bits[kSide];
    for (int64_t column = 0; column < columns; column += kSide) {
      int64_t count = std::min(kSide, columns - column);
      collect(from.from(row, column).data, from.columnStep, count, bits);
      widen(bits, target + column, count);
    }
  }
}

void products::packPanel(const MicroKernels &kernels, const Elements &from,
                         int64_t rows, int64_t columns, float *to) {
  gather(kernels, from, rows, columns, to, kPanelWidth);
  if (columns == kPanelWidth)
    return;
  for (int64_t row = 0; row < rows; ++row)
    std::fill(to + row * kPanelWidth + columns, to + (row + 1) * kPanelWidth,
              0.0f);
}

/// As packPanel, of elements that stay what they are.
static void packHalves(const Elements &from, int64_t rows, int64_t columns,
                       uint16_t *to) {
  for (int64_t row = 0; row < rows; ++row, to += kPanelWidth) {
    const void *line = from.from(row, 0).data;
    if (from.columnStep == 1)
      std::memcpy(to, line, size_t(columns) * sizeof(uint16_t));
    else
      collect(line, from.columnStep, columns, to);
    std::fill(to + columns, to + kPanelWidth, uint16_t(0));
  }
}

//===----------------------------------------------------------------------===//
// PackMatrix
//===----------------------------------------------------------------------===//

static bool acceptsMatrix(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int rank = input.rank;
  if (rank < 2 || output.rank != rank + 1 || !portable::isFactor(input.type) ||
      (output.type != input.type && output.type != ElementType::F32) ||
      !output.isContiguous())
    return false;
  return std::equal(input.extents.begin(), input.extents.begin() + rank - 2,
                    output.extents.begin()) &&
         output.extents[rank - 2] == panelCount(input.extents[rank - 1]) &&
         output.extents[rank - 1] == input.extents[rank - 2] &&
         output.extents[rank] == kPanelWidth;
}

static Error packMatrix(const Vectors &vectors, const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int rank = input.rank;
  int64_t rows = input.extents[rank - 2];
  int64_t columns = input.extents[rank - 1];
  int64_t panels = panelCount(columns);
  if (output.size() == 0)
    return Error::success();
  int64_t matrices = output.size() / (panels * rows * kPanelWidth);
  forEachChunk(call, matrices * panels, [&](int64_t chunk, int) {
    int64_t offset = 0;
    int64_t matrix = chunk / panels;
    for (int axis = rank - 2; axis-- > 0;) {
      offset += matrix % input.extents[axis] * input.steps[axis];
      matrix /= input.extents[axis];
    }
    Elements whole{static_cast<const char *>(input.data) +
                       offset * int64_t(byteSize(input.type)),
                   input.type, input.steps[rank - 2], input.steps[rank - 1]};
    int64_t first = chunk % panels * kPanelWidth;
    Elements from = whole.from(0, first);
    int64_t count = std::min(kPanelWidth, columns - first);
    int64_t place = chunk * rows * kPanelWidth;
    if (output.type == ElementType::F32)
      packPanel(vectors.products, from, rows, count,
                output.as<float>() + place);
    else
      packHalves(from, rows, count, output.as<uint16_t>() + place);
  });
  return Error::success();
}

CORTEN_VARIANTS(PackMatrix, acceptsMatrix, packMatrix, nullptr)
