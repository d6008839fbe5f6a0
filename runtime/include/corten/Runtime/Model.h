// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models: plans that are loaded and called.
//
//   auto model = Model::load("model.cplan");
//   Call call(*model, *(*model)->function("main"));
//   call.setInput("x", tensor);
//   call.run();
//   call.output(0).tensor();
//
// Nothing here throws. A model may be used by any number of threads at once; a
// call and a state by one at a time, but for Call::cancel().

#ifndef CORTEN_RUNTIME_MODEL_H
#define CORTEN_RUNTIME_MODEL_H

#include "corten/Runtime/Error.h"
#include "corten/Runtime/Foreign.h"
#include "corten/Runtime/Isa.h"
#include "corten/Runtime/Memory.h"
#include "corten/Runtime/Tensor.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corten::runtime {

namespace execution {
struct Engine;
struct StateData;
} // namespace execution

struct LoadOptions {
  /// How many threads kernels use, with the caller's; 0: as many as the process
  /// may run on.
  int threads = 0;
  /// How many bytes all arenas of the model may have at once; results and
  /// states may have as many again.
  size_t arenaLimit = size_t(-1);
  /// How many frames are kept for each block, one for each set of sizes.
  int frames = 8;
  /// Poisons memory that no tensor has, looks after every step whether it wrote
  /// where it must not, and has a second checker look at each frame. Without a
  /// choice, CORTEN_CHECK=1 says so.
  std::optional<bool> check;
  /// The instructions that kernels use. Without a choice, what CORTEN_ISA says,
  /// or what the CPU has.
  std::optional<Isa> isa;
  /// What products with constant weights are computed in where a program is
  /// compiled to be loaded: `bf16`, `int8`, or as it says; `fast_math`, alone
  /// or after a comma, allows less exact convolutions. A plan has what it was
  /// compiled with, and is not loaded with another.
  std::string precision;
  /// The asset, or its folder, if it is no longer where the plan says.
  std::string assetPath;
  /// The asset in memory. They must live as long as the model, or
  /// `assetOwner` keeps them.
  std::span<const std::byte> assetBytes;
  std::shared_ptr<const void> assetOwner;
  /// A file that keeps what is computed from weights when a plan is loaded. It
  /// is written if it is not there, or made for something else, and mapped.
  std::string preparedPath;
  /// How many elements a tensor may have, repeated ones too, and how many steps
  /// a call may take: bounds on the time that an unknown plan gets.
  int64_t elementLimit = int64_t(1) << 46;
  uint64_t stepLimit = uint64_t(-1);
  /// Makes code of kernels that the plan has as source. Without one such a plan
  /// is refused: loading data runs nothing.
  ForeignLoader foreign;
};

/// What a program says about an extent.
struct Axis {
  /// The symbol, or the expression, that stands for it; empty if it is fixed.
  std::string symbol;
  int64_t low = 0;
  int64_t high = 0;

  bool isFixed() const { return symbol.empty(); }
};

/// What a function takes or gives.
struct Parameter {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<Axis> axes;

  /// As in `f32[n, 3]`.
  std::string describe() const;
};

class Function {
public:
  const std::string &name() const { return label; }
  std::span<const Parameter> inputs() const { return inputList; }
  std::span<const Parameter> states() const { return stateList; }
  std::span<const Parameter> outputs() const { return outputList; }

private:
  friend class Model;
  friend class Call;
  std::string label;
  std::vector<Parameter> inputList;
  std::vector<Parameter> stateList;
  std::vector<Parameter> outputList;
  size_t index = 0;
};

/// A tensor and its memory, which lives as long as somebody holds it. Without
/// memory of its own it is a view of the caller's.
class Array {
public:
  Array() = default;
  Array(Tensor view, Memory memory) : view(view), memory(std::move(memory)) {}

  const Tensor &tensor() const { return view; }
  bool ownsMemory() const { return bool(memory); }

private:
  Tensor view;
  Memory memory;
};

/// What a model remembers between calls; starts as zeros. Functions that name
/// the same state can be called with the same object.
class State {
public:
  State(State &&) noexcept;
  State &operator=(State &&) noexcept;
  ~State();

  const std::string &name() const;
  /// For reading, while no call uses it.
  const Tensor &tensor() const;
  /// All zeros again.
  void reset();
  /// Takes over elements of the same type and shape, with any strides.
  Error write(const Tensor &from);
  /// One of its own, with the same contents. Large ones share memory until one
  /// of them is written to, where the system can do that.
  Expected<State> copy() const;
  /// Takes over all of another state, to where its axes begin; of the axis
  /// `rows`, only the row `from`, which becomes the row `to`. What the other
  /// one shares with its forks is shared with this one too, if large pieces of
  /// it stay in one piece.
  struct Row {
    size_t axis = 0;
    int64_t from = 0;
    int64_t to = 0;
  };
  Error adopt(const State &other, std::optional<Row> row = {});

  /// As long as it lives, calls that are run with the state fail.
  class Lock {
    friend class State;
    struct Release {
      void operator()(execution::StateData *data) const;
    };
    explicit Lock(execution::StateData *data) : held(data) {}
    std::unique_ptr<execution::StateData, Release> held;
  };
  /// Fails while a call runs with it. Whoever resets, writes or copies a state
  /// that calls of other threads use locks it first.
  Expected<Lock> lock() const;

private:
  friend class Model;
  friend class Call;
  explicit State(std::unique_ptr<execution::StateData> data);
  std::unique_ptr<execution::StateData> data;
};

/// The memory of a call: of the function, and of what its steps ran; of a block
/// that was run several times, the most.
struct FrameReport {
  /// What arenas took.
  int64_t arenaBytes = 0;
  /// What they would have taken if no tensors shared memory.
  int64_t tensorBytes = 0;
  /// The most that is needed at once: no arena can be smaller.
  int64_t lowerBound = 0;
  int64_t numSteps = 0;
  /// 1, and one more for each time that sizes became known on the way.
  int64_t numStages = 0;
  /// Of steps that are run side by side.
  int64_t numGroups = 0;

  /// The larger of both, each.
  void raise(const FrameReport &other);
};

/// A step that was run.
struct StepEvent {
  /// The kernel, or what else it is.
  std::string_view step;
  /// The variant that was chosen; empty: the portable kernel.
  std::string_view variant;
  /// The same each time that it is run.
  const void *identity = nullptr;
  /// Not control flow.
  bool isKernel = false;
  /// The line of the program that it comes from.
  std::string_view location;
  /// The path of the module that it comes from, and the numbers of the
  /// operations that it was made of.
  std::string_view module;
  std::span<const uint64_t> operations;
  std::span<const Tensor> inputs;
  std::span<const Tensor> outputs;
  /// How many operations on numbers it did; a multiplication with an addition
  /// is two.
  double arithmetic = 0;
  /// Control flow contains what it runs.
  int64_t nanoseconds = 0;
  int depth = 0;

  /// How many bytes it read and wrote; what repeats counts once, and control
  /// flow moves nothing by itself.
  int64_t bytes() const;
};
using StepObserver = std::function<void(const StepEvent &)>;

class Model : public std::enable_shared_from_this<Model> {
public:
  /// Maps a plan. Everything in it is checked before anything is run.
  static Expected<std::shared_ptr<Model>> load(const std::string &path,
                                               LoadOptions options = {});
  /// A plan in memory, which lives as long as the model, or is kept by `owner`.
  static Expected<std::shared_ptr<Model>>
  load(std::span<const std::byte> plan, LoadOptions options = {},
       std::shared_ptr<const void> owner = nullptr);
  ~Model();

  std::span<const Function> functions() const { return functionList; }
  /// Null if there is none of this name.
  const Function *function(std::string_view name) const;
  /// A state as a function declares it, with an extent for each axis; without
  /// `shape`, all of them must be fixed.
  Expected<State>
  createState(const Parameter &state,
              std::optional<std::span<const int64_t>> shape = {}) const;
  /// As one of the functions declares it; without `shape`, as all of them do.
  Expected<State>
  createState(std::string_view name,
              std::optional<std::span<const int64_t>> shape = {}) const;
  /// What the memory of a call of these shapes would be. Sizes that depend on
  /// data are left out.
  Expected<FrameReport>
  report(const Function &function,
         std::span<const std::vector<int64_t>> shapes) const;
  /// Gives idle memory back to the system.
  void trim() const;

private:
  friend class Call;
  Model();
  static Expected<std::shared_ptr<Model>>
  make(std::unique_ptr<execution::Engine> engine);
  std::unique_ptr<execution::Engine> engine;
  std::vector<Function> functionList;
};

/// Arguments and results of a function. Used again, it allocates nothing once
/// it has seen the sizes.
class Call {
public:
  Call(std::shared_ptr<Model> model, const Function &function);
  ~Call();
  Call(Call &&) noexcept;

  /// Inputs have any strides, and are only read.
  Error setInput(size_t index, const Tensor &tensor);
  Error setInput(std::string_view name, const Tensor &tensor);
  /// A state must live as long as it is set.
  Error setState(std::string_view name, State &state);
  /// Where a result is to be put; it has to have the result's shape.
  Error setOutput(size_t index, const Tensor &tensor);
  Error setOutput(std::string_view name, const Tensor &tensor);
  /// From the next run on.
  void setObserver(StepObserver observer);

  /// Forgets arguments and results, to be used for something else.
  void reset();

  /// If it fails, results are undefined, states are as they were, and the model
  /// can be used on.
  Error run();
  /// Whether the last run failed because arguments are missing or do not fit:
  /// nothing was run.
  bool wasRefused() const;

  /// Ends the run that is under way, or else the next one, before its next
  /// step: it fails. Can be called by any thread as long as the call lives.
  void cancel();
  /// Whether the last run failed because of that.
  bool wasCancelled() const;

  /// The two halves of run(), for those who decide in between whether it is to
  /// have happened. The first does all that can fail, and the call keeps its
  /// states to itself; then either finish(), which writes to them and gives the
  /// results, or abandon(), which leaves them as they were, has to follow.
  Error begin();
  Error finish();
  void abandon();

  size_t numOutputs() const;
  const Array &output(size_t index) const;
  /// Of the last run.
  const FrameReport &report() const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_MODEL_H
