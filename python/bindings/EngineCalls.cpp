// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "EngineCalls.h"

#include "Arrays.h"
#include "WithoutGil.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace corten;
using namespace corten::runtime;
using namespace corten::bindings;

//===----------------------------------------------------------------------===//
// What is kept for callers
//===----------------------------------------------------------------------===//

/// More than this many calls at once are rare.
static constexpr size_t kMaxIdleCalls = 16;

std::unique_ptr<Call> Engine::takeCall(size_t function) {
  {
    std::lock_guard lock(mutex);
    if (!idle[function].empty()) {
      std::unique_ptr<Call> call = std::move(idle[function].back());
      idle[function].pop_back();
      return call;
    }
  }
  return std::make_unique<Call>(model, model->functions()[function]);
}

void Engine::giveBack(size_t function, std::unique_ptr<Call> call) {
  call->reset();
  std::lock_guard lock(mutex);
  if (idle[function].size() < kMaxIdleCalls)
    idle[function].push_back(std::move(call));
}

SharedState Engine::keptState(const Parameter &state) {
  std::lock_guard lock(mutex);
  if (SharedState found = kept.find(state.name))
    return found;
  return kept.list.emplace_back(makeState(*model, state));
}

namespace {
/// A call that goes back to the others when it is over.
class Lease {
public:
  explicit Lease(const EngineFunction &of)
      : of(of), call(of.engine->takeCall(of.index)) {}
  ~Lease() { of.engine->giveBack(of.index, std::move(call)); }
  Call &operator*() { return *call; }
  Call *operator->() { return call.get(); }

private:
  const EngineFunction &of;
  std::unique_ptr<Call> call;
};
} // namespace

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static bool isMapping(nb::handle object) {
  return nb::isinstance<nb::dict>(object) ||
         (PyMapping_Check(object.ptr()) && nb::hasattr(object, "keys"));
}

[[noreturn]] static void refuseArguments(const Function &function,
                                         const std::string &why) {
  std::string text = "function '" + function.name() + "' " + why;
  throw nb::type_error(text.c_str());
}

/// "has no input 'z'; it has 'x', 'y'".
[[noreturn]] static void refuseName(const Function &function, const char *kind,
                                    std::string_view name,
                                    std::span<const Parameter> known) {
  std::string why = std::string("has no ") + kind + " '" + std::string(name);
  why += known.empty() ? "', and none at all" : "'; it has '";
  for (const Parameter &parameter : known)
    why += (&parameter == known.data() ? "" : ", '") + parameter.name + "'";
  refuseArguments(function, why);
}

namespace {
/// Takes what Python gives for one call.
class Arguments {
public:
  Arguments(const EngineFunction &of, Call &call)
      : of(of), function(of.function()), call(call),
        isGiven(function.inputs().size()) {
    held.reserve(function.inputs().size() + function.outputs().size());
  }

  void set(const nb::args &args, nb::handle out, nb::handle givenStates,
           const nb::kwargs &kwargs) {
    setInputs(args, kwargs);
    setStates(givenStates);
    setOutputs(out);
  }
  nb::dict results() const;

private:
  void setInputs(const nb::args &args, const nb::kwargs &kwargs);
  void setStates(nb::handle given);
  void checkStateNames(nb::handle given) const;
  void setOutputs(nb::handle given);
  void setInput(size_t index, nb::handle value);
  void setInput(std::string_view name, nb::handle value);
  void setOutput(size_t index, nb::handle value);

  const EngineFunction &of;
  const Function &function;
  Call &call;
  std::vector<bool> isGiven;
  std::vector<Borrowed> held;
  std::vector<SharedState> states;
  /// By the number of the output.
  std::map<size_t, nb::object> wanted;
};
} // namespace

void Arguments::setInput(size_t index, nb::handle value) {
  const Parameter &parameter = function.inputs()[index];
  if (isGiven[index])
    refuseArguments(function, "got input '" + parameter.name + "' twice");
  isGiven[index] = true;
  held.push_back(bindings::borrow(value, parameter.type, /*isWritable=*/false,
                                  "input '" + parameter.name + "'"));
  unwrap(call.setInput(index, held.back().tensor));
}

void Arguments::setInput(std::string_view name, nb::handle value) {
  std::span<const Parameter> inputs = function.inputs();
  auto found = std::ranges::find(inputs, name, &Parameter::name);
  if (found == inputs.end())
    refuseName(function, "input", name, inputs);
  setInput(static_cast<size_t>(found - inputs.begin()), value);
}

void Arguments::setInputs(const nb::args &args, const nb::kwargs &kwargs) {
  std::span<const Parameter> inputs = function.inputs();
  if (args.size() == 1 && isMapping(args[0])) {
    nb::object items = args[0].attr("items")();
    for (nb::handle item : items) {
      auto [name, value] = nb::cast<std::pair<nb::str, nb::object>>(item);
      setInput(name.c_str(), value);
    }
  } else {
    if (args.size() > inputs.size())
      refuseArguments(function, "takes " + std::to_string(inputs.size()) +
                                    " inputs, and got " +
                                    std::to_string(args.size()));
    for (size_t i = 0; i != args.size(); ++i)
      setInput(i, args[i]);
  }
  for (auto [name, value] : kwargs)
    setInput(nb::borrow<nb::str>(name).c_str(), value);
  for (size_t i = 0; i != isGiven.size(); ++i)
    if (!isGiven[i])
      refuseArguments(function, "needs the input '" + inputs[i].name + "', " +
                                    inputs[i].describe());
}

void Arguments::checkStateNames(nb::handle given) const {
  nb::object names = given.attr("keys")();
  for (nb::handle item : names) {
    std::string name = nb::str(item).c_str();
    // Functions of a model share states: one may bring those of all.
    bool isKnown = std::ranges::any_of(
        of.engine->model->functions(), [&](const Function &any) {
          return std::ranges::find(any.states(), name, &Parameter::name) !=
                 any.states().end();
        });
    if (!isKnown)
      refuseName(function, "state", name, function.states());
  }
}

void Arguments::setStates(nb::handle given) {
  if (!given.is_none() && !nb::isinstance<States>(given) && isMapping(given))
    checkStateNames(given);
  for (const Parameter &parameter : function.states()) {
    SharedState state;
    if (given.is_none()) {
      state = of.engine->keptState(parameter);
    } else if (nb::isinstance<States>(given)) {
      state = nb::cast<const States &>(given).find(parameter.name);
    } else if (isMapping(given)) {
      nb::object value = given.attr("get")(parameter.name);
      if (!value.is_none() && !nb::isinstance<State>(value))
        refuseArguments(function, "got a state '" + parameter.name +
                                      "' that create_states() did not make");
      if (!value.is_none())
        state = nb::cast<SharedState>(value);
    } else {
      refuseArguments(function,
                      "takes what create_states() makes as its states");
    }
    if (!state)
      refuseArguments(function, "needs the state '" + parameter.name + "', " +
                                    parameter.describe());
    unwrap(call.setState(parameter.name, *state));
    states.push_back(std::move(state));
  }
}

void Arguments::setOutput(size_t index, nb::handle value) {
  const Parameter &parameter = function.outputs()[index];
  held.push_back(bindings::borrow(value, parameter.type, /*isWritable=*/true,
                                  "output '" + parameter.name + "'"));
  unwrap(call.setOutput(index, held.back().tensor));
  wanted[index] = nb::borrow(value);
}

void Arguments::setOutputs(nb::handle given) {
  if (given.is_none())
    return;
  std::span<const Parameter> outputs = function.outputs();
  if (isMapping(given)) {
    nb::object items = given.attr("items")();
    for (nb::handle item : items) {
      auto [name, value] = nb::cast<std::pair<std::string, nb::object>>(item);
      auto found = std::ranges::find(outputs, name, &Parameter::name);
      if (found == outputs.end())
        refuseName(function, "output", name, outputs);
      setOutput(static_cast<size_t>(found - outputs.begin()), value);
    }
    return;
  }
  if (!nb::isinstance<nb::list>(given) && !nb::isinstance<nb::tuple>(given)) {
    if (outputs.size() != 1)
      refuseArguments(function, "has " + std::to_string(outputs.size()) +
                                    " outputs: give as many arrays, or a "
                                    "mapping from their names");
    setOutput(0, given);
    return;
  }
  size_t index = 0;
  for (nb::handle value : given) {
    if (index == outputs.size())
      refuseArguments(function, "has only " + std::to_string(outputs.size()) +
                                    " outputs");
    setOutput(index++, value);
  }
  if (index != outputs.size())
    refuseArguments(function, "has " + std::to_string(outputs.size()) +
                                  " outputs, and was given arrays for " +
                                  std::to_string(index));
}

nb::dict Arguments::results() const {
  nb::dict results;
  for (size_t i = 0; i != call.numOutputs(); ++i) {
    nb::str name(function.outputs()[i].name.c_str());
    auto given = wanted.find(i);
    results[name] = given != wanted.end()
                        ? given->second
                        : nb::cast(Array(call.output(i)), nb::rv_policy::move);
  }
  return results;
}

/// Runs a part of a call, and raises what it fails with.
static void run(Call &call, Error (Call::*part)()) {
  Error error;
  {
    WithoutGil unlock;
    error = (call.*part)();
  }
  if (error && call.wasRefused())
    throw nb::value_error(error.message().c_str());
  if (error)
    throw std::runtime_error(error.message());
}

static nb::dict run(const EngineFunction &self, const nb::args &args,
                    nb::handle out, nb::handle states, const nb::kwargs &kwargs,
                    StepObserver observer) {
  Lease lease(self);
  Arguments arguments(self, *lease);
  arguments.set(args, out, states, kwargs);
  if (observer)
    lease->setObserver(std::move(observer));
  run(*lease, &Call::run);
  return arguments.results();
}

nb::dict bindings::callFunction(const EngineFunction &self,
                                const nb::args &args, nb::handle out,
                                nb::handle states, const nb::kwargs &kwargs) {
  return run(self, args, out, states, kwargs, nullptr);
}

struct PendingCall::Implementation {
  explicit Implementation(const EngineFunction &of)
      : function(of), lease(function), arguments(function, *lease) {}

  EngineFunction function;
  Lease lease;
  Arguments arguments;
  bool hasBegun = false;
};

PendingCall::PendingCall(const EngineFunction &function, const nb::args &args,
                         nb::handle out, nb::handle states,
                         const nb::kwargs &kwargs)
    : implementation(std::make_unique<Implementation>(function)) {
  implementation->arguments.set(args, out, states, kwargs);
}

PendingCall::PendingCall(PendingCall &&) noexcept = default;

PendingCall::~PendingCall() {
  // While the states that it writes to are there.
  if (implementation)
    abandon();
}

void PendingCall::run() {
  ::run(*implementation->lease, &Call::begin);
  implementation->hasBegun = true;
}

void PendingCall::cancel() { implementation->lease->cancel(); }

nb::dict PendingCall::finish() {
  if (!std::exchange(implementation->hasBegun, false))
    throw std::runtime_error("there are no results: the call was not run");
  ::run(*implementation->lease, &Call::finish);
  return implementation->arguments.results();
}

void PendingCall::abandon() {
  implementation->hasBegun = false;
  implementation->lease->abandon();
}

std::vector<Step> bindings::profileFunction(const EngineFunction &self,
                                            const nb::args &args,
                                            nb::handle states,
                                            const nb::kwargs &kwargs) {
  std::vector<Step> steps;
  run(self, args, nb::none(), states, kwargs, [&](const StepEvent &event) {
    Step &step = steps.emplace_back(
        Step{std::string(event.step),
             std::string(event.variant),
             std::string(event.location),
             std::string(event.module),
             {event.operations.begin(), event.operations.end()},
             event.isKernel,
             event.nanoseconds,
             event.bytes(),
             event.arithmetic,
             event.depth,
             {}});
    for (const Tensor &output : event.outputs)
      step.outputs.push_back(bindings::describe(output));
  });
  return steps;
}
