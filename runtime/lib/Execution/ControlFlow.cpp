// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps that run blocks. What a block returns stays in the memory of its frame,
// which is kept until nobody needs it any more.

#include "../Portable/Portable.h"
#include "Engine.h"
#include "Frame.h"
#include "Layout.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::execution;

static Expected<bool> readFlag(const Tensor &tensor) {
  if (tensor.size() != 1)
    return Error("the condition is " + tensor.describe());
  return *tensor.as<uint8_t>() != 0;
}

/// Runs a block in the frame at `place`, or in another one if that was built
/// for other sizes. Nothing that is still needed lies in the memory of the old
/// one.
Error Frame::runBlock(Run &run, const Step &step, Control &control,
                      size_t place, int32_t called,
                      std::span<const Tensor> arguments) {
  const Block &target = engine.program.blocks[size_t(called)];
  if (Error error =
          engine.readKey(target, arguments, numbersOf(step), control.key))
    return error;
  Frame *&frame = control.frames[place];
  if (frame && (&frame->block != &target || !frame->isFor(control.key))) {
    engine.giveBack(frame);
    frame = nullptr;
  }
  if (frame) {
    frame->release();
  } else {
    Expected<Frame *> taken = engine.takeFrame(target, control.key);
    if (!taken)
      return taken.takeError();
    frame = *taken;
  }
  if (Error error = engine.checkInputs(*frame, arguments))
    return error;
  Error error = frame->run(run, arguments);
  control.reports[place].raise(frame->report());
  return error;
}

/// Result `index` of a frame that was given `given`.
static void take(Carried &result, const Frame &frame, size_t index, int place,
                 std::span<const Carried> given) {
  result.tensor = frame.output(index);
  Source source = frame.outputSource(index);
  result.copy.reset();
  result.source = source;
  result.owner = source == kOwn ? place : -1;
  if (source >= 0 && size_t(source) < given.size()) {
    const Carried &from = given[size_t(source)];
    result.source = from.source;
    result.owner = from.owner;
    result.copy = from.copy;
  }
}

Error Frame::runControl(Run &run, size_t index) {
  const Step &step = block.steps[index];
  Control &control = controls[size_t(step.control)];
  control.results.resize(step.outputs.count);
  if (step.kind == plan::StepKind::While)
    return runWhile(run, step, control);
  std::span<const Tensor> inputs = inputsOf(step);
  int32_t called = step.blocks[0];
  int32_t shift = 0;
  if (step.kind == plan::StepKind::If) {
    Expected<bool> flag = readFlag(inputs[0]);
    if (!flag)
      return flag.takeError();
    called = step.blocks[*flag ? 0 : 1];
    inputs = inputs.subspan(1);
    shift = 1;
  }
  if (Error error = runBlock(run, step, control, 0, called, inputs))
    return error;
  for (size_t i = 0; i != control.results.size(); ++i) {
    Carried &result = control.results[i];
    take(result, *control.frames[0], i, 0, {});
    if (result.source >= 0)
      result.source = Source(result.source + shift);
  }
  return Error::success();
}

/// Copies what lies in the memory of the frame at `place`, which is to be run.
static Error rescue(Engine &engine, std::span<Carried> values, int place) {
  for (Carried &value : values) {
    if (value.owner != place)
      continue;
    Tensor copy(value.tensor.type, nullptr, value.tensor.shape());
    auto bytes = copy.size() * int64_t(byteSize(copy.type));
    value.copy = engine.results->take(size_t(bytes));
    if (!value.copy)
      return outOfMemory(engine, bytes);
    copy.data = value.copy.data();
    portable::copyElements(value.tensor, copy);
    value.tensor = copy;
    value.owner = -1;
    value.source = kOwn;
  }
  return Error::success();
}

Error Frame::runWhile(Run &run, const Step &step, Control &control) {
  constexpr int kCondition = 0;
  const Block &body = engine.program.blocks[size_t(step.blocks[1])];
  std::span<const Tensor> inputs = inputsOf(step);
  size_t numCarried = body.outputs.size();
  std::span<const Tensor> read = inputs.subspan(numCarried);
  std::vector<Carried> &given = control.next;
  std::vector<Carried> &results = control.results;
  given.resize(inputs.size());
  for (size_t i = 0; i != inputs.size(); ++i) {
    given[i].tensor = inputs[i];
    given[i].source = Source(int32_t(i));
    given[i].owner = -1;
    given[i].copy.reset();
  }
  // Both blocks are given what they only read after what is handed on.
  results.resize(step.outputs.count + read.size());
  std::copy(given.begin() + int64_t(numCarried), given.end(),
            results.begin() + int64_t(step.outputs.count));
  auto call = [&](int place, int32_t called, std::span<Carried> values) {
    if (Error error = rescue(engine, values, place))
      return error;
    control.arguments.resize(values.size());
    for (size_t i = 0; i != values.size(); ++i)
      control.arguments[i] = values[i].tensor;
    return runBlock(run, step, control, size_t(place), called,
                    control.arguments);
  };
  for (int turn = 0;; turn ^= 1) {
    if (Error error = run.takeSteps())
      return error;
    if (Error error = call(kCondition, step.blocks[0], given))
      return error;
    const Frame &condition = *control.frames[kCondition];
    for (size_t i = 0; i != step.outputs.count; ++i)
      take(results[i], condition, i + 1, kCondition, given);
    Expected<bool> goesOn = readFlag(condition.output(0));
    if (!goesOn)
      return goesOn.takeError();
    if (!*goesOn)
      return Error::success();
    int place = 1 + turn;
    if (Error error = call(place, step.blocks[1], results))
      return error;
    for (size_t i = 0; i != numCarried; ++i)
      take(given[i], *control.frames[size_t(place)], i, place, results);
  }
}

/// Lets buffers of this frame be what blocks returned, or copies it to where it
/// has to be: values of the stages from `first` on, before `end`.
Error Frame::takeResults(size_t index, size_t first, size_t end) {
  const Step &step = block.steps[index];
  if (step.control == -1)
    return Error::success();
  Control &control = controls[size_t(step.control)];
  std::span<const int32_t> outputs =
      step.outputs.of(std::as_const(block.slots));
  for (size_t i = 0; i != outputs.size(); ++i) {
    auto stage = size_t(block.values[size_t(outputs[i])].stage);
    if (stage < first || stage >= end)
      continue;
    const Carried &result = control.results[i];
    const Tensor &wanted = values[size_t(outputs[i])];
    size_t buffer = size_t(block.values[size_t(outputs[i])].buffer);
    if (!std::ranges::equal(result.tensor.shape(), wanted.shape()))
      return Error("a block returns " + result.tensor.describe() + " where " +
                   wanted.describe() + " is expected");
    bool isReturned = block.buffers[buffer].storage == plan::Storage::Returned;
    if (bytes[buffer] == 0)
      continue;
    if (isReturned && hasLayout(result.tensor, wanted)) {
      setBase(buffer, result.tensor.data);
      sources[buffer] = result.source;
      if (result.source >= 0) {
        int32_t given =
            block.slots[step.inputs.first + uint32_t(result.source)];
        sources[buffer] = sources[size_t(block.values[size_t(given)].buffer)];
      }
      continue;
    }
    if (isReturned) {
      memories[buffer] = engine.results->take(size_t(bytes[buffer]));
      if (!memories[buffer])
        return outOfMemory(engine, bytes[buffer]);
      setBase(buffer, memories[buffer].data());
      sources[buffer] = kOwn;
    }
    portable::copyElements(result.tensor, values[size_t(outputs[i])]);
  }
  return Error::success();
}

void Frame::releaseControl(Control &control) {
  for (Frame *&frame : control.frames)
    if (frame) {
      engine.giveBack(frame);
      frame = nullptr;
    }
  for (Carried &result : control.results)
    result.copy.reset();
  for (Carried &next : control.next)
    next.copy.reset();
}
