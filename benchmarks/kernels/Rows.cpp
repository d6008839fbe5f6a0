// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes along rows: softmax, norms, running sums, sorting and choosing.

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
