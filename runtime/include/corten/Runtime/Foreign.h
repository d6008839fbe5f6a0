// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that a program brings as source, such as those in Metal. The runtime
// compiles nothing: it asks whoever loads the plan.

#ifndef CORTEN_RUNTIME_FOREIGN_H
#define CORTEN_RUNTIME_FOREIGN_H

#include "corten/Runtime/Kernel.h"

#include <functional>
#include <memory>
#include <string>

namespace corten::runtime {

/// As a plan has it.
struct ForeignSource {
  std::string language;
  std::string name;
  std::string source;
};

/// One that can be run. Any number of threads may do so at once.
class ForeignKernel {
public:
  virtual ~ForeignKernel() = default;
  /// Tensors lie in memory in row-major order; the numbers are the threads of
  /// the grid and of a group, three each. Writes every element of the outputs,
  /// or fails.
  virtual Error run(const Invocation &call) const = 0;
};

/// Makes code of source, or says why not.
using ForeignLoader =
    std::function<Expected<std::shared_ptr<const ForeignKernel>>(
        const ForeignSource &)>;

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_FOREIGN_H
