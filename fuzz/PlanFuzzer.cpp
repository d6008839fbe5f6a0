// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and runs arbitrary plans. The trailer with the digest is put under what
// comes without one, so that the checks behind it are reached; and plans are
// changed as plans, a number at a time, because bytes seldom stay one.
//
// What it starts from is in part what the compiler makes of the programs in
// test/Compiler: `scripts/fuzz-plans` writes those plans.

#include "RunAll.h"
#include "SamplePlans.h"

#include "corten/Runtime/Kernel.h"

#include <cstdint>
#include <numeric>
#include <random>

using namespace corten::runtime;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string file(reinterpret_cast<const char *>(data), size);
  if (!openPlan(std::as_bytes(std::span(file))))
    file += planTrailer(std::as_bytes(std::span(file)));
  // The bytes themselves say how many threads: where there are several, steps
  // run in groups, and kernels hand out work.
  int threads = 1 + std::accumulate(data, data + size, uint8_t(0)) % 2;
  auto model = Model::load(std::as_bytes(std::span(file)), bounded(threads));
  if (model)
    runAll(*model);
  return 0;
}

namespace {
/// Changes a plan in one place.
class Mutator {
public:
  explicit Mutator(unsigned seed) : random(seed) {}

  void mutate(plan::PlanT &plan) {
    switch (below(8)) {
    case 0:
      changeNames(plan);
      break;
    case 1:
      if (!plan.constants.empty())
        change(*pick(plan.constants));
      break;
    case 2:
      if (!plan.data.empty())
        pick(plan.data) = uint8_t(below(256));
      break;
    case 3:
      if (!plan.functions.empty())
        change(*pick(plan.functions));
      break;
    default:
      if (!plan.blocks.empty())
        change(*pick(plan.blocks));
    }
  }

private:
  int64_t below(size_t end) { return int64_t(random() % end); }
  template <typename T> T &pick(std::vector<T> &list) {
    return list[size_t(below(list.size()))];
  }
  /// Mostly of something that even a small plan has.
  int32_t index() { return int32_t(below(below(3) ? 12 : 100)) - 1; }
  int64_t number() {
    constexpr int64_t kExtremes[] = {INT64_MIN, INT64_MAX, int64_t(1) << 32, -1,
                                     1 << 20};
    return below(8) ? below(9) - 2 : kExtremes[below(5)];
  }
  void changeNames(plan::PlanT &plan) {
    if (below(4) == 0)
      plan.prepare = index();
    else if (!plan.kernels.empty())
      pick(plan.kernels) =
          portableKernels()[size_t(below(portableKernels().size()))].name;
  }
  void change(plan::ConstantT &constant) {
    switch (below(3)) {
    case 0:
      constant.source = plan::ConstantSource(below(4));
      break;
    case 1:
      constant.offset = uint64_t(number());
      break;
    default:
      constant.bytes = uint64_t(number());
    }
  }
  void change(plan::FunctionT &function) {
    auto *parameters = &function.inputs;
    switch (below(4)) {
    case 0:
      function.block = index();
      return;
    case 1:
      parameters = &function.states;
      break;
    case 2:
      parameters = &function.outputs;
      break;
    default:
      break;
    }
    if (parameters->empty())
      return;
    if (below(3) == 0)
      parameters->pop_back();
    else
      pick(*parameters)->value = index();
  }
  void change(plan::BlockT &block) {
    switch (below(8)) {
    case 0:
      if (!block.sizes.empty())
        change(pick(block.sizes));
      break;
    case 1:
      if (!block.symbols.empty())
        change(*pick(block.symbols));
      break;
    case 2:
      if (!block.buffers.empty())
        change(*pick(block.buffers));
      break;
    case 3:
      if (!block.values.empty())
        change(*pick(block.values));
      break;
    case 4:
      change(below(2) ? block.outputs : block.inputs);
      break;
    case 5:
      changeOrder(block.steps);
      break;
    default:
      if (!block.steps.empty())
        change(*pick(block.steps));
    }
  }
  void changeOrder(std::vector<std::unique_ptr<plan::StepT>> &steps) {
    if (steps.empty())
      return;
    if (below(3) == 0)
      steps.erase(steps.begin() + below(steps.size()));
    else
      std::swap(pick(steps), pick(steps));
  }
  void change(std::vector<int32_t> &list) {
    int64_t what = below(4);
    if (what == 0 || list.empty())
      list.push_back(index());
    else if (what == 1)
      list.pop_back();
    else
      pick(list) = index();
  }
  void change(plan::Size &size) {
    size = plan::Size(below(2) ? number() : size.value(),
                      below(2) ? index() : size.left(),
                      below(2) ? index() : size.right(),
                      below(2) ? plan::SizeKind(below(13)) : size.kind());
  }
  void change(plan::SymbolT &symbol) {
    symbol.source = plan::SymbolSource(below(4));
    symbol.index = index();
    symbol.axis = int32_t(below(3));
    symbol.step = index();
  }
  void change(plan::BufferT &buffer) {
    buffer.storage = plan::Storage(below(5));
    buffer.index = index();
    buffer.bytes = index();
  }
  void change(plan::ValueT &value) {
    switch (below(4)) {
    case 0:
      value.type = uint8_t(below(kNumElementTypes));
      break;
    case 1:
      value.buffer = index();
      break;
    case 2:
      value.offset = index();
      break;
    default:
      change(below(2) ? value.shape : value.strides);
    }
  }
  void change(plan::StepT &step) {
    switch (below(8)) {
    case 0:
      step.target = index();
      break;
    case 1:
      step.kind = plan::StepKind(below(5));
      break;
    case 2:
      change(step.blocks);
      break;
    case 3:
      change(step.numbers);
      break;
    case 4:
      step.program_inputs = index();
      break;
    case 5:
      if (step.program)
        change(*step.program);
      break;
    default:
      change(below(2) ? step.inputs : step.outputs);
    }
  }
  void change(plan::TileProgramT &program) {
    switch (below(4)) {
    case 0:
      program.registers = registerOf(program);
      break;
    case 1:
      if (!program.immediates.empty())
        pick(program.immediates) = double(number());
      break;
    case 2:
      if (!program.results.empty())
        pick(program.results) = registerOf(program);
      break;
    default:
      if (!program.instructions.empty())
        change(pick(program.instructions), program);
    }
  }
  /// One of those that it has, or the one behind them.
  uint16_t registerOf(const plan::TileProgramT &program) {
    return uint16_t(below(size_t(program.registers) + 1));
  }
  void change(plan::TileInstruction &instruction,
              const plan::TileProgramT &program) {
    auto either = [&](uint16_t old) {
      return below(3) ? old : registerOf(program);
    };
    uint16_t opcode = below(2) ? instruction.opcode()
                               : uint16_t(below(tileOpcodes().size() + 1));
    instruction = plan::TileInstruction(
        opcode, either(instruction.target()), either(instruction.a()),
        either(instruction.b()), either(instruction.c()));
  }

  std::minstd_rand random;
};
} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  if (seed % 8 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  PlanBuilder builder;
  flatbuffers::Verifier verifier(data, size);
  if (size >= 8 && plan::VerifyPlanBuffer(verifier))
    plan::GetPlan(data)->UnPackTo(&builder.plan);
  else
    builder = seed % 3 == 0   ? straightLine()
              : seed % 3 == 1 ? controlFlow()
                              : preparedConstants();
  Mutator(seed).mutate(builder.plan);
  flatbuffers::FlatBufferBuilder bytes;
  plan::FinishPlanBuffer(bytes, plan::Plan::Pack(bytes, &builder.plan));
  if (bytes.GetSize() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, bytes.GetBufferPointer(), bytes.GetSize());
  return bytes.GetSize();
}
