// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is done with sums on their way to memory.

#ifndef CORTEN_RUNTIME_LIB_FINISHING_H
#define CORTEN_RUNTIME_LIB_FINISHING_H

#include "../Products/MicroKernels.h"
#include "Simd.h"

namespace corten::runtime::CORTEN_LEVEL {

/// What is done with vectors of results. A copy: what is stored might be what
/// the original lies in, for all that the compiler knows.
class Finishing {
public:
  explicit Finishing(const products::Finish &finish)
      : bias(finish.bias), residual(finish.residual),
        residualStep(finish.residualStep), low(splat(finish.low)),
        high(splat(finish.high)) {}

  /// What is added to a column: it is the same for all rows.
  F biasOf(int64_t column, int64_t columns) const {
    return bias ? loadSome(bias + column, columns) : F{};
  }
  /// A vector of which `columns` are there, with its bias.
  F operator()(F sum, F biased, int64_t row, int64_t column,
               int64_t columns) const {
    if (bias)
      sum += biased;
    if (residual)
      sum += loadSome(residual + row * residualStep + column, columns);
    // The second operand wins where one is NaN.
    return smaller(high, larger(low, sum));
  }

private:
  const float *bias;
  const float *residual;
  int64_t residualStep;
  F low;
  F high;
};

/// Of results that were stored, while they are at hand.
inline void activate(const products::Finish *finish, float *target,
                     int64_t targetStep, int64_t rows, int64_t columns) {
  if (finish && finish->activate)
    finish->activate(target, targetStep, rows, columns);
}

} // namespace corten::runtime::CORTEN_LEVEL

#endif // CORTEN_RUNTIME_LIB_FINISHING_H
