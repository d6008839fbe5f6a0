// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of results that products have just stored. In a pass of their own:
// in the loops that store they would stand once for each size of a tile.

#include "Finishing.h"
#include "Math.h"
#include "Vectors.h"

namespace corten::runtime::CORTEN_LEVEL {

template <F (*function)(F)>
static void activateRows(float *target, int64_t targetStep, int64_t rows,
                         int64_t columns) {
  for (int64_t row = 0; row < rows; ++row, target += targetStep)
    for (int64_t first = 0; first < columns; first += kWidth) {
      int64_t left = columns - first;
      storeSome(target + first, function(loadSome(target + first, left)), left);
    }
}

const products::ActivationFunction kActivations[products::kActivations] = {
    &activateRows<gelu>,    &activateRows<geluSigmoid>, &activateRows<geluTanh>,
    &activateRows<sigmoid>, &activateRows<silu>,        &activateRows<tanh>,
};

} // namespace corten::runtime::CORTEN_LEVEL
