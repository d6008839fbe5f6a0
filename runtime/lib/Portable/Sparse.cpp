// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sparse weights: packed for products (Codes.h), and rows of one that stays as
// it is in a file.

#include "CompressedProduct.h"
#include "Epilogue.h"
#include "Portable.h"

#include <cstring>

using namespace corten::runtime;
using namespace corten::runtime::portable;

Error portable::placesDoNotFit(std::string_view kernel, const Tensor &values) {
  return Error(std::string(kernel) + ": the places want other values than " +
               values.describe() +
               " has; the plan is damaged: compile it again");
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

Error portable::checkPackPlaces(const Invocation &call) {
  const Tensor &mask = call.input();
  const Tensor &places = call.output();
  if (mask.rank != 2 || places.rank != 2 ||
      places.extents[0] != panelCount(mask.extents[1]) ||
      places.extents[1] != kPlacesHeader + mask.extents[0])
    return Error("PackPlaces: " + mask.describe() + " does not make " +
                 places.describe());
  if (byteSize(mask.type) != 1)
    return unknownType("PackPlaces", mask);
  if (places.type != ElementType::UI32 || !places.isContiguous())
    return unknownType("PackPlaces", places);
  return Error::success();
}

void portable::writePlaces(const Invocation &call, int64_t panel) {
  const Tensor &mask = call.input();
  PanelPlaces places(call.output(), panel);
  int64_t depth = mask.extents[0];
  int64_t first = panel * kPanelWidth;
  int64_t columns = std::min(kPanelWidth, mask.extents[1] - first);
  std::fill_n(places.words, depth, 0);
  // Columns are rows in memory, as a rule.
  for (int64_t column = 0; column != columns; ++column) {
    const uint8_t *from = mask.as<uint8_t>() + (first + column) * mask.steps[1];
    for (int64_t k = 0; k != depth; ++k)
      places.words[k] |= uint32_t(from[k * mask.steps[0]] != 0) << column;
  }
}

void portable::linkPlaces(const Tensor &places) {
  int64_t before = 0;
  for (int64_t panel = 0; panel != places.extents[0]; ++panel) {
    PanelPlaces own(places, panel);
    own.setFirst(before);
    int64_t end = before + own.count(places.extents[1] - kPlacesHeader);
    before = (end + kValueGroup - 1) / kValueGroup * kValueGroup;
  }
}

Error portable::runPackPlaces(const Invocation &call) {
  if (Error error = checkPackPlaces(call))
    return error;
  for (int64_t panel = 0; panel != call.output().extents[0]; ++panel)
    writePlaces(call, panel);
  linkPlaces(call.output());
  return Error::success();
}

Error portable::checkPackValues(const Invocation &call) {
  const Tensor &matrix = call.input(0);
  const Tensor &places = call.input(1);
  const Tensor &values = call.output();
  int64_t bits = call.number(0);
  bool areFloats = isFactor(matrix.type) && values.type == matrix.type &&
                   bits == 8 * int64_t(byteSize(matrix.type));
  bool areCodes = byteSize(matrix.type) == 1 && isCodeWidth(bits) &&
                  values.type == ElementType::UI8;
  if (!areFloats && !areCodes)
    return unknownType("PackValues", matrix);
  if (matrix.rank != 2 || places.rank != 2 || values.rank != 1 ||
      places.type != ElementType::UI32 || !places.isContiguous() ||
      places.extents[0] != panelCount(matrix.extents[1]) ||
      places.extents[1] != kPlacesHeader + matrix.extents[0] ||
      !values.isContiguous() || valueCapacity(values.extents[0], int(bits)) < 0)
    return Error("PackValues: " + matrix.describe() + " and places " +
                 places.describe() + " do not make " + values.describe());
  return Error::success();
}

Error portable::checkPlaces(const Invocation &call) {
  const Tensor &places = call.input(1);
  const Tensor &values = call.output();
  int64_t depth = places.extents[1] - kPlacesHeader;
  int64_t capacity = valueCapacity(values.extents[0], int(call.number(0)));
  int64_t columns = call.input(0).extents[1];
  int64_t before = 0;
  for (int64_t panel = 0; panel != places.extents[0]; ++panel) {
    PanelPlaces own(places, panel);
    int64_t count = own.count(depth);
    // Those of a panel are after those of the one before; columns that are not
    // there have none.
    if (!areValues(own.first(), count, capacity) || own.first() < before)
      return placesDoNotFit("PackValues", values);
    before = own.first() + count;
    int64_t width = std::min(kPanelWidth, columns - panel * kPanelWidth);
    for (int64_t k = 0; width != kPanelWidth && k != depth; ++k)
      if (own.words[k] >> width != 0)
        return placesDoNotFit("PackValues", values);
  }
  return Error::success();
}

void portable::writeValues(const Invocation &call, int64_t panel) {
  const Tensor &matrix = call.input(0);
  PanelPlaces places(call.input(1), panel);
  int64_t bits = call.number(0);
  int64_t next = places.first();
  withWidth(matrix.type, [&]<typename T>() {
    const T *from = matrix.as<T>() + panel * kPanelWidth * matrix.steps[1];
    auto *bytes = call.output().as<uint8_t>();
    for (int64_t k = 0; k != matrix.extents[0]; ++k)
      for (uint32_t word = places.words[k]; word != 0; word &= word - 1) {
        T value = from[k * matrix.steps[0] +
                       std::countr_zero(word) * matrix.steps[1]];
        if constexpr (sizeof(T) == 1) {
          // A code may have its bits in two bytes.
          unsigned code = unsigned(value & ((1u << bits) - 1))
                          << (next * bits % 8);
          bytes[next * bits / 8] |= uint8_t(code);
          if (code >> 8 != 0)
            bytes[next * bits / 8 + 1] |= uint8_t(code >> 8);
        } else {
          call.output().as<T>()[next] = value;
        }
        ++next;
      }
  });
}

Error portable::runPackValues(const Invocation &call) {
  if (Error error = checkPackValues(call))
    return error;
  if (Error error = checkPlaces(call))
    return error;
  const Tensor &values = call.output();
  std::memset(values.data, 0, size_t(values.size()) * byteSize(values.type));
  for (int64_t panel = 0; panel != call.input(1).extents[0]; ++panel)
    writeValues(call, panel);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Whether there are bytes for so many bits.
static bool hasBits(const Tensor &bytes, int64_t rows, int64_t bits) {
  return bytes.type == ElementType::UI8 && bytes.rank == 1 &&
         bytes.isContiguous() && rows >= 0 && bits >= 0 &&
         (bits == 0 || rows <= bytes.extents[0] * 8 / bits);
}

static bool isSet(const uint8_t *bytes, int64_t place) {
  return bytes[place / 8] >> (place % 8) & 1;
}

Error portable::runCountPlaces(const Invocation &call) {
  const Tensor &mask = call.input();
  const Tensor &output = call.output();
  int64_t bits = call.number(0);
  if (output.rank != 1 || output.type != ElementType::SI64 ||
      !hasBits(mask, output.extents[0], bits))
    return Error("CountPlaces: " + mask.describe() + " has no rows for " +
                 output.describe());
  int64_t before = 0;
  for (int64_t row = 0; row != output.extents[0]; ++row) {
    output.as<int64_t>()[row * output.steps[0]] = before;
    int64_t place = row * bits, end = place + bits;
    for (; place != end && place % 8 != 0; ++place)
      before += isSet(mask.as<uint8_t>(), place);
    for (; end - place >= 8; place += 8)
      before += std::popcount(mask.as<uint8_t>()[place / 8]);
    for (; place != end; ++place)
      before += isSet(mask.as<uint8_t>(), place);
  }
  return Error::success();
}

namespace {
/// What rows are made of.
struct SparseRows {
  const Tensor &values;
  const Tensor &mask;
  const Tensor &output;
  int64_t width;

  /// How many values there are; of elements that share bytes, as many as there
  /// may be.
  int64_t count() const {
    unsigned bits = packedBits(output.type);
    return bits < 8 && values.type == ElementType::UI8
               ? values.extents[0] * 8 / bits
               : values.extents[0];
  }

  template <typename T> T valueAt(int64_t index) const {
    if constexpr (sizeof(T) == 1) {
      unsigned bits = packedBits(output.type);
      if (bits < 8 && values.type == ElementType::UI8) {
        unsigned code = codeAmongValues(values.as<uint8_t>(), int(bits), index);
        bool isSigned =
            output.type == ElementType::SI2 || output.type == ElementType::SI4;
        return T(isSigned ? signedNumber(code, int(bits)) : int(code));
      }
    }
    return values.as<T>()[index * values.steps[0]];
  }

  /// False if there are too few values.
  template <typename T> bool write(int64_t row, int64_t next, T *to) const {
    const auto *bits = mask.as<uint8_t>();
    for (int64_t i = 0; i != width; ++i) {
      to[i] = T(0);
      if (!isSet(bits, row * width + i))
        continue;
      if (!isThere(values)) {
        to[i] = T(1);
        continue;
      }
      if (next < 0 || next >= count())
        return false;
      to[i] = valueAt<T>(next++);
    }
    return true;
  }
};
} // namespace

/// Checks shapes and types.
static Error checkGatherSparse(const Invocation &call, int64_t &width) {
  const Tensor &values = call.input(0);
  const Tensor &mask = call.input(1);
  const Tensor &starts = call.input(2);
  const Tensor &indices = call.input(3);
  const Tensor &output = call.output();
  int batch = indices.rank - 1;
  bool fits =
      batch >= 0 && indices.extents[batch] == 1 && output.rank >= batch &&
      output.isContiguous() &&
      std::equal(indices.extents.begin(), indices.extents.begin() + batch,
                 output.extents.begin()) &&
      starts.rank == 1 && starts.type == ElementType::SI64;
  width = 1;
  for (int axis = std::max(batch, 0); fits && axis != output.rank; ++axis)
    width *= output.extents[axis];
  if (!fits || !hasBits(mask, starts.extents[0], width))
    return Error("GatherSparse: " + mask.describe() + " by " +
                 indices.describe() + " does not make " + output.describe());
  if (!isInteger(indices.type))
    return unknownType("GatherSparse", indices);
  bool isPacked =
      packedBits(output.type) < 8 && values.type == ElementType::UI8;
  if (isThere(values)
          ? values.rank != 1 ||
                (isPacked ? !values.isContiguous() : values.type != output.type)
          : byteSize(output.type) != 1)
    return unknownType("GatherSparse", values);
  return Error::success();
}

Error portable::runGatherSparse(const Invocation &call) {
  int64_t width;
  if (Error error = checkGatherSparse(call, width))
    return error;
  const Tensor &starts = call.input(2);
  const Tensor &indices = call.input(3);
  const Tensor &output = call.output();
  IndexReader read = indexReader(indices.type);
  SparseRows rows{call.input(0), call.input(1), output, width};
  return withWidth(output.type, [&]<typename T>() -> Error {
    T *to = output.as<T>();
    Error error = Error::success();
    stridedLoop<1>(
        {indices.extents.data(), size_t(indices.rank - 1)},
        {indices.steps.data()},
        [&](const auto &offsets, int64_t count, const auto &steps) {
          for (int64_t i = 0; i != count && !error; ++i, to += width) {
            int64_t row = read(indices, offsets[0] + i * steps[0]);
            int64_t extent = starts.extents[0];
            int64_t wrapped = row < 0 ? row + extent : row;
            if (wrapped < 0 || wrapped >= extent)
              error = outOfRange("GatherSparse", row, extent);
            else if (!rows.write(
                         wrapped,
                         starts.as<int64_t>()[wrapped * starts.steps[0]], to))
              error = placesDoNotFit("GatherSparse", rows.values);
          }
        });
    return error;
  });
}
