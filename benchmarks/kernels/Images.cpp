// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is done with places of images whose channels lie one after the other:
// pooling, resampling.

#include "MemoryCase.h"

using namespace corten;
using namespace corten::runtime;
using namespace corten::benchmarks;

static Operand image(int64_t channels, int64_t edge) {
  return {.shape = {1, channels, edge, edge},
          .steps = {channels * edge * edge, 1, channels * edge, channels}};
}

static std::string sizeOf(int64_t channels, int64_t edge) {
  return " of " + std::to_string(channels) + " x " + std::to_string(edge) +
         " x " + std::to_string(edge);
}

static MemoryCase pool(std::string name, PortableKernel kernel,
                       int64_t channels, int64_t edge, int64_t window,
                       int64_t stride) {
  int64_t after = edge / stride;
  MemoryCase test{name + " " + std::to_string(window) + "/" +
                      std::to_string(stride) + sizeOf(channels, edge),
                  kernel,
                  {image(channels, edge)},
                  {image(channels, after)}};
  // Extents, strides, dilations, and what lies before.
  for (int64_t number : {window, stride, int64_t(1), (window - 1) / 2})
    test.numbers.insert(test.numbers.end(), 2, number);
  test.bytes = 4.0 * double(channels * (edge * edge + after * after));
  return test;
}

/// To twice the size.
static MemoryCase resized(int64_t channels, int64_t edge, bool isNearest) {
  MemoryCase test{(isNearest ? "nearest" : "linear") +
                      std::string(" to twice the size") +
                      sizeOf(channels, edge),
                  PortableKernel::Interpolate,
                  {image(channels, edge), {.shape = {4}}, {.shape = {4}}},
                  {image(channels, 2 * edge)},
                  {isNearest}};
  test.inputs[1].values = {1, 1, 2, 2};
  test.inputs[2].values = {0, 0, 0, 0};
  test.bytes = 4.0 * double(channels * 5 * edge * edge);
  return test;
}

std::vector<MemoryCase> benchmarks::imageCases() {
  return {
      pool("max pool", PortableKernel::MaxPool, 64, 112, 3, 2),
      pool("max pool", PortableKernel::MaxPool, 256, 28, 2, 2),
      pool("sum pool", PortableKernel::SumPool, 64, 112, 3, 2),
      pool("sum pool", PortableKernel::SumPool, 256, 28, 2, 2),
      resized(64, 56, true),
      resized(64, 56, false),
  };
}
