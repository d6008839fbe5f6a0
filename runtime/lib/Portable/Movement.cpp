// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that move elements and do not look at them. Transposes, slices,
// reversals, repetitions and the parts of a concatenation are views.

#include "Portable.h"
#include "Window.h"

#include "corten/Runtime/Modes.h"

#include <algorithm>
#include <cstring>

using namespace corten::runtime;
using namespace corten::runtime::portable;

void portable::copyElements(const Tensor &from, const Tensor &to) {
  if (to.size() == 0)
    return;
  if (from.isContiguous() && to.isContiguous()) {
    std::memmove(to.data, from.data, size_t(to.size()) * byteSize(to.type));
    return;
  }
  withWidth(to.type, [&]<typename T>() {
    stridedLoop<2>(to.shape(), {from.steps.data(), to.steps.data()},
                   [&](const auto &offsets, int64_t count, const auto &steps) {
                     constexpr auto kWidth = int64_t(sizeof(T));
                     const char *source = from.as<char>() + offsets[0] * kWidth;
                     char *target = to.as<char>() + offsets[1] * kWidth;
                     for (int64_t i = 0; i != count; ++i)
                       std::memcpy(target + i * steps[1] * kWidth,
                                   source + i * steps[0] * kWidth, sizeof(T));
                   });
  });
}

Error portable::runCopy(const Invocation &call) {
  if (Error error = checkShape("Copy", call.input(), call.output()))
    return error;
  if (call.input().type != call.output().type)
    return unknownType("Copy", call.input());
  copyElements(call.input(), call.output());
  return Error::success();
}

Error portable::runFill(const Invocation &call) {
  const Tensor &value = call.input();
  const Tensor &output = call.output();
  if (value.type != output.type || value.size() != 1)
    return unknownType("Fill", value);
  std::array<int64_t, kMaxRank> none = {};
  copyElements(value.view(output.shape(), {none.data(), output.rank}), output);
  return Error::success();
}

Error portable::runUnpack(const Invocation &call) {
  const Tensor &output = call.output();
  unsigned bits = packedBits(output.type);
  int64_t count = output.size();
  if (call.input().size() * int64_t(byteSize(call.input().type)) <
      (count * int64_t(bits) + 7) / 8)
    return Error("Unpack: " + call.input().describe() + " is too short for " +
                 output.describe());
  if (!output.isContiguous() || !call.input().isContiguous() || bits >= 8)
    return unknownType("Unpack", output);
  // The first element is in the lowest bits; one may lie across two bytes.
  const uint8_t *from = call.input().as<uint8_t>();
  uint8_t *to = output.as<uint8_t>();
  bool isSigned =
      output.type == ElementType::SI2 || output.type == ElementType::SI4;
  for (int64_t i = 0; i != count; ++i) {
    int64_t first = i * bits;
    unsigned shift = unsigned(first % 8);
    unsigned word = from[first / 8];
    if (shift + bits > 8)
      word |= unsigned(from[first / 8 + 1]) << 8;
    unsigned code = (word >> shift) & ((1u << bits) - 1);
    if (isSigned && (code >> (bits - 1)))
      code |= ~0u << bits;
    to[i] = uint8_t(code);
  }
  return Error::success();
}

/// Where an element of a padded axis comes from.
static int64_t sourceIndex(PaddingMode mode, int64_t index, int64_t extent) {
  switch (mode) {
  case PaddingMode::Replicate:
    return std::clamp<int64_t>(index, 0, extent - 1);
  case PaddingMode::Circular:
    return ((index % extent) + extent) % extent;
  case PaddingMode::Reflect: {
    if (extent == 1)
      return 0;
    int64_t period = 2 * (extent - 1);
    int64_t place = ((index % period) + period) % period;
    return place < extent ? place : period - place;
  }
  case PaddingMode::Symmetric: {
    int64_t period = 2 * extent;
    int64_t place = ((index % period) + period) % period;
    return place < extent ? place : period - 1 - place;
  }
  }
  __builtin_unreachable();
}

/// How far an axis can be continued on either side: its elements are there once
/// more, or once without the outermost.
static int64_t mostPadding(PaddingMode mode, int64_t extent) {
  switch (mode) {
  case PaddingMode::Replicate:
    return INT64_MAX;
  case PaddingMode::Reflect:
    return std::max<int64_t>(extent - 1, 0);
  case PaddingMode::Symmetric:
  case PaddingMode::Circular:
    return extent;
  }
  __builtin_unreachable();
}

Error portable::runPadByRule(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  if (input.type != output.type)
    return unknownType("PadByRule", output);
  if (input.rank != output.rank ||
      call.numbers.size() != size_t(input.rank) + 1)
    return Error("PadByRule: " + input.describe() + " does not fit " +
                 output.describe());
  auto mode = modeOf<PaddingMode>(call.number(0));
  if (!mode)
    return Error("PadByRule: there is no mode " +
                 std::to_string(call.number(0)));
  for (int64_t before : call.numbers.subspan(1))
    if (before < -kMostPlaces || before > kMostPlaces)
      return Error("PadByRule: there are no " + std::to_string(before) +
                   " elements before the first one");
  for (int axis = 0; axis != input.rank; ++axis) {
    int64_t extent = input.extents[axis];
    if (extent == 0 && output.extents[axis] != 0)
      return Error("PadByRule: an axis without elements cannot be continued");
    int64_t before = call.number(axis + 1);
    int64_t widest = std::max(before, output.extents[axis] - extent - before);
    if (widest > mostPadding(*mode, extent))
      return Error("PadByRule: axis " + std::to_string(axis) + " of " +
                   input.describe() + " can be padded by at most " +
                   std::to_string(mostPadding(*mode, extent)) + ", not " +
                   std::to_string(widest));
  }
  withWidth(output.type, [&]<typename T>() {
    // Row by row: the source of a row is looked up once for each axis.
    std::array<int64_t, kMaxRank> index = {};
    std::span<const int64_t> shape = output.shape();
    int64_t count = output.size();
    for (int64_t done = 0; done != count; ++done) {
      int64_t from = 0;
      int64_t to = 0;
      for (int axis = 0; axis != output.rank; ++axis) {
        from += input.steps[axis] *
                sourceIndex(*mode, index[axis] - call.number(axis + 1),
                            input.extents[axis]);
        to += output.steps[axis] * index[axis];
      }
      output.as<T>()[to] = input.as<T>()[from];
      for (int axis = output.rank - 1; axis >= 0; --axis) {
        if (++index[axis] != shape[axis])
          break;
        index[axis] = 0;
      }
    }
  });
  return Error::success();
}

Error portable::runRange(const Invocation &call) {
  const Tensor &output = call.output();
  for (const Tensor &input : call.inputs)
    if (input.type != output.type || input.size() != 1)
      return unknownType("Range", input);
  if (output.rank != 1)
    return unknownType("Range", output);
  return withType(output.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || IntegerElement<T>) {
      // Floats as PyTorch has them: not by adding up.
      using Number = std::conditional_t<FloatElement<T>, double, uint64_t>;
      auto read = [](const Tensor &tensor) {
        auto number = ComputeType<T>(*tensor.as<T>());
        if constexpr (FloatElement<T>)
          return Number(number);
        else // The lowest bits of a sum do not depend on the others.
          return Number(std::make_unsigned_t<ComputeType<T>>(number));
      };
      Number start = read(call.input(0));
      Number step = read(call.input(1));
      for (int64_t i = 0; i != output.extents[0]; ++i)
        output.as<T>()[i * output.steps[0]] =
            T(ComputeType<T>(start + Number(i) * step));
      return Error::success();
    } else {
      return unknownType("Range", output);
    }
  });
}

Error portable::runNumbers(const Invocation &call) {
  const Tensor &output = call.output();
  if (!output.isContiguous() || output.size() != int64_t(call.numbers.size()))
    return unknownType("Numbers", output);
  return withType(output.type, [&]<typename T>() -> Error {
    if constexpr (IntegerElement<T> || std::is_same_v<T, bool>) {
      for (size_t i = 0; i != call.numbers.size(); ++i)
        output.as<T>()[i] = T(ComputeType<T>(call.numbers[i]));
      return Error::success();
    } else {
      return unknownType("Numbers", output);
    }
  });
}

Error portable::runRangeCount(const Invocation &call) {
  const Tensor &output = call.output();
  for (const Tensor &input : call.inputs)
    if (input.type != call.input().type || input.size() != 1)
      return unknownType("RangeCount", input);
  if (output.type != ElementType::SI64 || output.size() != 1)
    return unknownType("RangeCount", output);
  return withType(call.input().type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T>) {
      auto read = [&](size_t index) {
        return double(ComputeType<T>(*call.input(index).as<T>()));
      };
      double count = std::ceil((read(1) - read(0)) / read(2));
      if (!(count < 0x1p62))
        return Error("RangeCount: the range does not end");
      *output.as<int64_t>() = count > 0 ? int64_t(count) : 0;
      return Error::success();
    } else {
      return unknownType("RangeCount", call.input());
    }
  });
}
