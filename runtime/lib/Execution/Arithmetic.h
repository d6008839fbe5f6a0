// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_RUNTIME_LIB_EXECUTION_ARITHMETIC_H
#define CORTEN_RUNTIME_LIB_EXECUTION_ARITHMETIC_H

#include "Program.h"

#include "corten/Runtime/Tensor.h"

#include <algorithm>
#include <span>

namespace corten::runtime::execution {

/// How many operations on numbers a step does.
double arithmeticOf(const Step &step, std::span<const Tensor> inputs,
                    std::span<const Tensor> outputs);

/// What is read or written of a tensor: what repeats counts once.
int64_t bytesOf(const Tensor &tensor);

/// About how long a step takes one thread, where what it touches is in a cache.
/// Knows sizes and nothing else, so that it says the same on each machine.
double nanosecondsOf(const Step &step, std::span<const Tensor> inputs,
                     std::span<const Tensor> outputs, bool isFast);

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_ARITHMETIC_H
