// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C++ interface of the engine, over the C one: it is all in this header, so
// it works with every compiler and standard library, from C++17 on.
//
//   auto engine = corten::Engine::load("model.cplan");
//   auto call = engine->call("main");
//   call->setInput("x", corten::Tensor(data, {1, 3}));
//   call->run();
//   auto y = call->output(0);
//
// A function that can fail returns a Result; nothing throws but allocation. An
// engine may be used by any number of threads at once, a call, an array and a
// state by one at a time, but for Call::cancel().

#ifndef CORTEN_API_ENGINE_H
#define CORTEN_API_ENGINE_H

#include "corten/API/Result.h"
#include "corten/C/Engine.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace corten {
inline namespace api_v0 {

/// The element type of a C++ type; specialize it for types of your own.
template <typename T> struct ElementTypeOf;
#define CORTEN_ELEMENT(TYPE, ELEMENT)                                          \
  template <> struct ElementTypeOf<TYPE> {                                     \
    static constexpr CortenElementType value = ELEMENT;                        \
  };
CORTEN_ELEMENT(bool, CORTEN_BOOL)
CORTEN_ELEMENT(std::int8_t, CORTEN_SI8)
CORTEN_ELEMENT(std::int16_t, CORTEN_SI16)
CORTEN_ELEMENT(std::int32_t, CORTEN_SI32)
CORTEN_ELEMENT(std::int64_t, CORTEN_SI64)
CORTEN_ELEMENT(std::uint8_t, CORTEN_UI8)
CORTEN_ELEMENT(std::uint16_t, CORTEN_UI16)
CORTEN_ELEMENT(std::uint32_t, CORTEN_UI32)
CORTEN_ELEMENT(std::uint64_t, CORTEN_UI64)
CORTEN_ELEMENT(float, CORTEN_F32)
CORTEN_ELEMENT(double, CORTEN_F64)
#undef CORTEN_ELEMENT

/// A strided view of memory that somebody else owns.
class Tensor {
public:
  /// More axes than any program has.
  static constexpr std::size_t kMaxRank = 16;

  Tensor() = default;
  /// Row-major elements of a C++ type. What is only read may be constant.
  template <typename T>
  Tensor(T *data, std::initializer_list<std::int64_t> shape)
      : Tensor(data, std::vector<std::int64_t>(shape)) {}
  template <typename T>
  Tensor(T *data, const std::vector<std::int64_t> &shape)
      : Tensor(ElementTypeOf<std::remove_const_t<T>>::value, data, shape) {}
  /// Elements of any type; strides count elements, none: row-major.
  Tensor(CortenElementType type, const void *data,
         const std::vector<std::int64_t> &shape,
         const std::vector<std::int64_t> &strides = {})
      : memory(const_cast<void *>(data)), type(type), axes(shape.size()),
        isStrided(!strides.empty()) {
    copy(shape, extents);
    copy(strides, steps);
  }
  explicit Tensor(const CortenTensor &from)
      : memory(from.data), type(from.elementType), axes(from.rank),
        isStrided(from.strides != nullptr) {
    std::copy_n(from.shape, std::min(axes, kMaxRank), extents.begin());
    if (isStrided)
      std::copy_n(from.strides, std::min(axes, kMaxRank), steps.begin());
  }

  CortenElementType elementType() const { return type; }
  std::vector<std::int64_t> shape() const {
    return {extents.begin(), extents.begin() + std::min(axes, kMaxRank)};
  }
  /// Also of what was given without.
  std::vector<std::int64_t> strides() const {
    std::vector<std::int64_t> result(std::min(axes, kMaxRank));
    std::int64_t next = 1;
    for (std::size_t i = result.size(); i-- > 0; next *= extents[i])
      result[i] = isStrided ? steps[i] : next;
    return result;
  }
  std::size_t rank() const { return axes; }
  std::int64_t size() const {
    std::int64_t result = 1;
    for (std::size_t i = 0; i < std::min(axes, kMaxRank); ++i)
      result *= extents[i];
    return result;
  }
  /// Whether elements lie one after the other in row-major order.
  bool isContiguous() const {
    std::int64_t next = 1;
    for (std::size_t i = std::min(axes, kMaxRank); i-- > 0; next *= extents[i])
      if (isStrided && extents[i] > 1 && steps[i] != next)
        return false;
    return true;
  }
  void *data() const { return memory; }
  /// Null if the elements are of another type.
  template <typename T> T *as() const {
    return ElementTypeOf<std::remove_const_t<T>>::value == type
               ? static_cast<T *>(memory)
               : nullptr;
  }

  /// Points into this one.
  CortenTensor c() const {
    return {sizeof(CortenTensor),
            memory,
            type,
            axes,
            extents.data(),
            isStrided ? steps.data() : nullptr};
  }

private:
  static void copy(const std::vector<std::int64_t> &from,
                   std::array<std::int64_t, kMaxRank> &to) {
    // The engine refuses tensors with more axes: they count, and are not kept.
    std::copy_n(from.begin(), std::min(from.size(), kMaxRank), to.begin());
  }

  void *memory = nullptr;
  CortenElementType type = CORTEN_F32;
  std::size_t axes = 0;
  bool isStrided = false;
  std::array<std::int64_t, kMaxRank> extents = {};
  std::array<std::int64_t, kMaxRank> steps = {};
};

/// An input, output or state of a function.
struct Parameter {
  std::string name;
  CortenElementType elementType = CORTEN_F32;
  std::vector<Dimension> shape;
  /// The name, or the expression, of the size of each axis; empty if fixed.
  std::vector<std::string> symbols;
  /// All of it for a reader: "f32[n, 3]".
  std::string description;
};

/// A function of a model, which lives as long as its engine.
class Function {
public:
  explicit Function(const CortenFunction *function) : handle(function) {}

  std::string name() const { return cortenFunctionName(handle); }
  std::vector<Parameter> inputs() const { return parameters(CORTEN_INPUT); }
  std::vector<Parameter> outputs() const { return parameters(CORTEN_OUTPUT); }
  std::vector<Parameter> states() const { return parameters(CORTEN_STATE); }
  const CortenFunction *c() const { return handle; }

private:
  std::vector<Parameter> parameters(CortenRole role) const {
    std::vector<Parameter> result;
    std::size_t count = cortenFunctionParameterCount(handle, role);
    for (std::size_t i = 0; i < count; ++i) {
      CortenParameter from = {};
      from.size = sizeof(from);
      // Numbers below the count are right.
      cortenErrorFree(cortenFunctionParameter(handle, role, i, &from));
      Parameter to{from.name, from.elementType, {}, {}, from.description};
      for (std::size_t axis = 0; axis < from.rank; ++axis) {
        to.shape.push_back(detail::dimension(from.shape[axis]));
        to.symbols.emplace_back(from.symbols[axis] ? from.symbols[axis] : "");
      }
      result.push_back(std::move(to));
    }
    return result;
  }

  const CortenFunction *handle;
};

/// What a model remembers between calls.
class State {
public:
  std::string name() const { return cortenStateName(handle.get()); }
  /// All zeros again.
  Status reset() { return detail::status(cortenStateReset(handle.get())); }
  /// A view, for reading while no call runs with it.
  Tensor read() const {
    CortenTensor tensor = {};
    tensor.size = sizeof(tensor);
    cortenStateRead(handle.get(), &tensor);
    return Tensor(tensor);
  }
  /// Takes over elements of the same type and shape.
  Status write(const Tensor &from) {
    CortenTensor tensor = from.c();
    return detail::status(cortenStateWrite(handle.get(), &tensor));
  }
  /// One of its own with the same contents.
  Result<State> fork() const {
    CortenState *fork = nullptr;
    if (CortenError *error = cortenStateFork(handle.get(), &fork))
      return detail::take(error);
    return State(fork);
  }
  CortenState *c() const { return handle.get(); }

private:
  friend class Engine;
  explicit State(CortenState *state) : handle(state, cortenStateFree) {}

  std::unique_ptr<CortenState, void (*)(CortenState *)> handle;
};

/// A result that lives on its own.
class Array {
public:
  Tensor tensor() const {
    CortenTensor tensor = {};
    tensor.size = sizeof(tensor);
    cortenArrayTensor(handle.get(), &tensor);
    return Tensor(tensor);
  }

private:
  friend class Call;
  explicit Array(CortenArray *array) : handle(array, cortenArrayFree) {}

  std::unique_ptr<CortenArray, void (*)(CortenArray *)> handle;
};

/// Arguments and results of a function, to be used again.
class Call {
public:
  /// Elements are borrowed until another input is set.
  Status setInput(const std::string &name, const Tensor &from) {
    CortenTensor tensor = from.c();
    return detail::status(
        cortenCallSetInput(handle.get(), name.c_str(), &tensor));
  }
  Status setInput(std::size_t number, const Tensor &from) {
    CortenTensor tensor = from.c();
    return detail::status(cortenCallSetInputAt(handle.get(), number, &tensor));
  }
  /// The call keeps it.
  Status setState(const std::string &name, const State &state) {
    return detail::status(
        cortenCallSetState(handle.get(), name.c_str(), state.c()));
  }
  Status setState(const State &state) {
    return detail::status(cortenCallSetState(
        handle.get(), cortenStateName(state.c()), state.c()));
  }
  /// Where a result is put.
  Status setOutput(const std::string &name, const Tensor &to) {
    CortenTensor tensor = to.c();
    return detail::status(
        cortenCallSetOutput(handle.get(), name.c_str(), &tensor));
  }
  Status setOutput(std::size_t number, const Tensor &to) {
    CortenTensor tensor = to.c();
    return detail::status(cortenCallSetOutputAt(handle.get(), number, &tensor));
  }
  /// Forgets arguments and results.
  void reset() { cortenCallReset(handle.get()); }

  /// If it fails, states are as they were.
  Status run() { return detail::status(cortenCallRun(handle.get())); }
  /// Ends the run that is under way, or else the next one: it fails. For other
  /// threads, too.
  void cancel() { cortenCallCancel(handle.get()); }
  /// Whether the last run failed because of that.
  bool wasCancelled() const {
    return cortenCallWasCancelled(handle.get()) != 0;
  }

  /// A view, until the call is run again, reset or goes.
  Result<Tensor> output(std::size_t number) const {
    CortenTensor tensor = {};
    tensor.size = sizeof(tensor);
    if (CortenError *error = cortenCallOutput(handle.get(), number, &tensor))
      return detail::take(error);
    return Tensor(tensor);
  }
  /// Holds on to a result: later runs put theirs elsewhere.
  Result<Array> keepOutput(std::size_t number) const {
    CortenArray *array = nullptr;
    if (CortenError *error = cortenCallKeepOutput(handle.get(), number, &array))
      return detail::take(error);
    return Array(array);
  }
  CortenCall *c() const { return handle.get(); }

private:
  friend class Engine;
  explicit Call(CortenCall *call) : handle(call, cortenCallFree) {}

  std::unique_ptr<CortenCall, void (*)(CortenCall *)> handle;
};

struct LoadOptions {
  /// How many threads work, with the caller's; 0: as many as may run.
  int threads = 0;
  /// For how many sets of sizes preparations are kept; 0: as many as usual.
  int frames = 0;
  /// How many bytes calls may have at once; 0: any number.
  std::uint64_t memoryLimit = 0;
  /// Look after every step for writes outside of its results.
  bool check = false;
  /// Where the asset of a plan is, if not where it was.
  std::string asset;
  /// What products are computed in where a program is compiled: "bf16", "int8",
  /// or nothing: as it says. "fast_math", alone or after a comma, allows forms
  /// of convolutions that lose up to a digit. A plan has its own.
  std::string precision;
  /// A folder of safetensors files that the weights of a program (NAME.pt2) are
  /// in, by name; empty if it has its own.
  std::string weights;
  /// Weights that the folder has under another name only, because the model
  /// ties them, and those names.
  std::map<std::string, std::string> tied;
};

/// A model that is loaded.
class Engine {
public:
  /// Loads a plan; with libcorten also an asset or a program.
  static Result<Engine> load(const std::string &path,
                             const LoadOptions &options = {}) {
    detail::TiedNames tied(options.tied);
    CortenLoadOptions given = c(options, tied);
    CortenEngine *engine = nullptr;
    if (CortenError *error = cortenEngineLoad(path.c_str(), &given, &engine))
      return detail::take(error);
    return Engine(engine);
  }
  /// Loads a plan in memory, which must stay longer than all that is made of
  /// the engine.
  static Result<Engine> load(const void *plan, std::size_t byteCount,
                             const LoadOptions &options = {}) {
    detail::TiedNames tied(options.tied);
    CortenLoadOptions given = c(options, tied);
    CortenEngine *engine = nullptr;
    if (CortenError *error =
            cortenEngineLoadPlan(plan, byteCount, &given, &engine))
      return detail::take(error);
    return Engine(engine);
  }

  std::vector<Function> functions() const {
    std::size_t count = cortenEngineFunctionCount(handle.get());
    std::vector<Function> result;
    result.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      result.emplace_back(cortenEngineFunction(handle.get(), i));
    return result;
  }
  Result<Function> function(const std::string &name = "main") const {
    if (const CortenFunction *found =
            cortenEngineFindFunction(handle.get(), name.c_str()))
      return Function(found);
    std::string text = "there is no function '" + name + "'; the model has";
    const char *separator = " ";
    for (const Function &other : functions()) {
      text += separator + other.name();
      separator = ", ";
    }
    return Error(text);
  }
  Result<Call> call(const std::string &name = "main") const {
    Result<Function> found = function(name);
    if (!found)
      return found.error();
    CortenCall *call = nullptr;
    if (CortenError *error = cortenCallCreate(found->c(), &call))
      return detail::take(error);
    return Call(call);
  }
  /// All zeros. Functions that name the same state can share one.
  Result<State> createState(const std::string &name) const {
    return createState(name, nullptr, 0);
  }
  Result<State> createState(const std::string &name,
                            const std::vector<std::int64_t> &shape) const {
    // Without axes it is a shape all the same.
    static constexpr std::int64_t kNone = 0;
    return createState(name, shape.empty() ? &kNone : shape.data(),
                       shape.size());
  }
  /// What the user should know about the model all the same.
  std::vector<std::string> warnings() const {
    std::size_t count = cortenEngineWarningCount(handle.get());
    std::vector<std::string> result;
    result.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      result.emplace_back(cortenEngineWarning(handle.get(), i));
    return result;
  }
  /// Gives idle memory back to the system.
  void trim() const { cortenEngineTrim(handle.get()); }
  const CortenEngine *c() const { return handle.get(); }

private:
  explicit Engine(CortenEngine *engine) : handle(engine, cortenEngineFree) {}

  static CortenLoadOptions c(const LoadOptions &options,
                             const detail::TiedNames &tied) {
    return {sizeof(CortenLoadOptions),
            options.threads,
            options.frames,
            options.memoryLimit,
            options.check,
            options.asset.empty() ? nullptr : options.asset.c_str(),
            options.precision.empty() ? nullptr : options.precision.c_str(),
            options.weights.empty() ? nullptr : options.weights.c_str(),
            tied.names.data(),
            tied.stored.data(),
            tied.names.size()};
  }
  Result<State> createState(const std::string &name, const std::int64_t *shape,
                            std::size_t rank) const {
    CortenState *state = nullptr;
    if (CortenError *error =
            cortenStateCreate(handle.get(), name.c_str(), shape, rank, &state))
      return detail::take(error);
    return State(state);
  }

  std::unique_ptr<CortenEngine, void (*)(CortenEngine *)> handle;
};

} // namespace api_v0
} // namespace corten

#endif // CORTEN_API_ENGINE_H
