// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests of convolutions have in common.

#ifndef CORTEN_RUNTIME_UNITTESTS_CONVOLUTIONCASES_H
#define CORTEN_RUNTIME_UNITTESTS_CONVOLUTIONCASES_H

#include "Variants.h"

namespace corten::runtime {

/// The order of axes in memory with channels last.
inline std::vector<int> channelsLast(size_t rank) {
  std::vector<int> order = {0};
  for (size_t i = 2; i != rank; ++i)
    order.push_back(int(i));
  order.push_back(1);
  return order;
}

/// The same elements, or others, with channels one after the other.
inline Tensor lastChannels(const Tensor &tensor) {
  Tensor result = tensor;
  int64_t step = 1;
  std::vector<int> order = channelsLast(tensor.rank);
  for (size_t i = order.size(); i-- > 0;) {
    result.steps[size_t(order[i])] = step;
    step *= tensor.extents[size_t(order[i])];
  }
  return result;
}

/// Runs a case as it is, or with programs after it.
inline void compareWithPrograms(VariantCase test, bool isOutputLast,
                                bool hasProgram, const std::string &name) {
  if (isOutputLast)
    test.order = channelsLast(test.shape.size());
  if (!hasProgram) {
    EXPECT_VARIANTS(test, name);
    return;
  }
  Factors bias(ElementType::F32, {test.shape[1]});
  Factors residual(ElementType::F32, test.shape);
  std::vector<int64_t> byChannel(test.shape.size());
  byChannel[1] = 1;
  test.inputs.push_back(bias.tensor.view(test.shape, byChannel));
  test.inputs.push_back(isOutputLast ? lastChannels(residual.tensor)
                                     : residual.tensor);
  expectVariantsWithPrograms(test, name);
}

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_UNITTESTS_CONVOLUTIONCASES_H
