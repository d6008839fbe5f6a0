// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BlockWriter.h"

#include "Fusion.h"
#include "Planner.h"

#include "corten/Runtime/TileProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/Sequence.h"

using namespace corten;
using namespace mlir;
namespace file = corten::runtime::plan;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

int32_t BlockWriter::addSize(file::SizeKind kind, int64_t value, int32_t left,
                             int32_t right) {
  block->sizes.emplace_back(value, left, right, kind);
  return int32_t(block->sizes.size()) - 1;
}

int32_t BlockWriter::number(int64_t number) {
  auto [entry, isNew] = numbers.try_emplace(number, -1);
  if (isNew)
    entry->second = addSize(file::SizeKind::Constant, number, -1, -1);
  return entry->second;
}

int32_t BlockWriter::binary(file::SizeKind kind, int32_t left, int32_t right) {
  return addSize(kind, 0, left, right);
}

int32_t BlockWriter::symbol(file::SymbolSource source, int32_t index,
                            int32_t axis, int32_t step) {
  auto made = std::make_unique<file::SymbolT>();
  made->name = "s" + std::to_string(block->symbols.size());
  made->source = source;
  made->index = index;
  made->axis = axis;
  made->step = step;
  made->low = source == file::SymbolSource::InputExtent ||
                      source == file::SymbolSource::Extent
                  ? 0
                  : INT64_MIN;
  block->symbols.push_back(std::move(made));
  return addSize(file::SizeKind::Symbol, int64_t(block->symbols.size()) - 1, -1,
                 -1);
}

int32_t BlockWriter::expression(Operation *op) {
  using file::SizeKind;
  auto operand = [&](unsigned index) { return size(op->getOperand(index)); };
  auto two = [&](SizeKind kind) {
    int32_t left = operand(0);
    return binary(kind, left, operand(1));
  };
  if (isa<arith::AddIOp>(op))
    return two(SizeKind::Add);
  if (isa<arith::SubIOp>(op))
    return two(SizeKind::Sub);
  if (isa<arith::MulIOp>(op))
    return two(SizeKind::Mul);
  if (isa<arith::FloorDivSIOp>(op))
    return two(SizeKind::FloorDivide);
  if (isa<arith::MaxSIOp>(op))
    return two(SizeKind::Maximum);
  if (isa<arith::MinSIOp>(op))
    return two(SizeKind::Minimum);
  // A truth value is a size of 0 or 1.
  if (isa<arith::IndexCastUIOp>(op))
    return operand(0);
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    if (compare.getPredicate() == arith::CmpIPredicate::slt)
      return two(SizeKind::Less);
    if (compare.getPredicate() == arith::CmpIPredicate::eq)
      return two(SizeKind::Equal);
    int32_t equal = two(SizeKind::Equal);
    return binary(SizeKind::Equal, equal, number(0));
  }
  auto select = cast<arith::SelectOp>(op);
  int32_t condition = size(select.getCondition());
  int32_t then = size(select.getTrueValue());
  return addSize(SizeKind::Select, condition, then,
                 size(select.getFalseValue()));
}

int32_t BlockWriter::size(Value index) {
  if (auto found = sizes.find(index); found != sizes.end())
    return found->second;
  IntegerAttr constant;
  int32_t result;
  Operation *op = index.getDefiningOp();
  if (matchPattern(index, m_Constant(&constant))) {
    result = number(constant.getInt());
  } else if (auto extent = dyn_cast<plan::ExtentOp>(op)) {
    Value tensor = extent.getTensor();
    int32_t axis = int32_t(extent.getAxis());
    if (auto argument = dyn_cast<BlockArgument>(tensor))
      result = symbol(file::SymbolSource::InputExtent,
                      int32_t(argument.getArgNumber()), axis, -1);
    else
      result = symbol(file::SymbolSource::Extent, value(tensor), axis,
                      stepOf.lookup(tensor));
  } else if (auto element = dyn_cast<plan::ElementOp>(op)) {
    Value tensor = element.getTensor();
    Value base = baseOf(tensor);
    auto step = stepOf.find(base);
    int32_t computed = step == stepOf.end() ? -1 : step->second;
    result = symbol(file::SymbolSource::Element, value(tensor),
                    int32_t(element.getPosition()),
                    std::max(computed, assertedBefore.at(index)));
  } else {
    result = expression(op);
  }
  sizes[index] = result;
  return result;
}

std::vector<int32_t> BlockWriter::mixed(ArrayRef<int64_t> known,
                                        ValueRange open) {
  std::vector<int32_t> result;
  for (int64_t size : known) {
    if (ShapedType::isStatic(size)) {
      result.push_back(number(size));
    } else {
      result.push_back(this->size(open.front()));
      open = open.drop_front();
    }
  }
  return result;
}

std::vector<int32_t> BlockWriter::shapeOf(Type type, ValueRange sizes) {
  return mixed(cast<RankedTensorType>(type).getShape(), sizes);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

int32_t BlockWriter::addBuffer(file::Storage storage, int32_t index,
                               int32_t bytes) {
  auto buffer = std::make_unique<file::BufferT>();
  buffer->storage = storage;
  buffer->index = index;
  buffer->bytes = bytes;
  block->buffers.push_back(std::move(buffer));
  return int32_t(block->buffers.size()) - 1;
}

int32_t BlockWriter::addValue(Type type, int32_t buffer,
                              std::vector<int32_t> shape,
                              std::vector<int32_t> strides, int32_t offset) {
  auto value = std::make_unique<file::ValueT>();
  value->type = uint8_t(planElement(type));
  value->buffer = buffer;
  value->shape = std::move(shape);
  value->strides = std::move(strides);
  value->offset = offset;
  block->values.push_back(std::move(value));
  int32_t result = int32_t(block->values.size()) - 1;
  isWrittenNow(result);
  return result;
}

void BlockWriter::isWrittenNow(int32_t value) {
  block->values[value]->version = int32_t(block->steps.size());
}

int32_t BlockWriter::addArena(Type type, ArrayRef<int32_t> shape) {
  int64_t width = int64_t(runtime::byteSize(planElement(type)));
  int32_t bytes = number(width);
  for (int32_t extent : shape)
    bytes = binary(file::SizeKind::Mul, bytes, extent);
  return addBuffer(file::Storage::Arena, -1, bytes);
}

std::vector<int32_t> BlockWriter::stridesFor(ArrayRef<int32_t> shape,
                                             ArrayRef<int64_t> order) {
  std::vector<int32_t> strides(shape.size());
  int32_t next = number(1);
  for (int64_t axis : llvm::reverse(order)) {
    strides[axis] = next;
    next = binary(file::SizeKind::Mul, next, shape[axis]);
  }
  return strides;
}

int32_t BlockWriter::value(Value tensor) {
  if (auto found = values.find(tensor); found != values.end())
    return found->second;
  Operation *op = tensor.getDefiningOp();
  int32_t result;
  if (auto constant = dyn_cast<plan::ConstantOp>(op)) {
    int32_t buffer =
        addBuffer(file::Storage::Constant, writer.constant(constant), -1);
    // Packed elements are bytes until a kernel unpacks them.
    auto type = cast<RankedTensorType>(tensor.getType());
    Type element = type.getElementType();
    if (isa<DenseResourceElementsAttr>(constant.getValue()) &&
        sharesBytes(element)) {
      auto bytes = cast<DenseResourceElementsAttr>(constant.getValue())
                       .getRawHandle()
                       .getBlob()
                       ->getData();
      result =
          addValue(IntegerType::get(op->getContext(), 8, IntegerType::Unsigned),
                   buffer, {number(int64_t(bytes.size()))});
    } else {
      result = addValue(type, buffer, shapeOf(type, {}));
    }
  } else if (auto view = dyn_cast<plan::ViewOp>(op)) {
    int32_t source = value(view.getSource());
    int32_t buffer = block->values[source]->buffer;
    int32_t offset =
        int64_t(view.getStaticOffset()) == 0
            ? -1
            : mixed(int64_t(view.getStaticOffset()), view.getOffset()).front();
    result = addValue(
        view.getType(), buffer, shapeOf(view.getType(), view.getSizes()),
        mixed(view.getStaticStrides(), view.getStrides()), offset);
    block->values[result]->version = block->values[source]->version;
  } else {
    // A result of a kernel that has been run when the plan was loaded.
    auto kernel = cast<plan::KernelOp>(op);
    int32_t buffer =
        addBuffer(file::Storage::Constant, writer.prepared(tensor), -1);
    std::vector<int32_t> shape = shapeOf(tensor.getType(), {});
    std::vector<int32_t> strides;
    if (kernel.getOrder())
      strides = stridesFor(shape, *kernel.getOrder());
    result = addValue(tensor.getType(), buffer, shape, strides);
  }
  values[tensor] = result;
  return result;
}

void BlockWriter::makeOutput(Value tensor, int32_t index) {
  int32_t number = value(tensor);
  file::BufferT &buffer = *block->buffers[block->values[number]->buffer];
  buffer.storage = file::Storage::Output;
  buffer.index = index;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

file::StepT &BlockWriter::addStep(file::StepKind kind, Location location) {
  auto step = std::make_unique<file::StepT>();
  step->kind = kind;
  step->location = writer.location(location);
  step->origin = writer.origin(location);
  block->steps.push_back(std::move(step));
  return *block->steps.back();
}

void BlockWriter::copy(int32_t from, int32_t to, Location location) {
  file::StepT &step = addStep(file::StepKind::Kernel, location);
  step.target = writer.kernel("Copy");
  step.inputs = {from};
  step.outputs = {to};
}

/// The instruction of a name.
static runtime::TileOpcode opcodeOf(StringRef name) {
  auto opcodes = runtime::tileOpcodes();
  auto found = llvm::find_if(
      opcodes, [&](const auto &info) { return StringRef(info.name) == name; });
  assert(found != opcodes.end() && "the planner asks what there is");
  return runtime::TileOpcode(found - opcodes.begin());
}

std::unique_ptr<file::TileProgramT>
BlockWriter::tileProgram(plan::KernelOp op) {
  if (op.getProgram().empty())
    return nullptr;
  auto program = std::make_unique<file::TileProgramT>();
  Block &body = op.getProgram().front();
  llvm::DenseMap<Value, uint16_t> registers;
  for (Value argument : body.getArguments())
    registers[argument] = program->registers++;
  // A register is free again after the last use of what it holds.
  SmallVector<uint16_t> free;
  llvm::DenseMap<Value, Operation *> lastUse;
  for (Operation &lane : body)
    for (Value operand : lane.getOperands())
      lastUse[operand] = &lane;
  for (Operation &lane : body.without_terminator()) {
    SmallVector<uint16_t, 3> operands;
    for (Value operand : lane.getOperands())
      operands.push_back(registers[operand]);
    for (Value operand : lane.getOperands())
      if (lastUse[operand] == &lane && !isa<BlockArgument>(operand) &&
          !llvm::is_contained(free, registers[operand]))
        free.push_back(registers[operand]);
    uint16_t target = free.empty() ? program->registers++ : free.pop_back_val();
    registers[lane.getResult(0)] = target;
    if (lastUse.lookup(lane.getResult(0)) == nullptr)
      free.push_back(target);
    if (auto immediate = dyn_cast<plan::ImmediateOp>(lane)) {
      bool isFloat = isa<FloatType>(immediate.getType());
      operands.push_back(uint16_t(program->immediates.size()));
      program->immediates.push_back(
          immediate.getValueAttr().getValueAsDouble());
      program->instructions.emplace_back(
          uint16_t(opcodeOf(isFloat ? "Immediate" : "ImmediateInteger")),
          target, operands[0], 0, 0);
      continue;
    }
    operands.resize(3);
    program->instructions.emplace_back(
        uint16_t(opcodeOf(cast<plan::LaneOp>(lane).getOpcode())), target,
        operands[0], operands[1], operands[2]);
  }
  for (Value result : body.getTerminator()->getOperands())
    program->results.push_back(registers[result]);
  return program;
}

/// A program reads each element before it writes it, so its result may lie
/// where an input lies that nobody needs afterwards: one that is computed here,
/// and has as many bytes for each element, in the same order.
int32_t BlockWriter::dyingInput(plan::KernelOp op) {
  if (!liveness || !op.isTile() || op.getNumResults() != 1)
    return -1;
  size_t width = runtime::byteSize(planElement(op.getResult(0).getType()));
  for (Value input : op.getExtras()) {
    auto kernel = input.getDefiningOp<plan::KernelOp>();
    if (!kernel || kernel.getPrepared() || kernel.getNumResults() != 1 ||
        kernel->getBlock() != op->getBlock() || !isSameLayout(kernel, op) ||
        runtime::byteSize(planElement(input.getType())) != width ||
        !liveness->isLastUse(input, op))
      continue;
    // Seen in another way, elements would be read when they are gone.
    bool isSeenOtherwise = llvm::any_of(op.getExtras(), [&](Value other) {
      return other != input && baseOf(other) == input;
    });
    int32_t buffer = block->values[value(input)]->buffer;
    if (!isSeenOtherwise &&
        block->buffers[buffer]->storage == file::Storage::Arena)
      return buffer;
  }
  return -1;
}

int32_t BlockWriter::turned(int32_t value, ArrayRef<int64_t> order) {
  const file::ValueT from = *block->values[value];
  std::vector<int32_t> steps = from.strides;
  if (steps.empty())
    steps = stridesFor(from.shape, llvm::to_vector(llvm::seq<int64_t>(
                                       0, int64_t(from.shape.size()))));
  auto made = std::make_unique<file::ValueT>(from);
  made->strides.resize(order.size());
  for (auto [place, axis] : llvm::enumerate(order)) {
    made->shape[place] = from.shape[axis];
    made->strides[place] = steps[axis];
  }
  block->values.push_back(std::move(made));
  return int32_t(block->values.size()) - 1;
}

void BlockWriter::writeKernel(plan::KernelOp op) {
  std::vector<int32_t> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(isa<NoneType>(input.getType()) ? -1 : value(input));
  for (Value input : op.getExtras())
    inputs.push_back(value(input));
  std::vector<int32_t> outputs;
  for (auto [index, result] : llvm::enumerate(op.getResults())) {
    std::vector<int32_t> shape =
        shapeOf(result.getType(), op.getSizesOf(unsigned(index)));
    std::vector<int32_t> strides;
    if (op.getOrder())
      strides = stridesFor(shape, *op.getOrder());
    if (liveness && liveness->isInPlace(op)) {
      const file::ValueT &whole = *block->values[inputs.front()];
      outputs.push_back(addValue(result.getType(), whole.buffer, whole.shape,
                                 whole.strides, whole.offset));
    } else {
      int32_t buffer = dyingInput(op);
      if (buffer == -1)
        buffer = addArena(result.getType(), shape);
      outputs.push_back(addValue(result.getType(), buffer, shape, strides));
    }
    values[result] = outputs.back();
    stepOf[result] = int32_t(block->steps.size());
  }
  // Memory that is written in parts takes no step.
  if (op.getKernel() == "Empty")
    return;
  // Rows and columns of a product are axes in the order of memory.
  if (op.getOrder() && op.getKernel().starts_with("MatMul")) {
    for (int32_t &extra :
         MutableArrayRef(inputs).take_back(op.getExtras().size()))
      extra = turned(extra, *op.getOrder());
    outputs.front() = turned(outputs.front(), *op.getOrder());
  }
  std::vector<int32_t> numbers = mixed(op.getStaticNumbers(), op.getNumbers());
  file::StepT &step = addStep(file::StepKind::Kernel, op.getLoc());
  step.target = writer.kernel(op.getKernel());
  step.inputs = std::move(inputs);
  step.outputs = std::move(outputs);
  step.numbers = std::move(numbers);
  if (op.isForeign())
    step.foreign = writer.foreign(op);
  step.program = tileProgram(op);
  step.program_inputs = int32_t(op.getExtras().size());
  for (int32_t output : step.outputs)
    isWrittenNow(output);
  for (Value result : op.getResults())
    isWrittenNow(values[result]);
}

void BlockWriter::writeInsert(plan::InsertOp op) {
  int32_t update = value(op.getUpdate());
  int32_t target = value(op.getTarget());
  auto made = [&](int32_t buffer) {
    const file::ValueT &whole = *block->values[target];
    return addValue(op.getType(), buffer, whole.shape, whole.strides,
                    whole.offset);
  };
  int32_t result;
  if (liveness->isInPlace(op)) {
    result = made(block->values[target]->buffer);
  } else {
    int32_t buffer = addArena(op.getType(), block->values[target]->shape);
    result = made(buffer);
    copy(target, result, op.getLoc());
  }
  values[op.getResult()] = result;
  int32_t offset =
      int64_t(op.getStaticOffset()) == 0
          ? -1
          : mixed(int64_t(op.getStaticOffset()), op.getOffset()).front();
  std::vector<int32_t> shape = block->values[update]->shape;
  int32_t part =
      addValue(op.getType(), block->values[result]->buffer, shape,
               mixed(op.getStaticStrides(), op.getStrides()), offset);
  stepOf[op.getResult()] = int32_t(block->steps.size());
  copy(update, part, op.getLoc());
  isWrittenNow(part);
  isWrittenNow(result);
}

void BlockWriter::writeAssert(plan::AssertOp op) {
  bool isSize = isa<IndexType>(op.getCondition().getType());
  std::vector<int32_t> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isSize ? size(operand) : value(operand));
  file::StepT &step = addStep(file::StepKind::Assert, op.getLoc());
  (isSize ? step.numbers : step.inputs) = std::move(operands);
  step.message = op.getMessage().str();
  for (StringRef name : op.getNames().getAsValueRange<StringAttr>())
    step.names.push_back(name.str());
  // Those on sizes are looked at before anything is laid out with them.
  if (!isSize)
    lastAssertion = int32_t(block->steps.size()) - 1;
}

/// What a state becomes is written when nothing reads the old values any more:
/// all that is taken from another state is set aside first.
void BlockWriter::writeStores(Block &body) {
  SmallVector<std::tuple<int32_t, int32_t, Location>> copies;
  for (auto store : body.getOps<plan::StoreOp>()) {
    int32_t from = value(store.getValue());
    int32_t to = value(store.getState());
    if (block->values[from]->buffer == block->values[to]->buffer)
      continue;
    auto base = dyn_cast<BlockArgument>(baseOf(store.getValue()));
    if (base) {
      int32_t buffer =
          addArena(store.getValue().getType(), block->values[from]->shape);
      int32_t aside = addValue(store.getValue().getType(), buffer,
                               block->values[from]->shape);
      copy(from, aside, store.getLoc());
      isWrittenNow(aside);
      from = aside;
    }
    copies.push_back({from, to, store.getLoc()});
  }
  for (auto [from, to, location] : copies)
    copy(from, to, location);
}
