// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call whose time is that of memory: rows, indices, elements.

#ifndef CORTEN_BENCHMARKS_KERNELS_MEMORYCASE_H
#define CORTEN_BENCHMARKS_KERNELS_MEMORYCASE_H

#include "Machine.h"

#include "corten/Runtime/TileProgram.h"

namespace corten::benchmarks {

/// A tensor of a call.
struct Operand {
  runtime::ElementType type = runtime::ElementType::F32;
  std::vector<int64_t> shape;
  /// In elements; row-major if there are none.
  std::vector<int64_t> steps = {};
  /// Indices are below this; 0: what it holds are numbers.
  int64_t bound = 0;
  /// An optional input that is not there.
  bool isAbsent = false;
  /// What it holds, if that matters.
  std::vector<float> values = {};
};

struct MemoryCase {
  std::string name;
  runtime::PortableKernel kernel;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  std::vector<int64_t> numbers = {};
  /// What has to be read and written at least.
  double bytes = 0;
  runtime::TileProgram program = {};
};

/// Which form ran, and the shortest mean time of a call.
struct MemoryResult {
  std::string name;
  double seconds;
};

/// By the portable kernel where there is no faster one, or none is wanted.
MemoryResult measure(const MemoryCase &test, const Options &options,
                     runtime::ThreadPool &pool);

std::vector<MemoryCase> rowCases();
std::vector<MemoryCase> indexCases();
std::vector<MemoryCase> elementCases();
std::vector<MemoryCase> maskCases();
std::vector<MemoryCase> imageCases();

} // namespace corten::benchmarks

#endif // CORTEN_BENCHMARKS_KERNELS_MEMORYCASE_H
