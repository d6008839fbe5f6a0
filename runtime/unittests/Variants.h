// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fast products against their portable twins.

#ifndef CORTEN_RUNTIME_UNITTESTS_VARIANTS_H
#define CORTEN_RUNTIME_UNITTESTS_VARIANTS_H

#include "Factors.h"

#include "corten/Runtime/ThreadPool.h"

#include <cstring>

namespace corten::runtime {

/// One call with an output that starts out as garbage, and has more around it
/// that nobody may touch.
struct VariantCase {
  PortableKernel kernel;
  std::vector<Tensor> inputs = {};
  std::vector<int64_t> numbers = {};
  const TileProgram *program = nullptr;
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {};
  /// The order of axes in memory; none: as they are.
  std::vector<int> order = {};
  /// The most that sums of a row of products may be, and how many there are.
  double magnitude = 1;
  int64_t terms = 1;
};

inline constexpr int64_t kGuard = 64;

class OutputMemory {
public:
  explicit OutputMemory(const VariantCase &test)
      : tensor(test.type, nullptr, test.shape) {
    bytes.assign((size_t(tensor.size()) + 2 * kGuard) * byteSize(test.type),
                 char(0xcb));
    tensor.data = bytes.data() + kGuard * int64_t(byteSize(test.type));
    if (!test.order.empty()) {
      int64_t step = 1;
      for (size_t i = test.order.size(); i-- > 0;) {
        tensor.steps[size_t(test.order[i])] = step;
        step *= test.shape[size_t(test.order[i])];
      }
    }
  }

  /// All elements, as they lie in memory.
  double number(int64_t i) const {
    return withType(tensor.type, [&]<typename T>() -> double {
      if constexpr (ComplexElement<T>)
        return 0;
      else
        return double(ComputeType<T>(tensor.as<T>()[i]));
    });
  }
  bool isGuarded() const {
    size_t guard = kGuard * byteSize(tensor.type);
    for (size_t i = 0; i != guard; ++i)
      if (bytes[i] != char(0xcb) || bytes[bytes.size() - 1 - i] != char(0xcb))
        return false;
    return true;
  }

  std::vector<char> bytes;
  Tensor tensor;
};

/// How far a value may be off: a rounding to the type of the output, and those
/// of sums in f32.
inline double toleranceOf(const VariantCase &test, double wanted) {
  double rounding = test.type == ElementType::F32   ? 0x1p-22
                    : test.type == ElementType::F16 ? 0x1p-10
                                                    : 0x1p-7;
  return rounding * std::fabs(wanted) + test.magnitude * 1e-6 +
         double(test.terms) * test.magnitude * 0x1p-24;
}

/// Runs all variants for this machine with several numbers of threads. How many
/// there were.
inline int compareVariants(const VariantCase &test, const std::string &name) {
  OutputMemory wanted(test);
  Error error =
      call(test.kernel,
           {test.inputs, {&wanted.tensor, 1}, test.numbers, test.program});
  EXPECT_FALSE(bool(error)) << name << ": " << error.message();
  if (error)
    return 0;
  // Kept, so that threads are not started for each case.
  static const std::shared_ptr<ThreadPool> pools[] = {
      nullptr, ThreadPool::shared(2), ThreadPool::shared(3),
      ThreadPool::shared(7)};
  int count = 0;
  for (const KernelVariant *variant : kernelVariants()) {
    OutputMemory first(test);
    Invocation asked{
        test.inputs, {&first.tensor, 1}, test.numbers, test.program};
    if (variant->kernel != test.kernel || variant->isa > detectedIsa() ||
        !variant->accepts(asked))
      continue;
    ++count;
    for (const std::shared_ptr<ThreadPool> &pool : pools) {
      OutputMemory output(test);
      Invocation invocation{test.inputs,
                            {&output.tensor, 1},
                            test.numbers,
                            test.program,
                            pool.get()};
      size_t size = variant->scratch ? variant->scratch(invocation) : 0;
      // Scratch is garbage as well, and its end is watched.
      std::vector<char> memory(size + 192, char(0xff));
      char *aligned = memory.data() +
                      (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
      invocation.scratch = aligned;
      error = variant->function(invocation);
      EXPECT_FALSE(bool(error)) << name;
      EXPECT_TRUE(output.isGuarded()) << variant->name << " " << name;
      EXPECT_EQ(aligned[size], char(0xff)) << variant->name << " " << name;
      if (pool) {
        EXPECT_EQ(output.bytes, first.bytes)
            << variant->name << " " << name << " with " << pool->threads();
        continue;
      }
      first.bytes = output.bytes;
      for (int64_t i = 0; i != wanted.tensor.size(); ++i) {
        double difference = std::fabs(output.number(i) - wanted.number(i));
        if (!(difference <= toleranceOf(test, wanted.number(i)))) {
          ADD_FAILURE() << variant->name << " " << name << ": element " << i
                        << " is " << output.number(i) << ", not "
                        << wanted.number(i);
          break;
        }
      }
    }
  }
  return count;
}

/// How many variants of a kernel this machine can run.
inline int runnableVariants(PortableKernel kernel) {
  int count = 0;
  for (const KernelVariant *variant : kernelVariants())
    count += variant->kernel == kernel && variant->isa <= detectedIsa();
  return count;
}

/// Expects that all of them took the case and agree.
#define EXPECT_VARIANTS(TEST, NAME)                                            \
  EXPECT_EQ(compareVariants(TEST, NAME), runnableVariants((TEST).kernel))      \
      << (NAME)

/// With programs after it, for a test whose last inputs are a bias and a
/// residual: one that is done with sums that lie in memory, and two that are
/// done as they are stored.
inline void expectVariantsWithPrograms(VariantCase test,
                                       const std::string &name) {
  TileProgram program = biasReluResidual();
  test.program = &program;
  EXPECT_VARIANTS(test, name);
  program.instructions = {{TileOpcode::Add, 3, 0, 1},
                          {TileOpcode::Add, 3, 3, 2},
                          {TileOpcode::Relu, 3, 3},
                          {TileOpcode::Immediate, 0, 0},
                          {TileOpcode::Minimum, 3, 3, 0}};
  program.immediates = {0.5};
  EXPECT_VARIANTS(test, name + " bounded");
  // Each in its turn.
  constexpr TileOpcode kOpcodes[] = {
      TileOpcode::Silu,     TileOpcode::Gelu,        TileOpcode::Sigmoid,
      TileOpcode::GeluTanh, TileOpcode::GeluSigmoid, TileOpcode::Tanh};
  static size_t turn = 0;
  TileOpcode opcode = kOpcodes[turn++ % std::size(kOpcodes)];
  program.instructions = {
      {TileOpcode::Add, 3, 1, 0}, {TileOpcode::Add, 0, 2, 3}, {opcode, 3, 0}};
  EXPECT_VARIANTS(test, name + " " + std::string(info(opcode).name));
}

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_UNITTESTS_VARIANTS_H
