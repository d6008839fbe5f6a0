// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes along rows: softmax, norms, reductions, running sums, sorting and
// choosing.

#include "MemoryCase.h"

#include <bit>

using namespace corten;
using namespace corten::runtime;
using namespace corten::benchmarks;

/// A kernel of f32 that makes as many elements as it takes.
static MemoryCase alongRows(std::string name, PortableKernel kernel,
                            int64_t rows, int64_t length,
                            std::vector<int64_t> numbers) {
  MemoryCase test{name + " " + std::to_string(rows) + " x " +
                      std::to_string(length),
                  kernel,
                  {{.shape = {rows, length}}},
                  {{.shape = {rows, length}}},
                  numbers};
  test.bytes = 8.0 * double(rows * length);
  return test;
}

/// The largest of each row, and their places.
static MemoryCase topk(int64_t rows, int64_t length, int64_t wanted) {
  MemoryCase test{"top-k " + std::to_string(rows) + " x " +
                      std::to_string(length) + " k=" + std::to_string(wanted),
                  PortableKernel::TopK,
                  {{.shape = {rows, length}}},
                  {{.shape = {rows, wanted}},
                   {.type = ElementType::SI32, .shape = {rows, wanted}}},
                  {1, 1}};
  test.bytes = 4.0 * double(rows * (length + 2 * wanted));
  return test;
}

/// Channels by groups, over all places of an image.
static MemoryCase groupNorm(int64_t channels, int64_t edge, int64_t groups) {
  Operand image{.shape = {1, channels, edge, edge}};
  image.steps = {channels * edge * edge, 1, channels * edge, channels};
  Operand each{.shape = {channels}};
  MemoryCase test{"group norm " + std::to_string(channels) + " x " +
                      std::to_string(edge) + " x " + std::to_string(edge),
                  PortableKernel::GroupNorm,
                  {image, each, each},
                  {image},
                  {groups, std::bit_cast<int64_t>(1e-5)}};
  test.bytes = 8.0 * double(channels * edge * edge);
  return test;
}

/// Along the last axis, or along the first.
static MemoryCase reduced(std::string name, PortableKernel kernel, int64_t rows,
                          int64_t length, bool isOfColumns) {
  std::vector<int64_t> left = {rows, 1};
  if (isOfColumns)
    left = {1, length};
  MemoryCase test{name + (isOfColumns ? " of columns " : " ") +
                      std::to_string(rows) + " x " + std::to_string(length),
                  kernel,
                  {{.shape = {rows, length}}},
                  {{.shape = left}}};
  test.bytes = 4.0 * double(rows * length);
  return test;
}

std::vector<MemoryCase> benchmarks::rowCases() {
  auto epsilon = std::bit_cast<int64_t>(1e-5);
  std::vector<MemoryCase> cases = {
      alongRows("softmax", PortableKernel::Softmax, 2048, 1024, {1}),
      alongRows("softmax of columns", PortableKernel::Softmax, 1024, 2048, {0}),
      alongRows("cumulative sum", PortableKernel::ScanSum, 2048, 1024, {1, 0}),
      alongRows("cumulative sum of columns", PortableKernel::ScanSum, 1024,
                2048, {0, 0}),
      alongRows("sort", PortableKernel::Sort, 64, 100, {1, 1}),
      alongRows("sort", PortableKernel::Sort, 16, 32000, {1, 1}),
      alongRows("sort", PortableKernel::Sort, 1, 1000000, {1, 1}),
      reduced("sum", PortableKernel::ReduceSum, 2048, 1024, false),
      reduced("sum", PortableKernel::ReduceSum, 2048, 1024, true),
      reduced("largest", PortableKernel::ReduceMax, 2048, 1024, false),
      groupNorm(320, 32, 32),
      groupNorm(128, 128, 32),
      topk(4096, 64, 8),
      topk(1024, 256, 8),
      topk(1, 152064, 50),
      topk(16, 32000, 1),
      topk(1, 1000000, 5000),
  };
  for (auto [name, kernel] :
       {std::pair{"layer norm", PortableKernel::LayerNorm},
        {"rms norm", PortableKernel::RmsNorm}}) {
    MemoryCase test = alongRows(name, kernel, 2048, 1024, {1, epsilon});
    test.inputs.push_back({.shape = {1024}});
    test.inputs.push_back({.shape = {1024}});
    cases.push_back(test);
  }
  return cases;
}
