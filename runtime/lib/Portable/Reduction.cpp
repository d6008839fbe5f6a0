// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many elements become one. Axes that are reduced stay, with extent 1. Sums of
// floats are kept in double, those of integers wrap around.

#include "Portable.h"

using namespace corten::runtime;
using namespace corten::runtime::portable;

namespace {

/// What a reduction of T starts with and how it takes an element; `finish`
/// makes the result of it and of the number of elements.
template <typename T>
using Sum = std::conditional_t<FloatElement<T>, double, uint64_t>;

struct ReduceSum {
  template <typename T>
  static constexpr bool takes = FloatElement<T> || IntegerElement<T>;
  template <typename T> static Sum<T> start() { return Sum<T>(0); }
  template <typename T> static Sum<T> add(Sum<T> sum, T x) {
    return sum + Sum<T>(ComputeType<T>(x));
  }
  template <typename T> static T finish(Sum<T> sum, int64_t) {
    return T(ComputeType<T>(sum));
  }
};

struct ReduceMean : ReduceSum {
  template <typename T> static constexpr bool takes = FloatElement<T>;
  template <typename T> static T finish(Sum<T> sum, int64_t count) {
    return T(ComputeType<T>(sum / double(count)));
  }
};

struct ReduceProduct : ReduceSum {
  template <typename T> static Sum<T> start() { return Sum<T>(1); }
  template <typename T> static Sum<T> add(Sum<T> product, T x) {
    return product * Sum<T>(ComputeType<T>(x));
  }
};

struct ReduceAll {
  template <typename T> static constexpr bool takes = std::is_same_v<T, bool>;
  template <typename T> static bool start() { return true; }
  template <typename T> static bool add(bool all, bool x) { return all && x; }
  template <typename T> static bool finish(bool all, int64_t) { return all; }
};

struct ReduceAny : ReduceAll {
  template <typename T> static bool start() { return false; }
  template <typename T> static bool add(bool any, bool x) { return any || x; }
};

/// The largest or smallest; NaN wins. There is none of nothing.
template <bool IsMax> struct ReduceExtreme {
  static constexpr bool kNeedsElements = true;
  template <typename T>
  static constexpr bool takes = FloatElement<T> || IntegerElement<T>;
  template <typename T> static ComputeType<T> start() {
    using Number = ComputeType<T>;
    using Limits = std::numeric_limits<Number>;
    if constexpr (FloatElement<T>)
      return IsMax ? -Limits::infinity() : Limits::infinity();
    else
      return IsMax ? Limits::lowest() : Limits::max();
  }
  template <typename T>
  static ComputeType<T> add(ComputeType<T> extreme, T element) {
    auto x = ComputeType<T>(element);
    return isNaN(x) || (IsMax ? x > extreme : x < extreme) ? x : extreme;
  }
  template <typename T> static T finish(ComputeType<T> extreme, int64_t) {
    return T(extreme);
  }
};
using ReduceMax = ReduceExtreme<true>;
using ReduceMin = ReduceExtreme<false>;
} // namespace

template <typename Op>
concept NeedsElements = requires { Op::kNeedsElements; };

template <typename Op>
static Error reduce(std::string_view name, const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  if (input.type != output.type)
    return unknownType(name, output);
  if (input.rank != output.rank)
    return checkShape(name, input, output);
  // Two views of the input: one of what stays, one of what is summed up.
  Tensor kept = input;
  Tensor reduced = input;
  int64_t count = 1;
  for (int axis = 0; axis != input.rank; ++axis) {
    bool isReduced = output.extents[axis] == 1;
    if (!isReduced && output.extents[axis] != input.extents[axis])
      return checkShape(name, input, output);
    (isReduced ? kept : reduced).extents[axis] = 1;
    if (isReduced)
      count *= input.extents[axis];
  }
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (Op::template takes<T>) {
      if (NeedsElements<Op> && count == 0 && output.size() != 0)
        return Error(std::string(name) + ": there is none of no elements");
      stridedLoop<2>(
          kept.shape(), {kept.steps.data(), output.steps.data()},
          [&](const auto &offsets, int64_t run, const auto &steps) {
            for (int64_t i = 0; i != run; ++i) {
              const T *from = input.as<T>() + offsets[0] + i * steps[0];
              auto value = Op::template start<T>();
              stridedLoop<1>(
                  reduced.shape(), {reduced.steps.data()},
                  [&](const auto &inner, int64_t length, const auto &step) {
                    for (int64_t j = 0; j != length; ++j)
                      value = Op::template add<T>(value,
                                                  from[inner[0] + j * step[0]]);
                  });
              output.as<T>()[offsets[1] + i * steps[1]] =
                  Op::template finish<T>(value, count);
            }
          });
      return Error::success();
    } else {
      return unknownType(name, input);
    }
  });
}
#define REDUCTION(NAME)                                                        \
  Error portable::run##NAME(const Invocation &call) {                          \
    return reduce<NAME>(#NAME, call);                                          \
  }
REDUCTION(ReduceSum)
REDUCTION(ReduceMean)
REDUCTION(ReduceProduct)
REDUCTION(ReduceMax)
REDUCTION(ReduceMin)
REDUCTION(ReduceAll)
REDUCTION(ReduceAny)
