// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Engine.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

using namespace corten::runtime;
using namespace corten::runtime::execution;

static bool isCheckingByDefault() {
  const char *text = std::getenv("CORTEN_CHECK");
  return text && std::string_view(text) == "1";
}

Engine::Engine(LoadOptions given, Program loaded)
    : options(std::move(given)), program(std::move(loaded)),
      check(options.check.value_or(isCheckingByDefault())),
      arenas(std::make_shared<MemoryPool>(options.arenaLimit)),
      results(std::make_shared<MemoryPool>(options.arenaLimit)),
      constants(program.constants.size()), idle(program.blocks.size()) {
  options.frames = std::max(options.frames, 1);
}

Engine::~Engine() {
  // Frames give their memory back to what is destroyed after them.
  idle.clear();
}

Error Engine::choose(int threads) {
  Expected<Isa> chosen =
      options.isa ? Expected<Isa>(*options.isa) : chooseIsa();
  if (!chosen)
    return chosen.takeError();
  isa = *chosen;
  pool = ThreadPool::shared(threads);
  variants.resize(portableKernels().size());
  for (const KernelVariant *variant : kernelVariants())
    if (variant->isa <= isa)
      variants[size_t(variant->kernel)].push_back(variant);
  return Error::success();
}

/// The line of the program that calls a kernel first, as errors begin with it.
static std::string lineOf(const Program &program, size_t foreign) {
  for (const Block &block : program.blocks)
    for (const Step &step : block.steps)
      if (step.foreign == int32_t(foreign) && !step.location.empty())
        return step.location + ": ";
  return {};
}

Error Engine::loadForeign() {
  for (const ForeignSource &source : program.foreign) {
    if (!options.foreign)
      return Error("the plan brings the kernel '" + source.name +
                   "' as source in " + source.language +
                   ", and it was not said that it may be compiled and run: "
                   "load the asset, or allow it (corten run --metal-kernels, "
                   "corten.load(metal_kernels=True), LoadOptions::foreign)");
    Expected<std::shared_ptr<const ForeignKernel>> made =
        options.foreign(source);
    if (!made)
      return Error(lineOf(program, foreign.size()) +
                   made.takeError().message());
    foreign.push_back(std::move(*made));
  }
  return Error::success();
}

std::string Engine::nameOfInput(const Block &block, size_t index) const {
  for (const EntryPoint &function : program.functions) {
    if (&program.blocks[size_t(function.block)] != &block)
      continue;
    if (index < function.inputs.size())
      return "input '" + function.inputs[index].name + "'";
    return "state '" + function.states[index - function.inputs.size()].name +
           "'";
  }
  return "input " + std::to_string(index) + " of a block";
}

Error Engine::readKey(const Block &block, std::span<const Tensor> inputs,
                      std::span<const int64_t> arguments,
                      std::vector<int64_t> &key) const {
  key.clear();
  for (int32_t index : block.symbolsOfStage[0]) {
    const Symbol &symbol = block.symbols[size_t(index)];
    bool isExtent = symbol.source == plan::SymbolSource::InputExtent;
    int64_t number =
        isExtent ? inputs[size_t(symbol.index)].extents[size_t(symbol.axis)]
                 : arguments[size_t(symbol.index)];
    key.push_back(number);
    if (number >= symbol.low && number <= symbol.high)
      continue;
    std::string text = isExtent
                           ? nameOfInput(block, size_t(symbol.index)) + " is " +
                                 inputs[size_t(symbol.index)].describe() +
                                 ": axis " + std::to_string(symbol.axis)
                           : "a size that a block is given";
    return Error(text + " has to be at least " + std::to_string(symbol.low) +
                 (symbol.high == INT64_MAX
                      ? ""
                      : " and at most " + std::to_string(symbol.high)) +
                 (symbol.name.empty() ? "" : " ('" + symbol.name + "')"));
  }
  return Error::success();
}

Error Engine::checkInputs(const Frame &frame,
                          std::span<const Tensor> inputs) const {
  for (size_t i = 0; i != inputs.size(); ++i)
    if (!std::ranges::equal(inputs[i].shape(), frame.input(i).shape()))
      return Error(nameOfInput(frame.block, i) + " is " + inputs[i].describe() +
                   ", and has to be " + frame.input(i).describe());
  return Error::success();
}

Expected<Frame *> Engine::takeFrame(const Block &block,
                                    std::span<const int64_t> key) {
  std::unique_ptr<Frame> frame;
  {
    std::lock_guard lock(mutex);
    auto &waiting = idle[size_t(&block - program.blocks.data())];
    auto found = std::find_if(
        waiting.rbegin(), waiting.rend(),
        [&](const std::unique_ptr<Frame> &other) { return other->isFor(key); });
    if (found != waiting.rend()) {
      Frame *result = found->release();
      waiting.erase(std::next(found).base());
      return result;
    }
    // The one that was not used for longest is built anew.
    if (waiting.size() >= size_t(options.frames)) {
      frame = std::move(waiting.front());
      waiting.erase(waiting.begin());
    }
  }
  if (!frame)
    frame = std::make_unique<Frame>(*this, block);
  if (Error error = frame->build(key)) {
    giveBack(frame.release());
    return error;
  }
  return frame.release();
}

void Engine::giveBack(Frame *frame) {
  frame->release();
  std::unique_ptr<Frame> dropped;
  std::lock_guard lock(mutex);
  auto &waiting = idle[size_t(&frame->block - program.blocks.data())];
  if (waiting.capacity() <= size_t(options.frames))
    waiting.reserve(size_t(options.frames) + 1);
  waiting.emplace_back(frame);
  if (waiting.size() > size_t(options.frames)) {
    dropped = std::move(waiting.front());
    waiting.erase(waiting.begin());
  }
}
