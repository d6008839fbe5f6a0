// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors that own their memory, and calls of kernels in one line.

#ifndef CORTEN_RUNTIME_UNITTESTS_TENSORS_H
#define CORTEN_RUNTIME_UNITTESTS_TENSORS_H

#include "corten/Runtime/Kernel.h"

#include "gtest/gtest.h"

#include <memory>
#include <vector>

namespace corten::runtime {

/// Elements and a view of them, without gaps.
template <typename T> struct Owned {
  std::unique_ptr<T[]> elements;
  Tensor tensor;

  Owned(std::vector<int64_t> shape, std::initializer_list<double> values = {})
      : tensor(kElementType<T>, nullptr, shape) {
    elements = std::make_unique<T[]>(size_t(tensor.size()) + 1);
    tensor.data = elements.get();
    int64_t i = 0;
    for (double value : values)
      elements[i++] = T(ComputeType<T>(value));
  }

  /// The elements of a shape, as numbers.
  std::vector<double> numbers() const {
    std::vector<double> result;
    for (int64_t i = 0; i != tensor.size(); ++i)
      result.push_back(double(ComputeType<T>(elements[i])));
    return result;
  }
};

/// Calls a kernel; the message of its error, or nothing.
inline std::string run(PortableKernel kernel, std::vector<Tensor> inputs,
                       Tensor &output, std::vector<int64_t> numbers = {}) {
  Error error = call(kernel, {inputs, {&output, 1}, numbers});
  return error ? error.message() : "";
}

inline const double kNan = std::nan("");

/// Whether these are the numbers, to the digits of a float; NaN is itself.
inline testing::AssertionResult areNumbers(const std::vector<double> &actual,
                                           const std::vector<double> &wanted) {
  bool isSame = actual.size() == wanted.size();
  for (size_t i = 0; isSame && i != actual.size(); ++i)
    isSame = actual[i] == wanted[i] ||
             (std::isnan(actual[i]) && std::isnan(wanted[i])) ||
             std::fabs(actual[i] - wanted[i]) < 1e-6 * std::fabs(wanted[i]);
  if (isSame)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << testing::PrintToString(actual) << " are not "
         << testing::PrintToString(wanted);
}

#define EXPECT_NUMBERS(ACTUAL, ...)                                            \
  EXPECT_TRUE(areNumbers(ACTUAL, {__VA_ARGS__}))
#define EXPECT_MENTIONS(TEXT, PART)                                            \
  EXPECT_NE((TEXT).find(PART), std::string::npos) << (TEXT)

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_UNITTESTS_TENSORS_H
