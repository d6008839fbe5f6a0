// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call that multiplies, and those that are measured, by family.

#ifndef CORTEN_BENCHMARKS_KERNELS_CASE_H
#define CORTEN_BENCHMARKS_KERNELS_CASE_H

#include "Machine.h"

namespace corten::benchmarks {

using runtime::ElementType;
using runtime::PortableKernel;

/// A call with operands of its own; weights come from many copies, so that they
/// are in no cache, as in a whole model.
struct Case {
  std::string name;
  PortableKernel kernel;
  std::vector<std::vector<int64_t>> shapes;
  /// Whether channels of the input lie one after the other; those of the output
  /// do.
  bool isLast = false;
  std::vector<int64_t> output;
  std::vector<int64_t> numbers = {};
  double multiplications = 0;
  bool hasBias = true;
  ElementType weights = ElementType::F32;
  bool rotates = true;
  /// Of codes: the shape of their scales, and how many entries a table has.
  std::vector<int64_t> scales = {};
  int64_t entries = 0;
  /// Shapes of further inputs and outputs, in f32.
  std::vector<std::vector<int64_t>> furtherInputs = {};
  std::vector<std::vector<int64_t>> furtherOutputs = {};
  /// Of a sparse matrix: elements with its values, and their type.
  int64_t values = 0;
  ElementType valueType = ElementType::F32;
  /// Of products with one of several matrices: how many there are.
  int64_t matrices = 0;
};

struct Result {
  const runtime::KernelVariant *variant;
  double seconds;
  double weightBytes;
};

/// Nothing is measured without a variant.
Result measure(const Case &test, const Options &options,
               runtime::ThreadPool &pool);

std::vector<Case> products();
std::vector<Case> convolutions();
std::vector<Case> sequences();

} // namespace corten::benchmarks

#endif // CORTEN_BENCHMARKS_KERNELS_CASE_H
