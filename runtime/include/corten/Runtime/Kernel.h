// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plan calls: a kernel is a function of tensors and whole numbers.
// Results have their memory and extents when it is called; where an extent
// depends on data, the memory is as large as it can get, and the kernel sets
// the extent.

#ifndef CORTEN_RUNTIME_KERNEL_H
#define CORTEN_RUNTIME_KERNEL_H

#include "corten/Runtime/Error.h"
#include "corten/Runtime/Tensor.h"

#include <string_view>

namespace corten::runtime {

/// One call of a kernel.
struct Invocation {
  std::span<const Tensor> inputs;
  std::span<Tensor> outputs;
  std::span<const int64_t> numbers;

  const Tensor &input(size_t index = 0) const { return inputs[index]; }
  Tensor &output(size_t index = 0) const { return outputs[index]; }
  int64_t number(size_t index) const { return numbers[index]; }
};

using KernelFunction = Error (*)(const Invocation &);

/// Kernels in plain C++ for every operation and element type. They say what an
/// operation means; a faster kernel has to agree with its portable twin.
enum class PortableKernel : uint16_t {
#define KERNEL(NAME, INPUTS, OUTPUTS, NUMBERS) NAME,
#include "corten/Runtime/PortableKernels.def"
};

/// How a kernel is called. Counts of -1 are any.
struct KernelInfo {
  std::string_view name;
  KernelFunction function;
  int numInputs;
  int numOutputs;
  int numNumbers;
};

const KernelInfo &info(PortableKernel kernel);
std::span<const KernelInfo> portableKernels();

/// Checks counts, and calls.
Error call(PortableKernel kernel, const Invocation &invocation);

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_KERNEL_H
