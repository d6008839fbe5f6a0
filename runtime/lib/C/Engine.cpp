// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface of the engine; see LoadPlan.cpp for what is not here.

#include "corten/C/Engine.h"

#include "corten/C/Handles.h"

using namespace corten;
using namespace corten::capi;
using runtime::ElementType;
using runtime::Tensor;

static CortenError *fail(const runtime::Error &error) {
  return error ? makeError(error.message()) : nullptr;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static_assert(CORTEN_BOOL == int(ElementType::Bool) &&
              CORTEN_F32 == int(ElementType::F32) &&
              CORTEN_UI6 == int(ElementType::UI6) &&
              CORTEN_UI6 + 1 == runtime::kNumElementTypes);

/// Callers of C may give any number, and C++ must not read one that the
/// enumeration has no room for.
static unsigned numberOf(const CortenElementType &type) {
  unsigned number;
  static_assert(sizeof(number) == sizeof(type));
  std::memcpy(&number, &type, sizeof(number));
  return number;
}

static bool isElementType(const CortenElementType &type) {
  return numberOf(type) < runtime::kNumElementTypes;
}

const char *cortenElementTypeName(CortenElementType type) {
  // A literal, which ends in a zero.
  return isElementType(type) ? runtime::spelling(ElementType(type)).data()
                             : nullptr;
}

size_t cortenElementTypeSize(CortenElementType type) {
  return isElementType(type) ? runtime::byteSize(ElementType(type)) : 0;
}

/// What the caller gives, as the engine sees it.
static runtime::Expected<Tensor> tensorOf(const CortenTensor *given) {
  if (!given)
    return runtime::Error("no tensor is given");
  CortenTensor tensor = take(given);
  if (!isElementType(tensor.elementType))
    return runtime::Error("there is no element type " +
                          std::to_string(int(numberOf(tensor.elementType))));
  if (tensor.rank > size_t(runtime::kMaxRank))
    return runtime::Error("a tensor has at most " +
                          std::to_string(runtime::kMaxRank) + " axes, not " +
                          std::to_string(tensor.rank));
  if (tensor.rank != 0 && !tensor.shape)
    return runtime::Error("a tensor without a shape");
  Tensor result(ElementType(tensor.elementType), tensor.data,
                {tensor.shape, tensor.rank});
  if (tensor.strides)
    std::copy_n(tensor.strides, tensor.rank, result.steps.begin());
  return result;
}

static void giveTensor(const Tensor &from, CortenTensor *to) {
  give(CortenTensor{sizeof(CortenTensor), from.data,
                    CortenElementType(from.type), from.rank,
                    from.extents.data(), from.steps.data()},
       to);
}

//===----------------------------------------------------------------------===//
// Models that run
//===----------------------------------------------------------------------===//

CortenParameterData::CortenParameterData(const runtime::Parameter &parameter)
    : parameter(parameter), description(parameter.describe()) {
  for (const runtime::Axis &axis : parameter.axes) {
    bool isFixed = axis.isFixed();
    shape.push_back({isFixed ? axis.low : CORTEN_UNKNOWN, axis.low,
                     axis.high == INT64_MAX ? CORTEN_UNKNOWN : axis.high});
    symbols.push_back(isFixed ? nullptr : axis.symbol.c_str());
  }
}

CortenFunction::CortenFunction(std::shared_ptr<runtime::Model> model,
                               const runtime::Function &function)
    : model(std::move(model)), function(function) {
  for (auto [role, list] : {std::pair(CORTEN_INPUT, function.inputs()),
                            std::pair(CORTEN_OUTPUT, function.outputs()),
                            std::pair(CORTEN_STATE, function.states())})
    for (const runtime::Parameter &parameter : list)
      parameters[role].emplace_back(parameter);
}

CortenEngine::CortenEngine(std::shared_ptr<runtime::Model> loaded,
                           std::vector<std::string> warnings)
    : model(std::move(loaded)), warnings(std::move(warnings)) {
  for (const runtime::Function &function : model->functions())
    functions.emplace_back(model, function);
}

runtime::Expected<runtime::LoadOptions>
capi::loadOptions(const CortenLoadOptions *options) {
  CortenLoadOptions given = take(options);
  if (given.threads < 0)
    return runtime::Error("threads is " + std::to_string(given.threads) +
                          ": want how many work on a call, or 0 for as many "
                          "as may run");
  runtime::LoadOptions result;
  result.threads = given.threads;
  if (given.frames > 0)
    result.frames = given.frames;
  if (given.memoryLimit != 0)
    result.arenaLimit = size_t(given.memoryLimit);
  if (given.check != 0)
    result.check = true;
  if (given.asset)
    result.assetPath = given.asset;
  if (given.precision)
    result.precision = given.precision;
  return result;
}

CortenError *cortenEngineLoadPlan(const void *plan, size_t byteCount,
                                  const CortenLoadOptions *options,
                                  CortenEngine **engine) {
  if (!plan)
    return makeError("no bytes of a plan");
  runtime::Expected<runtime::LoadOptions> chosen = loadOptions(options);
  if (!chosen)
    return fail(chosen.takeError());
  runtime::Expected<std::shared_ptr<runtime::Model>> model =
      runtime::Model::load({static_cast<const std::byte *>(plan), byteCount},
                           *chosen);
  if (!model)
    return fail(model.takeError());
  *engine = new CortenEngine(std::move(*model));
  return nullptr;
}

void cortenEngineFree(CortenEngine *engine) { delete engine; }

size_t cortenEngineWarningCount(const CortenEngine *engine) {
  return engine->warnings.size();
}

const char *cortenEngineWarning(const CortenEngine *engine, size_t number) {
  return number < engine->warnings.size() ? engine->warnings[number].c_str()
                                          : nullptr;
}

void cortenEngineTrim(const CortenEngine *engine) { engine->model->trim(); }

size_t cortenEngineFunctionCount(const CortenEngine *engine) {
  return engine->functions.size();
}

const CortenFunction *cortenEngineFunction(const CortenEngine *engine,
                                           size_t number) {
  return number < engine->functions.size() ? &engine->functions[number]
                                           : nullptr;
}

const CortenFunction *cortenEngineFindFunction(const CortenEngine *engine,
                                               const char *name) {
  for (const CortenFunction &function : engine->functions)
    if (name && function.function.name() == name)
      return &function;
  return nullptr;
}

const char *cortenFunctionName(const CortenFunction *function) {
  return function->function.name().c_str();
}

size_t cortenFunctionParameterCount(const CortenFunction *function,
                                    CortenRole role) {
  return unsigned(role) < function->parameters.size()
             ? function->parameters[role].size()
             : 0;
}

CortenError *cortenFunctionParameter(const CortenFunction *function,
                                     CortenRole role, size_t number,
                                     CortenParameter *parameter) {
  size_t count = cortenFunctionParameterCount(function, role);
  if (number >= count)
    return makeError("function '" + function->function.name() + "' has " +
                     std::to_string(count) +
                     " parameters of this role, and "
                     "none with the number " +
                     std::to_string(number));
  const CortenParameterData &data = function->parameters[role][number];
  give(CortenParameter{sizeof(CortenParameter), data.parameter.name.c_str(),
                       CortenElementType(data.parameter.type),
                       data.shape.size(), data.shape.data(),
                       data.symbols.data(), data.description.c_str()},
       parameter);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

struct CortenState {
  std::shared_ptr<runtime::State> state;
};

CortenError *cortenStateCreate(const CortenEngine *engine, const char *name,
                               const int64_t *shape, size_t rank,
                               CortenState **state) {
  if (!name)
    return makeError("a state without a name");
  std::optional<std::span<const int64_t>> extents;
  if (shape)
    extents = std::span(shape, rank);
  runtime::Expected<runtime::State> made =
      engine->model->createState(name, extents);
  if (!made)
    return fail(made.takeError());
  *state = new CortenState{std::make_shared<runtime::State>(std::move(*made))};
  return nullptr;
}

void cortenStateFree(CortenState *state) { delete state; }

const char *cortenStateName(const CortenState *state) {
  return state->state->name().c_str();
}

CortenError *cortenStateReset(CortenState *state) {
  runtime::Expected<runtime::State::Lock> lock = state->state->lock();
  if (!lock)
    return fail(lock.takeError());
  state->state->reset();
  return nullptr;
}

void cortenStateRead(const CortenState *state, CortenTensor *tensor) {
  giveTensor(state->state->tensor(), tensor);
}

CortenError *cortenStateWrite(CortenState *state, const CortenTensor *tensor) {
  runtime::Expected<Tensor> from = tensorOf(tensor);
  if (!from)
    return makeError("state '" + state->state->name() +
                     "': " + from.takeError().message());
  runtime::Expected<runtime::State::Lock> lock = state->state->lock();
  if (!lock)
    return fail(lock.takeError());
  return fail(state->state->write(*from));
}

CortenError *cortenStateFork(const CortenState *state, CortenState **fork) {
  runtime::Expected<runtime::State::Lock> lock = state->state->lock();
  if (!lock)
    return fail(lock.takeError());
  runtime::Expected<runtime::State> made = state->state->copy();
  if (!made)
    return fail(made.takeError());
  *fork = new CortenState{std::make_shared<runtime::State>(std::move(*made))};
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

struct CortenCall {
  explicit CortenCall(const CortenFunction &of)
      : function(of.function), call(of.model, of.function),
        states(function.states().size()) {}

  /// The call keeps the model that it is part of.
  const runtime::Function &function;
  runtime::Call call;
  /// Those that are set, one for each parameter.
  std::vector<std::shared_ptr<runtime::State>> states;
  /// Whether there are results.
  bool hasRun = false;
};

struct CortenArray {
  runtime::Array array;
};

CortenError *cortenCallCreate(const CortenFunction *function,
                              CortenCall **call) {
  if (!function)
    return makeError("no function to call: the model has none of this name");
  *call = new CortenCall(*function);
  return nullptr;
}

void cortenCallFree(CortenCall *call) { delete call; }

void cortenCallReset(CortenCall *call) {
  call->call.reset();
  std::ranges::fill(call->states, nullptr);
  call->hasRun = false;
}

/// The number of a parameter, or a text about it, for messages.
static std::string quoted(const char *name) {
  return "'" + std::string(name) + "'";
}
static std::string quoted(size_t number) { return std::to_string(number); }

template <typename Key>
static CortenError *setInput(CortenCall *call, Key key,
                             const CortenTensor *tensor) {
  runtime::Expected<Tensor> from = tensorOf(tensor);
  if (!from)
    return makeError("input " + quoted(key) + ": " +
                     from.takeError().message());
  return fail(call->call.setInput(key, *from));
}

template <typename Key>
static CortenError *setOutput(CortenCall *call, Key key,
                              const CortenTensor *tensor) {
  runtime::Expected<Tensor> to = tensorOf(tensor);
  if (!to)
    return makeError("output " + quoted(key) + ": " + to.takeError().message());
  return fail(call->call.setOutput(key, *to));
}

CortenError *cortenCallSetInput(CortenCall *call, const char *name,
                                const CortenTensor *tensor) {
  return name ? setInput(call, name, tensor)
              : makeError("an input without a name");
}

CortenError *cortenCallSetInputAt(CortenCall *call, size_t number,
                                  const CortenTensor *tensor) {
  return setInput(call, number, tensor);
}

CortenError *cortenCallSetState(CortenCall *call, const char *name,
                                CortenState *state) {
  if (!name || !state)
    return makeError("a state, or its name, is not given");
  if (runtime::Error error = call->call.setState(name, *state->state))
    return fail(error);
  auto parameters = call->function.states();
  auto found = std::ranges::find(parameters, std::string_view(name),
                                 &runtime::Parameter::name);
  call->states[size_t(found - parameters.begin())] = state->state;
  return nullptr;
}

CortenError *cortenCallSetOutput(CortenCall *call, const char *name,
                                 const CortenTensor *tensor) {
  return name ? setOutput(call, name, tensor)
              : makeError("an output without a name");
}

CortenError *cortenCallSetOutputAt(CortenCall *call, size_t number,
                                   const CortenTensor *tensor) {
  return setOutput(call, number, tensor);
}

CortenError *cortenCallRun(CortenCall *call) {
  runtime::Error error = call->call.run();
  call->hasRun = !error;
  return fail(error);
}

void cortenCallCancel(CortenCall *call) { call->call.cancel(); }

int cortenCallWasCancelled(const CortenCall *call) {
  return int(call->call.wasCancelled());
}

static runtime::Expected<const runtime::Array *>
outputOf(const CortenCall *call, size_t number) {
  if (number >= call->call.numOutputs())
    return runtime::Error("there is no output " + std::to_string(number) +
                          ": the function has " +
                          std::to_string(call->call.numOutputs()));
  if (!call->hasRun)
    return runtime::Error("there are no outputs: the call has not been run, or "
                          "failed");
  return &call->call.output(number);
}

CortenError *cortenCallOutput(const CortenCall *call, size_t number,
                              CortenTensor *tensor) {
  runtime::Expected<const runtime::Array *> output = outputOf(call, number);
  if (!output)
    return fail(output.takeError());
  giveTensor((*output)->tensor(), tensor);
  return nullptr;
}

CortenError *cortenCallKeepOutput(const CortenCall *call, size_t number,
                                  CortenArray **array) {
  runtime::Expected<const runtime::Array *> output = outputOf(call, number);
  if (!output)
    return fail(output.takeError());
  *array = new CortenArray{**output};
  return nullptr;
}

void cortenArrayTensor(const CortenArray *array, CortenTensor *tensor) {
  giveTensor(array->array.tensor(), tensor);
}

void cortenArrayFree(CortenArray *array) { delete array; }
