// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax of products of queries and keys, times values. All in double, rounded
// once; a query that sees nothing gives NaN, as softmax does, or zeros.

#include "Portable.h"
#include "Scratch.h"

#include <algorithm>
#include <bit>

using namespace corten::runtime;
using namespace corten::runtime::portable;

Error portable::checkAttention(const Invocation &call) {
  const Tensor &queries = call.input(0);
  const Tensor &keys = call.input(1);
  const Tensor &values = call.input(2);
  const Tensor &mask = call.input(3);
  const Tensor sinks = sinksOf(call);
  const Tensor &output = call.output();
  int rank = queries.rank;
  bool fits = rank >= 2 && keys.rank == rank && values.rank == rank &&
              output.rank == rank && (!mask.data || mask.rank == rank) &&
              (!sinks.data || sinks.rank == rank);
  for (int axis = 0; fits && axis < rank - 2; ++axis)
    for (const Tensor *other : {&keys, &values, &output, &mask, &sinks})
      fits &= ((other == &mask || other == &sinks) && !other->data) ||
              other->extents[axis] == queries.extents[axis];
  fits =
      fits && queries.extents[rank - 1] == keys.extents[rank - 1] &&
      keys.extents[rank - 2] == values.extents[rank - 2] &&
      output.extents[rank - 2] == queries.extents[rank - 2] &&
      output.extents[rank - 1] == values.extents[rank - 1] &&
      (!mask.data || (mask.extents[rank - 2] == queries.extents[rank - 2] &&
                      mask.extents[rank - 1] == keys.extents[rank - 2])) &&
      (!sinks.data || (sinks.extents[rank - 2] == queries.extents[rank - 2] &&
                       sinks.extents[rank - 1] == 1));
  if (!fits)
    return Error("Attention: " + queries.describe() + ", " + keys.describe() +
                 ", " + values.describe() + " and " + mask.describe() +
                 (sinks.data ? " with " + sinks.describe() : "") +
                 " do not make " + output.describe());
  for (const Tensor *other : {&keys, &values, &output})
    if (other->type != queries.type)
      return unknownType("Attention", *other);
  if (mask.data && mask.type != ElementType::Bool && mask.type != queries.type)
    return unknownType("Attention", mask);
  if (sinks.data && !isFloat(sinks.type))
    return unknownType("Attention", sinks);
  return Error::success();
}

Tensor portable::sinksOf(const Invocation &call) {
  return call.inputs.size() > 4 ? call.input(4) : Tensor();
}

/// The score that a query has besides those of keys; hidden if there are none.
static double sinkOf(const Tensor &sinks, int64_t offset) {
  if (!sinks.data)
    return -std::numeric_limits<double>::infinity();
  return withType(sinks.type, [&]<typename T>() -> double {
    if constexpr (FloatElement<T>)
      return numberAt<T>(sinks, offset);
    else
      return 0;
  });
}

/// One query: `at` is where it begins in queries, keys, values, mask, output,
/// and `sink` is one more score.
template <typename T>
static void attend(const Invocation &call, const std::array<int64_t, 6> &at,
                   int64_t query, double sink, std::span<double> scores) {
  const Tensor &queries = call.input(0);
  const Tensor &keys = call.input(1);
  const Tensor &values = call.input(2);
  const Tensor &mask = call.input(3);
  const Tensor &output = call.output();
  int last = queries.rank - 1;
  auto scale = std::bit_cast<double>(call.number(0));
  bool isCausal = call.number(1) != 0;
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  double largest = sink;
  for (size_t key = 0; key != scores.size(); ++key) {
    double sum = 0;
    for (int64_t i = 0; i != queries.extents[last]; ++i)
      sum += numberAt<T>(queries, at[0] + i * queries.steps[last]) *
             numberAt<T>(keys, at[1] + int64_t(key) * keys.steps[last - 1] +
                                   i * keys.steps[last]);
    sum *= scale;
    if (mask.data) {
      int64_t place = at[3] + int64_t(key) * mask.steps[last];
      if (mask.type == ElementType::Bool)
        sum = mask.as<bool>()[place] ? sum : kHidden;
      else
        sum += numberAt<T>(mask, place);
    }
    if (isCausal && int64_t(key) > query)
      sum = kHidden;
    scores[key] = sum;
    largest = std::max(largest, sum);
  }
  double total = sink == kHidden ? 0 : std::exp(sink - largest);
  bool isZero = largest == kHidden && call.number(2) != 0;
  for (double &score : scores) {
    score = isZero ? 0 : std::exp(score - largest);
    total += score;
  }
  for (int64_t i = 0; i != values.extents[last]; ++i) {
    double sum = 0;
    for (size_t key = 0; key != scores.size(); ++key)
      sum += scores[key] *
             numberAt<T>(values, at[2] + int64_t(key) * values.steps[last - 1] +
                                     i * values.steps[last]);
    output.as<T>()[at[4] + i * output.steps[last]] =
        T(ComputeType<T>(isZero ? 0 : sum / total));
  }
}

size_t portable::scratchOfAttention(const Invocation &call) {
  const Tensor &keys = call.input(1);
  if (keys.rank < 2 || keys.size() == 0)
    return 0;
  return size_t(keys.extents[keys.rank - 2]) * sizeof(double);
}

Error portable::runAttention(const Invocation &call) {
  if (Error error = checkAttention(call))
    return error;
  const Tensor &queries = call.input(0);
  int rank = queries.rank;
  return withType(queries.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T>) {
      Scratch<double> scratch(call, call.input(1).extents[rank - 2]);
      std::span<double> scores = scratch.numbers();
      // Keys and values are the same for every query of a batch.
      std::array<int64_t, kMaxRank> keySteps = call.input(1).steps;
      std::array<int64_t, kMaxRank> valueSteps = call.input(2).steps;
      keySteps[rank - 2] = valueSteps[rank - 2] = 0;
      const Tensor sinks = sinksOf(call);
      stridedLoop<6>(queries.shape().first(rank - 1),
                     {queries.steps.data(), keySteps.data(), valueSteps.data(),
                      call.input(3).steps.data(), call.output().steps.data(),
                      sinks.steps.data()},
                     [&](auto at, int64_t count, const auto &steps) {
                       for (int64_t query = 0; query != count; ++query) {
                         attend<T>(call, at, query, sinkOf(sinks, at[5]),
                                   scores);
                         for (size_t i = 0; i != at.size(); ++i)
                           at[i] += steps[i];
                       }
                     });
      return Error::success();
    } else {
      return unknownType("Attention", queries);
    }
  });
}

// Sinks are its fifth input.
Error portable::runAttentionWithSinks(const Invocation &call) {
  return runAttention(call);
}
