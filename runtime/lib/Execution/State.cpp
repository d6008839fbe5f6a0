// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Portable/Portable.h"
#include "Engine.h"
#include "Layout.h"

#include "corten/Runtime/Model.h"

#include <algorithm>
#include <cstring>

using namespace corten::runtime;
using namespace corten::runtime::execution;

State::State(std::unique_ptr<StateData> data) : data(std::move(data)) {}
State::State(State &&) noexcept = default;
State &State::operator=(State &&) noexcept = default;
State::~State() = default;

const std::string &State::name() const { return data->name; }
const Tensor &State::tensor() const { return data->tensor; }

void State::reset() {
  if (data->bytes == 0 || renew(*data))
    return;
  std::memset(data->tensor.data, 0, data->bytes);
  data->noteWrite();
}

Error State::write(const Tensor &from) {
  const Tensor &to = data->tensor;
  if (from.type != to.type || !std::ranges::equal(from.shape(), to.shape()))
    return Error("the state '" + data->name + "' is " + to.describe() +
                 ", and cannot become " + from.describe());
  portable::copyElements(from, to);
  data->noteWrite();
  return Error::success();
}

Expected<State::Lock> State::lock() const {
  if (data->isInUse.exchange(true))
    return Error("the state '" + data->name +
                 "' is in use by a call: wait until it has returned");
  return Lock(data.get());
}

void State::Lock::Release::operator()(StateData *data) const {
  data->isInUse.store(false);
}

/// A tensor of this type and shape: zeros.
static Expected<std::unique_ptr<StateData>>
makeData(std::string name, ElementType type, std::span<const int64_t> shape,
         std::shared_ptr<MemoryPool> pool, size_t limit) {
  int64_t bytes = int64_t(byteSize(type));
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes))
      return Error("the state '" + name + "' cannot have an extent of " +
                   std::to_string(extent));
  auto data = std::make_unique<StateData>();
  bool isLarge = size_t(bytes) >= kHugePage;
  data->memory =
      isLarge ? pool->takeApart(size_t(bytes)) : pool->take(size_t(bytes));
  if (!data->memory)
    return outOfMemory("the " + std::to_string(bytes) +
                           " bytes of the state '" + name + "'",
                       limit);
  data->name = std::move(name);
  data->tensor = Tensor(type, data->memory.data(), shape);
  data->bytes = size_t(bytes);
  data->pool = std::move(pool);
  data->limit = limit;
  if (!isLarge && bytes != 0)
    std::memset(data->memory.data(), 0, data->bytes);
  return data;
}

Expected<State> State::copy() const {
  Expected<std::unique_ptr<StateData>> made =
      makeData(data->name, data->tensor.type, data->tensor.shape(), data->pool,
               data->limit);
  if (!made)
    return made.takeError();
  std::lock_guard lock(data->sharing);
  freeze(*data);
  share(*data, 0, data->bytes, **made, 0);
  return State(std::move(*made));
}

/// That a state has room for what it is to take over, and is made of the same.
static Error checkAdoption(const Tensor &from, const Tensor &to,
                           std::optional<State::Row> row,
                           const std::string &name) {
  bool fits = from.type == to.type && from.rank == to.rank &&
              (!row || (row->axis < from.rank && row->from >= 0 &&
                        row->from < from.extents[row->axis] && row->to >= 0 &&
                        row->to < to.extents[row->axis]));
  for (size_t axis = 0; fits && axis != from.rank; ++axis)
    fits = (row && row->axis == axis) || from.extents[axis] <= to.extents[axis];
  if (fits)
    return Error::success();
  return Error("the state '" + name + "' is " + to.describe() +
               ", and has no room for that of " + from.describe());
}

Error State::adopt(const State &other, std::optional<Row> row) {
  const Tensor &from = other.data->tensor;
  const Tensor &to = data->tensor;
  if (&other == this)
    return Error("the state '" + data->name + "' cannot take over itself");
  if (Error error = checkAdoption(from, to, row, data->name))
    return error;
  std::vector<int64_t> extents(from.shape().begin(), from.shape().end());
  int64_t fromAt = 0;
  int64_t toAt = 0;
  if (row) {
    extents[row->axis] = 1;
    fromAt = row->from * from.steps[row->axis];
    toAt = row->to * to.steps[row->axis];
  }
  // Axes that are whole on both sides are one run, with the one before them.
  size_t numOuter = from.rank;
  auto element = int64_t(byteSize(from.type));
  int64_t run = element;
  while (numOuter > 0) {
    run *= extents[--numOuter];
    if (extents[numOuter] != from.extents[numOuter] ||
        extents[numOuter] != to.extents[numOuter])
      break;
  }
  if (run == 0)
    return Error::success();
  std::lock_guard lock(other.data->sharing);
  std::vector<int64_t> index(numOuter);
  for (bool isMore = true; isMore;) {
    share(*other.data, size_t(fromAt * element), size_t(run), *data,
          size_t(toAt * element));
    isMore = false;
    for (size_t axis = numOuter; !isMore && axis-- > 0;) {
      isMore = ++index[axis] != extents[axis];
      int64_t by = isMore ? 1 : 1 - extents[axis];
      index[axis] = isMore ? index[axis] : 0;
      fromAt += by * from.steps[axis];
      toAt += by * to.steps[axis];
    }
  }
  return Error::success();
}

/// The extents of a state; without `shape`, all of them must be fixed.
static Expected<std::vector<int64_t>>
extentsOf(const Parameter &state,
          std::optional<std::span<const int64_t>> shape) {
  if (shape && shape->size() != state.axes.size())
    return Error("the state '" + state.name + "' is " + state.describe() +
                 ", which has another number of axes than the shape that was "
                 "given");
  std::vector<int64_t> extents;
  for (size_t i = 0; i != state.axes.size(); ++i) {
    const Axis &axis = state.axes[i];
    if (!shape && !axis.isFixed())
      return Error("the state '" + state.name + "' is " + state.describe() +
                   ": say which shape it is to have");
    extents.push_back(shape ? (*shape)[i] : axis.low);
    if (extents[i] < axis.low || extents[i] > axis.high)
      return Error("the state '" + state.name + "' is " + state.describe() +
                   ": axis " + std::to_string(i) + " cannot be " +
                   std::to_string(extents[i]));
  }
  return extents;
}

Expected<State>
Model::createState(const Parameter &state,
                   std::optional<std::span<const int64_t>> shape) const {
  Expected<std::vector<int64_t>> extents = extentsOf(state, shape);
  if (!extents)
    return extents.takeError();
  Expected<std::unique_ptr<StateData>> made =
      makeData(state.name, state.type, *extents, engine->results,
               engine->options.arenaLimit);
  if (!made)
    return made.takeError();
  return State(std::move(*made));
}

Expected<State>
Model::createState(std::string_view name,
                   std::optional<std::span<const int64_t>> shape) const {
  const Parameter *first = nullptr;
  for (const Function &function : functionList)
    for (const Parameter &state : function.states()) {
      if (state.name != name)
        continue;
      if (!first)
        first = &state;
      else if (!shape && state.describe() != first->describe())
        return Error("the state '" + state.name + "' is " + first->describe() +
                     " in one function and " + state.describe() +
                     " in another: say which shape it is to have");
      if (shape && extentsOf(state, shape))
        return createState(state, shape);
    }
  if (!first)
    return Error("no function has a state '" + std::string(name) + "'");
  return createState(*first, shape);
}
