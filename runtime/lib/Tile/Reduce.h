// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_RUNTIME_LIB_REDUCE_H
#define CORTEN_RUNTIME_LIB_REDUCE_H

#include "../Vector/Vectors.h"
#include "Nest.h"

namespace corten::runtime::tile {

/// Checks the operands of a reduction, and finds the lane of what is reduced.
Expected<TileLane> checkReduction(const Code &code,
                                  std::span<const Tensor> inputs,
                                  const Tensor &output, ReduceMode mode);

/// Reduces what a program makes of inputs of one shape into the shape of the
/// output, whose reduced axes have extent 1.
Error reduceProgram(const Reductions &forms, const Code &code,
                    std::span<const Tensor> inputs, const Tensor &output,
                    ReduceMode mode, ThreadPool *pool);

} // namespace corten::runtime::tile

#endif // CORTEN_RUNTIME_LIB_REDUCE_H
