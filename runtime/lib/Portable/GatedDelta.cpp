// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear attention with a gated delta rule. For each head and step, in double:
//
//   state  *= exp(g)
//   state  += key (x) beta (value - key state)
//   result  = query / sqrt(d) state
//
// Columns of the state know nothing of each other.

#include "Portable.h"
#include "Scratch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

using namespace corten::runtime;
using namespace corten::runtime::portable;

Error portable::checkGatedDelta(const Invocation &call) {
  const Tensor &queries = call.input(0);
  const Tensor &keys = call.input(1);
  const Tensor &values = call.input(2);
  const Tensor &state = call.input(5);
  const Tensor &output = call.output(0);
  auto hasShape = [](const Tensor &tensor,
                     std::initializer_list<int64_t> shape) {
    return std::ranges::equal(tensor.shape(), shape);
  };
  bool fits = queries.rank == 4 && values.rank == 4;
  if (fits) {
    auto [batch, heads, length, d] =
        std::array{queries.extents[0], queries.extents[1], queries.extents[2],
                   queries.extents[3]};
    int64_t valueHeads = values.extents[1];
    int64_t e = values.extents[3];
    fits = hasShape(keys, {batch, heads, length, d}) &&
           hasShape(values, {batch, valueHeads, length, e}) &&
           hasShape(call.input(3), {batch, valueHeads, length}) &&
           hasShape(call.input(4), {batch, valueHeads, length}) &&
           hasShape(state, {batch, valueHeads, d, e}) &&
           hasShape(call.output(1), {batch, valueHeads, d, e}) &&
           hasShape(output, {batch, length, valueHeads, e}) &&
           (valueHeads == 0 || (heads > 0 && valueHeads % heads == 0));
  }
  if (!fits)
    return Error("GatedDelta: " + queries.describe() + ", " + keys.describe() +
                 ", " + values.describe() + ", " + call.input(3).describe() +
                 ", " + call.input(4).describe() + " and " + state.describe() +
                 " do not make " + output.describe() + " and " +
                 call.output(1).describe());
  return Error::success();
}

namespace {
/// One batch and head: where it begins in each tensor.
template <typename T> class Head {
public:
  Head(const Invocation &call, int64_t batch, int64_t valueHead)
      : call(call), queries(at(call.input(0), batch, keyHead(valueHead))),
        keys(at(call.input(1), batch, keyHead(valueHead))),
        values(at(call.input(2), batch, valueHead)),
        decays(at(call.input(3), batch, valueHead)),
        strengths(at(call.input(4), batch, valueHead)),
        before(at(call.input(5), batch, valueHead)),
        after(at(call.output(1), batch, valueHead)),
        results(batch * call.output(0).steps[0] +
                valueHead * call.output(0).steps[2]) {}

  /// A column of the state, which `state` has room for.
  void run(int64_t column, std::span<double> state) {
    const Tensor &memory = call.input(5);
    for (size_t i = 0; i != state.size(); ++i)
      state[i] = numberAt<T>(memory, before + int64_t(i) * memory.steps[2] +
                                         column * memory.steps[3]);
    for (int64_t t = 0; t != call.input(0).extents[2]; ++t)
      step(t, column, state);
    const Tensor &last = call.output(1);
    for (size_t i = 0; i != state.size(); ++i)
      last.as<T>()[after + int64_t(i) * last.steps[2] +
                   column * last.steps[3]] = T(ComputeType<T>(state[i]));
  }

private:
  const Invocation &call;
  int64_t queries, keys, values, decays, strengths, before, after, results;

  static int64_t at(const Tensor &tensor, int64_t batch, int64_t head) {
    return batch * tensor.steps[0] + head * tensor.steps[1];
  }
  /// Each serves a run of neighbouring heads of values.
  int64_t keyHead(int64_t valueHead) const {
    return valueHead / (call.input(2).extents[1] / call.input(0).extents[1]);
  }

  /// What elements of a query or key are multiplied with.
  double scaleOf(const Tensor &rows, int64_t row) const {
    if (call.number(0) == 0)
      return 1;
    double sum = 0;
    for (int64_t i = 0; i != rows.extents[3]; ++i) {
      double x = numberAt<T>(rows, row + i * rows.steps[3]);
      sum += x * x;
    }
    return 1 / std::sqrt(sum + 1e-6);
  }

  void step(int64_t t, int64_t column, std::span<double> state) const {
    const Tensor &q = call.input(0);
    const Tensor &k = call.input(1);
    int64_t query = queries + t * q.steps[2];
    int64_t key = keys + t * k.steps[2];
    double keyScale = scaleOf(k, key);
    double remains = std::exp(
        numberAt<T>(call.input(3), decays + t * call.input(3).steps[2]));
    double strength =
        numberAt<T>(call.input(4), strengths + t * call.input(4).steps[2]);
    auto keyAt = [&](size_t i) {
      return numberAt<T>(k, key + int64_t(i) * k.steps[3]) * keyScale;
    };
    double recalled = 0;
    for (size_t i = 0; i != state.size(); ++i) {
      state[i] *= remains;
      recalled += keyAt(i) * state[i];
    }
    const Tensor &v = call.input(2);
    double wanted =
        numberAt<T>(v, values + t * v.steps[2] + column * v.steps[3]);
    double change = strength * (wanted - recalled);
    double sum = 0;
    for (size_t i = 0; i != state.size(); ++i) {
      state[i] += keyAt(i) * change;
      sum += numberAt<T>(q, query + int64_t(i) * q.steps[3]) * state[i];
    }
    const Tensor &output = call.output(0);
    sum *= scaleOf(q, query) / std::sqrt(double(state.size()));
    output.as<T>()[results + t * output.steps[1] + column * output.steps[3]] =
        T(ComputeType<T>(sum));
  }
};
} // namespace

/// How long a column of the state is, if there is any.
static int64_t columnLength(const Tensor &state) {
  return state.rank == 4 && state.size() != 0 ? state.extents[2] : 0;
}

size_t portable::scratchOfGatedDelta(const Invocation &call) {
  return size_t(columnLength(call.input(5))) * sizeof(double);
}

Error portable::runGatedDelta(const Invocation &call) {
  if (Error error = checkGatedDelta(call))
    return error;
  const Tensor &state = call.input(5);
  for (const Tensor *other :
       {&call.input(1), &call.input(2), &call.input(3), &call.input(4), &state,
        static_cast<const Tensor *>(&call.output(0)),
        static_cast<const Tensor *>(&call.output(1))})
    if (other->type != call.input(0).type)
      return unknownType("GatedDelta", *other);
  return withType(state.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T>) {
      Scratch<double> scratch(call, columnLength(state));
      for (int64_t batch = 0; batch != state.extents[0]; ++batch)
        for (int64_t head = 0; head != state.extents[1]; ++head)
          for (int64_t i = 0; i != state.extents[3]; ++i)
            Head<T>(call, batch, head).run(i, scratch.numbers());
      return Error::success();
    } else {
      return unknownType("GatedDelta", state);
    }
  });
}
