// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Case.h"

#include "corten/Runtime/Codes.h"
#include "corten/Runtime/Panels.h"
#include "corten/Runtime/TileProgram.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace corten;
using namespace corten::runtime;
using namespace corten::benchmarks;

/// Places of half of the columns of each row.
static void fillPlaces(const Tensor &places) {
  int64_t depth = places.extents[1] - kPlacesHeader;
  auto *words = static_cast<uint32_t *>(places.data);
  uint32_t any = 1;
  for (int64_t panel = 0; panel != places.extents[0]; ++panel) {
    int64_t first = panel * depth * kPanelWidth / 2;
    *words++ = uint32_t(first);
    *words++ = uint32_t(first >> 32);
    for (int64_t k = 0; k != depth; ++k) {
      any = any * 1664525 + 1013904223;
      // One of each two.
      uint32_t odd = (any >> 3 ^ any >> 16) & 0x55555555;
      *words++ = odd << 1 | (~odd & 0x55555555);
    }
  }
}

/// With its channels, axis 1, one after the other.
static void putChannelsLast(Tensor &tensor) {
  int64_t step = tensor.extents[1];
  tensor.steps[1] = 1;
  for (int axis = tensor.rank; axis-- > 2;) {
    tensor.steps[axis] = step;
    step *= tensor.extents[axis];
  }
  tensor.steps[0] = step;
}

namespace {
/// Tensors of f32 with memory of their own.
class OwnTensors {
public:
  explicit OwnTensors(const std::vector<std::vector<int64_t>> &shapes) {
    for (const std::vector<int64_t> &shape : shapes) {
      Tensor tensor(ElementType::F32, nullptr, shape);
      std::vector<float> &values = memory.emplace_back(size_t(tensor.size()));
      fill(values.data(), ElementType::F32, tensor.size());
      // What is multiplied over many steps stays in range.
      for (float &value : values)
        value *= 0.05f;
      tensor.data = values.data();
      tensors.push_back(tensor);
    }
  }

  std::vector<Tensor> tensors;

private:
  std::vector<std::vector<float>> memory;
};
} // namespace

/// relu(x + bias)
static TileProgram biasRelu() {
  TileProgram program;
  program.numInputs = 2;
  program.numRegisters = 2;
  program.instructions = {{TileOpcode::Add, 0, 0, 1}, {TileOpcode::Relu, 0, 0}};
  program.results = {0};
  return program;
}

Result benchmarks::measure(const Case &test, const Options &options,
                           ThreadPool &pool) {
  Tensor x(ElementType::F32, nullptr, test.shapes[0]);
  Tensor weights(test.weights, nullptr, test.shapes[1]);
  Tensor output(ElementType::F32, nullptr, test.output);
  if (test.isLast)
    putChannelsLast(x);
  // Of convolutions; heads of linear attention are an axis of their own.
  if (test.isLast || (x.rank == 4 && test.furtherInputs.empty()))
    putChannelsLast(output);
  int64_t codeBytes = weights.size() * int64_t(byteSize(test.weights));
  Tensor scales(ElementType::F16, nullptr, test.scales);
  Tensor values(test.valueType, nullptr, {{test.values}});
  int64_t weightBytes = codeBytes +
                        (test.scales.empty() ? 0 : 2 * scales.size()) +
                        test.values * int64_t(byteSize(test.valueType));
  int64_t apart = (weightBytes + 4095) / 4096 * 4096;
  int64_t copies = test.rotates ? (96 << 20) / apart + 2 : 1;
  Memory left(size_t(x.size()) * 4), right(size_t(apart * copies)),
      results(size_t(output.size()) * 4);
  std::vector<float> bias(4096, 0.5f);
  fill(left.get(), ElementType::F32, x.size());
  if (test.values == 0)
    fill(right.get(), test.weights, weights.size());
  auto *behind = static_cast<char *>(right.get()) + codeBytes;
  if (!test.scales.empty())
    fill(behind, ElementType::F16, scales.size());
  if (test.values != 0) {
    fillPlaces(Tensor(test.weights, right.get(), test.shapes[1]));
    fill(behind, test.valueType, test.values);
  }
  for (int64_t i = 1; i < copies; ++i)
    std::memcpy(static_cast<char *>(right.get()) + i * apart, right.get(),
                size_t(weightBytes));
  x.data = left.get();
  weights.data = right.get();
  output.data = results.get();
  bool isMatrix = test.output.size() == 2;
  std::vector<int64_t> biasSteps(test.output.size());
  biasSteps[isMatrix ? test.output.size() - 1 : 1] = 1;
  bias.resize(size_t(*std::ranges::max_element(test.output)));
  Tensor offsets =
      Tensor(ElementType::F32, bias.data(), {}).view(test.output, biasSteps);
  std::vector<Tensor> inputs = {x, weights};
  if (test.kernel == PortableKernel::Attention)
    inputs.insert(inputs.end(), {weights, Tensor()});
  std::vector<float> table(size_t(test.entries), 0.5f);
  if (test.values != 0) {
    values.data = behind;
    inputs.insert(inputs.end(),
                  {values, Tensor(), Tensor(), Tensor(), Tensor()});
  }
  if (!test.scales.empty()) {
    scales.data = behind;
    inputs.insert(inputs.end(), {scales, Tensor(), Tensor(), Tensor()});
  }
  // Tokens ask for one matrix after the other.
  std::vector<int32_t> which(size_t(test.matrices ? test.output[0] : 0));
  for (size_t i = 0; i != which.size(); ++i)
    which[i] = int32_t(i * 5 % size_t(test.matrices));
  if (test.matrices != 0)
    inputs.emplace_back(ElementType::SI32, which.data(),
                        std::vector<int64_t>{test.output[0]});
  if (test.entries != 0)
    inputs.back() = Tensor(ElementType::F32, table.data(),
                           std::vector<int64_t>{1, 1, test.entries});
  TileProgram program = biasRelu();
  if (test.hasBias)
    inputs.push_back(offsets);
  OwnTensors furtherInputs(test.furtherInputs);
  OwnTensors furtherOutputs(test.furtherOutputs);
  inputs.insert(inputs.end(), furtherInputs.tensors.begin(),
                furtherInputs.tensors.end());
  std::vector<Tensor> outputs = furtherOutputs.tensors;
  outputs.insert(outputs.begin(), output);
  Invocation invocation{inputs, outputs, test.numbers};
  if (test.hasBias)
    invocation.program = &program;
  invocation.pool = &pool;
  const KernelVariant *variant =
      selectVariant(test.kernel, options.isa, invocation);
  if (!variant)
    return {nullptr, 0, 0};
  Memory scratch(variant->scratch ? variant->scratch(invocation) : 0);
  invocation.scratch = scratch.get();
  double seconds = bestTime(options.seconds, [&](int64_t turn) {
    inputs[1].data = static_cast<char *>(right.get()) + turn % copies * apart;
    if (!test.scales.empty() || test.values != 0)
      inputs[2].data = static_cast<char *>(inputs[1].data) + codeBytes;
    ThreadPool::Active active(pool);
    if (Error error = variant->function(invocation)) {
      std::fprintf(stderr, "%s\n", error.message().c_str());
      std::exit(1);
    }
  });
  // What no token asks for is not read.
  double read = double(weightBytes);
  if (test.matrices != 0)
    read *=
        double(std::min(test.output[0], test.matrices)) / double(test.matrices);
  return {variant, seconds, read};
}
