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

/// A row of places, in integers of any width. No type of C++ says which: the
/// code that looks for places would be there once for each.
struct Places {
  void *first;
  int64_t step;
  int64_t length;
  ElementType type;

  void set(int64_t index, int64_t place) const {
    withWidth(type, [&]<typename Index>() {
      static_cast<Index *>(first)[index * step] = Index(place);
    });
  }
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

/// A row of `tensor`, which has the axis of the rows last.
template <typename T>
static Row<T> rowAt(const Tensor &tensor, int64_t offset) {
  int last = tensor.rank - 1;
  return {tensor.as<std::remove_const_t<T>>() + offset, tensor.steps[last],
          tensor.extents[last]};
}

static Places placesAt(const Tensor &tensor, int64_t offset) {
  int last = tensor.rank - 1;
  return {tensor.as<char>() + offset * int64_t(byteSize(tensor.type)),
          tensor.steps[last], tensor.extents[last], tensor.type};
}

/// Calls `function` with where each pair of rows begins; the axis of the rows
/// is the last one.
template <typename Function>
static void forEachPair(const Tensor &from, const Tensor &to,
                        Function &&function) {
  // Rows of nothing are rows all the same.
  stridedLoop<2>(
      from.shape().first(from.rank - 1), {from.steps.data(), to.steps.data()},
      [&](const auto &offsets, int64_t count, const auto &steps) {
        for (int64_t i = 0; i != count; ++i)
          function(offsets[0] + i * steps[0], offsets[1] + i * steps[1]);
      });
}

/// Calls `function` with each pair of rows along `axis`.
template <typename T, typename Function>
static void forEachRow(const Tensor &input, const Tensor &output, int axis,
                       Function &&function) {
  Tensor from = input.withAxisLast(axis);
  Tensor to = output.withAxisLast(axis);
  forEachPair(from, to, [&](int64_t fromOffset, int64_t toOffset) {
    function(rowAt<const T>(from, fromOffset), rowAt<T>(to, toOffset));
  });
}

/// Calls `function` with each row along `axis` and the places of the output's,
/// which may be of another length.
template <typename T, typename Function>
static void forEachRowOfPlaces(const Tensor &input, const Tensor &output,
                               int axis, Function &&function) {
  Tensor from = input.withAxisLast(axis);
  Tensor to = output.withAxisLast(axis);
  forEachPair(from, to, [&](int64_t fromOffset, int64_t toOffset) {
    function(rowAt<const T>(from, fromOffset), placesAt(to, toOffset));
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
      // The first of the largest; NaN is larger than all.
      forEachRowOfPlaces<T>(input, output, axis, [](auto from, auto to) {
        int64_t best = 0;
        auto largest = ComputeType<T>(from[0]);
        for (int64_t i = 1; i != from.length && !isNaN(largest); ++i) {
          auto x = ComputeType<T>(from[i]);
          if (!(x <= largest)) {
            largest = x;
            best = i;
          }
        }
        to.set(0, best);
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
      forEachRow<T>(input, output, axis, [](auto from, auto to) {
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
      forEachRow<T>(input, output, axis, [&](auto from, auto to) {
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
/// NaN comes last in both directions.
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
  int axis = int(call.number(0));
  Scratch<int64_t> scratch(call, input.extents[size_t(axis)]);
  std::span<int64_t> order = scratch.numbers();
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || IntegerElement<T>) {
      forEachRow<T>(input, output, axis, [&](auto from, auto to) {
        sortRow<T>(from, call.number(1) != 0, order);
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
  int axis = int(call.number(0));
  Scratch<int64_t> scratch(call, input.extents[size_t(axis)]);
  std::span<int64_t> order = scratch.numbers();
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || IntegerElement<T>) {
      forEachRowOfPlaces<T>(input, output, axis, [&](auto from, auto to) {
        sortRow<T>(from, call.number(1) != 0, order);
        for (int64_t i = 0; i != to.length; ++i)
          to.set(i, order[i]);
      });
      return Error::success();
    } else {
      return unknownType("Argsort", input);
    }
  });
}

Error portable::checkTopK(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &values = call.output(0);
  const Tensor &places = call.output(1);
  int64_t axis = call.number(0);
  if (Error error = checkAxis("TopK", axis, input))
    return error;
  Tensor first = input;
  if (values.rank == input.rank)
    first.extents[axis] = std::min(first.extents[axis], values.extents[axis]);
  if (Error error = checkSame("TopK", values, first))
    return error;
  if (Error error = checkShape("TopK", places, first))
    return error;
  return isInteger(places.type) ? Error::success()
                                : unknownType("TopK", places);
}

Error portable::runTopK(const Invocation &call) {
  if (Error error = checkTopK(call))
    return error;
  int axis = int(call.number(0));
  Tensor input = call.input().withAxisLast(axis);
  Tensor values = call.output(0).withAxisLast(axis);
  Tensor places = call.output(1).withAxisLast(axis);
  int last = input.rank - 1;
  Scratch<int64_t> scratch(call, input.extents[last]);
  std::span<int64_t> order = scratch.numbers();
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || IntegerElement<T>) {
      auto choose = [&](int64_t from, int64_t value, int64_t place) {
        Row<const T> row = rowAt<const T>(input, from);
        sortRow<T>(row, call.number(1) != 0, order);
        Row<T> chosen = rowAt<T>(values, value);
        Places at = placesAt(places, place);
        for (int64_t i = 0; i != chosen.length; ++i) {
          chosen[i] = row[order[i]];
          at.set(i, order[i]);
        }
      };
      stridedLoop<3>(
          input.shape().first(last),
          {input.steps.data(), values.steps.data(), places.steps.data()},
          [&](const auto &at, int64_t count, const auto &steps) {
            for (int64_t i = 0; i != count; ++i)
              choose(at[0] + i * steps[0], at[1] + i * steps[1],
                     at[2] + i * steps[2]);
          });
      return Error::success();
    } else {
      return unknownType("TopK", input);
    }
  });
}
