// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of what tile programs make. The result of the program goes into a
// buffer on the stack, a few thousand elements at a time, and from there into
// totals. What belongs to one total is done by one thread, in one order.

#include "Reduce.h"

#include "../Portable/Portable.h"
#include "../Vector/Variants.h"
#include "Programs.h"

#include "corten/Runtime/Modes.h"

using namespace corten::runtime;
using namespace corten::runtime::tile;

/// Whether a mode has a result of no elements.
static bool needsElements(ReduceMode mode) {
  return mode == ReduceMode::Max || mode == ReduceMode::Min;
}

Expected<TileLane> tile::checkReduction(const Code &code,
                                        std::span<const Tensor> inputs,
                                        const Tensor &output, ReduceMode mode) {
  if (inputs.empty() || inputs.size() > kMaxTileRegisters ||
      code.numResults != 1 || mode < ReduceMode::Sum || mode > ReduceMode::Any)
    return Error("TileReduce takes inputs, a program with one result, and a "
                 "mode that there is");
  std::array<ElementType, kMaxTileRegisters> types;
  for (size_t i = 0; i != inputs.size(); ++i) {
    types[i] = inputs[i].type;
    if (Error error = portable::checkShape("TileReduce", inputs[i], inputs[0]))
      return error;
  }
  TileLane lane;
  if (Error error =
          resolveLanes(code, {types.data(), inputs.size()}, {&lane, 1}))
    return error;
  bool isTruth = mode == ReduceMode::All || mode == ReduceMode::Any;
  std::optional<TileLane> stored = tileLane(output.type);
  if (!stored || *stored != lane || isTruth != (lane == TileLane::M) ||
      (mode == ReduceMode::Mean && lane != TileLane::F))
    return portable::unknownType("TileReduce", output);
  if (inputs[0].rank != output.rank)
    return portable::checkShape("TileReduce", inputs[0], output);
  int64_t count = 1;
  for (int axis = 0; axis != output.rank; ++axis) {
    if (output.extents[axis] == 1)
      count *= inputs[0].extents[axis];
    else if (output.extents[axis] != inputs[0].extents[axis])
      return portable::checkShape("TileReduce", inputs[0], output);
  }
  if (count == 0 && needsElements(mode) && output.size() != 0)
    return Error("TileReduce: there is none of no elements");
  return lane;
}

namespace {

/// Elements of a buffer, and totals of one piece of work.
constexpr int64_t kBuffer = 4096;
constexpr int64_t kTotals = 512;

/// A total: a double of floats, a whole number of others.
union Total {
  double f;
  int64_t i;
};

Total startOf(ReduceMode mode, TileLane lane) {
  Total total = {};
  bool isFloat = lane == TileLane::F;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (mode) {
  case ReduceMode::Sum:
  case ReduceMode::Mean:
    total.i = 0; // Also of doubles.
    break;
  case ReduceMode::Product:
    isFloat ? void(total.f = 1) : void(total.i = 1);
    break;
  case ReduceMode::Max:
    isFloat ? void(total.f = -kInfinity) : void(total.i = INT32_MIN);
    break;
  case ReduceMode::Min:
    isFloat ? void(total.f = kInfinity) : void(total.i = INT32_MAX);
    break;
  case ReduceMode::All:
    total.i = 1;
    break;
  case ReduceMode::Any:
    total.i = 0;
    break;
  }
  return total;
}

/// The reduction of one call. The operands of its nest are the inputs, and then
/// the output, which does not move along axes that are reduced.
class Reducer {
public:
  Reducer(const Reductions &forms, const Code &code, const Nest &nest,
          std::span<const Tensor> inputs, const Tensor &output, ReduceMode mode,
          TileLane lane)
      : forms(forms), code(code), nest(nest), inputs(inputs), output(output),
        mode(mode), lane(lane), numInputs(int(inputs.size())) {
    for (int axis = 0; axis != nest.rank; ++axis) {
      bool isReduced = nest.steps[axis][numInputs] == 0;
      (isReduced ? reduced[numReduced++] : kept[numKept++]) = axis;
      (isReduced ? perTotal : numTotals) *= nest.extents[axis];
    }
    isInnerReduced =
        nest.rank != 0 && nest.steps[nest.rank - 1][numInputs] == 0;
    // Totals that are worked on together lie along the last axis that is kept.
    along = numKept == 0 ? 1 : nest.extents[kept[numKept - 1]];
    int64_t inner =
        nest.rank == 0 ? 1 : std::max<int64_t>(1, nest.extents[nest.rank - 1]);
    group = isInnerReduced ? std::clamp<int64_t>(kBuffer / inner, 1, kTotals)
                           : kTotals;
    group = std::min(group, along);
  }

  void run(ThreadPool *pool) {
    int64_t groupsAlong = (along + group - 1) / group;
    int64_t groups = numTotals / along * groupsAlong;
    int64_t cost = (code.numInstructions + 2) * perTotal * group;
    int64_t atOnce =
        std::max<int64_t>(1, chunkSize(1) * 4 / std::max<int64_t>(1, cost));
    runChunks(pool, (groups + atOnce - 1) / atOnce, [&](int64_t chunk) {
      int64_t end = std::min(groups, (chunk + 1) * atOnce);
      for (int64_t i = chunk * atOnce; i != end; ++i)
        reduceGroup(i / groupsAlong, i % groupsAlong * group);
    });
  }

private:
  using Offsets = std::array<int64_t, kMaxOperands>;

  const Reductions &forms;
  const Code &code;
  const Nest &nest;
  std::span<const Tensor> inputs;
  const Tensor &output;
  ReduceMode mode;
  TileLane lane;
  int numInputs;
  std::array<int, kMaxRank> kept;
  std::array<int, kMaxRank> reduced;
  int numKept = 0;
  int numReduced = 0;
  int64_t perTotal = 1;
  int64_t numTotals = 1;
  int64_t along;
  int64_t group;
  bool isInnerReduced;

  void move(Offsets &offsets, int axis, int64_t by) const {
    for (int i = 0; i <= numInputs; ++i)
      offsets[i] += by * nest.steps[axis][i];
  }

  /// Steps of an operand along an axis, or none.
  int64_t stepOf(int operand, int axis) const {
    return axis < 0 ? 0 : nest.steps[axis][operand];
  }

  /// `numRows` rows of the program's result along two axes; calls `take` with
  /// its lanes and how far rows are apart.
  template <typename Take>
  void produce(const Offsets &offsets, int rowAxis, int axis, int64_t numRows,
               int64_t count, Take &&take) {
    std::array<Rows, kMaxTileRegisters> from;
    for (int i = 0; i != numInputs; ++i)
      from[i] = {static_cast<char *>(inputs[i].data) +
                     offsets[i] * int64_t(byteSize(inputs[i].type)),
                 stepOf(i, axis), stepOf(i, rowAxis), inputs[i].type};
    ElementType type =
        lane == TileLane::F ? ElementType::F32 : ElementType::SI32;
    if (code.numInstructions == 0 && inputs[0].type == type &&
        (from[0].step == 1 || count == 1))
      return take(static_cast<const int32_t *>(from[0].data), from[0].rowStep);
    alignas(64) std::array<int32_t, kBuffer> buffer;
    Rows to = {buffer.data(), 1, count, type};
    forms.runTiles({code, from.data(), &to, &lane, numRows, count});
    take(buffer.data(), count);
  }

  /// Calls `function` with the offsets of every index of the first reduced
  /// axes.
  template <typename Function>
  void forEachReduced(Offsets offsets, int numAxes, Function &&function) {
    std::array<int64_t, kMaxRank> index = {};
    while (true) {
      function(offsets);
      int i = numAxes - 1;
      for (; i >= 0; --i) {
        move(offsets, reduced[i], 1);
        if (++index[i] != nest.extents[reduced[i]])
          break;
        move(offsets, reduced[i], -index[i]);
        index[i] = 0;
      }
      if (i < 0)
        return;
    }
  }

  void reduceGroup(int64_t outer, int64_t first) {
    Offsets offsets = {};
    int totalsAxis = numKept == 0 ? -1 : kept[numKept - 1];
    for (int i = numKept - 2; i >= 0; --i) {
      move(offsets, kept[i], outer % nest.extents[kept[i]]);
      outer /= nest.extents[kept[i]];
    }
    if (totalsAxis >= 0)
      move(offsets, totalsAxis, first);
    int64_t count = std::min(group, along - first);
    std::array<Total, kTotals> totals;
    std::fill_n(totals.begin(), count, startOf(mode, lane));
    if (perTotal != 0 && isInnerReduced)
      reduceInner(offsets, totalsAxis, count, totals.data());
    else if (perTotal != 0)
      reduceOuter(offsets, totalsAxis, count, totals.data());
    store(offsets[numInputs], totalsAxis, count, totals.data());
  }

  /// Rows of elements that are reduced, `count` of them, one for each total.
  void reduceInner(const Offsets &offsets, int rowAxis, int64_t count,
                   Total *totals) {
    int axis = nest.rank - 1;
    int64_t length = nest.extents[axis];
    forEachReduced(offsets, numReduced - 1, [&](Offsets place) {
      for (int64_t first = 0; first < length; first += kBuffer) {
        int64_t piece = std::min(kBuffer, length - first);
        produce(place, rowAxis, axis, count, piece,
                [&](const int32_t *lanes, int64_t rowStep) {
                  forms.takeRows(mode, lane, lanes, count, rowStep, piece,
                                 totals);
                });
        move(place, axis, piece);
      }
    });
  }

  /// Rows of as many elements as there are totals.
  void reduceOuter(const Offsets &offsets, int axis, int64_t count,
                   Total *totals) {
    int rowAxis = numReduced == 0 ? -1 : reduced[numReduced - 1];
    int64_t numRows = rowAxis < 0 ? 1 : nest.extents[rowAxis];
    int64_t atOnce = kBuffer / count;
    forEachReduced(offsets, std::max(numReduced - 1, 0), [&](Offsets place) {
      for (int64_t first = 0; first < numRows; first += atOnce) {
        int64_t some = std::min(atOnce, numRows - first);
        produce(place, rowAxis, axis, some, count,
                [&](const int32_t *lanes, int64_t rowStep) {
                  forms.takeColumns(mode, lane, lanes, some, rowStep, count,
                                    totals);
                });
        if (rowAxis >= 0)
          move(place, rowAxis, some);
      }
    });
  }

  void store(int64_t offset, int axis, int64_t count, const Total *totals) {
    std::array<int32_t, kTotals> lanes;
    for (int64_t i = 0; i != count; ++i) {
      if (lane != TileLane::F) {
        lanes[i] = int32_t(totals[i].i);
        continue;
      }
      double total = totals[i].f;
      if (mode == ReduceMode::Mean)
        total /= double(perTotal);
      lanes[i] = std::bit_cast<int32_t>(float(total));
    }
    Rows from = {lanes.data(), 1, 0,
                 lane == TileLane::F ? ElementType::F32 : ElementType::SI32};
    Rows to = {static_cast<char *>(output.data) +
                   offset * int64_t(byteSize(output.type)),
               stepOf(numInputs, axis), 0, output.type};
    SmallProgram program(1);
    program.wrapTo(output.type);
    forms.runTiles({program.code(), &from, &to, &lane, 1, count});
  }
};
} // namespace

Error tile::reduceProgram(const Reductions &forms, const Code &code,
                          std::span<const Tensor> inputs, const Tensor &output,
                          ReduceMode mode, ThreadPool *pool) {
  Expected<TileLane> lane = checkReduction(code, inputs, output, mode);
  if (!lane)
    return lane.takeError();
  // The output as a view of the inputs' shape.
  Tensor wide = output;
  wide.extents = inputs[0].extents;
  for (int axis = 0; axis != output.rank; ++axis)
    if (output.extents[axis] == 1)
      wide.steps[axis] = 0;
  std::array<const Tensor *, kMaxOperands> operands;
  for (size_t i = 0; i != inputs.size(); ++i)
    operands[i] = &inputs[i];
  operands[inputs.size()] = &wide;
  Nest nest({operands.data(), inputs.size() + 1});
  if (output.size() != 0)
    Reducer(forms, code, nest, inputs, output, mode, *lane).run(pool);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// One more element in plain C++.
static void take(ReduceMode mode, TileLane lane, int32_t bits, Total &total) {
  bool isFloat = lane == TileLane::F;
  double f = isFloat ? double(std::bit_cast<float>(bits)) : 0;
  switch (mode) {
  case ReduceMode::Sum:
  case ReduceMode::Mean:
    isFloat ? void(total.f += f) : void(total.i += bits);
    return;
  case ReduceMode::Product:
    isFloat ? void(total.f *= f)
            : void(total.i = int64_t(uint64_t(total.i) * uint64_t(bits)));
    return;
  case ReduceMode::Max:
  case ReduceMode::Any:
    if (isFloat && (f > total.f || f != f))
      total.f = f;
    else if (!isFloat)
      total.i = std::max<int64_t>(total.i, bits);
    return;
  case ReduceMode::Min:
  case ReduceMode::All:
    if (isFloat && (f < total.f || f != f))
      total.f = f;
    else if (!isFloat)
      total.i = std::min<int64_t>(total.i, bits);
    return;
  }
}

static void reduceRowsPlainly(ReduceMode mode, TileLane lane,
                              const int32_t *lanes, int64_t numRows,
                              int64_t rowStep, int64_t count, void *totals) {
  for (int64_t row = 0; row != numRows; ++row)
    for (int64_t i = 0; i != count; ++i)
      take(mode, lane, lanes[row * rowStep + i],
           static_cast<Total *>(totals)[row]);
}

static void reduceColumnsPlainly(ReduceMode mode, TileLane lane,
                                 const int32_t *lanes, int64_t numRows,
                                 int64_t rowStep, int64_t count, void *totals) {
  for (int64_t row = 0; row != numRows; ++row)
    for (int64_t i = 0; i != count; ++i)
      take(mode, lane, lanes[row * rowStep + i],
           static_cast<Total *>(totals)[i]);
}

static constexpr Reductions kPlain = {runPortable, reduceRowsPlainly,
                                      reduceColumnsPlainly};

static Error runTileReduce(const Reductions &forms, const Invocation &call) {
  if (!call.program)
    return Error("TileReduce was called without a program");
  return reduceProgram(forms, codeOf(*call.program), call.inputs, call.output(),
                       ReduceMode(call.number(0)), call.pool);
}

Error portable::runTileReduce(const Invocation &call) {
  return ::runTileReduce(kPlain, call);
}

static bool takesAll(const Invocation &) { return true; }
static Error runTileReduceFast(const Vectors &vectors, const Invocation &call) {
  return runTileReduce(vectors.reductions, call);
}
CORTEN_VARIANTS(TileReduce, takesAll, runTileReduceFast, nullptr)

/// A plain reduction is one of a program that does nothing.
template <ReduceMode mode>
static Error runReduction(const Vectors &vectors, const Invocation &call) {
  SmallProgram program(1);
  return reduceProgram(vectors.reductions, program.code(), call.inputs,
                       call.output(), mode, call.pool);
}

/// The portable kernel has the errors.
template <ReduceMode mode> static bool takesReduction(const Invocation &call) {
  SmallProgram program(1);
  return bool(checkReduction(program.code(), call.inputs, call.output(), mode));
}
#define REDUCTION(NAME)                                                        \
  CORTEN_VARIANTS(Reduce##NAME, takesReduction<ReduceMode::NAME>,              \
                  runReduction<ReduceMode::NAME>, nullptr)
REDUCTION(Sum)
REDUCTION(Mean)
REDUCTION(Product)
REDUCTION(Max)
REDUCTION(Min)
REDUCTION(All)
REDUCTION(Any)
