// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention, plain and linear.

#include "Case.h"

#include <bit>

using namespace corten;
using namespace corten::runtime;
using namespace corten::benchmarks;

/// Twelve heads of as many queries as keys; values are the keys.
static Case attention(int64_t length, int64_t depth) {
  Case test{"attention of " + std::to_string(length) + " by " +
                std::to_string(depth),
            PortableKernel::Attention,
            {{12, length, depth}, {12, length, depth}},
            false,
            {12, length, depth}};
  test.numbers = {std::bit_cast<int64_t>(0.125), 0, 0};
  test.multiplications = 2.0 * 12 * double(length * length * depth);
  test.hasBias = false;
  test.rotates = false;
  return test;
}

/// Linear attention of 16 heads, with states of 128 by 128.
static Case gatedDelta(int64_t length) {
  constexpr int64_t kHeads = 16, kDepth = 128;
  Case test{"gated delta of " + std::to_string(length),
            PortableKernel::GatedDelta,
            {{1, kHeads, length, kDepth}, {1, kHeads, length, kDepth}},
            false,
            {1, length, kHeads, kDepth},
            // Queries and keys have a length of one.
            {1}};
  test.furtherInputs = {{1, kHeads, length, kDepth},
                        {1, kHeads, length},
                        {1, kHeads, length},
                        {1, kHeads, kDepth, kDepth}};
  test.furtherOutputs = {{1, kHeads, kDepth, kDepth}};
  // The state is read with the key, changed, and read with the query.
  test.multiplications = 3.0 * kHeads * double(length) * kDepth * kDepth;
  test.hasBias = false;
  test.rotates = false;
  return test;
}

std::vector<Case> benchmarks::sequences() {
  std::vector<Case> cases;
  for (int64_t length : {128, 197, 512, 1500})
    cases.push_back(attention(length, 64));
  // Wider heads, as those of decoders of images.
  for (int64_t depth : {256, 512})
    cases.push_back(attention(512, depth));
  for (int64_t length : {1, 512})
    cases.push_back(gatedDelta(length));
  return cases;
}
