// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Writer.h"

#include "Liveness.h"

#include "corten/Dialect/DebugInfo/IR/SourceLine.h"
#include "corten/Dialect/Plan/IR/PlanDialect.h"
#include "corten/Runtime/ElementType.h"
#include "corten/Runtime/TileProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using namespace mlir;
namespace file = corten::runtime::plan;

//===----------------------------------------------------------------------===//
// What all blocks share
//===----------------------------------------------------------------------===//

static runtime::ElementType elementTypeOf(Type type) {
  std::string spelling;
  llvm::raw_string_ostream(spelling) << type;
  return *runtime::elementType(spelling);
}

namespace {
class PlanWriter {
public:
  PlanWriter(file::PlanT &plan, const WeightFile &weights)
      : plan(plan), weights(weights) {}

  void write(plan::FunctionOp function);
  /// The block that packs weights, if there is one.
  void finish();

  /// The place of a kernel's name.
  int32_t kernel(StringRef name);
  int32_t location(Location location);
  int32_t constant(plan::ConstantOp op);
  /// What the block that prepares gives for a result of one of its kernels.
  int32_t prepared(Value result);
  /// A block that has been written.
  int32_t add(std::unique_ptr<file::BlockT> block);

private:
  int32_t addConstant(ArrayRef<char> bytes);

  file::PlanT &plan;
  const WeightFile &weights;
  llvm::StringMap<int32_t> kernels;
  llvm::StringMap<int32_t> locations;
  llvm::DenseMap<Attribute, int32_t> constants;
  llvm::MapVector<Value, int32_t> preparedResults;
};

/// Writes one block, with everything that it names.
class BlockWriter {
public:
  explicit BlockWriter(PlanWriter &writer)
      : writer(writer), block(std::make_unique<file::BlockT>()) {}

  /// A block with arguments as inputs, and what is taken from around it.
  void writeBody(Block &body, ArrayRef<Value> captured,
                 ArrayRef<Value> capturedSizes);
  void write(Operation *op);
  int32_t value(Value tensor);
  int32_t size(Value index);
  int32_t number(int64_t number);

  /// Kernels that are run when the plan is loaded.
  void writePrepared(ArrayRef<Operation *> kernels) {
    for (Operation *kernel : kernels)
      writeKernel(cast<plan::KernelOp>(kernel));
  }

  std::unique_ptr<file::BlockT> take() { return std::move(block); }
  file::BlockT &content() { return *block; }
  /// Of a function: gives a value to the caller.
  void makeOutput(Value tensor, int32_t index);

private:
  int32_t expression(Operation *op);
  int32_t binary(file::SizeKind kind, int32_t left, int32_t right);
  int32_t addSize(file::SizeKind kind, int64_t value, int32_t left,
                  int32_t right);
  int32_t symbol(file::SymbolSource source, int32_t index, int32_t axis,
                 int32_t step);
  int32_t addBuffer(file::Storage storage, int32_t index, int32_t bytes);
  int32_t addValue(Type type, int32_t buffer, std::vector<int32_t> shape,
                   std::vector<int32_t> strides = {}, int32_t offset = -1);
  /// Extents of a type; those that are open come from `sizes`.
  std::vector<int32_t> shapeOf(Type type, ValueRange sizes);
  std::vector<int32_t> mixed(ArrayRef<int64_t> known, ValueRange open);
  /// Memory of its own for a tensor of these extents.
  int32_t addArena(Type type, ArrayRef<int32_t> shape);
  int32_t inputValue(Value tensor, int32_t index);
  /// Strides for axes in this order.
  std::vector<int32_t> stridesFor(ArrayRef<int32_t> shape,
                                  ArrayRef<int64_t> order);

  file::StepT &addStep(file::StepKind kind, Location location);
  void copy(int32_t from, int32_t to, Location location);
  void writeKernel(plan::KernelOp op);
  void writeInsert(plan::InsertOp op);
  void writeStores(Block &body);
  void writeIf(plan::IfOp op);
  void writeWhile(plan::WhileOp op);
  std::unique_ptr<file::TileProgramT> tileProgram(plan::KernelOp op);
  void writeChildren(Operation *op, file::StepT &step,
                     ArrayRef<Region *> regions);

  PlanWriter &writer;
  std::unique_ptr<file::BlockT> block;
  llvm::DenseMap<Value, int32_t> values;
  llvm::DenseMap<Value, int32_t> sizes;
  llvm::DenseMap<int64_t, int32_t> numbers;
  /// By buffer: how many steps there were when it was written last.
  llvm::DenseMap<Value, int32_t> stepOf;
  std::unique_ptr<Liveness> liveness;
};
} // namespace

int32_t PlanWriter::kernel(StringRef name) {
  auto [entry, isNew] = kernels.try_emplace(name, plan.kernels.size());
  if (isNew)
    plan.kernels.push_back(name.str());
  return entry->second;
}

int32_t PlanWriter::location(Location location) {
  FileLineColRange line = debuginfo::sourceLine(location);
  if (!line)
    return -1;
  std::string text =
      (line.getFilename().getValue() + ":" + Twine(line.getStartLine())).str();
  auto [entry, isNew] = locations.try_emplace(text, plan.locations.size());
  if (isNew)
    plan.locations.push_back(text);
  return entry->second;
}

int32_t PlanWriter::add(std::unique_ptr<file::BlockT> block) {
  plan.blocks.push_back(std::move(block));
  return int32_t(plan.blocks.size()) - 1;
}

int32_t PlanWriter::addConstant(ArrayRef<char> bytes) {
  auto constant = std::make_unique<file::ConstantT>();
  constant->bytes = bytes.size();
  uintptr_t at = reinterpret_cast<uintptr_t>(bytes.data());
  uintptr_t begin = reinterpret_cast<uintptr_t>(weights.bytes.data());
  if (!bytes.empty() && at >= begin &&
      at + bytes.size() <= begin + weights.bytes.size()) {
    constant->source = file::ConstantSource::Asset;
    constant->offset = at - begin;
  } else {
    constant->source = file::ConstantSource::Plan;
    plan.data.resize(llvm::alignTo(plan.data.size(), 64));
    constant->offset = plan.data.size();
    plan.data.insert(plan.data.end(), bytes.begin(), bytes.end());
  }
  plan.constants.push_back(std::move(constant));
  return int32_t(plan.constants.size()) - 1;
}

int32_t PlanWriter::constant(plan::ConstantOp op) {
  auto [entry, isNew] = constants.try_emplace(op.getValue(), -1);
  if (!isNew)
    return entry->second;
  if (auto weight = dyn_cast<DenseResourceElementsAttr>(op.getValue())) {
    entry->second = addConstant(weight.getRawHandle().getBlob()->getData());
    return entry->second;
  }
  auto dense = cast<DenseElementsAttr>(op.getValue());
  if (dense.getElementType().isInteger(1)) {
    SmallVector<char> flags;
    for (bool flag : dense.getValues<bool>())
      flags.push_back(char(flag));
    return entry->second = addConstant(flags);
  }
  if (!dense.isSplat() || dense.getNumElements() == 1)
    return entry->second = addConstant(dense.getRawData());
  SmallVector<char> all;
  for (int64_t i = 0; i != dense.getNumElements(); ++i)
    all.append(dense.getRawData().begin(), dense.getRawData().end());
  return entry->second = addConstant(all);
}

int32_t PlanWriter::prepared(Value result) {
  auto *found = preparedResults.find(result);
  if (found != preparedResults.end())
    return found->second;
  auto constant = std::make_unique<file::ConstantT>();
  constant->source = file::ConstantSource::Prepared;
  constant->offset = preparedResults.size();
  // How long it is follows from its type: all extents are known.
  auto type = cast<RankedTensorType>(result.getType());
  constant->bytes = uint64_t(type.getNumElements()) *
                    runtime::byteSize(elementTypeOf(type.getElementType()));
  plan.constants.push_back(std::move(constant));
  int32_t index = int32_t(plan.constants.size()) - 1;
  preparedResults[result] = index;
  return index;
}

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
    result = symbol(file::SymbolSource::Element, value(tensor),
                    int32_t(element.getPosition()),
                    step == stepOf.end() ? -1 : step->second);
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
  value->type = uint8_t(elementTypeOf(getElementTypeOrSelf(type)));
  value->buffer = buffer;
  value->shape = std::move(shape);
  value->strides = std::move(strides);
  value->offset = offset;
  block->values.push_back(std::move(value));
  return int32_t(block->values.size()) - 1;
}

int32_t BlockWriter::addArena(Type type, ArrayRef<int32_t> shape) {
  int64_t width =
      int64_t(runtime::byteSize(elementTypeOf(getElementTypeOrSelf(type))));
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
        element.isIntOrFloat() && element.getIntOrFloatBitWidth() < 8 &&
        !element.isInteger(1)) {
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
    int32_t buffer = addArena(result.getType(), shape);
    outputs.push_back(addValue(result.getType(), buffer, shape, strides));
    values[result] = outputs.back();
    stepOf[result] = int32_t(block->steps.size());
  }
  // Memory that is written in parts takes no step.
  if (op.getKernel() == "Empty")
    return;
  std::vector<int32_t> numbers = mixed(op.getStaticNumbers(), op.getNumbers());
  file::StepT &step = addStep(file::StepKind::Kernel, op.getLoc());
  step.target = writer.kernel(op.getKernel());
  step.inputs = std::move(inputs);
  step.outputs = std::move(outputs);
  step.numbers = std::move(numbers);
  step.program = tileProgram(op);
  step.program_inputs = int32_t(op.getExtras().size());
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
      from = aside;
    }
    copies.push_back({from, to, store.getLoc()});
  }
  for (auto [from, to, location] : copies)
    copy(from, to, location);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// A size whose value no block has to be told.
static bool isConstantSize(Value value) {
  return matchPattern(value, m_Constant());
}

/// Whether every block has it on its own: a constant, or what was made of
/// constants.
static bool isConstantTensor(Value value) {
  Operation *op = baseOf(value).getDefiningOp();
  if (auto kernel = dyn_cast_if_present<plan::KernelOp>(op))
    return kernel.getPrepared();
  return isa_and_present<plan::ConstantOp>(op);
}

/// What regions use of what is around them.
static void findCaptured(ArrayRef<Region *> regions,
                         llvm::SetVector<Value> &tensors,
                         llvm::SetVector<Value> &sizes) {
  Operation *parent = regions.front()->getParentOp();
  for (Region *region : regions)
    region->walk([&](Operation *op) {
      for (Value operand : op->getOperands()) {
        Region *home = operand.getParentRegion();
        if (parent->isAncestor(home->getParentOp()))
          continue;
        if (isa<IndexType>(operand.getType())) {
          if (!isConstantSize(operand))
            sizes.insert(operand);
        } else if (isa<RankedTensorType>(operand.getType()) &&
                   !isConstantTensor(operand)) {
          tensors.insert(operand);
        }
      }
    });
}

int32_t BlockWriter::inputValue(Value tensor, int32_t index) {
  int32_t buffer = addBuffer(file::Storage::Input, index, -1);
  // An argument is in row-major order; a captured tensor as it is.
  std::vector<int32_t> shape, strides;
  auto type = cast<RankedTensorType>(tensor.getType());
  Operation *op = tensor.getDefiningOp();
  if (auto view = dyn_cast_if_present<plan::ViewOp>(op)) {
    shape = shapeOf(type, view.getSizes());
    strides = mixed(view.getStaticStrides(), view.getStrides());
  } else {
    for (auto [axis, extent] : llvm::enumerate(type.getShape()))
      shape.push_back(ShapedType::isStatic(extent)
                          ? number(extent)
                          : symbol(file::SymbolSource::InputExtent, index,
                                   int32_t(axis), -1));
    if (auto kernel = dyn_cast_if_present<plan::KernelOp>(op))
      if (kernel.getOrder())
        strides = stridesFor(shape, *kernel.getOrder());
  }
  int32_t result = addValue(type, buffer, shape, strides);
  values[tensor] = result;
  block->inputs.push_back(result);
  return result;
}

void BlockWriter::writeBody(Block &body, ArrayRef<Value> captured,
                            ArrayRef<Value> capturedSizes) {
  liveness = std::make_unique<Liveness>(body);
  for (auto [index, value] : llvm::enumerate(capturedSizes))
    sizes[value] = symbol(file::SymbolSource::Argument, int32_t(index), 0, -1);
  block->size_arguments = int32_t(capturedSizes.size());
  int32_t index = 0;
  for (Value argument : body.getArguments())
    inputValue(argument, index++);
  // Extents of arguments are symbols already.
  for (auto extent : body.getOps<plan::ExtentOp>())
    if (auto argument = dyn_cast<BlockArgument>(extent.getTensor()))
      if (argument.getOwner() == &body)
        sizes[extent.getResult()] =
            block->values[values[argument]]->shape[extent.getAxis()];
  for (Value tensor : captured)
    inputValue(tensor, index++);
  for (Operation &op : body)
    write(&op);
}

/// Writes regions as blocks that take the arguments of the step, which come
/// first, and what they use of what is around them.
void BlockWriter::writeChildren(Operation *op, file::StepT &step,
                                ArrayRef<Region *> regions) {
  llvm::SetVector<Value> tensors, capturedSizes;
  findCaptured(regions, tensors, capturedSizes);
  // Extents of a captured view are sizes that are captured too.
  for (Value tensor : tensors)
    if (auto view = tensor.getDefiningOp<plan::ViewOp>())
      for (Value size : llvm::concat<Value>(llvm::to_vector(view.getSizes()),
                                            llvm::to_vector(view.getStrides())))
        if (!isConstantSize(size))
          capturedSizes.insert(size);
  std::vector<int32_t> inputs = step.inputs;
  for (Value tensor : tensors)
    inputs.push_back(value(tensor));
  std::vector<int32_t> numbers;
  for (Value captured : capturedSizes)
    numbers.push_back(size(captured));
  std::vector<int32_t> blocks;
  for (Region *region : regions) {
    BlockWriter child(writer);
    child.writeBody(region->front(), tensors.getArrayRef(),
                    capturedSizes.getArrayRef());
    auto end = cast<plan::ReturnOp>(region->front().getTerminator());
    for (Value returned : end.getValues())
      child.content().outputs.push_back(child.value(returned));
    blocks.push_back(writer.add(child.take()));
  }
  step.inputs = std::move(inputs);
  step.numbers = std::move(numbers);
  step.blocks = std::move(blocks);
}

void BlockWriter::writeIf(plan::IfOp op) {
  int32_t condition = value(op.getCondition());
  auto step = std::make_unique<file::StepT>();
  step->kind = file::StepKind::If;
  step->location = writer.location(op.getLoc());
  step->inputs = {condition};
  writeChildren(op, *step, {&op.getThen(), &op.getOtherwise()});
  block->steps.push_back(std::move(step));
}

void BlockWriter::writeWhile(plan::WhileOp op) {
  auto step = std::make_unique<file::StepT>();
  step->kind = file::StepKind::While;
  step->location = writer.location(op.getLoc());
  for (Value init : op.getInits())
    step->inputs.push_back(value(init));
  writeChildren(op, *step, {&op.getBefore(), &op.getAfter()});
  block->steps.push_back(std::move(step));
}

void BlockWriter::write(Operation *op) {
  if (auto kernel = dyn_cast<plan::KernelOp>(op)) {
    if (!kernel.getPrepared())
      writeKernel(kernel);
    return;
  }
  if (auto insert = dyn_cast<plan::InsertOp>(op))
    return writeInsert(insert);
  if (isa<plan::ReturnOp>(op) && isa<plan::FunctionOp>(op->getParentOp()))
    return writeStores(*op->getBlock());
  if (!isa<plan::IfOp, plan::WhileOp>(op))
    return;
  if (auto branch = dyn_cast<plan::IfOp>(op))
    writeIf(branch);
  else
    writeWhile(cast<plan::WhileOp>(op));
  int32_t step = int32_t(block->steps.size()) - 1;
  for (Value result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    int32_t buffer = addBuffer(file::Storage::Returned, -1, -1);
    int32_t number = addValue(type, buffer, {});
    std::vector<int32_t> shape;
    for (auto [axis, extent] : llvm::enumerate(type.getShape()))
      shape.push_back(ShapedType::isStatic(extent)
                          ? this->number(extent)
                          : symbol(file::SymbolSource::Extent, number,
                                   int32_t(axis), step));
    for (Operation *user : result.getUsers())
      if (auto extent = dyn_cast<plan::ExtentOp>(user))
        sizes[extent.getResult()] = shape[extent.getAxis()];
    block->values[number]->shape = shape;
    values[result] = number;
    stepOf[result] = step;
    block->steps.back()->outputs.push_back(number);
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void PlanWriter::write(plan::FunctionOp function) {
  BlockWriter body(*this);
  Block &block = function.getBody().front();
  body.writeBody(block, {}, {});
  auto made = std::make_unique<file::FunctionT>();
  made->name = function.getSymName().str();
  unsigned next = 0;
  auto parameter = [](Attribute name, int32_t value) {
    auto result = std::make_unique<file::ParameterT>();
    result->name = cast<StringAttr>(name).getValue().str();
    result->value = value;
    return result;
  };
  for (Attribute name : function.getInputs())
    made->inputs.push_back(
        parameter(name, body.value(block.getArgument(next++))));
  for (Attribute name : function.getStates())
    made->states.push_back(
        parameter(name, body.value(block.getArgument(next++))));
  auto end = cast<plan::ReturnOp>(block.getTerminator());
  for (auto [index, output] : llvm::enumerate(end.getValues())) {
    body.makeOutput(output, int32_t(index));
    body.content().outputs.push_back(body.value(output));
    made->outputs.push_back(
        parameter(function.getOutputs()[index], body.value(output)));
  }
  made->block = add(body.take());
  plan.functions.push_back(std::move(made));
}

void PlanWriter::finish() {
  if (preparedResults.empty())
    return;
  BlockWriter body(*this);
  // All that they need, in the order of the program.
  llvm::SetVector<Operation *> needed;
  auto need = [&](auto &&self, Value value) -> void {
    auto kernel = baseOf(value).getDefiningOp<plan::KernelOp>();
    if (!kernel || needed.contains(kernel))
      return;
    for (Value input : kernel->getOperands())
      if (isa<RankedTensorType>(input.getType()))
        self(self, input);
    needed.insert(kernel);
  };
  for (auto &[result, constant] : preparedResults)
    need(need, result);
  body.writePrepared(needed.getArrayRef());
  int32_t index = 0;
  for (auto &[result, constant] : preparedResults) {
    body.makeOutput(result, index++);
    body.content().outputs.push_back(body.value(result));
  }
  plan.prepare = add(body.take());
}

file::PlanT corten::writePlan(ModuleOp module, const WeightFile &weights) {
  file::PlanT plan;
  PlanWriter writer(plan, weights);
  for (auto function : module.getOps<plan::FunctionOp>())
    writer.write(function);
  writer.finish();
  return plan;
}
