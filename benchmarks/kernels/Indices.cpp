// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gathers and scatters.

#include "MemoryCase.h"

#include "corten/Runtime/Modes.h"

using namespace corten;
using namespace corten::runtime;
using namespace corten::benchmarks;

static std::string sizeOf(int64_t parts, int64_t length) {
  return " of " + std::to_string(parts) + " x " + std::to_string(length);
}

/// Parts of a table by their numbers.
static MemoryCase gatherNd(int64_t extent, int64_t parts, int64_t length) {
  MemoryCase test{
      "gather" + sizeOf(parts, length),
      PortableKernel::GatherNd,
      {{.shape = {extent, length}},
       {.type = ElementType::SI32, .shape = {parts, 1}, .bound = extent}},
      {{.shape = {parts, length}}}};
  test.bytes = 8.0 * double(parts * length) + 4.0 * double(parts);
  return test;
}

/// Parts that replace those of a table, which is not copied: bytes are those of
/// the updates, read and written, and of the rest of the table.
static MemoryCase scatterNd(int64_t extent, int64_t parts, int64_t length) {
  MemoryCase test{
      "scatter" + sizeOf(parts, length),
      PortableKernel::ScatterNd,
      {{.shape = {extent, length}},
       {.type = ElementType::SI32, .shape = {parts, 1}, .bound = extent},
       {.shape = {parts, length}}},
      {{.shape = {extent, length}}},
      {1}};
  test.bytes = 8.0 * double((extent + parts) * length);
  return test;
}

/// Along the first axis, with an index for each element, or for each row.
static MemoryCase alongAxis(std::string name, int64_t extent, int64_t parts,
                            int64_t length, ScatterMode mode, bool isOfRows) {
  std::vector<int64_t> steps = {1, 0};
  MemoryCase test{name + sizeOf(parts, length),
                  PortableKernel::ScatterAlongAxis,
                  {{.shape = {extent, length}},
                   {.type = ElementType::SI32,
                    .shape = {parts, length},
                    .steps = isOfRows ? steps : std::vector<int64_t>(),
                    .bound = extent},
                   {.shape = {parts, length}}},
                  {{.shape = {extent, length}}},
                  {0, int64_t(mode)}};
  test.bytes = 8.0 * double(extent * length) + 12.0 * double(parts * length) +
               4.0 * double(isOfRows ? parts : parts * length);
  return test;
}

static MemoryCase gatherAlongAxis(int64_t extent, int64_t parts,
                                  int64_t length) {
  MemoryCase test{
      "gather along axis" + sizeOf(parts, length),
      PortableKernel::GatherAlongAxis,
      {{.shape = {extent, length}},
       {.type = ElementType::SI32, .shape = {parts, length}, .bound = extent}},
      {{.shape = {parts, length}}},
      {0}};
  test.bytes = 12.0 * double(parts * length);
  return test;
}

// Each is over in a millisecond or two, so that some calls are not interrupted.
std::vector<MemoryCase> benchmarks::indexCases() {
  return {
      gatherNd(8000, 1024, 1024),
      gatherNd(100000, 50000, 16),
      gatherAlongAxis(256, 256, 1024),
      scatterNd(1024, 1024, 1024),
      scatterNd(50000, 50000, 16),
      scatterNd(16, 8, 65536),
      alongAxis("scatter rows", 1024, 1024, 1024, ScatterMode::Update, true),
      alongAxis("scatter add rows", 1024, 1024, 1024, ScatterMode::Add, true),
      alongAxis("scatter elements", 256, 256, 1024, ScatterMode::Update, false),
      alongAxis("scatter add elements", 256, 256, 1024, ScatterMode::Add,
                false),
  };
}
