// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a plan, and checks every number in it. Nothing later looks twice.

#include "Program.h"

#include "corten/Runtime/PlanFile.h"

#include <algorithm>
#include <set>

using namespace corten::runtime;
using namespace corten::runtime::execution;

/// Blocks may be nested that deep; each level is a level of the stack.
static constexpr int kMaxDepth = 64;

template <typename T> static size_t sizeOf(const T *vector) {
  return vector ? vector->size() : 0;
}

template <typename T> static bool isIndex(int64_t index, const T &list) {
  return index >= 0 && uint64_t(index) < list.size();
}

static std::string textOf(const flatbuffers::String *text) {
  return text ? text->str() : std::string();
}

static std::vector<int32_t>
numbersOf(const flatbuffers::Vector<int32_t> *list) {
  return list ? std::vector<int32_t>(list->begin(), list->end())
              : std::vector<int32_t>();
}

static uint32_t alignmentOf(ElementType type) {
  return withType(type, []<typename T>() { return uint32_t(alignof(T)); });
}

namespace {
/// Reads one block. `false` means that `message` says what is wrong with it.
class BlockReader {
public:
  BlockReader(const plan::Plan &plan, const plan::Block &source, Block &block,
              std::span<const std::optional<PortableKernel>> kernels,
              std::vector<Constant> &constants)
      : plan(plan), source(source), block(block), kernels(kernels),
        constants(constants) {}

  bool read() {
    return readSizes() && readBuffers() && readValues() && readInputs() &&
           readSymbols() && readSteps() && readOutputs();
  }

  std::string message;

private:
  bool fail(std::string text) {
    message = std::move(text);
    return false;
  }
  bool fail(std::string_view what, size_t number, std::string_view why) {
    return fail(std::string(what) + " " + std::to_string(number) + " " +
                std::string(why));
  }
  bool isSize(int64_t index) const { return isIndex(index, block.sizes); }
  bool isValue(int64_t index) const { return isIndex(index, block.values); }

  bool readSizes();
  bool readBuffers();
  bool readValues();
  bool readInputs();
  bool readSymbols();
  bool readSteps();
  bool readStep(size_t index, const plan::Step &from, Step &step);
  bool readKernel(size_t index, const plan::Step &from, Step &step);
  bool readProgram(size_t index, const plan::Step &from, Step &step);
  bool readOutputs();

  const plan::Plan &plan;
  const plan::Block &source;
  Block &block;
  std::span<const std::optional<PortableKernel>> kernels;
  std::vector<Constant> &constants;
};
} // namespace

bool BlockReader::readSizes() {
  size_t numSymbols = sizeOf(source.symbols());
  for (size_t i = 0; i != sizeOf(source.sizes()); ++i) {
    plan::Size size = *source.sizes()->Get(flatbuffers::uoffset_t(i));
    auto isEarlier = [&](int64_t index) {
      return index >= 0 && uint64_t(index) < i;
    };
    bool isRight = true;
    switch (size.kind()) {
    case plan::SizeKind::Constant:
      break;
    case plan::SizeKind::Symbol:
      isRight = size.value() >= 0 && uint64_t(size.value()) < numSymbols;
      break;
    case plan::SizeKind::Select:
      isRight = isEarlier(size.value()) && isEarlier(size.left()) &&
                isEarlier(size.right());
      break;
    default:
      isRight = size.kind() <= plan::SizeKind::MAX && isEarlier(size.left()) &&
                isEarlier(size.right());
    }
    if (!isRight)
      return fail("size", i, "refers to what does not come before it");
    block.sizes.push_back(size);
  }
  return true;
}

bool BlockReader::readBuffers() {
  for (size_t i = 0; i != sizeOf(source.buffers()); ++i) {
    const plan::Buffer &from =
        *source.buffers()->Get(flatbuffers::uoffset_t(i));
    Buffer buffer = {from.storage(), from.index(), from.bytes()};
    size_t count = 0;
    switch (buffer.storage) {
    case plan::Storage::Arena:
    case plan::Storage::Returned:
      break;
    case plan::Storage::Input:
      count = sizeOf(source.inputs());
      break;
    case plan::Storage::Output:
      count = sizeOf(source.outputs());
      break;
    case plan::Storage::Constant:
      count = constants.size();
      break;
    default:
      return fail("buffer", i, "is of no kind");
    }
    if (count == 0 ? buffer.storage != plan::Storage::Arena &&
                         buffer.storage != plan::Storage::Returned
                   : buffer.index < 0 || size_t(buffer.index) >= count)
      return fail("buffer", i, "is of something that is not there");
    bool hasBytes = buffer.storage == plan::Storage::Arena ||
                    buffer.storage == plan::Storage::Output;
    if (hasBytes && !isSize(buffer.bytes))
      return fail("buffer", i, "has no size");
    // Memory of a caller is as large as the buffer that is known for it.
    if (buffer.storage == plan::Storage::Output &&
        std::ranges::any_of(block.buffers, [&](const Buffer &other) {
          return other.storage == buffer.storage && other.index == buffer.index;
        }))
      return fail("buffer", i, "is of an output that has one already");
    if (!hasBytes)
      buffer.bytes = -1;
    block.buffers.push_back(buffer);
  }
  return true;
}

bool BlockReader::readValues() {
  for (size_t i = 0; i != sizeOf(source.values()); ++i) {
    const plan::Value &from = *source.values()->Get(flatbuffers::uoffset_t(i));
    size_t rank = sizeOf(from.shape());
    size_t numStrides = sizeOf(from.strides());
    if (from.type() >= kNumElementTypes)
      return fail("value", i, "has no element type");
    if (!isIndex(from.buffer(), block.buffers))
      return fail("value", i, "has no buffer");
    if (rank > size_t(kMaxRank) || (numStrides != 0 && numStrides != rank))
      return fail("value", i, "has too many axes or strides");
    if (from.offset() != -1 && !isSize(from.offset()))
      return fail("value", i, "has no offset");
    block.values.push_back({ElementType(from.type()), uint8_t(rank),
                            numStrides != 0, from.buffer(), from.offset(),
                            uint32_t(block.valueSizes.size())});
    for (const auto *list : {from.shape(), from.strides()})
      for (size_t axis = 0; axis != sizeOf(list); ++axis) {
        int32_t size = list->Get(flatbuffers::uoffset_t(axis));
        if (!isSize(size))
          return fail("value", i, "has an axis without a size");
        block.valueSizes.push_back(size);
      }
    Buffer &buffer = block.buffers[size_t(from.buffer())];
    buffer.alignment =
        std::max(buffer.alignment, alignmentOf(ElementType(from.type())));
    if (buffer.storage == plan::Storage::Constant) {
      uint32_t &alignment = constants[size_t(buffer.index)].alignment;
      alignment = std::max(alignment, buffer.alignment);
    }
  }
  return true;
}

bool BlockReader::readInputs() {
  block.inputs = numbersOf(source.inputs());
  for (size_t i = 0; i != block.inputs.size(); ++i) {
    if (!isValue(block.inputs[i]))
      return fail("input", i, "is no value");
    const Value &value = block.values[size_t(block.inputs[i])];
    const Buffer &buffer = block.buffers[size_t(value.buffer)];
    if (buffer.storage != plan::Storage::Input || size_t(buffer.index) != i ||
        value.offset != -1)
      return fail("input", i, "does not begin where its buffer does");
  }
  std::vector<bool> isThere(block.inputs.size());
  for (size_t i = 0; i != block.buffers.size(); ++i) {
    const Buffer &buffer = block.buffers[i];
    if (buffer.storage != plan::Storage::Input)
      continue;
    if (isThere[size_t(buffer.index)])
      return fail("buffer", i, "is of an input that has one");
    isThere[size_t(buffer.index)] = true;
  }
  block.sizeArguments = source.size_arguments();
  if (block.sizeArguments < 0 || block.sizeArguments > 1 << 20)
    return fail("the number of size arguments is out of range");
  return true;
}

bool BlockReader::readSymbols() {
  for (size_t i = 0; i != sizeOf(source.symbols()); ++i) {
    const plan::Symbol &from =
        *source.symbols()->Get(flatbuffers::uoffset_t(i));
    Symbol symbol = {textOf(from.name()), from.source(), from.index(),
                     from.axis(),         from.low(),    from.high(),
                     from.step()};
    auto isAxisOf = [&](int32_t value) {
      return symbol.axis >= 0 && symbol.axis < block.values[size_t(value)].rank;
    };
    int64_t numSteps = int64_t(sizeOf(source.steps()));
    bool isRight = false;
    switch (symbol.source) {
    case plan::SymbolSource::InputExtent:
      isRight = isIndex(symbol.index, block.inputs) &&
                isAxisOf(block.inputs[size_t(symbol.index)]);
      break;
    case plan::SymbolSource::Argument:
      isRight = symbol.index >= 0 && symbol.index < block.sizeArguments;
      break;
    case plan::SymbolSource::Extent:
      isRight = isValue(symbol.index) && isAxisOf(symbol.index) &&
                symbol.stage >= 0 && symbol.stage < numSteps;
      break;
    case plan::SymbolSource::Element:
      isRight = isValue(symbol.index) && symbol.axis >= 0 &&
                isInteger(block.values[size_t(symbol.index)].type) &&
                symbol.stage >= -1 && symbol.stage < numSteps;
      break;
    }
    if (!isRight)
      return fail("symbol", i, "is of something that is not there");
    block.symbols.push_back(std::move(symbol));
  }
  return true;
}

bool BlockReader::readProgram(size_t index, const plan::Step &from,
                              Step &step) {
  const plan::TileProgram &tiles = *from.program();
  int64_t own = from.program_inputs();
  if (own < 0 || own > int64_t(step.inputs.count) || own > UINT16_MAX - 1)
    return fail("step", index, "has a program with too many inputs");
  auto program = std::make_unique<TileProgram>();
  // Before its own inputs comes the element that the kernel computed.
  program->numInputs = uint16_t(own + (beginsWithProgram(step.kernel) ? 0 : 1));
  program->numRegisters = tiles.registers();
  for (size_t i = 0; i != sizeOf(tiles.instructions()); ++i) {
    const plan::TileInstruction &instruction =
        *tiles.instructions()->Get(flatbuffers::uoffset_t(i));
    program->instructions.push_back({TileOpcode(instruction.opcode()),
                                     instruction.target(), instruction.a(),
                                     instruction.b(), instruction.c()});
  }
  if (tiles.immediates())
    program->immediates.assign(tiles.immediates()->begin(),
                               tiles.immediates()->end());
  if (tiles.results())
    program->results.assign(tiles.results()->begin(), tiles.results()->end());
  if (program->results.size() != step.outputs.count)
    return fail("step", index, "has a program with other results");
  if (Error error = program->check())
    return fail("step", index,
                "has a program that is wrong: " + error.message());
  step.program = std::move(program);
  return true;
}

/// Whether a kernel can do without an input.
static bool isOptional(PortableKernel kernel, uint32_t input) {
  switch (kernel) {
  case PortableKernel::LayerNorm:
  case PortableKernel::RmsNorm:
  case PortableKernel::GroupNorm:
    return input == 1 || input == 2;
  case PortableKernel::Attention:
  case PortableKernel::AttentionWithSinks:
    return input == 3;
  case PortableKernel::MatMulCompressed:
  case PortableKernel::MatMulRoutedCompressed:
    return input >= 2 && input <= 5;
  case PortableKernel::MatMulSparse:
    return input >= 3 && input <= 6;
  case PortableKernel::GatherSparse:
    return input == 0;
  default:
    return false;
  }
}

bool BlockReader::readKernel(size_t index, const plan::Step &from, Step &step) {
  if (!isIndex(from.target(), kernels))
    return fail("step", index, "has no kernel");
  const flatbuffers::String *name =
      plan.kernels()->Get(flatbuffers::uoffset_t(from.target()));
  if (!kernels[size_t(from.target())])
    return fail("step " + std::to_string(index) + " wants the kernel '" +
                textOf(name) +
                "', which this runtime does not know: it needs a newer one, or "
                "a plan that was compiled for this one");
  step.kernel = *kernels[size_t(from.target())];
  const KernelInfo &kernel = info(step.kernel);
  for (uint32_t i = 0; i != step.inputs.count; ++i)
    if (block.slots[step.inputs.first + i] == -1 && !isOptional(step.kernel, i))
      return fail("step", index,
                  "calls " + std::string(kernel.name) +
                      " without an input that it needs");
  auto differs = [](int wanted, int64_t count) {
    return wanted >= 0 && wanted != count;
  };
  int64_t own = from.program()
                    ? int64_t(step.inputs.count) - from.program_inputs()
                    : int64_t(step.inputs.count);
  if (differs(kernel.numInputs, own) ||
      differs(kernel.numOutputs, step.outputs.count) ||
      differs(kernel.numNumbers, step.numbers.count))
    return fail("step", index,
                "calls " + std::string(kernel.name) +
                    " with too many or too few arguments");
  if (step.kernel == PortableKernel::Foreign) {
    if (from.foreign() < 0 || size_t(from.foreign()) >= sizeOf(plan.foreign()))
      return fail("step", index, "runs a kernel that the plan does not bring");
    step.foreign = from.foreign();
  }
  return !from.program() || readProgram(index, from, step);
}

bool BlockReader::readStep(size_t index, const plan::Step &from, Step &step) {
  step.kind = from.kind();
  bool isKernel = step.kind == plan::StepKind::Kernel;
  auto readSlots = [&](const flatbuffers::Vector<int32_t> *list, bool mayMiss) {
    Range range = {uint32_t(block.slots.size()), uint32_t(sizeOf(list))};
    for (size_t i = 0; i != range.count; ++i) {
      int32_t value = list->Get(flatbuffers::uoffset_t(i));
      if (!isValue(value) && (!mayMiss || value != -1))
        return std::optional<Range>();
      block.slots.push_back(value);
    }
    return std::optional<Range>(range);
  };
  std::optional<Range> inputs = readSlots(from.inputs(), isKernel);
  std::optional<Range> outputs = readSlots(from.outputs(), false);
  if (!inputs || !outputs)
    return fail("step", index, "has an operand that is no value");
  step.inputs = *inputs;
  step.outputs = *outputs;
  step.numbers = {uint32_t(block.numbers.size()),
                  uint32_t(sizeOf(from.numbers()))};
  for (size_t i = 0; i != step.numbers.count; ++i) {
    int32_t size = from.numbers()->Get(flatbuffers::uoffset_t(i));
    if (!isSize(size))
      return fail("step", index, "has a number that is no size");
    block.numbers.push_back(size);
  }
  step.message = textOf(from.message());
  for (size_t i = 0; i != sizeOf(from.names()); ++i)
    step.names.push_back(textOf(from.names()->Get(flatbuffers::uoffset_t(i))));
  if (from.location() != -1) {
    if (from.location() < 0 ||
        size_t(from.location()) >= sizeOf(plan.locations()))
      return fail("step", index, "has a location that is not there");
    step.location =
        textOf(plan.locations()->Get(flatbuffers::uoffset_t(from.location())));
  }
  if (from.origin() < -1 ||
      (from.origin() != -1 && size_t(from.origin()) >= sizeOf(plan.origins())))
    return fail("step", index, "has an origin that is not there");
  step.origin = from.origin();
  if (isKernel)
    return readKernel(index, from, step);
  size_t numBlocks = 0;
  switch (step.kind) {
  case plan::StepKind::If:
  case plan::StepKind::While:
    numBlocks = 2;
    break;
  case plan::StepKind::Call:
    numBlocks = 1;
    break;
  case plan::StepKind::Assert:
    break;
  default:
    return fail("step", index, "is of no kind");
  }
  if (sizeOf(from.blocks()) != numBlocks)
    return fail("step", index, "has too many or too few blocks");
  for (size_t i = 0; i != numBlocks; ++i) {
    step.blocks[i] = from.blocks()->Get(flatbuffers::uoffset_t(i));
    if (step.blocks[i] < 0)
      return fail("step", index, "runs a block that is not there");
  }
  return true;
}

bool BlockReader::readSteps() {
  size_t count = sizeOf(source.steps());
  block.steps.resize(count);
  for (size_t i = 0; i != count; ++i)
    if (!readStep(i, *source.steps()->Get(flatbuffers::uoffset_t(i)),
                  block.steps[i]))
      return false;
  return true;
}

bool BlockReader::readOutputs() {
  block.outputs = numbersOf(source.outputs());
  for (size_t i = 0; i != block.outputs.size(); ++i)
    if (!isValue(block.outputs[i]))
      return fail("output", i, "is no value");
  return true;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

namespace {
class ProgramReader {
public:
  explicit ProgramReader(const plan::Plan &plan) : plan(plan) {}

  Expected<Program> read() {
    if (plan.version() != kPlanVersion)
      return Error("the plan has version " + std::to_string(plan.version()) +
                   " of the format, and this runtime reads version " +
                   std::to_string(kPlanVersion) +
                   ": compile the model again with the compiler that came with "
                   "it");
    if (!readAsset() || !readConstants() || !readBlocks() || !readFunctions())
      return Error("the plan is wrong: " + message +
                   "; compile the model again");
    return std::move(program);
  }

private:
  bool fail(std::string text) {
    message = std::move(text);
    return false;
  }
  bool readAsset();
  bool readConstants();
  bool readBlocks();
  /// Analyzes a block after those that it runs.
  bool visit(size_t index, int depth);
  bool readFunctions();
  bool readParameters(
      const flatbuffers::Vector<flatbuffers::Offset<plan::Parameter>> *list,
      std::span<const int32_t> values, std::vector<EntryParameter> &into);

  const plan::Plan &plan;
  Program program;
  std::string message;
  std::vector<char> visited;
  std::vector<bool> isChild;
};
} // namespace

bool ProgramReader::readAsset() {
  if (plan.data())
    program.data = {reinterpret_cast<const std::byte *>(plan.data()->data()),
                    plan.data()->size()};
  if (const plan::AssetFile *asset = plan.asset()) {
    program.hasAsset = true;
    program.assetPath = textOf(asset->path());
    program.assetRelativePath = textOf(asset->relative_path());
    program.assetDigest = textOf(asset->digest());
    program.assetBytes = asset->bytes();
    program.assetModified = asset->modified();
  }
  return true;
}

bool ProgramReader::readConstants() {
  program.prepare = plan.prepare();
  if (program.prepare != -1 &&
      (program.prepare < 0 || size_t(program.prepare) >= sizeOf(plan.blocks())))
    return fail("the block that prepares is not there");
  for (size_t i = 0; i != sizeOf(plan.constants()); ++i) {
    const plan::Constant &from =
        *plan.constants()->Get(flatbuffers::uoffset_t(i));
    Constant constant = {from.source(), from.offset(), from.bytes()};
    auto fits = [&](uint64_t size) {
      return constant.offset <= size &&
             constant.bytes <= size - constant.offset;
    };
    bool isRight = false;
    switch (constant.source) {
    case plan::ConstantSource::Asset:
      isRight = program.hasAsset && fits(program.assetBytes);
      break;
    case plan::ConstantSource::Plan:
      isRight = fits(program.data.size());
      break;
    case plan::ConstantSource::Prepared:
      isRight = program.prepare != -1 &&
                constant.offset <
                    sizeOf(plan.blocks()
                               ->Get(flatbuffers::uoffset_t(program.prepare))
                               ->outputs());
      break;
    }
    if (!isRight)
      return fail("constant " + std::to_string(i) +
                  " lies outside of what it is taken from");
    program.constants.push_back(constant);
  }
  return true;
}

bool ProgramReader::visit(size_t index, int depth) {
  constexpr char kInProgress = 1;
  constexpr char kDone = 2;
  if (visited[index] == kDone)
    return true;
  if (visited[index] == kInProgress)
    return fail("blocks run each other in a circle");
  if (depth > kMaxDepth)
    return fail("blocks are nested too deep");
  visited[index] = kInProgress;
  for (const Step &step : program.blocks[index].steps)
    for (int32_t child : step.blocks) {
      if (child == -1)
        continue;
      if (!isIndex(child, program.blocks))
        return fail("a step runs a block that is not there");
      isChild[size_t(child)] = true;
      if (!visit(size_t(child), depth + 1))
        return false;
    }
  visited[index] = kDone;
  if (Error error = analyzeBlock(program, program.blocks[index]))
    return fail("block " + std::to_string(index) + ": " + error.message());
  return true;
}

bool ProgramReader::readBlocks() {
  std::vector<std::optional<PortableKernel>> kernels;
  for (size_t i = 0; i != sizeOf(plan.kernels()); ++i)
    kernels.push_back(findKernel(
        plan.kernels()->Get(flatbuffers::uoffset_t(i))->string_view()));
  for (size_t i = 0; i != sizeOf(plan.origins()); ++i) {
    const plan::Origin &from = *plan.origins()->Get(flatbuffers::uoffset_t(i));
    Origin &origin = program.origins.emplace_back();
    origin.module = textOf(from.module_());
    if (from.operations())
      origin.operations.assign(from.operations()->begin(),
                               from.operations()->end());
  }
  for (size_t i = 0; i != sizeOf(plan.foreign()); ++i) {
    const plan::ForeignKernel &from =
        *plan.foreign()->Get(flatbuffers::uoffset_t(i));
    program.foreign.push_back(
        {textOf(from.language()), textOf(from.name()), textOf(from.source())});
  }
  program.blocks.resize(sizeOf(plan.blocks()));
  for (size_t i = 0; i != program.blocks.size(); ++i) {
    BlockReader reader(plan, *plan.blocks()->Get(flatbuffers::uoffset_t(i)),
                       program.blocks[i], kernels, program.constants);
    if (!reader.read())
      return fail("block " + std::to_string(i) + ": " + reader.message);
  }
  visited.resize(program.blocks.size());
  isChild.resize(program.blocks.size());
  for (size_t i = 0; i != program.blocks.size(); ++i)
    if (!visit(i, 0))
      return false;
  for (size_t i = 0; i != program.blocks.size(); ++i)
    for (const Buffer &buffer : program.blocks[i].buffers)
      if (isChild[i] && buffer.storage == plan::Storage::Output)
        return fail("block " + std::to_string(i) +
                    " has memory of a caller, and is no function");
  if (program.prepare == -1)
    return true;
  const Block &prepare = program.blocks[size_t(program.prepare)];
  if (!prepare.inputs.empty() || prepare.sizeArguments != 0)
    return fail("the block that prepares has inputs");
  for (const Buffer &buffer : prepare.buffers)
    if (buffer.storage == plan::Storage::Constant &&
        program.constants[size_t(buffer.index)].source ==
            plan::ConstantSource::Prepared)
      return fail("the block that prepares uses what it prepares");
  return true;
}

bool ProgramReader::readParameters(
    const flatbuffers::Vector<flatbuffers::Offset<plan::Parameter>> *list,
    std::span<const int32_t> values, std::vector<EntryParameter> &into) {
  for (size_t i = 0; i != values.size(); ++i) {
    const plan::Parameter &from = *list->Get(flatbuffers::uoffset_t(i));
    if (from.value() != values[i])
      return fail("parameter '" + textOf(from.name()) +
                  "' is another value than that of the block");
    into.push_back({textOf(from.name()), from.value()});
  }
  return true;
}

bool ProgramReader::readFunctions() {
  std::set<std::string> names;
  for (size_t i = 0; i != sizeOf(plan.functions()); ++i) {
    const plan::Function &from =
        *plan.functions()->Get(flatbuffers::uoffset_t(i));
    EntryPoint function;
    function.name = textOf(from.name());
    function.block = from.block();
    if (!names.insert(function.name).second)
      return fail("there are two functions '" + function.name + "'");
    if (!isIndex(function.block, program.blocks))
      return fail("function '" + function.name + "' has no block");
    const Block &block = program.blocks[size_t(function.block)];
    size_t numInputs = sizeOf(from.inputs());
    if (block.sizeArguments != 0 ||
        numInputs + sizeOf(from.states()) != block.inputs.size() ||
        sizeOf(from.outputs()) != block.outputs.size())
      return fail("function '" + function.name +
                  "' has other parameters than its block");
    std::span<const int32_t> values = block.inputs;
    if (!readParameters(from.inputs(), values.first(numInputs),
                        function.inputs) ||
        !readParameters(from.states(), values.subspan(numInputs),
                        function.states) ||
        !readParameters(from.outputs(), block.outputs, function.outputs))
      return false;
    for (size_t input = 0; input != numInputs; ++input)
      if (block.effects.writes[input])
        return fail("function '" + function.name + "' writes to its input '" +
                    function.inputs[input].name + "'");
    program.functions.push_back(std::move(function));
  }
  return true;
}

Expected<Program> execution::readProgram(const plan::Plan &plan) {
  return ProgramReader(plan).read();
}
