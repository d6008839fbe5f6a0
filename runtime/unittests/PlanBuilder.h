// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans that are written by hand, a line for each value and step.

#ifndef CORTEN_RUNTIME_UNITTESTS_PLANBUILDER_H
#define CORTEN_RUNTIME_UNITTESTS_PLANBUILDER_H

#include "corten/Runtime/ElementType.h"
#include "corten/Runtime/PlanFile.h"

#include "corten/Runtime/Plan_generated.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace corten::runtime {

using Sizes = std::vector<int32_t>;

class PlanBuilder;

/// One block of a plan.
class BlockBuilder {
public:
  BlockBuilder(PlanBuilder &plan, int32_t index) : plan(plan), index(index) {}

  PlanBuilder &plan;
  const int32_t index;
  plan::BlockT &block() const;

  // Sizes.
  int32_t size(plan::SizeKind kind, int64_t value, int32_t left = -1,
               int32_t right = -1) {
    block().sizes.emplace_back(value, left, right, kind);
    return int32_t(block().sizes.size()) - 1;
  }
  int32_t fixed(int64_t value) { return size(plan::SizeKind::Constant, value); }
  int32_t mul(int32_t left, int32_t right) {
    return size(plan::SizeKind::Mul, 0, left, right);
  }
  int32_t add(int32_t left, int32_t right) {
    return size(plan::SizeKind::Add, 0, left, right);
  }
  /// A size that is a new symbol.
  int32_t symbol(std::string name, plan::SymbolSource source, int32_t of,
                 int32_t axis, int32_t step = -1, int64_t low = 0,
                 int64_t high = INT64_MAX) {
    auto symbol = std::make_unique<plan::SymbolT>();
    symbol->name = std::move(name);
    symbol->source = source;
    symbol->index = of;
    symbol->axis = axis;
    symbol->step = step;
    symbol->low = low;
    symbol->high = high;
    block().symbols.push_back(std::move(symbol));
    return size(plan::SizeKind::Symbol, int64_t(block().symbols.size()) - 1);
  }
  int32_t extentOf(int32_t input, int32_t axis, std::string name = "n",
                   int64_t low = 0, int64_t high = INT64_MAX) {
    return symbol(std::move(name), plan::SymbolSource::InputExtent, input, axis,
                  -1, low, high);
  }

  // Values.
  int32_t buffer(plan::Storage storage, int32_t of = -1, int32_t bytes = -1) {
    auto buffer = std::make_unique<plan::BufferT>();
    buffer->storage = storage;
    buffer->index = of;
    buffer->bytes = bytes;
    block().buffers.push_back(std::move(buffer));
    return int32_t(block().buffers.size()) - 1;
  }
  int32_t value(int32_t buffer, ElementType type, Sizes shape,
                Sizes strides = {}, int32_t offset = -1) {
    auto value = std::make_unique<plan::ValueT>();
    value->type = uint8_t(type);
    value->buffer = buffer;
    value->shape = std::move(shape);
    value->strides = std::move(strides);
    value->offset = offset;
    block().values.push_back(std::move(value));
    return int32_t(block().values.size()) - 1;
  }
  int32_t bytesOf(ElementType type, const Sizes &shape) {
    int32_t bytes = fixed(int64_t(byteSize(type)));
    for (int32_t extent : shape)
      bytes = mul(bytes, extent);
    return bytes;
  }
  int32_t arena(const Sizes &shape, ElementType type = ElementType::F32) {
    return value(buffer(plan::Storage::Arena, -1, bytesOf(type, shape)), type,
                 shape);
  }
  int32_t returned(Sizes shape, ElementType type = ElementType::F32) {
    return value(buffer(plan::Storage::Returned), type, std::move(shape));
  }
  int32_t input(Sizes shape, ElementType type = ElementType::F32) {
    int32_t result =
        value(buffer(plan::Storage::Input, int32_t(block().inputs.size())),
              type, std::move(shape));
    block().inputs.push_back(result);
    return result;
  }
  /// A new output in memory of its own.
  int32_t output(Sizes shape, ElementType type = ElementType::F32) {
    int32_t bytes = bytesOf(type, shape);
    int32_t result = value(
        buffer(plan::Storage::Output, int32_t(block().outputs.size()), bytes),
        type, std::move(shape));
    block().outputs.push_back(result);
    return result;
  }
  int32_t constant(int32_t number, Sizes shape,
                   ElementType type = ElementType::F32) {
    return value(buffer(plan::Storage::Constant, number), type,
                 std::move(shape));
  }
  /// Another view of the same memory.
  int32_t view(int32_t of, Sizes shape, Sizes strides = {},
               int32_t offset = -1) {
    const plan::ValueT &base = *block().values[size_t(of)];
    return value(base.buffer, ElementType(base.type), std::move(shape),
                 std::move(strides), offset);
  }

  // Steps.
  plan::StepT &step(plan::StepKind kind, Sizes inputs, Sizes outputs,
                    Sizes numbers = {}) {
    auto step = std::make_unique<plan::StepT>();
    step->kind = kind;
    step->inputs = std::move(inputs);
    step->outputs = std::move(outputs);
    step->numbers = std::move(numbers);
    block().steps.push_back(std::move(step));
    return *block().steps.back();
  }
  plan::StepT &kernel(const std::string &name, Sizes inputs, Sizes outputs,
                      Sizes numbers = {});
  plan::StepT &control(plan::StepKind kind, Sizes blocks, Sizes inputs,
                       Sizes outputs, Sizes numbers = {}) {
    plan::StepT &result =
        step(kind, std::move(inputs), std::move(outputs), std::move(numbers));
    result.blocks = std::move(blocks);
    return result;
  }
  int32_t lastStep() const { return int32_t(block().steps.size()) - 1; }
};

class PlanBuilder {
public:
  plan::PlanT plan;

  PlanBuilder() {
    plan.version = kPlanVersion;
    plan.compiler = "by hand";
  }

  BlockBuilder block() {
    plan.blocks.push_back(std::make_unique<plan::BlockT>());
    return {*this, int32_t(plan.blocks.size()) - 1};
  }
  int32_t kernel(const std::string &name) {
    auto found = std::ranges::find(plan.kernels, name);
    if (found != plan.kernels.end())
      return int32_t(found - plan.kernels.begin());
    plan.kernels.push_back(name);
    return int32_t(plan.kernels.size()) - 1;
  }
  /// A constant in the plan.
  template <typename T> int32_t constant(std::initializer_list<T> elements) {
    std::vector<T> list(elements);
    plan.data.resize((plan.data.size() + 63) / 64 * 64);
    auto constant = std::make_unique<plan::ConstantT>();
    constant->source = plan::ConstantSource::Plan;
    constant->offset = plan.data.size();
    constant->bytes = list.size() * sizeof(T);
    plan.data.resize(plan.data.size() + constant->bytes);
    std::memcpy(plan.data.data() + constant->offset, list.data(),
                constant->bytes);
    return add(std::move(constant));
  }
  int32_t constant(plan::ConstantSource source, uint64_t offset,
                   uint64_t bytes) {
    auto constant = std::make_unique<plan::ConstantT>();
    constant->source = source;
    constant->offset = offset;
    constant->bytes = bytes;
    return add(std::move(constant));
  }
  /// The last inputs of the block are states. Outputs are named y0, y1, ...
  plan::FunctionT &function(std::string name, const BlockBuilder &block,
                            const std::vector<std::string> &inputs,
                            const std::vector<std::string> &states = {}) {
    auto function = std::make_unique<plan::FunctionT>();
    function->name = std::move(name);
    function->block = block.index;
    auto add = [](auto &list, std::string name, int32_t value) {
      auto parameter = std::make_unique<plan::ParameterT>();
      parameter->name = std::move(name);
      parameter->value = value;
      list.push_back(std::move(parameter));
    };
    const plan::BlockT &body = block.block();
    for (size_t i = 0; i != body.inputs.size(); ++i)
      if (i < inputs.size())
        add(function->inputs, inputs[i], body.inputs[i]);
      else
        add(function->states, states[i - inputs.size()], body.inputs[i]);
    for (size_t i = 0; i != body.outputs.size(); ++i)
      add(function->outputs, "y" + std::to_string(i), body.outputs[i]);
    plan.functions.push_back(std::move(function));
    return *plan.functions.back();
  }

  /// The bytes of a file.
  std::string file() const {
    flatbuffers::FlatBufferBuilder builder;
    plan::FinishPlanBuffer(builder, plan::Plan::Pack(builder, &plan));
    std::string bytes(
        reinterpret_cast<const char *>(builder.GetBufferPointer()),
        builder.GetSize());
    return bytes + planTrailer(std::as_bytes(std::span(bytes)));
  }

private:
  int32_t add(std::unique_ptr<plan::ConstantT> constant) {
    plan.constants.push_back(std::move(constant));
    return int32_t(plan.constants.size()) - 1;
  }
};

inline plan::BlockT &BlockBuilder::block() const {
  return *plan.plan.blocks[size_t(index)];
}

inline plan::StepT &BlockBuilder::kernel(const std::string &name, Sizes inputs,
                                         Sizes outputs, Sizes numbers) {
  plan::StepT &result = step(plan::StepKind::Kernel, std::move(inputs),
                             std::move(outputs), std::move(numbers));
  result.target = plan.kernel(name);
  return result;
}

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_UNITTESTS_PLANBUILDER_H
