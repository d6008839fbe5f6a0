// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BlockWriter.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace corten;
using namespace mlir;
namespace file = corten::runtime::plan;

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
  step->origin = writer.origin(op.getLoc());
  step->inputs = {condition};
  writeChildren(op, *step, {&op.getThen(), &op.getOtherwise()});
  block->steps.push_back(std::move(step));
}

void BlockWriter::writeWhile(plan::WhileOp op) {
  auto step = std::make_unique<file::StepT>();
  step->kind = file::StepKind::While;
  step->location = writer.location(op.getLoc());
  step->origin = writer.origin(op.getLoc());
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
  if (auto assertion = dyn_cast<plan::AssertOp>(op))
    return writeAssert(assertion);
  if (auto element = dyn_cast<plan::ElementOp>(op))
    assertedBefore[element.getResult()] = lastAssertion;
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
