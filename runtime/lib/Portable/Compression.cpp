// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers in fewer bits, and back. Scales and offsets come as views of the
// shape of the data, which repeat within a block.

#include "Portable.h"

#include <algorithm>
#include <vector>

using namespace corten::runtime;
using namespace corten::runtime::portable;

/// Reads one element as a float, whatever it is.
using Reader = double (*)(const Tensor &, int64_t);

static Reader readerOf(ElementType type) {
  return withType(type, []<typename T>() -> Reader {
    if constexpr (ComplexElement<T>)
      return nullptr;
    else
      return [](const Tensor &tensor, int64_t offset) {
        return double(ComputeType<T>(tensor.as<T>()[offset]));
      };
  });
}

/// Calls `function` with the four operands of a quantization, as numbers, and
/// stores what comes of it.
template <typename Out, typename Function>
static void mapQuantized(const Invocation &call, Function &&function) {
  const Tensor &output = call.output();
  std::array<Reader, 4> read;
  std::array<const int64_t *, 5> strides;
  for (size_t i = 0; i != 4; ++i) {
    read[i] = readerOf(call.input(i).type);
    strides[i] = call.input(i).steps.data();
  }
  strides[4] = output.steps.data();
  stridedLoop<5>(output.shape(), strides,
                 [&](const auto &offsets, int64_t count, const auto &steps) {
                   for (int64_t i = 0; i != count; ++i) {
                     auto operand = [&](size_t index) {
                       return read[index](call.input(index),
                                          offsets[index] + i * steps[index]);
                     };
                     output.as<Out>()[offsets[4] + i * steps[4]] = function(
                         operand(0), operand(1), operand(2), operand(3));
                   }
                 });
}

static Error checkQuantization(std::string_view name, const Invocation &call) {
  for (const Tensor &input : call.inputs) {
    if (Error error = checkShape(name, input, call.output()))
      return error;
    if (input.type == ElementType::C64)
      return unknownType(name, input);
  }
  return Error::success();
}

// The difference is formed in a wider type: unsigned data below their zero come
// out negative.
Error portable::runDequantize(const Invocation &call) {
  if (Error error = checkQuantization("Dequantize", call))
    return error;
  return withType(call.output().type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T>) {
      mapQuantized<T>(
          call, [](double x, double scale, double zero, double offset) {
            auto scaled = ComputeType<T>((x - zero) * scale);
            return T(ComputeType<T>(scaled + ComputeType<T>(offset)));
          });
      return Error::success();
    } else {
      return unknownType("Dequantize", call.output());
    }
  });
}

Error portable::runQuantize(const Invocation &call) {
  if (Error error = checkQuantization("Quantize", call))
    return error;
  return withType(call.output().type, [&]<typename T>() -> Error {
    // Floats are rounded when they are stored, and the largest is the limit.
    if constexpr (FloatElement<T>) {
      double largest = std::is_same_v<T, Float8E4M3FN>   ? 448
                       : std::is_same_v<T, Float8E5M2>   ? 57344
                       : std::is_same_v<T, Float4E2M1FN> ? 6
                                                         : HUGE_VAL;
      mapQuantized<T>(
          call, [=](double x, double scale, double zero, double offset) {
            float steps = float(x - offset) / float(scale);
            double moved = double(steps) + zero;
            return T(ComputeType<T>(std::clamp(moved, -largest, largest)));
          });
      return Error::success();
    } else if constexpr (IntegerElement<T> && sizeof(T) == 1) {
      double lowest, highest;
      if constexpr (detail::isSmallInteger<T>) {
        lowest = T::kMin;
        highest = T::kMax;
      } else {
        lowest = std::numeric_limits<T>::min();
        highest = std::numeric_limits<T>::max();
      }
      mapQuantized<T>(
          call, [=](double x, double scale, double zero, double offset) {
            float steps = std::nearbyint(float(x - offset) / float(scale));
            double moved = double(steps) + zero;
            if (moved != moved)
              return T(0);
            return T(int64_t(std::clamp(moved, lowest, highest)));
          });
      return Error::success();
    } else {
      return unknownType("Quantize", call.output());
    }
  });
}

Error portable::runLutToDense(const Invocation &call) {
  const Tensor &indices = call.input(0);
  const Tensor &table = call.input(1);
  const Tensor &output = call.output();
  int64_t axis = call.number(0);
  int rank = indices.rank;
  int64_t entries = table.rank < 2 ? 0 : table.extents[table.rank - 2];
  int64_t width = table.rank < 2 ? 0 : table.extents[table.rank - 1];
  bool fits = table.rank == rank + 2 && output.rank == rank && axis >= 0 &&
              axis < rank && width > 0;
  for (int i = 0; fits && i != rank; ++i)
    fits = table.extents[i] > 0 && indices.extents[i] % table.extents[i] == 0 &&
           output.extents[i] == indices.extents[i] * (i == axis ? width : 1);
  if (!fits)
    return Error("LutToDense: " + indices.describe() + " and " +
                 table.describe() + " do not make " + output.describe());
  if (table.type != output.type)
    return unknownType("LutToDense", output);
  if (byteSize(indices.type) != 1 || !isInteger(indices.type))
    return unknownType("LutToDense", indices);
  return withWidth(output.type, [&]<typename T>() -> Error {
    std::array<int64_t, kMaxRank> place = {};
    int64_t count = indices.size();
    for (int64_t done = 0; done != count; ++done) {
      int64_t from = 0;
      int64_t entry = 0;
      int64_t to = 0;
      for (int i = 0; i != rank; ++i) {
        int64_t block = indices.extents[i] / table.extents[i];
        from += place[i] * indices.steps[i];
        entry += place[i] / block * table.steps[i];
        to += place[i] * (i == axis ? width : 1) * output.steps[i];
      }
      int64_t index = indices.as<uint8_t>()[from];
      if (index >= entries)
        return outOfRange("LutToDense", index, entries);
      entry += index * table.steps[rank];
      for (int64_t i = 0; i != width; ++i)
        output.as<T>()[to + i * output.steps[axis]] =
            table.as<T>()[entry + i * table.steps[rank + 1]];
      for (int i = rank - 1; i >= 0; --i) {
        if (++place[i] != indices.extents[i])
          break;
        place[i] = 0;
      }
    }
    return Error::success();
  });
}

Error portable::runSparseToDense(const Invocation &call) {
  const Tensor &values = call.input(0);
  const Tensor &mask = call.input(1);
  const Tensor &output = call.output();
  if (Error error = checkShape("SparseToDense", mask, output))
    return error;
  if (values.type != output.type || values.rank != 1)
    return unknownType("SparseToDense", values);
  if (byteSize(mask.type) != 1)
    return unknownType("SparseToDense", mask);
  return withWidth(output.type, [&]<typename T>() -> Error {
    int64_t used = 0;
    bool isShort = false;
    stridedLoop<2>(output.shape(), {mask.steps.data(), output.steps.data()},
                   [&](const auto &offsets, int64_t count, const auto &steps) {
                     for (int64_t i = 0; i != count; ++i) {
                       bool isSet =
                           mask.as<uint8_t>()[offsets[0] + i * steps[0]] != 0;
                       isShort |= isSet && used == values.extents[0];
                       output.as<T>()[offsets[1] + i * steps[1]] =
                           isSet && !isShort
                               ? values.as<T>()[values.steps[0] * used++]
                               : T(0);
                     }
                   });
    if (isShort)
      return Error("SparseToDense: the mask of " + output.describe() +
                   " has more places than there are values, " +
                   std::to_string(values.extents[0]));
    return Error::success();
  });
}
