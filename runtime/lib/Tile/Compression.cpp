// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fast forms of what makes weights of few bits whole again.

#include "../Portable/Portable.h"
#include "../Vector/Variants.h"
#include "Nest.h"

#include <atomic>

using namespace corten::runtime;
using namespace corten::runtime::tile;

//===----------------------------------------------------------------------===//
// Packed elements
//===----------------------------------------------------------------------===//

static bool acceptsUnpack(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  unsigned bits = packedBits(output.type);
  return bits < 8 && input.isContiguous() && output.isContiguous() &&
         input.size() * int64_t(byteSize(input.type)) >=
             (output.size() * int64_t(bits) + 7) / 8;
}

/// Eight elements are as many bytes as one has bits; the first is in the lowest
/// ones.
template <unsigned bits, bool isSigned>
static void unpackEights(const uint8_t *from, uint8_t *to, int64_t count) {
  for (int64_t first = 0; first < count; first += 8, from += bits, to += 8) {
    int64_t some = std::min<int64_t>(8, count - first);
    uint64_t word = 0;
    auto bytes = unsigned((some * bits + 7) / 8);
    for (unsigned i = 0; i != bytes; ++i)
      word |= uint64_t(from[i]) << (8 * i);
    for (int64_t i = 0; i != some; ++i) {
      auto code = uint8_t(word & ((1u << bits) - 1));
      if (isSigned)
        code = uint8_t(int8_t(uint8_t(code << (8 - bits))) >> (8 - bits));
      to[i] = code;
      word >>= bits;
    }
  }
}

static Error runUnpack(const Vectors &, const Invocation &call) {
  const Tensor &output = call.output();
  unsigned bits = packedBits(output.type);
  bool isSigned =
      output.type == ElementType::SI2 || output.type == ElementType::SI4;
  using Function = void (*)(const uint8_t *, uint8_t *, int64_t);
  Function unpack =
      isSigned    ? (bits == 2 ? unpackEights<2, true> : unpackEights<4, true>)
      : bits == 1 ? unpackEights<1, false>
      : bits == 2 ? unpackEights<2, false>
      : bits == 3 ? unpackEights<3, false>
      : bits == 4 ? unpackEights<4, false>
                  : unpackEights<6, false>;
  int64_t count = output.size();
  int64_t some = chunkSize(4);
  runChunks(call.pool, (count + some - 1) / some, [&](int64_t chunk) {
    int64_t first = chunk * some;
    unpack(call.input().as<uint8_t>() + first / 8 * bits,
           output.as<uint8_t>() + first, std::min(some, count - first));
  });
  return Error::success();
}
CORTEN_VARIANTS(Unpack, acceptsUnpack, runUnpack, nullptr)

//===----------------------------------------------------------------------===//
// Palettes
//===----------------------------------------------------------------------===//

static bool acceptsLut(const Invocation &call) {
  const Tensor &indices = call.input(0);
  const Tensor &table = call.input(1);
  const Tensor &output = call.output();
  int rank = indices.rank;
  int64_t axis = call.number(0);
  if (rank < 1 || table.rank != rank + 2 || output.rank != rank || axis < 0 ||
      axis >= rank || table.type != output.type ||
      byteSize(indices.type) != 1 || !isInteger(indices.type) ||
      table.extents[rank] < 1 || table.extents[rank + 1] < 1)
    return false;
  for (int i = 0; i != rank; ++i)
    if (table.extents[i] < 1 || indices.extents[i] % table.extents[i] != 0 ||
        output.extents[i] !=
            indices.extents[i] * (i == axis ? table.extents[rank + 1] : 1))
      return false;
  return true;
}

static Error runLut(const Vectors &, const Invocation &call) {
  const Tensor &indices = call.input(0);
  const Tensor &table = call.input(1);
  const Tensor &output = call.output();
  int rank = indices.rank;
  int last = rank - 1;
  int axis = int(call.number(0));
  int64_t entries = table.extents[rank];
  int64_t width = table.extents[rank + 1];
  int64_t length = indices.extents[last];
  if (indices.size() == 0)
    return Error::success();
  int64_t rows = indices.size() / length;
  int64_t block = length / table.extents[last];
  std::atomic<bool> isOutside = false;
  portable::withWidth(output.type, [&]<typename T>() {
    int64_t some = std::max<int64_t>(1, chunkSize(4) / length);
    runChunks(call.pool, (rows + some - 1) / some, [&](int64_t chunk) {
      int64_t end = std::min(rows, (chunk + 1) * some);
      for (int64_t row = chunk * some; row < end; ++row) {
        int64_t from = 0;
        int64_t entry = 0;
        int64_t to = 0;
        int64_t rest = row;
        for (int i = last - 1; i >= 0; --i) {
          int64_t place = rest % indices.extents[i];
          rest /= indices.extents[i];
          from += place * indices.steps[i];
          entry +=
              place / (indices.extents[i] / table.extents[i]) * table.steps[i];
          to += place * (i == axis ? width : 1) * output.steps[i];
        }
        const uint8_t *codes = indices.as<uint8_t>() + from;
        int64_t step = output.steps[last] * (axis == last ? width : 1);
        for (int64_t i = 0; i != length; ++i) {
          int64_t code = codes[i * indices.steps[last]];
          if (code >= entries) {
            isOutside = true;
            return;
          }
          const T *values = table.as<T>() + entry +
                            i / block * table.steps[last] +
                            code * table.steps[rank];
          T *target = output.as<T>() + to + i * step;
          for (int64_t j = 0; j != width; ++j)
            target[j * output.steps[axis]] = values[j * table.steps[rank + 1]];
        }
      }
    });
  });
  // Which one it was, the portable kernel says.
  return isOutside ? portable::runLutToDense(call) : Error::success();
}
CORTEN_VARIANTS(LutToDense, acceptsLut, runLut, nullptr)
