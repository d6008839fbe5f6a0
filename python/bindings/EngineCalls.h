// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models that run, from the arguments that Python gives to the results it gets.

#ifndef CORTEN_PYTHON_BINDINGS_ENGINECALLS_H
#define CORTEN_PYTHON_BINDINGS_ENGINECALLS_H

#include "corten/Runtime/Model.h"
#include "corten/Runtime/Mutex.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace corten::bindings {

using runtime::Call;
using runtime::Parameter;
using runtime::State;

using SharedState = std::shared_ptr<State>;
using Shapes = std::map<std::string, std::vector<int64_t>>;

/// The states of a function, or of all functions.
struct States {
  std::vector<SharedState> list;

  SharedState find(std::string_view name) const {
    auto found = std::ranges::find(list, name, &State::name);
    return found == list.end() ? nullptr : *found;
  }
};

/// A model with what is kept for its callers: calls that were made before, and
/// the states of those who bring none.
struct Engine {
  Engine(std::shared_ptr<runtime::Model> loaded, std::string path)
      : model(std::move(loaded)), path(std::move(path)),
        idle(model->functions().size()) {}

  std::unique_ptr<Call> takeCall(size_t function);
  void giveBack(size_t function, std::unique_ptr<Call> call);
  /// Made when they are needed for the first time.
  SharedState keptState(const Parameter &state);

  std::shared_ptr<runtime::Model> model;
  std::string path;
  runtime::Mutex mutex;
  std::vector<std::vector<std::unique_ptr<Call>>> idle;
  States kept;
};

struct EngineFunction {
  std::shared_ptr<Engine> engine;
  size_t index = 0;

  const runtime::Function &function() const {
    return engine->model->functions()[index];
  }
};

/// A step of a call, for those who ask where the time goes.
struct Step {
  std::string kernel;
  std::string variant;
  std::string location;
  std::string module;
  std::vector<uint64_t> operations;
  bool isKernel = false;
  int64_t nanoseconds = 0;
  int64_t bytes = 0;
  double flops = 0;
  int depth = 0;
  std::vector<std::string> outputs;
};

inline void unwrap(runtime::Error error) {
  if (error)
    throw nanobind::value_error(error.message().c_str());
}

template <typename T> T unwrap(runtime::Expected<T> value) {
  if (!value)
    unwrap(value.takeError());
  return std::move(*value);
}

/// `state` is a function's declaration, or the name that all functions have.
template <typename T>
SharedState makeState(const runtime::Model &model, const T &state,
                      const std::vector<int64_t> *shape = nullptr) {
  std::optional<std::span<const int64_t>> extents;
  if (shape)
    extents = *shape;
  return std::make_shared<State>(unwrap(model.createState(state, extents)));
}

inline std::string_view nameOf(const Parameter &state) { return state.name; }
inline std::string_view nameOf(std::string_view state) { return state; }

template <typename T>
States createStates(const runtime::Model &model, std::span<const T> declared,
                    const Shapes &shapes) {
  for (const auto &[name, shape] : shapes)
    if (std::ranges::none_of(
            declared, [&](const T &state) { return nameOf(state) == name; }))
      throw nanobind::key_error(("there is no state '" + name + "'").c_str());
  States states;
  for (const T &state : declared) {
    auto shape = shapes.find(std::string(nameOf(state)));
    states.list.push_back(makeState(
        model, state, shape == shapes.end() ? nullptr : &shape->second));
  }
  return states;
}

/// Calls a function with what Python gives for inputs, outputs and states.
nanobind::dict callFunction(const EngineFunction &self,
                            const nanobind::args &args, nanobind::handle out,
                            nanobind::handle states,
                            const nanobind::kwargs &kwargs);
/// A call for one thread to run, and for another to decide whether it is to
/// have happened. Whoever lets go of it decides against it.
class PendingCall {
public:
  /// Takes what callFunction() does.
  PendingCall(const EngineFunction &function, const nanobind::args &args,
              nanobind::handle out, nanobind::handle states,
              const nanobind::kwargs &kwargs);
  ~PendingCall();
  PendingCall(PendingCall &&) noexcept;

  /// All that can fail.
  void run();
  /// Lets run() fail, whoever is in it.
  void cancel();
  /// After run(): the results. Only now are states written for good.
  nanobind::dict finish();
  /// Leaves states as they were.
  void abandon();

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

/// The same as callFunction(), for the steps of the call.
std::vector<Step> profileFunction(const EngineFunction &self,
                                  const nanobind::args &args,
                                  nanobind::handle states,
                                  const nanobind::kwargs &kwargs);

} // namespace corten::bindings

#endif // CORTEN_PYTHON_BINDINGS_ENGINECALLS_H
