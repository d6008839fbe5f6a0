// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plan calls: a kernel is a function of tensors and whole numbers.
// Results have their memory and extents when it is called; where an extent
// depends on data, the memory is as large as it can get, and the kernel sets
// the extent.

#ifndef CORTEN_RUNTIME_KERNEL_H
#define CORTEN_RUNTIME_KERNEL_H

#include "corten/Runtime/Error.h"
#include "corten/Runtime/Isa.h"
#include "corten/Runtime/Tensor.h"

#include <optional>
#include <string_view>

namespace corten::runtime {

class ForeignKernel;
class ThreadPool;
struct TileProgram;

/// One call of a kernel.
struct Invocation {
  /// A program's own inputs come last. An input that is optional and not there
  /// has no memory.
  std::span<const Tensor> inputs;
  std::span<Tensor> outputs;
  std::span<const int64_t> numbers;
  /// What is done with each element of the result before it is stored; its
  /// first input is that element.
  const TileProgram *program = nullptr;
  /// None: on the caller's thread alone.
  ThreadPool *pool = nullptr;
  /// As many bytes as the kernel asked for, aligned to 64.
  void *scratch = nullptr;
  /// What the program brought, where that is the kernel.
  const ForeignKernel *foreign = nullptr;

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
std::optional<PortableKernel> findKernel(std::string_view name);

/// Checks counts, and calls.
Error call(PortableKernel kernel, const Invocation &invocation);

/// Another way to do what a kernel does: with certain instructions, on certain
/// tensors.
struct KernelVariant {
  std::string_view name;
  PortableKernel kernel;
  Isa isa;
  /// Whether it takes tensors of these types, extents and strides, these
  /// numbers and this program. Does not look at elements.
  bool (*accepts)(const Invocation &);
  KernelFunction function;
  /// How many bytes of scratch a call needs; none if it is null.
  size_t (*scratch)(const Invocation &) = nullptr;
};

/// All variants, the ones to be preferred first.
std::span<const KernelVariant *const> kernelVariants();

/// The best variant for a call; null: the portable kernel.
const KernelVariant *selectVariant(PortableKernel kernel, Isa isa,
                                   const Invocation &invocation);

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_KERNEL_H
