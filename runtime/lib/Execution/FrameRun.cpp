// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs frames.

#include "../Portable/Portable.h"
#include "Arithmetic.h"
#include "Engine.h"
#include "Frame.h"
#include "Guards.h"
#include "Layout.h"

#include <algorithm>
#include <chrono>

using namespace corten::runtime;
using namespace corten::runtime::execution;

Error execution::outOfMemory(const std::string &what, size_t limit) {
  std::string text = "there is no memory for " + what;
  if (limit == size_t(-1))
    return Error(text + ": the system has no more; smaller inputs, or fewer "
                        "calls at once, take less");
  return Error(text + "; the memory limit is " + std::to_string(limit) +
               " bytes for all calls at once: raise it (corten run "
               "--memory-limit, corten.load(memory_limit=), "
               "LoadOptions::arenaLimit), or take smaller inputs");
}

Error execution::outOfMemory(const Engine &engine, int64_t bytes) {
  return outOfMemory(std::to_string(bytes) + " bytes of tensors",
                     engine.options.arenaLimit);
}

bool execution::hasLayout(const Tensor &tensor, const Tensor &wanted) {
  for (size_t axis = 0; axis != wanted.rank; ++axis) {
    if (wanted.extents[axis] == 0)
      return true;
    if (wanted.extents[axis] != 1 && tensor.steps[axis] != wanted.steps[axis])
      return false;
  }
  return true;
}

void Frame::setBase(size_t buffer, void *base) {
  if (bases[buffer] == base)
    return;
  bases[buffer] = base;
  for (int32_t value : block.valuesOfBuffer[buffer]) {
    void *data = static_cast<char *>(base) + byteOffsets[size_t(value)];
    values[size_t(value)].data = data;
    for (int32_t slot : block.slotsOfValue[size_t(value)])
      slots[size_t(slot)].data = data;
  }
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Error Frame::bindInputs(std::span<const Tensor> inputs) {
  for (size_t i = 0; i != inputs.size(); ++i) {
    const Tensor &given = inputs[i];
    size_t value = size_t(block.inputs[i]);
    size_t buffer = size_t(block.values[value].buffer);
    uint32_t alignment = block.buffers[buffer].alignment;
    if (bytes[buffer] == 0)
      continue;
    if (hasLayout(given, values[value]) &&
        reinterpret_cast<uintptr_t>(given.data) % alignment == 0) {
      setBase(buffer, given.data);
      sources[buffer] = Source(int32_t(i));
      continue;
    }
    if (block.effects.writes[i])
      return Error("a block writes to " + given.describe() +
                   ", which lies in memory in another way than the block has "
                   "it; compile the model again");
    memories[buffer] = engine.results->take(size_t(bytes[buffer]));
    if (!memories[buffer])
      return outOfMemory(engine, bytes[buffer]);
    setBase(buffer, memories[buffer].data());
    sources[buffer] = kOwn;
    portable::copyElements(given, values[value]);
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

Error Frame::readSymbols(size_t stage) {
  bool isSame = stages[stage].isLaidOut;
  for (int32_t index : block.symbolsOfStage[stage]) {
    const Symbol &symbol = block.symbols[size_t(index)];
    const Tensor *tensor = &values[size_t(symbol.index)];
    int64_t number = 0;
    if (symbol.source == plan::SymbolSource::Element) {
      if (symbol.axis >= tensor->size() || !tensor->isContiguous())
        return Error("the size '" + symbol.name + "' is element " +
                     std::to_string(symbol.axis) + " of " + tensor->describe());
      number = portable::indexReader(tensor->type)(*tensor, symbol.axis);
    } else {
      const Step &step = block.steps[size_t(block.stageStarts[stage]) - 1];
      std::span<const int32_t> outputs =
          step.outputs.of(std::as_const(block.slots));
      size_t place =
          size_t(std::ranges::find(outputs, symbol.index) - outputs.begin());
      tensor = step.control == -1
                   ? &slots[step.outputs.first + place]
                   : &controls[size_t(step.control)].results[place].tensor;
      number = tensor->extents[size_t(symbol.axis)];
    }
    if (number < symbol.low || number > symbol.high)
      return Error("the size '" + symbol.name + "' is " +
                   std::to_string(number) + ", and has to be from " +
                   std::to_string(symbol.low) + " to " +
                   std::to_string(symbol.high));
    isSame &= number == symbols[size_t(index)];
    symbols[size_t(index)] = number;
  }
  if (isSame)
    return Error::success();
  return layOut(stage);
}

Error Frame::enterStage(size_t stage, std::span<char *const> targets) {
  if (stage != 0)
    if (Error error = readSymbols(stage))
      return error;
  Stage &now = stages[stage];
  if (now.sizes.planned != 0) {
    now.memory = engine.arenas->take(size_t(now.sizes.planned));
    if (!now.memory)
      return outOfMemory(engine, now.sizes.planned);
  }
  bool isBound = now.base && now.base == now.memory.data();
  now.base = now.memory.data();
  for (int32_t index : block.buffersOfStage[stage]) {
    const Buffer &buffer = block.buffers[size_t(index)];
    if (buffer.storage == plan::Storage::Arena) {
      if (!isBound && now.base && buffer.isTouched() &&
          bytes[size_t(index)] != 0)
        setBase(size_t(index), now.base + offsets[size_t(index)]);
      continue;
    }
    if (buffer.storage != plan::Storage::Output || bytes[size_t(index)] == 0)
      continue;
    if (size_t(buffer.index) < targets.size() &&
        targets[size_t(buffer.index)]) {
      setBase(size_t(index), targets[size_t(buffer.index)]);
      continue;
    }
    Memory &memory = memories[size_t(index)];
    int64_t margin = guards ? Guards::kMargin : 0;
    memory = engine.results->take(size_t(bytes[size_t(index)] + 2 * margin));
    if (!memory)
      return outOfMemory(engine, bytes[size_t(index)]);
    setBase(size_t(index), memory.data() + margin);
  }
  if (guards)
    guards->enterStage(stage);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Error Frame::run(Run &run, std::span<const Tensor> inputs,
                 std::span<char *const> targets) {
  if (Error error = begin(run, inputs, targets))
    return error;
  return finish(run);
}

Error Frame::begin(Run &run, std::span<const Tensor> inputs,
                   std::span<char *const> targets) {
  for (Control &control : controls)
    control.reports = {};
  ++run.depth;
  Error error = bindInputs(inputs);
  if (!error)
    error = runSteps(run, targets);
  if (!error)
    error = checkLastSteps();
  if (!error)
    error = run.takeSteps(block.steps.size() - block.firstLastWrite);
  if (error && guards)
    guards->leave();
  --run.depth;
  return error;
}

Error Frame::finish(Run &run) {
  ++run.depth;
  Error error;
  for (size_t i = block.firstLastWrite; !error && i != block.steps.size();
       ++i) {
    if (guards)
      guards->beginStep(i);
    error = runStep(run, i);
    if (!error)
      error = endStep(i);
    if (error)
      error = explain(i, std::move(error));
  }
  undo.forget();
  if (guards)
    guards->leave();
  --run.depth;
  return error;
}

void Frame::takeBack() {
  undo.takeBack();
  if (guards)
    guards->leave();
}

/// That the copies at the end will not fail.
Error Frame::checkLastSteps() const {
  for (size_t i = block.firstLastWrite; i != block.steps.size(); ++i) {
    const Step &step = block.steps[i];
    const Tensor &from = inputsOf(step)[0];
    const Tensor &to = step.outputs.of(slots)[0];
    if (!std::ranges::equal(from.shape(), to.shape()))
      return explain(i, Error(from.describe() + " cannot become " +
                              to.describe() + "; compile the model again"));
  }
  return Error::success();
}

Error Frame::runSteps(Run &run, std::span<char *const> targets) {
  if (Error error = enterStage(0, targets))
    return error;
  size_t next = 1;
  // Steps before this one have run, with the group that they are in.
  size_t inGroup = 0;
  for (size_t i = 0;; ++i) {
    if (i != 0)
      if (Error error = takeResults(i - 1, 0, next))
        return explain(i - 1, std::move(error));
    if (next != stages.size() && size_t(block.stageStarts[next]) == i) {
      Error error = enterStage(next, targets);
      if (!error && i != 0)
        error = takeResults(i - 1, next, next + 1);
      if (error)
        return i == 0 ? std::move(error) : explain(i - 1, std::move(error));
      ++next;
    }
    if (i != 0)
      if (Error error = endStep(i - 1))
        return explain(i - 1, std::move(error));
    if (i == block.firstLastWrite)
      return Error::success();
    if (Error error = run.takeSteps())
      return error;
    if (groups.beginsAt(i)) {
      const Group &group = groups[size_t(groups.of(i))];
      if (isWorthThreads(run, group)) {
        runGroup(run, group);
        inGroup = size_t(group.end);
      }
    }
    if (i < inGroup) {
      if (Error error = endStepOfGroup(run, i))
        return explain(i, std::move(error));
      continue;
    }
    if (guards)
      guards->beginStep(i);
    if (Error error = runStep(run, i))
      return explain(i, std::move(error));
  }
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Threads that sleep are woken for what groups win together, and, where a
/// frame runs again and again, when they would have won as much by now. Where
/// others have the processors, what was lost by it is a debt.
bool Frame::isWorthThreads(Run &run, const Group &group) {
  constexpr double kWakeUp = 30000;
  if (guards)
    return true;
  if (engine.lost.load(std::memory_order_relaxed) > 0) {
    engine.lost.fetch_sub(int64_t(group.gain), std::memory_order_relaxed);
    return false;
  }
  if (engine.pool->isAwake())
    return true;
  run.missed += group.gain;
  if (std::max(run.missed, groups.gain()) < kWakeUp)
    return false;
  run.missed = 0;
  return true;
}

/// Runs all steps of a group. What came of it is told as if they had followed
/// each other, by endStepOfGroup().
void Frame::runGroup(Run &run, const Group &group) {
  // Longer than it can take for any other reason.
  constexpr double kLate = 100000;
  constexpr double kSlow = 3;
  using Clock = std::chrono::steady_clock;
  if (guards)
    for (int32_t step = group.first; step != group.end; ++step)
      guards->beginStep(size_t(step));
  bool isTimed = run.observer != nullptr;
  if (isTimed)
    times.resize(block.steps.size());
  failed = size_t(group.end);
  std::span<const Strand> strands = groups.strandsOf(group);
  std::atomic<size_t> next = 0;
  auto takers =
      int64_t(std::min(strands.size(), size_t(engine.pool->threads())));
  Clock::time_point start = Clock::now();
  engine.pool->run(takers, [&](int64_t, int) {
    for (size_t i = next++; i < strands.size(); i = next++)
      runStrand(strands[i], isTimed);
  });
  double late = double((Clock::now() - start) / std::chrono::nanoseconds(1)) -
                kSlow * group.sum;
  if (late > kLate)
    engine.lost.fetch_add(int64_t(late), std::memory_order_relaxed);
}

void Frame::runStrand(const Strand &strand, bool isTimed) {
  using Clock = std::chrono::steady_clock;
  for (int32_t number : groups.stepsOf(strand)) {
    auto index = size_t(number);
    Clock::time_point start;
    if (isTimed)
      start = Clock::now();
    if (Error error = runKernel(index)) {
      std::lock_guard lock(failing);
      if (index < failed) {
        failed = index;
        failure = std::move(error);
      }
      return;
    }
    if (isTimed)
      times[index] = (Clock::now() - start) / std::chrono::nanoseconds(1);
  }
}

Error Frame::endStepOfGroup(Run &run, size_t index) {
  if (index == failed)
    return std::move(failure);
  if (run.observer)
    observe(run, index, times[index]);
  return Error::success();
}

Error Frame::runStep(Run &run, size_t index) {
  // Sizes have been looked at when they became known.
  if (block.steps[index].assertsSize())
    return Error::success();
  using Clock = std::chrono::steady_clock;
  Clock::time_point start;
  if (run.observer)
    start = Clock::now();
  // States are a function's: what it calls has none of its own.
  if (run.depth == 1)
    if (Error error = rememberWrites(index))
      return error;
  Error error;
  switch (block.steps[index].kind) {
  case plan::StepKind::Kernel:
    error = runKernel(index);
    break;
  case plan::StepKind::Assert:
    error = runAssert(index);
    break;
  default:
    error = runControl(run, index);
  }
  if (run.observer && !error)
    observe(run, index, (Clock::now() - start) / std::chrono::nanoseconds(1));
  return error;
}

Error Frame::rememberWrites(size_t index) {
  const Step &step = block.steps[index];
  for (int32_t value : block.earlyWrites[index]) {
    const Tensor &target = values[size_t(value)];
    std::span<const Tensor> inputs = inputsOf(step);
    bool isScattered = step.kind == plan::StepKind::Kernel &&
                       step.kernel == PortableKernel::ScatterNd &&
                       inputs[0].data == target.data &&
                       hasLayout(inputs[0], target);
    if (!isScattered)
      undo.remember(target);
    else if (Error error = undo.remember(target, inputs[1], inputs[2]))
      return error;
  }
  return Error::success();
}

Error Frame::runKernel(size_t index) {
  const Step &step = block.steps[index];
  std::span<Tensor> outputs = step.outputs.of(slots);
  // The last run may have left other extents.
  if (step.setsExtents)
    for (size_t i = 0; i != outputs.size(); ++i)
      outputs[i] = values[size_t(block.slots[step.outputs.first + i])];
  ThreadPool *pool = groups.of(index) == -1 ? engine.pool.get() : nullptr;
  Invocation invocation = invocationOf(index, pool);
  if (step.foreign != -1)
    invocation.foreign = engine.foreign[size_t(step.foreign)].get();
  if (scratchBytes[index] != 0)
    invocation.scratch =
        stages[size_t(step.stage)].base + offsets[block.buffers.size() + index];
  const KernelVariant *variant = variants[index];
  return variant ? variant->function(invocation)
                 : info(step.kernel).function(invocation);
}

Error execution::failedAssertion(
    const Step &step, const std::function<int64_t(size_t)> &operand) {
  std::string text = step.message.empty()
                         ? "an assertion of the program does not hold"
                         : step.message;
  for (size_t i = 0; i != step.names.size(); ++i)
    text += (i == 0 ? "; " : ", ") + step.names[i] + " is " +
            std::to_string(operand(i + 1));
  return Error(text);
}

Error Frame::runAssert(size_t index) const {
  const Step &step = block.steps[index];
  std::span<const Tensor> inputs = inputsOf(step);
  const Tensor &condition = inputs[0];
  if (condition.size() != 1)
    return Error("the condition is " + condition.describe());
  if (*condition.as<uint8_t>() != 0)
    return Error::success();
  for (const Tensor &told : inputs)
    if (told.size() != 1)
      return Error("an assertion is about " + told.describe());
  return failedAssertion(step, [&](size_t place) {
    const Tensor &told = inputs[place];
    return portable::indexReader(told.type)(told, 0);
  });
}

Error Frame::endStep(size_t index) {
  if (guards)
    if (Error error = guards->endStep(index)) {
      if (groups.of(index) == -1)
        return error;
      return Error(error.message() +
                   ", or a step that runs beside this one did");
    }
  for (int32_t control : block.releasedAfter[index])
    releaseControl(controls[size_t(control)]);
  return Error::success();
}

static std::string_view nameOf(const Step &step) {
  switch (step.kind) {
  case plan::StepKind::Kernel:
    return info(step.kernel).name;
  case plan::StepKind::If:
    return "If";
  case plan::StepKind::While:
    return "While";
  case plan::StepKind::Call:
    return "Call";
  case plan::StepKind::Assert:
    return "Assert";
  }
  __builtin_unreachable();
}

int64_t StepEvent::bytes() const {
  int64_t result = 0;
  if (isKernel)
    for (std::span<const Tensor> tensors : {inputs, outputs})
      for (const Tensor &tensor : tensors)
        result += bytesOf(tensor);
  return result;
}

void Frame::observe(Run &run, size_t index, int64_t nanoseconds) const {
  const Step &step = block.steps[index];
  StepEvent event;
  event.step = nameOf(step);
  if (variants[index])
    event.variant = variants[index]->name;
  event.identity = &step;
  event.isKernel = step.kind == plan::StepKind::Kernel;
  event.location = step.location;
  if (step.origin != -1) {
    const Origin &origin = engine.program.origins[size_t(step.origin)];
    event.module = origin.module;
    event.operations = origin.operations;
  }
  event.inputs = inputsOf(step);
  event.outputs = step.outputs.of(slots);
  event.arithmetic = arithmeticOf(step, event.inputs, event.outputs);
  event.nanoseconds = nanoseconds;
  event.depth = run.depth - 1;
  (*run.observer)(event);
}

Error Frame::explain(size_t index, Error error) const {
  const Step &step = block.steps[index];
  std::string text = step.location;
  if (!text.empty())
    text += ": ";
  std::string_view name = nameOf(step);
  // Kernels begin with their names.
  if (!error.message().starts_with(name) && step.kind != plan::StepKind::Assert)
    text += std::string(name) + ": ";
  return Error(text + error.message());
}

void Frame::release() {
  for (Control &control : controls)
    releaseControl(control);
  for (Stage &stage : stages)
    stage.memory.reset();
  for (Memory &memory : memories)
    memory.reset();
}
