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

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_ARITHMETIC_H
