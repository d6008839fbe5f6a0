// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The largest element of each window, or the sum. What lies outside of the
// input does not count.

#include "Portable.h"
#include "Window.h"

using namespace corten::runtime;
using namespace corten::runtime::portable;

/// Calls `take` with each element of a window, and `done` at its end with the
/// place in the output.
template <typename T, typename Begin, typename Take, typename Done>
static Error pool(const Invocation &call, Begin &&begin, Take &&take,
                  Done &&done) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int rank = input.rank - 2;
  std::span<const int64_t> numbers = call.numbers;
  auto window = numbers.subspan(0, rank);
  auto strides = numbers.subspan(rank, rank);
  auto dilations = numbers.subspan(2 * size_t(rank), rank);
  auto before = numbers.subspan(3 * size_t(rank), rank);
  std::array<int64_t, kMaxRank> place = {};
  int64_t count = output.size();
  for (int64_t number = 0; number != count; ++number) {
    begin();
    int64_t base = place[0] * input.steps[0] + place[1] * input.steps[1];
    int64_t to = place[0] * output.steps[0] + place[1] * output.steps[1];
    for (int i = 0; i != rank; ++i)
      to += place[i + 2] * output.steps[i + 2];
    std::array<int64_t, kMaxRank> tap = {};
    for (bool more = true; more;) {
      int64_t from = base;
      bool isInside = true;
      for (int i = 0; i != rank; ++i) {
        int64_t index =
            place[i + 2] * strides[i] - before[i] + tap[i] * dilations[i];
        isInside &= index >= 0 && index < input.extents[i + 2];
        from += index * input.steps[i + 2];
      }
      if (isInside)
        take(ComputeType<T>(input.as<T>()[from]));
      more = false;
      for (int i = rank - 1; i >= 0 && !more; --i) {
        more = ++tap[i] != window[i];
        if (!more)
          tap[i] = 0;
      }
    }
    output.as<T>()[to] = done();
    for (int axis = output.rank - 1; axis >= 0; --axis) {
      if (++place[axis] != output.extents[axis])
        break;
      place[axis] = 0;
    }
  }
  return Error::success();
}

static Error checkPool(std::string_view name, const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int rank = input.rank - 2;
  bool fits = rank >= 1 && output.rank == input.rank &&
              call.numbers.size() == 4 * size_t(rank) &&
              input.extents[0] == output.extents[0] &&
              input.extents[1] == output.extents[1] &&
              hasCountableWindows(call);
  if (!fits)
    return Error(std::string(name) + ": " + input.describe() +
                 " does not make " + output.describe());
  if (input.type != output.type)
    return unknownType(name, output);
  return Error::success();
}

// NaN wins.
Error portable::runMaxPool(const Invocation &call) {
  if (Error error = checkPool("MaxPool", call))
    return error;
  return withType(call.input().type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || IntegerElement<T>) {
      using Number = ComputeType<T>;
      using Limits = std::numeric_limits<Number>;
      Number largest = {};
      return pool<T>(
          call,
          [&] {
            largest =
                Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
          },
          [&](Number x) {
            if (isNaN(x) || x > largest)
              largest = x;
          },
          [&] { return T(largest); });
    } else {
      return unknownType("MaxPool", call.input());
    }
  });
}

Error portable::runSumPool(const Invocation &call) {
  if (Error error = checkPool("SumPool", call))
    return error;
  return withType(call.input().type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || IntegerElement<T>) {
      using Sum = std::conditional_t<FloatElement<T>, double, uint64_t>;
      Sum sum = 0;
      return pool<T>(
          call, [&] { sum = 0; }, [&](ComputeType<T> x) { sum += Sum(x); },
          [&] { return T(ComputeType<T>(sum)); });
    } else {
      return unknownType("SumPool", call.input());
    }
  });
}
