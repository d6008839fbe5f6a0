// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and runs arbitrary plans. The trailer with the digest is put under what
// comes, so that the checks behind it are reached; and plans are changed as
// plans, a number at a time, because bytes seldom stay one.

#include "RunAll.h"
#include "SamplePlans.h"

#include "corten/Runtime/Kernel.h"

#include <cstdint>
#include <random>

using namespace corten::runtime;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string file(reinterpret_cast<const char *>(data), size);
  file += planTrailer(std::as_bytes(std::span(file)));
  auto model = Model::load(std::as_bytes(std::span(file)), bounded());
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
    if (plan.blocks.empty())
      return;
    plan::BlockT &block = *pick(plan.blocks);
    switch (below(7)) {
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
      if (!plan.kernels.empty())
        pick(plan.kernels) =
            portableKernels()[size_t(below(portableKernels().size()))].name;
      break;
    default:
      if (!block.steps.empty())
        change(*pick(block.steps));
    }
  }

private:
  int64_t below(size_t end) { return int64_t(random() % end); }
  template <typename T> T &pick(std::vector<T> &list) {
    return list[size_t(below(list.size()))];
  }
  int32_t index() { return int32_t(below(12)) - 1; }
  int64_t number() {
    constexpr int64_t kExtremes[] = {INT64_MIN, INT64_MAX, int64_t(1) << 32, -1,
                                     1 << 20};
    return below(8) ? below(9) - 2 : kExtremes[below(5)];
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
    switch (below(5)) {
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
    default:
      change(below(2) ? step.inputs : step.outputs);
    }
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
