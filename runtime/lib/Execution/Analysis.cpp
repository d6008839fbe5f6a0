// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be said about a block before sizes are known: when they become
// known, how long memory is needed, and what control flow does with what it is
// given.

#include "../Portable/Portable.h"
#include "Program.h"

#include <algorithm>
#include <numeric>

using namespace corten::runtime;
using namespace corten::runtime::execution;

Lists Lists::group(size_t count,
                   std::span<const std::pair<int32_t, int32_t>> pairs) {
  Lists lists;
  lists.starts.assign(count + 1, 0);
  for (const auto &[list, entry] : pairs)
    ++lists.starts[size_t(list) + 1];
  std::partial_sum(lists.starts.begin(), lists.starts.end(),
                   lists.starts.begin());
  lists.entries.resize(pairs.size());
  std::vector<uint32_t> next = lists.starts;
  for (const auto &[list, entry] : pairs)
    lists.entries[next[size_t(list)]++] = entry;
  return lists;
}

namespace {
class Analysis {
public:
  Analysis(const Program &program, Block &block)
      : program(program), block(block) {}

  Error run() {
    if (!findDefinitions() || !findStages() || !checkSymbols() ||
        !checkBlocks() || !findEffects())
      return Error(std::move(message));
    for (Step &step : block.steps)
      if (runsBlocks(step))
        step.control = block.numControls++;
    findLastWrites();
    findLifetimes();
    collectLists();
    findConflicts();
    findDependencies(block);
    return Error::success();
  }

private:
  bool fail(std::string text) {
    message = std::move(text);
    return false;
  }
  bool failAt(size_t step, std::string_view why) {
    return fail("step " + std::to_string(step) + " " + std::string(why));
  }

  std::span<const int32_t> inputsOf(const Step &step) const {
    return step.inputs.of(std::as_const(block.slots));
  }
  std::span<const int32_t> outputsOf(const Step &step) const {
    return step.outputs.of(std::as_const(block.slots));
  }
  Buffer &bufferOf(int32_t value) {
    return block.buffers[size_t(block.values[size_t(value)].buffer)];
  }
  const Block &child(const Step &step, size_t index) const {
    return program.blocks[size_t(step.blocks[index])];
  }
  static bool runsBlocks(const Step &step) { return step.blocks[0] != -1; }

  bool findDefinitions();
  bool findStages();
  bool findStageOfStep(size_t index);
  bool checkSymbols();
  bool checkBlocks();
  bool checkSignature(size_t step, const Block &called,
                      std::span<const int32_t> inputs, size_t numInputs,
                      std::span<const int32_t> outputs, size_t firstOutput);
  bool checkWhile(size_t index);
  bool checkAssert(size_t index);
  bool beginsWithFlag(std::span<const int32_t> inputs) const;
  bool findEffects();
  bool markWrites(size_t index, const Step &step);
  bool isPlainCopy(const Step &step);
  void findLastWrites();
  /// By output of the step: which of its inputs it may lie in.
  std::vector<std::vector<int32_t>> aliasesOf(const Step &step) const;
  void findLifetimes();
  void collectLists();
  void findConflicts();

  const Program &program;
  Block &block;
  std::string message;
  std::vector<int32_t> sizeStages;
  /// Steps, and values in the memory of inputs that they write to.
  std::vector<std::pair<int32_t, int32_t>> inputWrites;
};
} // namespace

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

bool Analysis::findDefinitions() {
  for (size_t i = 0; i != block.steps.size(); ++i) {
    const Step &step = block.steps[i];
    for (int32_t value : inputsOf(step))
      if (value != -1 && bufferOf(value).storage == plan::Storage::Returned &&
          bufferOf(value).definition == -1)
        return failAt(i, "reads what no block has returned yet");
    for (int32_t value : outputsOf(step)) {
      Buffer &buffer = bufferOf(value);
      if (buffer.storage != plan::Storage::Returned)
        continue;
      if (!runsBlocks(step) || buffer.definition != -1 ||
          block.values[size_t(value)].offset != -1)
        return failAt(i, "writes to memory that blocks return");
      buffer.definition = value;
    }
  }
  for (const Buffer &buffer : block.buffers)
    if (buffer.storage == plan::Storage::Returned && buffer.definition == -1)
      return fail("nothing returns a buffer that is said to be returned");
  return true;
}

bool Analysis::findStages() {
  // Before the first step is a place of its own.
  std::vector<int32_t> starts;
  for (const Symbol &symbol : block.symbols)
    if (symbol.source == plan::SymbolSource::Extent ||
        symbol.source == plan::SymbolSource::Element)
      starts.push_back(symbol.stage + 1);
  std::ranges::sort(starts);
  auto again = std::ranges::unique(starts);
  starts.erase(again.begin(), again.end());
  block.stageStarts = {0};
  block.stageStarts.insert(block.stageStarts.end(), starts.begin(),
                           starts.end());
  for (Symbol &symbol : block.symbols) {
    bool isLater = symbol.source == plan::SymbolSource::Extent ||
                   symbol.source == plan::SymbolSource::Element;
    symbol.stage =
        isLater
            ? 1 + int32_t(std::ranges::lower_bound(starts, symbol.stage + 1) -
                          starts.begin())
            : 0;
  }
  for (const plan::Size &size : block.sizes) {
    int32_t stage = 0;
    auto needs = [&](int64_t index) {
      stage = std::max(stage, sizeStages[size_t(index)]);
    };
    if (size.kind() == plan::SizeKind::Symbol)
      stage = block.symbols[size_t(size.value())].stage;
    else if (size.kind() != plan::SizeKind::Constant) {
      needs(size.left());
      needs(size.right());
      if (size.kind() == plan::SizeKind::Select)
        needs(size.value());
    }
    sizeStages.push_back(stage);
  }
  for (Value &value : block.values) {
    uint32_t count = value.hasStrides ? 2u * value.rank : value.rank;
    for (uint32_t i = 0; i != count; ++i)
      value.stage = std::max(
          value.stage, sizeStages[size_t(block.valueSizes[value.sizes + i])]);
    if (value.offset != -1)
      value.stage = std::max(value.stage, sizeStages[size_t(value.offset)]);
  }
  for (Buffer &buffer : block.buffers) {
    if (buffer.bytes != -1)
      buffer.stage = sizeStages[size_t(buffer.bytes)];
    if (buffer.definition != -1)
      buffer.stage = block.values[size_t(buffer.definition)].stage;
  }
  for (Value &value : block.values)
    value.stage =
        std::max(value.stage, block.buffers[size_t(value.buffer)].stage);
  for (int32_t input : block.inputs)
    if (block.values[size_t(input)].stage != 0)
      return fail("the shape of an input depends on what is computed");
  for (size_t i = 0; i != block.steps.size(); ++i)
    if (!findStageOfStep(i))
      return false;
  for (int32_t output : block.outputs)
    if (block.stageStarts[size_t(block.values[size_t(output)].stage)] >
        int32_t(block.steps.size()))
      return fail("the shape of an output never becomes known");
  return true;
}

bool Analysis::findStageOfStep(size_t index) {
  Step &step = block.steps[index];
  auto needs = [&](int32_t value) {
    if (value != -1)
      step.stage = std::max(step.stage, block.values[size_t(value)].stage);
  };
  for (int32_t value : inputsOf(step))
    needs(value);
  for (int32_t value : outputsOf(step)) {
    if (bufferOf(value).storage != plan::Storage::Returned)
      needs(value);
    else if (block.stageStarts[size_t(block.values[size_t(value)].stage)] >
             int32_t(index) + 1)
      return failAt(index, "returns what has no size afterwards");
  }
  for (int32_t size : step.numbers.of(std::as_const(block.numbers)))
    step.stage = std::max(step.stage, sizeStages[size_t(size)]);
  if (block.stageStarts[size_t(step.stage)] > int32_t(index))
    return failAt(index, "uses a size before it is known");
  return true;
}

bool Analysis::checkSymbols() {
  for (const Symbol &symbol : block.symbols) {
    if (symbol.stage == 0)
      continue;
    const Value &value = block.values[size_t(symbol.index)];
    int32_t index = block.stageStarts[size_t(symbol.stage)] - 1;
    const Buffer &buffer = block.buffers[size_t(value.buffer)];
    if (symbol.source == plan::SymbolSource::Extent) {
      Step &step = block.steps[size_t(index)];
      if (std::ranges::find(outputsOf(step), symbol.index) ==
          outputsOf(step).end())
        return fail("symbol '" + symbol.name +
                    "' is of a value that its step does not give");
      if (!runsBlocks(step))
        step.setsExtents = true;
      else if (buffer.storage != plan::Storage::Returned)
        return fail("symbol '" + symbol.name +
                    "' is of a value that is not returned");
      if (value.stage > symbol.stage ||
          (value.stage == symbol.stage && !runsBlocks(step)))
        return fail("symbol '" + symbol.name + "' depends on itself");
      continue;
    }
    bool isThere = buffer.storage == plan::Storage::Input ||
                   buffer.storage == plan::Storage::Constant;
    if (value.stage >= symbol.stage || (index < 0 && !isThere))
      return fail("symbol '" + symbol.name +
                  "' is of a value that is not there yet");
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Values that become those of another block are of the same type and rank.
static bool agree(const Block &block, int32_t value, const Block &other,
                  int32_t otherValue) {
  const Value &a = block.values[size_t(value)];
  const Value &b = other.values[size_t(otherValue)];
  return a.type == b.type && a.rank == b.rank;
}

/// That `called` takes `inputs`, of which there are `numInputs`, and gives
/// `outputs` from its `firstOutput` on.
bool Analysis::checkSignature(size_t step, const Block &called,
                              std::span<const int32_t> inputs, size_t numInputs,
                              std::span<const int32_t> outputs,
                              size_t firstOutput) {
  bool isRight =
      called.inputs.size() == numInputs &&
      called.outputs.size() == firstOutput + outputs.size() &&
      size_t(called.sizeArguments) == block.steps[step].numbers.count;
  for (size_t i = 0; isRight && i != inputs.size(); ++i)
    isRight = agree(block, inputs[i], called, called.inputs[i]);
  for (size_t i = 0; isRight && i != outputs.size(); ++i)
    isRight = agree(block, outputs[i], called, called.outputs[firstOutput + i]);
  return isRight || failAt(step, "runs a block of another signature");
}

bool Analysis::checkWhile(size_t index) {
  const Step &step = block.steps[index];
  std::span<const int32_t> inputs = inputsOf(step);
  std::span<const int32_t> outputs = outputsOf(step);
  const Block &condition = child(step, 0);
  const Block &body = child(step, 1);
  size_t numCarried = body.outputs.size();
  if (numCarried > inputs.size())
    return failAt(index, "carries more than it is given");
  size_t numRead = inputs.size() - numCarried;
  if (!checkSignature(index, condition, inputs, inputs.size(), outputs, 1) ||
      !checkSignature(index, body, {}, outputs.size() + numRead, {},
                      numCarried))
    return false;
  const Value &flag = condition.values[size_t(condition.outputs[0])];
  bool isRight = flag.type == ElementType::Bool;
  for (size_t i = 0; isRight && i != outputs.size(); ++i)
    isRight = agree(block, outputs[i], body, body.inputs[i]);
  for (size_t i = 0; isRight && i != numRead; ++i)
    isRight = agree(block, inputs[numCarried + i], body,
                    body.inputs[outputs.size() + i]);
  for (size_t i = 0; isRight && i != numCarried; ++i)
    isRight = agree(body, body.outputs[i], condition, condition.inputs[i]);
  // What is carried may turn out to be a constant.
  for (size_t i = 0; isRight && i != numCarried; ++i)
    isRight = !condition.effects.writes[i];
  for (size_t i = 0; isRight && i != outputs.size(); ++i)
    isRight = !body.effects.writes[i];
  return isRight || failAt(index, "is a loop whose blocks do not fit");
}

bool Analysis::beginsWithFlag(std::span<const int32_t> inputs) const {
  return !inputs.empty() &&
         block.values[size_t(inputs[0])].type == ElementType::Bool;
}

bool Analysis::checkAssert(size_t index) {
  const Step &step = block.steps[index];
  std::span<const int32_t> inputs = inputsOf(step);
  if (step.assertsSize() ? step.numbers.count == 0 : !beginsWithFlag(inputs))
    return failAt(index, "has no condition");
  size_t numOperands = step.assertsSize() ? step.numbers.count : inputs.size();
  bool isRight =
      step.outputs.count == 0 && numOperands == 1 + step.names.size();
  for (int32_t value : inputs)
    isRight &= portable::indexReader(block.values[size_t(value)].type) ||
               value == inputs[0];
  return isRight || failAt(index, "asserts what it has no names for");
}

bool Analysis::checkBlocks() {
  for (size_t i = 0; i != block.steps.size(); ++i) {
    const Step &step = block.steps[i];
    std::span<const int32_t> inputs = inputsOf(step);
    std::span<const int32_t> outputs = outputsOf(step);
    switch (step.kind) {
    case plan::StepKind::If:
      if (!beginsWithFlag(inputs))
        return failAt(i, "has no condition");
      for (size_t branch : {0, 1})
        if (!checkSignature(i, child(step, branch), inputs.subspan(1),
                            inputs.size() - 1, outputs, 0))
          return false;
      break;
    case plan::StepKind::Call:
      if (!checkSignature(i, child(step, 0), inputs, inputs.size(), outputs, 0))
        return false;
      break;
    case plan::StepKind::While:
      if (!checkWhile(i))
        return false;
      break;
    case plan::StepKind::Assert:
      if (!checkAssert(i))
        return false;
      break;
    case plan::StepKind::Kernel:
      break;
    }
  }
  return true;
}

std::vector<std::vector<int32_t>> Analysis::aliasesOf(const Step &step) const {
  using Sets = std::vector<std::vector<int32_t>>;
  auto add = [](std::vector<int32_t> &set, int32_t input) {
    auto place = std::ranges::lower_bound(set, input);
    if (place != set.end() && *place == input)
      return false;
    set.insert(place, input);
    return true;
  };
  Sets result(step.outputs.count);
  if (step.kind != plan::StepKind::While) {
    int32_t shift = step.kind == plan::StepKind::If ? 1 : 0;
    for (int32_t called : step.blocks)
      for (size_t i = 0; called != -1 && i != result.size(); ++i)
        for (int32_t input : program.blocks[size_t(called)].effects.aliases[i])
          add(result[i], input + shift);
    return result;
  }
  // What a block gives, when it is given memory of these inputs of the step.
  const Effects &condition = child(step, 0).effects;
  const Effects &body = child(step, 1).effects;
  Sets carried(body.aliases.size());
  for (size_t i = 0; i != carried.size(); ++i)
    carried[i] = {int32_t(i)};
  auto pass = [&](const Sets &given, const std::vector<int32_t> &aliases,
                  std::vector<int32_t> &into) {
    bool changed = false;
    for (int32_t input : aliases) {
      if (size_t(input) >= given.size()) {
        changed |=
            add(into, input - int32_t(given.size()) + int32_t(carried.size()));
        continue;
      }
      std::vector<int32_t> sources = given[size_t(input)];
      for (int32_t source : sources)
        changed |= add(into, source);
    }
    return changed;
  };
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t i = 0; i != result.size(); ++i)
      changed |= pass(carried, condition.aliases[i + 1], result[i]);
    for (size_t i = 0; i != carried.size(); ++i)
      changed |= pass(result, body.aliases[i], carried[i]);
  }
  return result;
}

bool Analysis::markWrites(size_t index, const Step &step) {
  auto mark = [&](int32_t value, bool isOwn) {
    const Buffer &buffer = bufferOf(value);
    switch (buffer.storage) {
    case plan::Storage::Input: {
      auto input = size_t(buffer.index);
      block.effects.writes[input] = true;
      // Blocks write anywhere to what they are given.
      inputWrites.emplace_back(int32_t(index),
                               isOwn ? value : block.inputs[input]);
      return true;
    }
    case plan::Storage::Constant:
      return failAt(index, "writes to a constant");
    case plan::Storage::Returned:
      return isOwn || failAt(index, "writes to memory that blocks return");
    default:
      return true;
    }
  };
  for (int32_t value : outputsOf(step))
    if (!mark(value, true))
      return false;
  for (size_t which = 0; which != 2 && step.blocks[which] != -1; ++which) {
    const Block &called = child(step, which);
    std::span<const int32_t> inputs = inputsOf(step);
    if (step.kind == plan::StepKind::If)
      inputs = inputs.subspan(1);
    // What a loop's body only reads comes after what it is given in turn.
    if (step.kind == plan::StepKind::While)
      inputs = inputs.subspan(child(step, 1).outputs.size());
    size_t skipped = called.inputs.size() - inputs.size();
    for (size_t i = 0; i != inputs.size(); ++i)
      if (called.effects.writes[skipped + i] && !mark(inputs[i], false))
        return false;
  }
  return true;
}

bool Analysis::findEffects() {
  block.effects.writes.resize(block.inputs.size());
  std::vector<std::vector<int32_t>> sources(block.buffers.size());
  for (size_t i = 0; i != block.buffers.size(); ++i)
    if (block.buffers[i].storage == plan::Storage::Input)
      sources[i] = {block.buffers[i].index};
  for (size_t i = 0; i != block.steps.size(); ++i) {
    const Step &step = block.steps[i];
    if (!markWrites(i, step))
      return false;
    if (!runsBlocks(step))
      continue;
    std::vector<std::vector<int32_t>> aliases = aliasesOf(step);
    for (size_t o = 0; o != aliases.size(); ++o) {
      int32_t output = outputsOf(step)[o];
      if (bufferOf(output).storage != plan::Storage::Returned)
        continue;
      std::vector<int32_t> &into =
          sources[size_t(block.values[size_t(output)].buffer)];
      for (int32_t input : aliases[o]) {
        const std::vector<int32_t> &from = sources[size_t(
            block.values[size_t(inputsOf(step)[size_t(input)])].buffer)];
        into.insert(into.end(), from.begin(), from.end());
      }
      std::ranges::sort(into);
      auto again = std::ranges::unique(into);
      into.erase(again.begin(), again.end());
    }
  }
  for (int32_t output : block.outputs)
    block.effects.aliases.push_back(
        sources[size_t(block.values[size_t(output)].buffer)]);
  return true;
}

/// One that does not fail where both shapes are equal.
bool Analysis::isPlainCopy(const Step &step) {
  return step.kind == plan::StepKind::Kernel &&
         step.kernel == PortableKernel::Copy &&
         agree(block, inputsOf(step)[0], block, outputsOf(step)[0]);
}

void Analysis::findLastWrites() {
  auto writesToInput = [&](const Step &step) {
    return bufferOf(outputsOf(step)[0]).storage == plan::Storage::Input;
  };
  // Where a stage begins, sizes may turn out to be wrong.
  auto lastStage = size_t(block.stageStarts.back());
  block.firstLastWrite = block.steps.size();
  for (size_t i = block.steps.size();
       i > lastStage && isPlainCopy(block.steps[i - 1]); --i)
    if (writesToInput(block.steps[i - 1]))
      block.firstLastWrite = i - 1;
  std::erase_if(inputWrites, [&](std::pair<int32_t, int32_t> write) {
    return size_t(write.first) >= block.firstLastWrite;
  });
  block.earlyWrites = Lists::group(block.steps.size(), inputWrites);
}

//===----------------------------------------------------------------------===//
// Lifetimes
//===----------------------------------------------------------------------===//

void Analysis::findLifetimes() {
  auto touch = [&](int32_t value, int32_t step) {
    if (value == -1)
      return;
    Buffer &buffer = bufferOf(value);
    buffer.first = std::min(buffer.first, step);
    buffer.last = std::max(buffer.last, step);
  };
  for (size_t i = 0; i != block.steps.size(); ++i)
    for (std::span<const int32_t> operands :
         {inputsOf(block.steps[i]), outputsOf(block.steps[i])})
      for (int32_t value : operands)
        touch(value, int32_t(i));
  for (const Symbol &symbol : block.symbols)
    if (symbol.source == plan::SymbolSource::Element)
      touch(symbol.index, block.stageStarts[size_t(symbol.stage)] - 1);
  for (int32_t output : block.outputs)
    touch(output, int32_t(block.steps.size()));
  // From the end: what is returned may be given to a block again.
  for (size_t i = block.steps.size(); i-- > 0;) {
    const Step &step = block.steps[i];
    if (!runsBlocks(step))
      continue;
    std::vector<std::vector<int32_t>> aliases = aliasesOf(step);
    for (size_t o = 0; o != aliases.size(); ++o) {
      const Buffer &returned = bufferOf(outputsOf(step)[o]);
      if (returned.storage == plan::Storage::Returned)
        for (int32_t input : aliases[o])
          touch(inputsOf(step)[size_t(input)], returned.last);
    }
  }
}

void Analysis::collectLists() {
  using Pairs = std::vector<std::pair<int32_t, int32_t>>;
  size_t numStages = block.numStages();
  auto byStage = [&](const auto &list) {
    Pairs pairs;
    for (size_t i = 0; i != list.size(); ++i)
      pairs.emplace_back(list[i].stage, int32_t(i));
    return Lists::group(numStages, pairs);
  };
  block.symbolsOfStage = byStage(block.symbols);
  block.valuesOfStage = byStage(block.values);
  block.stepsOfStage = byStage(block.steps);
  Pairs sizes;
  for (size_t i = 0; i != sizeStages.size(); ++i)
    sizes.emplace_back(sizeStages[i], int32_t(i));
  block.sizesOfStage = Lists::group(numStages, sizes);
  Pairs buffers;
  Pairs dying;
  for (size_t i = 0; i != block.buffers.size(); ++i) {
    const Buffer &buffer = block.buffers[i];
    if (buffer.storage != plan::Storage::Input &&
        buffer.storage != plan::Storage::Constant)
      buffers.emplace_back(buffer.stage, int32_t(i));
    if (buffer.isTouched() && buffer.last >= 0 &&
        size_t(buffer.last) < block.steps.size())
      dying.emplace_back(buffer.last, int32_t(i));
  }
  block.buffersOfStage = Lists::group(numStages, buffers);
  block.dyingAfter = Lists::group(block.steps.size(), dying);
  Pairs released;
  for (size_t i = 0; i != block.steps.size(); ++i) {
    if (!runsBlocks(block.steps[i]))
      continue;
    int32_t last = int32_t(i);
    for (int32_t output : outputsOf(block.steps[i]))
      if (bufferOf(output).storage == plan::Storage::Returned)
        last = std::max(last, bufferOf(output).last);
    if (size_t(last) < block.steps.size())
      released.emplace_back(last, block.steps[i].control);
  }
  block.releasedAfter = Lists::group(block.steps.size(), released);
  Pairs values;
  for (size_t i = 0; i != block.values.size(); ++i)
    values.emplace_back(block.values[i].buffer, int32_t(i));
  block.valuesOfBuffer = Lists::group(block.buffers.size(), values);
  Pairs slots;
  for (size_t i = 0; i != block.slots.size(); ++i)
    if (block.slots[i] != -1)
      slots.emplace_back(block.slots[i], int32_t(i));
  block.slotsOfValue = Lists::group(block.values.size(), slots);
}

void Analysis::findConflicts() {
  // Long lists are searched no faster than everything.
  constexpr size_t kMostPerBuffer = 256;
  int32_t numBuffers = int32_t(block.buffers.size());
  size_t most = kMostPerBuffer * (block.buffers.size() + block.steps.size());
  std::vector<std::pair<int32_t, int32_t>> begins;
  for (int32_t i = 0; i != numBuffers; ++i) {
    const Buffer &buffer = block.buffers[size_t(i)];
    if (buffer.storage == plan::Storage::Arena && buffer.isTouched())
      begins.emplace_back(std::max(buffer.first, 0), i);
  }
  std::ranges::sort(begins);
  std::vector<std::pair<int32_t, int32_t>> pairs;
  auto add = [&](int32_t a, int32_t b) {
    pairs.emplace_back(a, b);
    pairs.emplace_back(b, a);
  };
  std::vector<int32_t> live;
  auto next = begins.begin();
  for (int32_t step = 0; step <= int32_t(block.steps.size()); ++step) {
    std::erase_if(live, [&](int32_t buffer) {
      return block.buffers[size_t(buffer)].last < step;
    });
    for (; next != begins.end() && next->first == step; ++next) {
      for (int32_t other : live)
        if (block.buffers[size_t(other)].stage ==
            block.buffers[size_t(next->second)].stage)
          add(next->second, other);
      live.push_back(next->second);
    }
    if (step == int32_t(block.steps.size()))
      break;
    for (int32_t buffer : live)
      if (block.buffers[size_t(buffer)].stage ==
          block.steps[size_t(step)].stage)
        add(numBuffers + step, buffer);
    if (pairs.size() > most)
      return;
  }
  block.conflicts =
      Lists::group(block.buffers.size() + block.steps.size(), pairs);
}

Error execution::analyzeBlock(const Program &program, Block &block) {
  return Analysis(program, block).run();
}
