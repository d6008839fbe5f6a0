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
  if (data->bytes != 0)
    std::memset(data->tensor.data, 0, data->bytes);
}

Error State::write(const Tensor &from) {
  const Tensor &to = data->tensor;
  if (from.type != to.type || !std::ranges::equal(from.shape(), to.shape()))
    return Error("the state '" + data->name + "' is " + to.describe() +
                 ", and cannot become " + from.describe());
  portable::copyElements(from, to);
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

/// Memory for a tensor of this type and shape; its contents are undefined.
static Expected<std::unique_ptr<StateData>>
makeData(std::string name, ElementType type, std::span<const int64_t> shape,
         std::shared_ptr<MemoryPool> pool) {
  int64_t bytes = int64_t(byteSize(type));
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes))
      return Error("the state '" + name + "' cannot have an extent of " +
                   std::to_string(extent));
  auto data = std::make_unique<StateData>();
  data->memory = pool->take(size_t(bytes));
  if (!data->memory)
    return Error("there is no memory for the " + std::to_string(bytes) +
                 " bytes of the state '" + name + "'");
  data->name = std::move(name);
  data->tensor = Tensor(type, data->memory.data(), shape);
  data->bytes = size_t(bytes);
  data->pool = std::move(pool);
  return data;
}

Expected<State> State::copy() const {
  Expected<std::unique_ptr<StateData>> made =
      makeData(data->name, data->tensor.type, data->tensor.shape(), data->pool);
  if (!made)
    return made.takeError();
  State result(std::move(*made));
  portable::copyElements(data->tensor, result.data->tensor);
  return result;
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
      makeData(state.name, state.type, *extents, engine->results);
  if (!made)
    return made.takeError();
  State result(std::move(*made));
  result.reset();
  return result;
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
