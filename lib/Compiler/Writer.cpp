// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Writer.h"

#include "BlockWriter.h"
#include "Planner.h"

#include "corten/Constants/Elements.h"
#include "corten/Dialect/DebugInfo/IR/SourceLine.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace corten;
using namespace mlir;
namespace file = corten::runtime::plan;

//===----------------------------------------------------------------------===//
// What all blocks share
//===----------------------------------------------------------------------===//

runtime::ElementType corten::planElement(Type type) {
  return *elementTypeOf(getElementTypeOrSelf(type));
}

int32_t PlanWriter::kernel(StringRef name) {
  auto [entry, isNew] = kernels.try_emplace(name, plan.kernels.size());
  if (isNew)
    plan.kernels.push_back(name.str());
  return entry->second;
}

int32_t PlanWriter::foreign(plan::KernelOp op) {
  auto name = op->getAttrOfType<StringAttr>(plan::KernelOp::kForeignName);
  auto source = op->getAttrOfType<StringAttr>(plan::KernelOp::kForeignSource);
  auto [entry, isNew] =
      foreignKernels.try_emplace(source, int32_t(plan.foreign.size()));
  if (isNew) {
    auto kernel = std::make_unique<file::ForeignKernelT>();
    kernel->language = "metal";
    kernel->name = name.getValue().str();
    kernel->source = source.getValue().str();
    plan.foreign.push_back(std::move(kernel));
  }
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

int32_t PlanWriter::origin(Location location) {
  auto [entry, isNew] = origins.try_emplace(location, -1);
  if (!isNew)
    return entry->second;
  debuginfo::Origin found = debuginfo::originOf(location);
  if (found.module.empty() && found.operations.empty())
    return -1;
  auto made = std::make_unique<file::OriginT>();
  made->module_ = std::move(found.module);
  made->operations.assign(found.operations.begin(), found.operations.end());
  entry->second = int32_t(plan.origins.size());
  plan.origins.push_back(std::move(made));
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
  // As they are in memory: of small signed numbers all bits of a byte count.
  auto elements = Elements::of(Attribute(op.getValue()));
  assert(elements && "the planner takes no other types");
  ArrayRef<char> bytes(elements->first().as<char>(), elements->bytes());
  if (!elements->isSplat())
    return entry->second = addConstant(bytes);
  SmallVector<char> all;
  for (int64_t i = 0; i != elements->size(); ++i)
    all.append(bytes.begin(), bytes.end());
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
  constant->bytes =
      uint64_t(type.getNumElements()) * runtime::byteSize(planElement(type));
  plan.constants.push_back(std::move(constant));
  int32_t index = int32_t(plan.constants.size()) - 1;
  preparedResults[result] = index;
  return index;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// What a program says about the extents of its inputs, which the runtime holds
/// those of a call against.
static void addRanges(plan::FunctionOp function, file::BlockT &block) {
  auto ranges = function->getAttrOfType<ArrayAttr>(plan::FunctionOp::kRanges);
  if (!ranges)
    return;
  for (const auto &symbol : block.symbols) {
    if (symbol->source != file::SymbolSource::InputExtent ||
        size_t(symbol->index) >= ranges.size())
      continue;
    auto axes = dyn_cast<ArrayAttr>(ranges[size_t(symbol->index)]);
    if (!axes || size_t(symbol->axis) >= axes.size())
      continue;
    auto limits = dyn_cast<ArrayAttr>(axes[size_t(symbol->axis)]);
    auto limit = [&](size_t which) {
      return limits && which < limits.size()
                 ? dyn_cast<IntegerAttr>(limits[which])
                 : IntegerAttr();
    };
    if (IntegerAttr least = limit(0))
      symbol->low = std::max(symbol->low, least.getInt());
    if (IntegerAttr most = limit(1))
      symbol->high = most.getInt();
  }
}

void PlanWriter::write(plan::FunctionOp function) {
  BlockWriter body(*this);
  Block &block = function.getBody().front();
  body.writeBody(block, {}, {});
  addRanges(function, body.content());
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
