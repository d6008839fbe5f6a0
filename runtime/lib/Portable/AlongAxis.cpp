// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that go along one axis, row by row: the largest element's place,
// softmax, running sums, sorting.

#include "Arithmetic.h"
#include "Scratch.h"

#include <algorithm>
#include <numeric>

using namespace corten::runtime;
using namespace corten::runtime::portable;

namespace {

/// A row of a tensor.
template <typename T> struct Row {
  T *first;
  int64_t step;
  int64_t length;

  T &operator[](int64_t index) const { return first[index * step]; }
};
} // namespace

/// Whether an axis exists.
static Error checkAxis(std::string_view name, int64_t axis,
                       const Tensor &tensor) {
  if (axis >= 0 && axis < tensor.rank)
    return Error::success();
  return Error(std::string(name) + ": " + tensor.describe() + " has no axis " +
               std::to_string(axis));
}

/// Calls `function` with each pair of rows along `axis`; the output's row may
/// be of another length.
template <typename In, typename Out, typename Function>
static void forEachRow(const Tensor &input, const Tensor &output, int axis,
                       Function &&function) {
  Tensor from = input.withAxisLast(axis);
  Tensor to = output.withAxisLast(axis);
  int last = input.rank - 1;
  // Rows of nothing are rows all the same.
  stridedLoop<2>(
      from.shape().first(last), {from.steps.data(), to.steps.data()},
      [&](const auto &offsets, int64_t count, const auto &steps) {
        for (int64_t i = 0; i != count; ++i)
          function(Row<const In>{input.as<In>() + offsets[0] + i * steps[0],
                                 from.steps[last], from.extents[last]},
                   Row<Out>{output.as<Out>() + offsets[1] + i * steps[1],
                            to.steps[last], to.extents[last]});
      });
}

Error portable::runArgmax(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int axis = int(call.number(0));
  if (Error error = checkAxis("Argmax", axis, input))
    return error;
  if (input.extents[axis] == 0 && output.size() != 0)
    return Error("Argmax: there is none of no elements");
  if (!isInteger(output.type))
    return unknownType("Argmax", output);
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || IntegerElement<T>) {
      withWidth(output.type, [&]<typename Index>() {
        // The first of the largest; NaN is larger than all.
        forEachRow<T, Index>(input, output, axis, [](auto from, auto to) {
          int64_t best = 0;
          auto largest = ComputeType<T>(from[0]);
          for (int64_t i = 1; i != from.length && !isNaN(largest); ++i) {
            auto x = ComputeType<T>(from[i]);
            if (!(x <= largest)) {
              largest = x;
              best = i;
            }
          }
          to[0] = Index(best);
        });
      });
      return Error::success();
    } else {
      return unknownType("Argmax", input);
    }
  });
}

Error portable::runSoftmax(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int axis = int(call.number(0));
  if (Error error = checkSame("Softmax", input, output))
    return error;
  if (Error error = checkAxis("Softmax", axis, input))
    return error;
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T>) {
      forEachRow<T, T>(input, output, axis, [](auto from, auto to) {
        double largest = -std::numeric_limits<double>::infinity();
        for (int64_t i = 0; i != from.length; ++i)
          largest = std::max(largest, double(ComputeType<T>(from[i])));
        double sum = 0;
        for (int64_t i = 0; i != from.length; ++i)
          sum += std::exp(double(ComputeType<T>(from[i])) - largest);
        for (int64_t i = 0; i != from.length; ++i)
          to[i] = T(ComputeType<T>(
              std::exp(double(ComputeType<T>(from[i])) - largest) / sum));
      });
      return Error::success();
    } else {
      return unknownType("Softmax", input);
    }
  });
}

//===----------------------------------------------------------------------===//
// Running sums
//===----------------------------------------------------------------------===//

/// `Op` makes the next result of the last one and an element. Sums of floats
/// run in double.
template <typename Op>
static Error scan(std::string_view name, const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int axis = int(call.number(0));
  bool isReverse = call.number(1) != 0;
  if (Error error = checkSame(name, input, output))
    return error;
  if (Error error = checkAxis(name, axis, input))
    return error;
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || IntegerElement<T>) {
      using Number =
          std::conditional_t<FloatElement<T>, double, ComputeType<T>>;
      forEachRow<T, T>(input, output, axis, [&](auto from, auto to) {
        Number running = 0;
        for (int64_t i = 0; i != from.length; ++i) {
          int64_t place = isReverse ? from.length - 1 - i : i;
          auto x = Number(ComputeType<T>(from[place]));
          running = i == 0 ? x : Op::apply(running, x);
          to[place] = T(ComputeType<T>(running));
        }
      });
      return Error::success();
    } else {
      return unknownType(name, input);
    }
  });
}

Error portable::runScanSum(const Invocation &call) {
  return scan<Add>("ScanSum", call);
}

Error portable::runScanProduct(const Invocation &call) {
  return scan<Mul>("ScanProduct", call);
}

// From the first NaN on everything is NaN, as in PyTorch.
Error portable::runScanMin(const Invocation &call) {
  return scan<Minimum>("ScanMin", call);
}

Error portable::runScanMax(const Invocation &call) {
  return scan<Maximum>("ScanMax", call);
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

size_t portable::scratchOfSort(const Invocation &call) {
  const Tensor &input = call.input();
  int64_t axis = call.number(0);
  bool hasRows = axis >= 0 && axis < input.rank && input.size() != 0;
  return hasRows ? size_t(input.extents[size_t(axis)]) * sizeof(int64_t) : 0;
}

/// The order of the elements of a row: those that are equal stay in order, and
/// NaN comes last in both directions. Not a part of what is done with it: it is
/// the same code for every type of a result.
template <typename T>
static void sortRow(const Row<const T> &from, bool isDescending,
                    std::span<int64_t> order) {
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    auto x = ComputeType<T>(from[a]);
    auto y = ComputeType<T>(from[b]);
    if (isNaN(x) || isNaN(y))
      return isNaN(x) == isNaN(y) ? a < b : isNaN(y);
    return x == y ? a < b : isDescending ? x > y : x < y;
  });
}

/// Calls `store` with each row of the output and the order of its elements.
template <typename T, typename Out, typename Store>
static void sortRows(const Invocation &call, Store &&store) {
  const Tensor &input = call.input();
  int axis = int(call.number(0));
  Scratch<int64_t> scratch(call, input.extents[size_t(axis)]);
  std::span<int64_t> order = scratch.numbers();
  forEachRow<T, Out>(input, call.output(), axis, [&](auto from, auto to) {
    sortRow<T>(from, call.number(1) != 0, order);
    store(from, to, order);
  });
}

static Error checkSort(std::string_view name, const Invocation &call) {
  if (Error error = checkShape(name, call.input(), call.output()))
    return error;
  return checkAxis(name, call.number(0), call.input());
}

Error portable::runSort(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  if (Error error = checkSort("Sort", call))
    return error;
  if (input.type != output.type)
    return unknownType("Sort", output);
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || IntegerElement<T>) {
      sortRows<T, T>(call, [](auto from, auto to, const auto &order) {
        for (int64_t i = 0; i != to.length; ++i)
          to[i] = from[order[i]];
      });
      return Error::success();
    } else {
      return unknownType("Sort", input);
    }
  });
}

Error portable::runArgsort(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  if (Error error = checkSort("Argsort", call))
    return error;
  if (!isInteger(output.type))
    return unknownType("Argsort", output);
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || IntegerElement<T>) {
      withWidth(output.type, [&]<typename Index>() {
        sortRows<T, Index>(call, [](auto, auto to, const auto &order) {
          for (int64_t i = 0; i != to.length; ++i)
            to[i] = Index(order[i]);
        });
      });
      return Error::success();
    } else {
      return unknownType("Argsort", input);
    }
  });
}
