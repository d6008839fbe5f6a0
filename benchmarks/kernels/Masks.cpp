// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention whose mask hides keys, so that what nobody sees is left out; or
// whose mask is added; or whose heads share keys.

#include "MemoryCase.h"

#include <bit>

using namespace corten;
using namespace corten::runtime;
using namespace corten::benchmarks;

/// Twelve heads of 64. The last query stands at the last key; each sees so many
/// keys up to its own.
static MemoryCase windowed(int64_t queries, int64_t keys, int64_t window,
                           bool hasSinks) {
  constexpr int64_t kHeads = 12, kDepth = 64;
  std::vector<int64_t> rows = {kHeads, queries, kDepth};
  std::vector<int64_t> table = {kHeads, keys, kDepth};
  MemoryCase test{
      std::string("masked attention ") + (hasSinks ? "with sinks " : "") +
          "of " + std::to_string(queries) + " to " + std::to_string(keys) +
          ", " + std::to_string(window) + " seen",
      hasSinks ? PortableKernel::AttentionWithSinks : PortableKernel::Attention,
      {{.shape = rows},
       {.shape = table},
       {.shape = table},
       {.type = ElementType::Bool,
        .shape = {kHeads, queries, keys},
        .steps = {0, keys, 1}}},
      {{.shape = rows}},
      {std::bit_cast<int64_t>(0.125), 0, 0, window}};
  if (hasSinks)
    test.inputs.push_back({.shape = {kHeads, queries, 1}, .steps = {1, 0, 0}});
  test.bytes = 8.0 * kHeads * double((queries + keys) * kDepth);
  return test;
}

/// Scores to which something is added that all heads have in common.
static MemoryCase biased(int64_t queries, int64_t keys) {
  MemoryCase test = windowed(queries, keys, keys, false);
  test.name = "attention with a mask that is added, of " +
              std::to_string(queries) + " to " + std::to_string(keys);
  test.inputs[3].type = ElementType::F32;
  test.numbers.pop_back();
  return test;
}

/// Heads that share keys are queries of one head.
static MemoryCase grouped(int64_t queries, int64_t keys) {
  constexpr int64_t kShared = 2, kHeads = 7, kDepth = 64;
  std::vector<int64_t> rows = {kShared, kHeads * queries, kDepth};
  std::vector<int64_t> table = {kShared, keys, kDepth};
  MemoryCase test{
      "attention of 14 heads that share 2, of " + std::to_string(queries) +
          " to " + std::to_string(keys),
      PortableKernel::Attention,
      {{.shape = rows}, {.shape = table}, {.shape = table}, {.isAbsent = true}},
      {{.shape = rows}},
      {std::bit_cast<int64_t>(0.125), 0, 0}};
  test.bytes = 8.0 * kShared * double((kHeads * queries + keys) * kDepth);
  return test;
}

std::vector<MemoryCase> benchmarks::maskCases() {
  return {windowed(1024, 1024, 2048, false),
          windowed(1024, 1024, 2048, true),
          windowed(1024, 1024, 128, false),
          windowed(1024, 1024, 128, true),
          windowed(1, 4096, 4096, false),
          windowed(1, 4096, 512, false),
          biased(1024, 1024),
          biased(1, 4096),
          grouped(512, 512),
          grouped(1, 4096)};
}
