// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of rows with the one of several packed matrices that an index says:
// the experts of a mixture.

#include "Epilogue.h"
#include "Portable.h"

#include "corten/Runtime/Panels.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::portable;

static constexpr std::string_view kName = "MatMulRouted";

Error portable::checkRoutedProduct(const Invocation &call) {
  if (call.inputs.size() < kRoutedOperands)
    return Error(std::string(kName) + " needs two matrices and indices");
  const Tensor &a = call.input(0);
  const Tensor &packed = call.input(1);
  const Tensor &indices = call.input(2);
  const Tensor &output = call.output();
  int rank = output.rank;
  bool fits =
      rank >= 2 && a.rank == rank && indices.rank == rank - 2 &&
      packed.rank == 4 &&
      std::equal(a.extents.begin(), a.extents.begin() + rank - 1,
                 output.extents.begin()) &&
      std::equal(indices.extents.begin(), indices.extents.begin() + rank - 2,
                 output.extents.begin()) &&
      packed.extents[1] == panelCount(output.extents[rank - 1]) &&
      packed.extents[2] == a.extents[rank - 1] &&
      packed.extents[3] == kPanelWidth;
  if (!fits)
    return Error(std::string(kName) + ": " + a.describe() + " and " +
                 packed.describe() + " by " + indices.describe() +
                 " do not make " + output.describe());
  for (const Tensor *factor : {&a, &packed})
    if (!isFactor(factor->type))
      return unknownType(kName, *factor);
  return indexReader(indices.type) ? Error::success()
                                   : unknownType(kName, indices);
}

Error portable::runMatMulRouted(const Invocation &call) {
  if (Error error = checkRoutedProduct(call))
    return error;
  Epilogue epilogue(call, kRoutedOperands);
  if (Error error = epilogue.check(kName))
    return error;
  const Tensor &a = call.input(0);
  const Tensor &packed = call.input(1);
  const Tensor &indices = call.input(2);
  int last = call.output().rank - 1;
  IndexReader read = indexReader(indices.type);
  // The first that is none; its products are not used.
  Error wrong = Error::success();
  withFactor(a.type, [&]<typename A>() {
    withFactor(packed.type, [&]<typename B>() {
      storeProducts(
          epilogue, [&](const auto &index, int64_t count, float *products) {
            int64_t offset = 0, place = 0;
            for (int axis = 0; axis != last; ++axis)
              offset += index[axis] * a.steps[axis];
            for (int axis = 0; axis != indices.rank; ++axis)
              place += index[axis] * indices.steps[axis];
            int64_t which = read(indices, place);
            auto matrix = wrapIndex(which, packed.extents[0]);
            if (!matrix) {
              if (!wrong)
                wrong = outOfRange(kName, which, packed.extents[0]);
              std::fill_n(products, count, 0.0f);
              return;
            }
            const A *row = a.as<A>() + offset;
            for (int64_t i = 0; i != count; ++i) {
              int64_t column = index[last] + i;
              const B *other = packed.as<B>() + *matrix * packed.steps[0] +
                               column / kPanelWidth * packed.steps[1] +
                               column % kPanelWidth * packed.steps[3];
              double sum = 0;
              for (int64_t k = 0; k != a.extents[last]; ++k)
                sum += double(float(row[k * a.steps[last]])) *
                       double(float(other[k * packed.steps[2]]));
              products[i] = float(sum);
            }
          });
    });
  });
  return wrong;
}
