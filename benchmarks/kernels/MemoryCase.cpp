// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MemoryCase.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>

using namespace corten;
using namespace corten::runtime;
using namespace corten::benchmarks;

namespace {
/// Tensors with memory of their own.
class OwnOperands {
public:
  explicit OwnOperands(const std::vector<Operand> &operands) {
    for (const Operand &operand : operands)
      tensors.push_back(operand.isAbsent ? Tensor() : make(operand));
  }

  std::vector<Tensor> tensors;

private:
  std::deque<Memory> memory;

  Tensor make(const Operand &operand) {
    Tensor tensor(operand.type, nullptr, operand.shape);
    int64_t last = tensor.size() - 1;
    if (!operand.steps.empty()) {
      last = 0;
      for (size_t axis = 0; axis != operand.shape.size(); ++axis)
        last += (operand.shape[axis] - 1) * operand.steps[axis];
      tensor = tensor.view(operand.shape, operand.steps);
    }
    int64_t count = last + 1;
    memory.emplace_back(size_t(count) * byteSize(operand.type) + 64);
    tensor.data = memory.back().get();
    if (!operand.values.empty())
      std::ranges::copy(operand.values, tensor.as<float>());
    else if (operand.bound != 0)
      fillIndices(tensor, count, operand.bound);
    else if (operand.type != ElementType::Bool)
      fill(tensor.data, operand.type, count);
    return tensor;
  }

  static void fillIndices(const Tensor &tensor, int64_t count, int64_t bound) {
    std::mt19937 random(1);
    auto *indices = tensor.as<int32_t>();
    for (int64_t i = 0; i != count; ++i)
      indices[i] = int32_t(random() % uint64_t(bound));
  }
};
} // namespace

/// True where the last query stands at the last key and sees so many before it.
static void fillWindow(const Tensor &mask, int64_t window) {
  int row = mask.rank - 2;
  int64_t queries = mask.extents[row];
  int64_t keys = mask.extents[row + 1];
  for (int64_t i = 0; i != queries; ++i)
    for (int64_t j = 0; j != keys; ++j) {
      int64_t before = i + keys - queries - j;
      mask.as<bool>()[i * mask.steps[row] + j] = before >= 0 && before < window;
    }
}

MemoryResult benchmarks::measure(const MemoryCase &test, const Options &options,
                                 ThreadPool &pool) {
  OwnOperands inputs(test.inputs), outputs(test.outputs);
  for (const Operand &operand : test.inputs)
    if (operand.type == ElementType::Bool)
      fillWindow(inputs.tensors[size_t(&operand - test.inputs.data())],
                 test.numbers.back());
  std::vector<int64_t> numbers = test.numbers;
  numbers.resize(size_t(std::max(info(test.kernel).numNumbers, 0)));
  Invocation invocation{inputs.tensors, outputs.tensors, numbers};
  if (!test.program.results.empty())
    invocation.program = &test.program;
  invocation.pool = &pool;
  const KernelVariant *variant =
      selectVariant(test.kernel, options.isa, invocation);
  Memory scratch(variant && variant->scratch ? variant->scratch(invocation)
                                             : 0);
  if (variant && variant->scratch)
    invocation.scratch = scratch.get();
  KernelFunction function =
      variant ? variant->function : info(test.kernel).function;
  double seconds = bestTime(options.seconds, [&](int64_t) {
    ThreadPool::Active active(pool);
    if (Error error = function(invocation)) {
      std::fprintf(stderr, "%s: %s\n", test.name.c_str(),
                   error.message().c_str());
      std::exit(1);
    }
  });
  std::string name(variant ? variant->name : info(test.kernel).name);
  return {name, seconds};
}
