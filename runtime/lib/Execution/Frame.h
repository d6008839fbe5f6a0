// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block with sizes: shapes are numbers, kernels are chosen, and memory is
// laid out. Frames are built once for a set of sizes and run many times; one
// that is not needed any more is built anew for other sizes, in the memory that
// it has.

#ifndef CORTEN_RUNTIME_LIB_EXECUTION_FRAME_H
#define CORTEN_RUNTIME_LIB_EXECUTION_FRAME_H

#include "Groups.h"
#include "Placement.h"
#include "Program.h"
#include "Undo.h"

#include "corten/Runtime/Model.h"

#include "corten/Runtime/Mutex.h"

#include <atomic>

namespace corten::runtime::execution {

struct Engine;
class Frame;
class Guards;

/// That the condition of a step does not hold, with what it is about: `operand`
/// gives numbers, of which the condition is the first.
Error failedAssertion(const Step &step,
                      const std::function<int64_t(size_t)> &operand);

/// Where memory comes from that a block returns: an input of this number, or
/// one of these.
enum Source : int32_t { kOwn = -1, kPermanent = -2 };

/// What a call and everything in it share.
struct Run {
  uint64_t stepsLeft = 0;
  const StepObserver *observer = nullptr;
  /// Another thread sets it to end the call.
  const std::atomic<bool> *isCancelled = nullptr;
  bool wasCancelled = false;
  int depth = 0;
  /// What groups would have won, in nanoseconds, had threads been awake.
  double missed = 0;

  /// To be asked before so many steps: whether they may be taken.
  Error takeSteps(size_t count = 1) {
    if (isCancelled && isCancelled->load(std::memory_order_relaxed)) {
      wasCancelled = true;
      return Error("the call was cancelled");
    }
    if (stepsLeft < count)
      return Error("the call takes more steps than the limit allows");
    stepsLeft -= count;
    return Error::success();
  }
};

/// A value on its way from one block to the next.
struct Carried {
  Tensor tensor;
  Source source = kOwn;
  /// The place in Control::frames whose memory it is in; -1: none of them.
  int owner = -1;
  Memory copy;
};

/// What a step of control flow keeps from run to run.
struct Control {
  /// Of If and Call the first; of While the condition, and the body in turn.
  std::array<Frame *, 3> frames = {};
  std::array<FrameReport, 3> reports = {};
  std::vector<int64_t> key;
  std::vector<Carried> results;
  std::vector<Carried> next;
  std::vector<Tensor> arguments;
};

class Frame {
public:
  Frame(Engine &engine, const Block &block);
  ~Frame();

  const Block &block;

  /// The symbols of stage 0 that it was built for; none: for nothing.
  std::span<const int64_t> key() const {
    return {keyValues.data(), isBuilt ? keyValues.size() : 0};
  }
  bool isFor(std::span<const int64_t> key) const;
  /// Lays out everything that these symbols are enough for.
  Error build(std::span<const int64_t> key);
  /// Runs all steps. `targets` has, for each output of a function, where the
  /// memory for it is, or null.
  Error run(Run &run, std::span<const Tensor> inputs,
            std::span<char *const> targets = {});
  /// Runs those that can fail. All outputs have their shapes and their memory
  /// then, and takeBack() leaves states as they were.
  Error begin(Run &run, std::span<const Tensor> inputs,
              std::span<char *const> targets);
  /// Runs the others, which fail in the checking mode alone.
  Error finish(Run &run);
  void takeBack();
  /// After a run: gives back all memory.
  void release();

  const Tensor &input(size_t index) const {
    return values[size_t(block.inputs[index])];
  }
  const Tensor &output(size_t index) const {
    return values[size_t(block.outputs[index])];
  }
  Source outputSource(size_t index) const {
    return sources[size_t(block.values[size_t(block.outputs[index])].buffer)];
  }
  /// The memory of an output that is in a buffer of its own.
  const Memory &outputMemory(size_t index) const {
    return memories[size_t(block.values[size_t(block.outputs[index])].buffer)];
  }
  int64_t bufferBytes(size_t buffer) const { return bytes[buffer]; }
  FrameReport report() const;

private:
  friend class Guards;

  struct Stage {
    ArenaSizes sizes;
    /// Where buffers were bound to.
    char *base = nullptr;
    Memory memory;
    bool isLaidOut = false;
  };

  // Building.
  Error layOut(size_t stage);
  Error evaluateSizes(size_t stage);
  Error checkAssertions(size_t stage) const;
  Error fillValues(size_t stage);
  Error fillValue(size_t value);
  Error measureBuffers(size_t stage);
  Error checkInside(size_t value) const;
  Error fillSteps(size_t stage);
  Invocation invocationOf(size_t step, ThreadPool *pool);
  void chooseKernel(size_t step);
  void measureScratch(size_t step, ThreadPool *pool);
  void findGroups(size_t stage);
  Error placeBuffers(size_t stage);

  // Running.
  Error bindInputs(std::span<const Tensor> inputs);
  Error enterStage(size_t stage, std::span<char *const> targets);
  Error readSymbols(size_t stage);
  void setBase(size_t buffer, void *base);
  Error runSteps(Run &run, std::span<char *const> targets);
  Error checkLastSteps() const;
  Error runStep(Run &run, size_t index);
  bool isWorthThreads(Run &run, const Group &group);
  void runGroup(Run &run, const Group &group);
  void runStrand(const Strand &strand, bool isTimed);
  Error endStepOfGroup(Run &run, size_t index);
  Error rememberWrites(size_t index);
  Error runKernel(size_t index);
  Error runAssert(size_t index) const;
  Error endStep(size_t index);
  void observe(Run &run, size_t index, int64_t nanoseconds) const;
  Error explain(size_t index, Error error) const;

  // Control flow.
  Error runControl(Run &run, size_t index);
  Error runWhile(Run &run, const Step &step, Control &control);
  Error runBlock(Run &run, const Step &step, Control &control, size_t place,
                 int32_t block, std::span<const Tensor> arguments);
  Error takeResults(size_t index, size_t first, size_t end);
  void releaseControl(Control &control);

  std::span<const Tensor> inputsOf(const Step &step) const {
    return step.inputs.of(slots);
  }
  std::span<const int64_t> numbersOf(const Step &step) const {
    return step.numbers.of(numbers);
  }

  Engine &engine;
  bool isBuilt = false;
  std::vector<int64_t> keyValues;
  std::vector<int64_t> symbols;
  std::vector<int64_t> sizes;
  std::vector<Tensor> values;
  /// By value: where it begins in its buffer.
  std::vector<int64_t> byteOffsets;
  /// As Block::slots.
  std::vector<Tensor> slots;
  std::vector<int64_t> numbers;
  /// By buffer.
  std::vector<int64_t> bytes;
  std::vector<void *> bases;
  std::vector<Memory> memories;
  std::vector<Source> sources;
  /// By step; null: the portable kernel.
  std::vector<const KernelVariant *> variants;
  std::vector<int64_t> scratchBytes;
  /// By buffer, and then by step, for their scratch.
  std::vector<int64_t> offsets;
  std::vector<Stage> stages;
  std::vector<Piece> pieces;
  Placement placement;
  Groups groups;
  /// By step: about how many nanoseconds it takes one thread.
  std::vector<double> estimates;
  /// Of the group that has run: by step, how long it took, if somebody asked,
  /// and the first that failed in the order of the plan.
  std::vector<int64_t> times;
  Mutex failing;
  size_t failed = 0;
  Error failure;
  std::vector<Control> controls;
  /// Of a function's block.
  Undo undo;
  /// In the checking mode.
  std::unique_ptr<Guards> guards;
};

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_FRAME_H
