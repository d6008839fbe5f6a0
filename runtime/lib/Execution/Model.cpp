// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Runtime/Model.h"

#include "Engine.h"
#include "Layout.h"

#include "corten/Runtime/PlanFile.h"

#include <algorithm>
#include <cstring>

using namespace corten::runtime;
using namespace corten::runtime::execution;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Longer expressions are not shown.
static constexpr size_t kMaxExpression = 80;

static std::string symbolName(const Block &block, int64_t index) {
  const std::string &name = block.symbols[size_t(index)].name;
  return name.empty() ? "s" + std::to_string(index) : name;
}

/// A size as a user reads it.
static std::string expressionOf(const Block &block, int32_t index,
                                int depth = 0) {
  const plan::Size &size = block.sizes[size_t(index)];
  if (size.kind() == plan::SizeKind::Constant)
    return std::to_string(size.value());
  if (size.kind() == plan::SizeKind::Symbol)
    return symbolName(block, size.value());
  constexpr int kMaxDepth = 16;
  if (depth == kMaxDepth)
    return std::string(kMaxExpression + 1, '?');
  std::string left = expressionOf(block, size.left(), depth + 1);
  // Sharing makes trees of lists: stop before they grow.
  std::string right = left.size() > kMaxExpression
                          ? std::string()
                          : expressionOf(block, size.right(), depth + 1);
  if (left.size() + right.size() > kMaxExpression)
    return std::string(kMaxExpression + 1, '?');
  auto infix = [&](const char *sign) {
    return "(" + left + sign + right + ")";
  };
  auto prefix = [&](const char *name) {
    return name + ("(" + left) + ", " + right + ")";
  };
  switch (size.kind()) {
  case plan::SizeKind::Add:
    return infix(" + ");
  case plan::SizeKind::Sub:
    return infix(" - ");
  case plan::SizeKind::Mul:
    return infix("*");
  case plan::SizeKind::FloorDivide:
    return infix("//");
  case plan::SizeKind::Modulo:
    return infix(" % ");
  case plan::SizeKind::Maximum:
    return prefix("max");
  case plan::SizeKind::Minimum:
    return prefix("min");
  case plan::SizeKind::Equal:
    return infix(" == ");
  case plan::SizeKind::Less:
    return infix(" < ");
  default:
    return prefix("either");
  }
}

static Axis axisOf(const Block &block, int32_t index) {
  const plan::Size &size = block.sizes[size_t(index)];
  if (size.kind() == plan::SizeKind::Constant)
    return {"", size.value(), size.value()};
  if (size.kind() == plan::SizeKind::Symbol) {
    const Symbol &symbol = block.symbols[size_t(size.value())];
    return {symbolName(block, size.value()), std::max<int64_t>(symbol.low, 0),
            symbol.high};
  }
  std::string text = expressionOf(block, index);
  if (text.size() > kMaxExpression)
    text = "?";
  return {text, 0, INT64_MAX};
}

static Parameter parameterOf(const Block &block, const EntryParameter &from) {
  const Value &value = block.values[size_t(from.value)];
  Parameter parameter = {from.name, value.type, {}};
  for (uint32_t axis = 0; axis != value.rank; ++axis)
    parameter.axes.push_back(
        axisOf(block, block.valueSizes[value.sizes + axis]));
  return parameter;
}

std::string Parameter::describe() const {
  std::string text(spelling(type));
  text += "[";
  for (size_t i = 0; i != axes.size(); ++i)
    text += (i ? ", " : "") +
            (axes[i].isFixed() ? std::to_string(axes[i].low) : axes[i].symbol);
  return text + "]";
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static Expected<const plan::Plan *>
verifyPlan(std::span<const std::byte> file) {
  Expected<std::span<const std::byte>> opened = openPlan(file);
  if (!opened)
    return opened.takeError();
  if (opened->size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return Error("the plan is larger than a plan can be");
  constexpr int kMaxDepth = 16;
  flatbuffers::Verifier verifier(
      reinterpret_cast<const uint8_t *>(opened->data()), opened->size(),
      kMaxDepth, flatbuffers::uoffset_t(opened->size()));
  if (!plan::VerifyPlanBuffer(verifier))
    return Error("the plan is damaged: compile the model again");
  return plan::GetPlan(opened->data());
}

/// States of the same name are one. Functions that were made for several sizes
/// of it, as those of a cache, each take a state of their size.
static Error checkStates(std::span<const Function> functions) {
  for (const Function &function : functions)
    for (const Function &other : functions)
      for (const Parameter &state : function.states())
        for (const Parameter &same : other.states())
          if (state.name == same.name &&
              (state.type != same.type ||
               state.axes.size() != same.axes.size()))
            return Error("the plan is wrong: the state '" + state.name +
                         "' is " + state.describe() + " in one function and " +
                         same.describe() + " in another");
  return Error::success();
}

Model::Model() = default;
Model::~Model() = default;

static Expected<std::unique_ptr<Engine>>
makeEngine(std::span<const std::byte> file, LoadOptions options,
           MappedFile mapped, std::shared_ptr<const void> owner,
           const std::string &path) {
  if (!options.precision.empty())
    return Error("a plan has the precision that it was compiled with: compile "
                 "the asset again in " +
                 options.precision + ", or load the asset");
  Expected<const plan::Plan *> plan = verifyPlan(file);
  if (!plan)
    return plan.takeError();
  Expected<Program> program = readProgram(**plan);
  if (!program)
    return program.takeError();
  auto engine =
      std::make_unique<Engine>(std::move(options), std::move(*program));
  engine->source = *plan;
  engine->planFile = std::move(mapped);
  engine->planOwner = std::move(owner);
  engine->planDigest = digestInTrailer(file);
  if (Error error = engine->choose(engine->options.threads))
    return error;
  if (Error error = engine->loadForeign())
    return error;
  if (Error error = engine->loadConstants(path))
    return error;
  return engine;
}

Expected<std::shared_ptr<Model>> Model::make(std::unique_ptr<Engine> engine) {
  std::shared_ptr<Model> model(new Model);
  for (const EntryPoint &from : engine->program.functions) {
    Function function;
    function.label = from.name;
    function.index = model->functionList.size();
    const Block &block = engine->program.blocks[size_t(from.block)];
    for (const EntryParameter &input : from.inputs)
      function.inputList.push_back(parameterOf(block, input));
    for (const EntryParameter &state : from.states)
      function.stateList.push_back(parameterOf(block, state));
    for (const EntryParameter &output : from.outputs)
      function.outputList.push_back(parameterOf(block, output));
    model->functionList.push_back(std::move(function));
  }
  model->engine = std::move(engine);
  if (Error error = checkStates(model->functionList))
    return error;
  return model;
}

Expected<std::shared_ptr<Model>> Model::load(const std::string &path,
                                             LoadOptions options) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  std::span<const std::byte> bytes = file->bytes();
  Expected<std::unique_ptr<Engine>> engine =
      makeEngine(bytes, std::move(options), std::move(*file), nullptr, path);
  if (!engine)
    return Error(path + ": " + engine.takeError().message());
  return make(std::move(*engine));
}

Expected<std::shared_ptr<Model>>
Model::load(std::span<const std::byte> plan, LoadOptions options,
            std::shared_ptr<const void> owner) {
  if (reinterpret_cast<uintptr_t>(plan.data()) % kMemoryAlignment != 0) {
    auto pool = std::make_shared<MemoryPool>();
    auto copy = std::make_shared<Memory>(pool->take(plan.size()));
    if (!*copy)
      return Error("there is no memory for the plan");
    std::memcpy(copy->data(), plan.data(), plan.size());
    plan = {reinterpret_cast<const std::byte *>(copy->data()), plan.size()};
    owner = std::move(copy);
  }
  Expected<std::unique_ptr<Engine>> engine =
      makeEngine(plan, std::move(options), {}, std::move(owner), "");
  if (!engine)
    return engine.takeError();
  return make(std::move(*engine));
}

//===----------------------------------------------------------------------===//
// Using
//===----------------------------------------------------------------------===//

const Function *Model::function(std::string_view name) const {
  auto found = std::ranges::find(functionList, name, &Function::label);
  return found == functionList.end() ? nullptr : &*found;
}

void Model::trim() const {
  engine->arenas->trim();
  engine->results->trim();
}

Expected<FrameReport>
Model::report(const Function &function,
              std::span<const std::vector<int64_t>> shapes) const {
  const EntryPoint &entry = engine->program.functions[function.index];
  const Block &block = engine->program.blocks[size_t(entry.block)];
  std::vector<Tensor> inputs;
  for (const std::vector<int64_t> &shape : shapes) {
    size_t index = inputs.size();
    if (index >= block.inputs.size() ||
        shape.size() != block.values[size_t(block.inputs[index])].rank)
      return Error("function '" + function.name() +
                   "' has inputs and states of other shapes");
    inputs.emplace_back(block.values[size_t(block.inputs[index])].type, nullptr,
                        shape);
  }
  if (inputs.size() != block.inputs.size())
    return Error("function '" + function.name() + "' has " +
                 std::to_string(block.inputs.size()) + " inputs and states");
  std::vector<int64_t> key;
  if (Error error = engine->readKey(block, inputs, {}, key))
    return error;
  Expected<Frame *> frame = engine->takeFrame(block, key);
  if (!frame)
    return frame.takeError();
  Error error = engine->checkInputs(**frame, inputs);
  FrameReport report = (*frame)->report();
  engine->giveBack(*frame);
  if (error)
    return error;
  return report;
}
