// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fast kernels beside their portable twins.

#ifndef CORTEN_RUNTIME_UNITTESTS_TWINS_H
#define CORTEN_RUNTIME_UNITTESTS_TWINS_H

#include "Tiles.h"

#include "corten/Runtime/ThreadPool.h"

namespace corten::runtime {

/// How much results may differ: relative to the wanted number, and absolute.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

inline Tolerance toleranceOf(ElementType type) {
  return type == ElementType::F16    ? Tolerance{1e-3, 1e-7}
         : type == ElementType::BF16 ? Tolerance{8e-3, 1e-30}
                                     : Tolerance{2e-6, 1e-37};
}

/// Elements of a view, together.
inline AnyTensor denseOf(const Tensor &view) {
  AnyTensor dense(view.type, view.shape());
  EXPECT_EQ(run(PortableKernel::Copy, {view}, dense.tensor), "");
  return dense;
}

inline testing::AssertionResult closeElements(const AnyTensor &actual,
                                              const AnyTensor &wanted,
                                              Tolerance tolerance) {
  for (int64_t i = 0; i != wanted.tensor.size(); ++i) {
    double a = actual.number(i);
    double b = wanted.number(i);
    if (a != b && !(std::isnan(a) && std::isnan(b)) &&
        !(std::fabs(a - b) <=
          tolerance.relative * std::fabs(b) + tolerance.absolute))
      return testing::AssertionFailure()
             << "element " << i << ": " << a << " is not " << b;
  }
  return testing::AssertionSuccess();
}

/// A view of new memory for a shape, in some order of axes and with gaps.
struct RandomView {
  AnyTensor memory;
  Tensor tensor;

  RandomView(ElementType type, std::span<const int64_t> shape,
             std::mt19937 &random, bool mayRepeat)
      : memory(type, roomFor(shape)),
        tensor(viewOf(memory, shape, random, mayRepeat)) {}

  static std::array<int64_t, 1> roomFor(std::span<const int64_t> shape) {
    int64_t room = 2;
    for (int64_t extent : shape)
      room *= extent + 1;
    return {room};
  }
};

/// Runs a kernel and its fast variants on any number of threads. `isTaken`:
/// there has to be one for this call.
inline void expectTwins(PortableKernel kernel, std::span<const Tensor> inputs,
                        Tensor output, std::vector<int64_t> numbers,
                        Tolerance tolerance, bool isTaken = true,
                        const TileProgram *program = nullptr) {
  Error error = call(kernel, {inputs, {&output, 1}, numbers, program});
  ASSERT_FALSE(error) << error.message();
  AnyTensor wanted = denseOf(output);
  for (Isa isa : testedIsas()) {
    if (isa == Isa::Portable)
      continue;
    Invocation invocation{inputs, {&output, 1}, numbers, program};
    if (isTaken)
      ASSERT_NE(selectVariant(kernel, isa, invocation), nullptr)
          << info(kernel).name << " of " << inputs[0].describe();
    std::optional<AnyTensor> first;
    for (int threads : {0, 1, 2, 3, 7}) {
      ThreadPool pool(std::max(threads, 1));
      invocation.pool = threads ? &pool : nullptr;
      ASSERT_EQ(runWith(isa, kernel, invocation), "");
      AnyTensor got = denseOf(output);
      if (first)
        ASSERT_TRUE(sameElements(got, *first)) << threads << " threads";
      else
        ASSERT_TRUE(closeElements(got, wanted, tolerance))
            << info(kernel).name << " of " << inputs[0].describe() << ", "
            << name(isa);
      if (!first)
        first = std::move(got);
    }
  }
}

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_UNITTESTS_TWINS_H
