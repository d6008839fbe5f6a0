// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading and writing where other tensors point. An index may count from the
// end; one that points outside is an error, before anything is written.

#include "Scatter.h"

using namespace corten::runtime;
using namespace corten::runtime::portable;

/// Calls `function(index, multi-index)` for every element of a tensor of whole
/// numbers, until it returns an error.
template <typename Function>
static Error forEachIndex(const Tensor &indices, Function &&function) {
  IndexReader read = indexReader(indices.type);
  if (!read)
    return unknownType("an index", indices);
  std::array<int64_t, kMaxRank> place = {};
  int64_t count = indices.size();
  for (int64_t done = 0; done != count; ++done) {
    int64_t offset = 0;
    for (int axis = 0; axis != indices.rank; ++axis)
      offset += place[axis] * indices.steps[axis];
    if (Error error = function(read(indices, offset), place))
      return error;
    for (int axis = indices.rank - 1; axis >= 0; --axis) {
      if (++place[axis] != indices.extents[axis])
        break;
      place[axis] = 0;
    }
  }
  return Error::success();
}

static int64_t offsetOf(const Tensor &tensor,
                        const std::array<int64_t, kMaxRank> &place) {
  int64_t offset = 0;
  for (int axis = 0; axis != tensor.rank; ++axis)
    offset += place[axis] * tensor.steps[axis];
  return offset;
}

/// Checks all indices of a kernel along one axis.
static Error checkIndices(std::string_view name, const Tensor &indices,
                          int64_t extent) {
  return forEachIndex(indices, [&](int64_t index, const auto &) -> Error {
    return wrapIndex(index, extent) ? Error::success()
                                    : outOfRange(name, index, extent);
  });
}

/// Checks that the axes of `tensor` but one are those of `other`, or shorter.
static Error checkAlongAxis(std::string_view name, const Tensor &tensor,
                            const Tensor &other, int64_t axis) {
  bool fits = tensor.rank == other.rank && axis >= 0 && axis < tensor.rank;
  for (int i = 0; fits && i != tensor.rank; ++i)
    fits = i == axis || tensor.extents[i] <= other.extents[i];
  if (fits)
    return Error::success();
  return Error(std::string(name) + ": " + tensor.describe() + " does not fit " +
               other.describe() + " along axis " + std::to_string(axis));
}

/// The input's elements, which an update may replace in place.
static void startWith(const Tensor &input, const Tensor &output) {
  if (input.data != output.data)
    copyElements(input, output);
}

Error portable::runGatherAlongAxis(const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &indices = call.input(1);
  const Tensor &output = call.output();
  int64_t axis = call.number(0);
  if (Error error = checkAlongAxis("GatherAlongAxis", indices, input, axis))
    return error;
  if (Error error = checkShape("GatherAlongAxis", indices, output))
    return error;
  if (input.type != output.type)
    return unknownType("GatherAlongAxis", output);
  return withWidth(input.type, [&]<typename T>() {
    return forEachIndex(
        indices, [&](int64_t index, std::array<int64_t, kMaxRank> place) {
          std::optional<int64_t> from = wrapIndex(index, input.extents[axis]);
          if (!from)
            return outOfRange("GatherAlongAxis", index, input.extents[axis]);
          T *to = output.as<T>() + offsetOf(output, place);
          place[axis] = *from;
          *to = input.as<T>()[offsetOf(input, place)];
          return Error::success();
        });
  });
}

Error portable::runScatterAlongAxis(const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &indices = call.input(1);
  const Tensor &updates = call.input(2);
  const Tensor &output = call.output();
  int64_t axis = call.number(0);
  auto mode = modeOf<ScatterMode>(call.number(1));
  if (!mode)
    return Error("ScatterAlongAxis: there is no mode " +
                 std::to_string(call.number(1)));
  if (Error error = checkAlongAxis("ScatterAlongAxis", indices, input, axis))
    return error;
  if (Error error = checkShape("ScatterAlongAxis", updates, indices))
    return error;
  if (Error error = checkShape("ScatterAlongAxis", input, output))
    return error;
  if (input.type != output.type || updates.type != output.type)
    return unknownType("ScatterAlongAxis", updates);
  if (Error error =
          checkIndices("ScatterAlongAxis", indices, input.extents[axis]))
    return error;
  startWith(input, output);
  return withType(output.type, [&]<typename T>() {
    return forEachIndex(indices, [&](int64_t index,
                                     std::array<int64_t, kMaxRank> place) {
      auto update = ComputeType<T>(updates.as<T>()[offsetOf(updates, place)]);
      if (IntegerElement<T> && *mode == ScatterMode::Div &&
          update == ComputeType<T>(0))
        return Error("ScatterAlongAxis: an integer is divided by zero");
      place[axis] = *wrapIndex(index, output.extents[axis]);
      T &element = output.as<T>()[offsetOf(output, place)];
      element = T(combine(*mode, ComputeType<T>(element), update));
      return Error::success();
    });
  });
}

//===----------------------------------------------------------------------===//
// By several axes at once
//===----------------------------------------------------------------------===//

/// Calls `function(n, view)` for each row of `indices`: the number of the row,
/// and the part of `tensor` that it points to.
template <typename Function>
static Error forEachPart(std::string_view name, const Tensor &indices,
                         const Tensor &tensor, Function &&function) {
  int last = indices.rank - 1;
  int depth = last < 0 ? -1 : int(indices.extents[last]);
  if (depth < 0 || depth > tensor.rank)
    return Error(std::string(name) + ": " + indices.describe() +
                 " does not point into " + tensor.describe());
  std::span<const int64_t> shape = tensor.shape().subspan(depth);
  std::span<const int64_t> strides = tensor.strides().subspan(depth);
  if (depth == 0) {
    // Every row points to the whole.
    int64_t rows = 1;
    for (int64_t extent : indices.shape().first(last))
      rows *= extent;
    for (int64_t row = 0; row != rows; ++row)
      function(row, tensor);
    return Error::success();
  }
  int64_t offset = 0;
  int64_t row = 0;
  return forEachIndex(indices, [&](int64_t index, const auto &place) -> Error {
    int64_t axis = place[last];
    std::optional<int64_t> at = wrapIndex(index, tensor.extents[axis]);
    if (!at)
      return outOfRange(name, index, tensor.extents[axis]);
    offset = (axis == 0 ? 0 : offset) + *at * tensor.steps[axis];
    if (axis == depth - 1)
      function(row++, tensor.view(shape, strides, offset));
    return Error::success();
  });
}

/// Part `row` of a tensor whose first axes are those of `indices` but the last.
static Tensor rowOf(const Tensor &tensor, const Tensor &indices, int64_t row) {
  int outer = indices.rank - 1;
  int64_t offset = 0;
  for (int axis = outer - 1; axis >= 0; --axis) {
    offset += row % indices.extents[axis] * tensor.steps[axis];
    row /= indices.extents[axis];
  }
  return tensor.view(tensor.shape().subspan(outer),
                     tensor.strides().subspan(outer), offset);
}

/// Checks that `parts` has the shape of what `indices` point to in `tensor`.
static Error checkParts(std::string_view name, const Tensor &tensor,
                        const Tensor &indices, const Tensor &parts) {
  int outer = indices.rank - 1;
  int64_t depth = outer < 0 ? -1 : indices.extents[outer];
  bool fits = depth >= 0 && depth <= tensor.rank &&
              parts.rank == outer + tensor.rank - depth;
  for (int axis = 0; fits && axis != parts.rank; ++axis)
    fits = parts.extents[axis] == (axis < outer
                                       ? indices.extents[axis]
                                       : tensor.extents[axis - outer + depth]);
  if (fits)
    return Error::success();
  return Error(std::string(name) + ": " + parts.describe() + " is not what " +
               indices.describe() + " points to in " + tensor.describe());
}

Error portable::runGatherNd(const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &indices = call.input(1);
  const Tensor &output = call.output();
  if (input.type != output.type)
    return unknownType("GatherNd", output);
  if (Error error = checkParts("GatherNd", input, indices, output))
    return error;
  return forEachPart("GatherNd", indices, input,
                     [&](int64_t row, const Tensor &part) {
                       copyElements(part, rowOf(output, indices, row));
                     });
}

Error portable::runScatterNd(const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &indices = call.input(1);
  const Tensor &updates = call.input(2);
  const Tensor &output = call.output();
  if (Error error = checkShape("ScatterNd", input, output))
    return error;
  if (input.type != output.type || updates.type != output.type)
    return unknownType("ScatterNd", updates);
  if (Error error = checkParts("ScatterNd", output, indices, updates))
    return error;
  if (Error error = forEachPart("ScatterNd", indices, output,
                                [](int64_t, const Tensor &) {}))
    return error;
  startWith(input, output);
  if (call.number(0) == 0)
    return Error::success();
  return forEachPart("ScatterNd", indices, output,
                     [&](int64_t row, const Tensor &part) {
                       copyElements(rowOf(updates, indices, row), part);
                     });
}

Error portable::runNonZero(const Invocation &call) {
  const Tensor &input = call.input();
  Tensor &output = call.output();
  if (output.rank != 2 || output.extents[1] != input.rank ||
      !isInteger(output.type))
    return unknownType("NonZero", output);
  using IsSet = bool (*)(const Tensor &, int64_t);
  auto isSet = withType(input.type, []<typename T>() -> IsSet {
    return [](const Tensor &tensor, int64_t offset) {
      return ComputeType<T>(tensor.as<T>()[offset]) != ComputeType<T>(0);
    };
  });
  return withWidth(output.type, [&]<typename Index>() -> Error {
    int64_t found = 0;
    std::array<int64_t, kMaxRank> place = {};
    int64_t count = input.size();
    for (int64_t done = 0; done != count; ++done) {
      if (isSet(input, offsetOf(input, place))) {
        if (found == output.extents[0])
          return Error("NonZero: there is no room for the result");
        for (int axis = 0; axis != input.rank; ++axis)
          output.as<Index>()[found * output.steps[0] + axis * output.steps[1]] =
              Index(place[axis]);
        ++found;
      }
      for (int axis = input.rank - 1; axis >= 0; --axis) {
        if (++place[axis] != input.extents[axis])
          break;
        place[axis] = 0;
      }
    }
    output.extents[0] = found;
    return Error::success();
  });
}
