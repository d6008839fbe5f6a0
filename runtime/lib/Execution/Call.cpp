// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Portable/Portable.h"
#include "Engine.h"
#include "Layout.h"

#include "corten/Runtime/Model.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::execution;

struct Call::Implementation {
  std::shared_ptr<Model> model;
  Engine &engine;
  const Function &function;
  const Block &block;
  /// Inputs, and then states.
  std::vector<Tensor> arguments;
  std::vector<bool> isGiven;
  std::vector<StateData *> states;
  std::vector<std::optional<Tensor>> wanted;
  std::vector<char *> targets;
  std::vector<Array> results;
  std::vector<int64_t> key;
  StepObserver observer;
  FrameReport report;
  bool wasRefused = false;
  /// Whether they are claimed.
  bool hasStates = false;
  /// Set by any thread.
  std::atomic<bool> isCancelled = false;
  /// From begin() to end().
  Frame *frame = nullptr;
  Run progress;

  Implementation(std::shared_ptr<Model> held, Engine &engine,
                 const Function &function, const EntryPoint &entry)
      : model(std::move(held)), engine(engine), function(function),
        block(engine.program.blocks[size_t(entry.block)]),
        arguments(block.inputs.size()), isGiven(block.inputs.size()),
        states(function.states().size()), wanted(block.outputs.size()),
        targets(block.outputs.size()), results(block.outputs.size()) {}
  ~Implementation() { abandon(); }

  Error refuse(Error error) {
    wasRefused = true;
    return error;
  }
  Error checkGiven() const;
  Error claimStates();
  void releaseStates(size_t count);
  bool canWriteTo(size_t index) const;
  Error chooseTargets();
  Error takeMemory(size_t index);
  Error runFrame();
  Error start();
  Error begin();
  Error finish();
  void abandon();
  void end();
};

Call::Call(std::shared_ptr<Model> model, const Function &function) {
  Engine &engine = *model->engine;
  implementation = std::make_unique<Implementation>(
      std::move(model), engine, function,
      engine.program.functions[function.index]);
}
Call::~Call() = default;
Call::Call(Call &&) noexcept = default;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Checks what can be checked before all arguments are there.
static Error checkTensor(const std::string &what, const Tensor &tensor,
                         const Parameter &parameter) {
  if (tensor.type != parameter.type || tensor.rank != parameter.axes.size())
    return Error(what + " '" + parameter.name + "' is " + tensor.describe() +
                 ", and has to be " + parameter.describe());
  bool isEmpty = false;
  for (int64_t extent : tensor.shape()) {
    isEmpty |= extent == 0;
    if (extent < 0)
      return Error(what + " '" + parameter.name + "' is " + tensor.describe());
  }
  if (!tensor.data && !isEmpty)
    return Error(what + " '" + parameter.name + "' has no memory");
  return Error::success();
}

static Expected<size_t> find(std::span<const Parameter> parameters,
                             std::string_view name, const std::string &what,
                             const Function &function) {
  auto found = std::ranges::find(parameters, name, &Parameter::name);
  if (found != parameters.end())
    return size_t(found - parameters.begin());
  std::string text = "function '" + function.name() + "' has no " + what +
                     " '" + std::string(name) + "'";
  for (const Parameter &parameter : parameters)
    text += (&parameter == parameters.data() ? "; it has '" : ", '") +
            parameter.name + "'";
  return Error(text);
}

static Error noSuch(const std::string &what, size_t index, size_t count) {
  return Error("there is no " + what + " " + std::to_string(index) +
               ": the function has " + std::to_string(count));
}

Error Call::setInput(size_t index, const Tensor &tensor) {
  std::span<const Parameter> inputs = implementation->function.inputs();
  if (index >= inputs.size())
    return noSuch("input", index, inputs.size());
  if (Error error = checkTensor("input", tensor, inputs[index]))
    return error;
  implementation->arguments[index] = tensor;
  implementation->isGiven[index] = true;
  return Error::success();
}

Error Call::setInput(std::string_view name, const Tensor &tensor) {
  Expected<size_t> index = find(implementation->function.inputs(), name,
                                "input", implementation->function);
  return index ? setInput(*index, tensor) : index.takeError();
}

Error Call::setState(std::string_view name, State &state) {
  const Function &function = implementation->function;
  Expected<size_t> index = find(function.states(), name, "state", function);
  if (!index)
    return index.takeError();
  if (Error error =
          checkTensor("state", state.data->tensor, function.states()[*index]))
    return error;
  size_t place = function.inputs().size() + *index;
  implementation->arguments[place] = state.data->tensor;
  implementation->isGiven[place] = true;
  implementation->states[*index] = state.data.get();
  return Error::success();
}

Error Call::setOutput(size_t index, const Tensor &tensor) {
  std::span<const Parameter> outputs = implementation->function.outputs();
  if (index >= outputs.size())
    return noSuch("output", index, outputs.size());
  if (Error error = checkTensor("output", tensor, outputs[index]))
    return error;
  implementation->wanted[index] = tensor;
  return Error::success();
}

Error Call::setOutput(std::string_view name, const Tensor &tensor) {
  Expected<size_t> index = find(implementation->function.outputs(), name,
                                "output", implementation->function);
  return index ? setOutput(*index, tensor) : index.takeError();
}

void Call::setObserver(StepObserver observer) {
  implementation->observer = std::move(observer);
}

void Call::reset() {
  Implementation &call = *implementation;
  call.abandon();
  std::ranges::fill(call.arguments, Tensor());
  call.isGiven.assign(call.isGiven.size(), false);
  std::ranges::fill(call.states, nullptr);
  std::ranges::fill(call.wanted, std::nullopt);
  std::ranges::fill(call.results, Array());
  call.observer = nullptr;
}

size_t Call::numOutputs() const { return implementation->results.size(); }
const Array &Call::output(size_t index) const {
  return implementation->results[index];
}
const FrameReport &Call::report() const { return implementation->report; }
bool Call::wasRefused() const { return implementation->wasRefused; }
bool Call::wasCancelled() const {
  return implementation->progress.wasCancelled;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Error Call::Implementation::checkGiven() const {
  size_t numInputs = function.inputs().size();
  for (size_t i = 0; i != isGiven.size(); ++i) {
    if (isGiven[i])
      continue;
    const Parameter &missing =
        i < numInputs ? function.inputs()[i] : function.states()[i - numInputs];
    return Error("function '" + function.name() + "' needs the " +
                 (i < numInputs ? "input '" : "state '") + missing.name +
                 "', " + missing.describe());
  }
  return Error::success();
}

Error Call::Implementation::claimStates() {
  for (size_t i = 0; i != states.size(); ++i)
    if (states[i]->isInUse.exchange(true)) {
      releaseStates(i);
      return Error("the state '" + states[i]->name +
                   "' is in use by another call, or twice by this one: give "
                   "each call one of its own");
    }
  for (StateData *state : states)
    state->noteWrite();
  hasStates = true;
  return Error::success();
}

void Call::Implementation::releaseStates(size_t count) {
  for (size_t i = 0; i != count; ++i)
    states[i]->isInUse.store(false);
}

/// Whether any byte of a tensor may be one of the other's.
static bool overlap(const Tensor &a, const Tensor &b) {
  auto bounds = [](const Tensor &tensor) {
    int64_t low = 0;
    int64_t high = 0;
    for (size_t axis = 0; axis != tensor.rank; ++axis) {
      int64_t reach = (tensor.extents[axis] - 1) * tensor.steps[axis];
      (reach < 0 ? low : high) += reach;
    }
    auto width = int64_t(byteSize(tensor.type));
    auto base = reinterpret_cast<int64_t>(tensor.data);
    return std::pair(base + low * width, base + (high + 1) * width);
  };
  if (a.size() == 0 || b.size() == 0)
    return false;
  auto [aLow, aHigh] = bounds(a);
  auto [bLow, bHigh] = bounds(b);
  return aLow < bHigh && bLow < aHigh;
}

/// Whether the memory that the caller gave for an output can be that of its
/// buffer.
bool Call::Implementation::canWriteTo(size_t index) const {
  const Tensor &given = *wanted[index];
  const Value &value = block.values[size_t(block.outputs[index])];
  const Buffer &buffer = block.buffers[size_t(value.buffer)];
  if (buffer.storage != plan::Storage::Output ||
      size_t(buffer.index) != index || value.stage != 0 || value.offset != -1 ||
      reinterpret_cast<uintptr_t>(given.data) % buffer.alignment != 0 ||
      !given.isContiguous() || !frame->output(index).isContiguous() ||
      given.size() * int64_t(byteSize(given.type)) !=
          frame->bufferBytes(size_t(value.buffer)))
    return false;
  for (const Tensor &argument : arguments)
    if (overlap(argument, given))
      return false;
  for (size_t i = 0; i != wanted.size(); ++i)
    if (i != index && wanted[i] && overlap(*wanted[i], given))
      return false;
  return true;
}

/// Finds out which outputs can be written to where they are wanted.
Error Call::Implementation::chooseTargets() {
  for (size_t i = 0; i != targets.size(); ++i) {
    targets[i] = nullptr;
    if (!wanted[i])
      continue;
    bool isKnown = block.values[size_t(block.outputs[i])].stage == 0;
    if (isKnown &&
        !std::ranges::equal(wanted[i]->shape(), frame->output(i).shape()))
      return refuse(Error("output '" + function.outputs()[i].name +
                          "' will be " + frame->output(i).describe() +
                          ", and the memory that was given is " +
                          wanted[i]->describe()));
    if (canWriteTo(i))
      targets[i] = wanted[i]->as<char>();
  }
  return Error::success();
}

/// Finds memory for a result: the caller's, the frame's, or another.
Error Call::Implementation::takeMemory(size_t index) {
  const Tensor &result = frame->output(index);
  if (wanted[index]) {
    const Tensor &given = *wanted[index];
    if (!std::ranges::equal(given.shape(), result.shape()))
      return Error("output '" + function.outputs()[index].name + "' is " +
                   result.describe() + ", and the memory that was given is " +
                   given.describe());
    results[index] = Array(given, Memory());
    return Error::success();
  }
  const Value &value = block.values[size_t(block.outputs[index])];
  const Memory &memory = frame->outputMemory(index);
  if (block.buffers[size_t(value.buffer)].storage == plan::Storage::Output &&
      memory) {
    results[index] = Array(result, memory);
    return Error::success();
  }
  Tensor copy(result.type, nullptr, result.shape());
  auto bytes = copy.size() * int64_t(byteSize(copy.type));
  Memory own = engine.results->take(size_t(bytes));
  if (!own)
    return outOfMemory(engine, bytes);
  copy.data = own.data();
  results[index] = Array(copy, std::move(own));
  return Error::success();
}

Error Call::Implementation::runFrame() {
  if (Error error = engine.checkInputs(*frame, arguments))
    return refuse(std::move(error));
  if (Error error = chooseTargets())
    return error;
  if (Error error = frame->begin(progress, arguments, targets))
    return error;
  for (size_t i = 0; i != results.size(); ++i)
    if (Error error = takeMemory(i))
      return error;
  return Error::success();
}

Error Call::Implementation::start() {
  wasRefused = false;
  if (Error error = checkGiven())
    return refuse(std::move(error));
  if (Error error = claimStates())
    return error;
  // What nobody else holds is used again.
  for (Array &result : results)
    result = Array();
  if (Error error = engine.readKey(block, arguments, {}, key))
    return refuse(std::move(error));
  Expected<Frame *> taken = engine.takeFrame(block, key);
  if (!taken)
    return taken.takeError();
  frame = *taken;
  return runFrame();
}

Error Call::Implementation::begin() {
  progress = {engine.options.stepLimit, observer ? &observer : nullptr,
              &isCancelled};
  Error error = start();
  if (error)
    abandon();
  // Whatever step it was before, that is not why.
  if (progress.wasCancelled)
    return Error("the call was cancelled");
  return error;
}

Error Call::Implementation::finish() {
  Error error = frame->finish(progress);
  for (size_t i = 0; !error && i != results.size(); ++i) {
    const Tensor &from = frame->output(i);
    const Tensor &to = results[i].tensor();
    if (from.data != to.data || !hasLayout(to, from))
      portable::copyElements(from, to);
  }
  end();
  return error;
}

/// Leaves states as they were.
void Call::Implementation::abandon() {
  if (frame)
    frame->takeBack();
  end();
}

void Call::Implementation::end() {
  if (frame) {
    report = frame->report();
    engine.giveBack(frame);
    frame = nullptr;
  }
  if (hasStates)
    releaseStates(states.size());
  hasStates = false;
  isCancelled.store(false, std::memory_order_relaxed);
}

Error Call::run() {
  ThreadPool::Active active(*implementation->engine.pool);
  if (Error error = implementation->begin())
    return error;
  return implementation->finish();
}

Error Call::begin() {
  ThreadPool::Active active(*implementation->engine.pool);
  return implementation->begin();
}

Error Call::finish() {
  ThreadPool::Active active(*implementation->engine.pool);
  return implementation->finish();
}

void Call::abandon() { implementation->abandon(); }

void Call::cancel() {
  implementation->isCancelled.store(true, std::memory_order_relaxed);
}
