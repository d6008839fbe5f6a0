// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which steps of a block have to follow which. Memory decides: who reads a
// buffer follows those that wrote it, and who writes it all that touched it.
// Parts of one buffer are an exception; whether they are apart is known with
// their sizes only.

#include "Program.h"

using namespace corten::runtime;
using namespace corten::runtime::execution;

namespace {
class Dependencies {
public:
  explicit Dependencies(Block &block)
      : block(block), touches(block.buffers.size()) {}

  void find() {
    for (size_t i = 0; i != block.steps.size(); ++i) {
      Step &step = block.steps[i];
      step.canStandBeside = i < block.firstLastWrite && canStandBeside(step);
      for (int32_t value : step.inputs.of(std::as_const(block.slots)))
        if (value != -1)
          touch(int32_t(i), value, false);
      for (int32_t value : step.outputs.of(std::as_const(block.slots)))
        touch(int32_t(i), value, true);
    }
    block.dependencies = Lists::group(block.steps.size(), pairs);
  }

private:
  struct Touches {
    std::vector<int32_t> readers;
    std::vector<int32_t> writers;
    /// Those of some elements only.
    std::vector<int32_t> partWriters;
  };

  const Buffer &bufferOf(int32_t value) const {
    return block.buffers[size_t(block.values[size_t(value)].buffer)];
  }

  /// A kernel of ours that touches nothing but memory whose lifetime this block
  /// knows, and changes none of the inputs.
  bool canStandBeside(const Step &step) const {
    if (step.kind != plan::StepKind::Kernel || step.setsExtents ||
        step.foreign != -1)
      return false;
    auto isOurs = [&](int32_t value) {
      // What a block returned may lie where something else lies, and an arena
      // of an earlier stage has its places by now.
      const Buffer &buffer = bufferOf(value);
      return buffer.storage != plan::Storage::Returned &&
             (buffer.storage != plan::Storage::Arena ||
              buffer.stage == step.stage);
    };
    for (int32_t value : step.inputs.of(std::as_const(block.slots)))
      if (value != -1 && !isOurs(value))
        return false;
    for (int32_t value : step.outputs.of(std::as_const(block.slots)))
      if (!isOurs(value) || bufferOf(value).storage == plan::Storage::Input)
        return false;
    return true;
  }

  void follow(int32_t step, const std::vector<int32_t> &others) {
    for (size_t i = others.size(); i-- > 0;) {
      if (others[i] <= step - kFarthestBeside)
        return;
      if (others[i] != step)
        pairs.emplace_back(step, others[i]);
    }
  }

  void touch(int32_t step, int32_t number, bool writes) {
    const Value &value = block.values[size_t(number)];
    Touches &others = touches[size_t(value.buffer)];
    if (bufferOf(number).storage == plan::Storage::Constant)
      return;
    follow(step, others.writers);
    if (!writes || !value.hasStrides)
      follow(step, others.partWriters);
    if (!writes)
      return others.readers.push_back(step);
    follow(step, others.readers);
    (value.hasStrides ? others.partWriters : others.writers).push_back(step);
  }

  Block &block;
  std::vector<Touches> touches;
  std::vector<std::pair<int32_t, int32_t>> pairs;
};
} // namespace

void execution::findDependencies(Block &block) { Dependencies(block).find(); }
