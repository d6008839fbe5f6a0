// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A second opinion on the memory of a frame. It knows neither lifetimes nor
// stages: it goes through the steps of the plan, notes for each byte who wrote
// it last and when, and finds out when somebody reads what is no longer, or not
// yet, there. Results that were put where an input lay are other versions of
// that memory: what reads the input afterwards is found as well.

#ifndef CORTEN_RUNTIME_LIB_EXECUTION_FRAMECHECKER_H
#define CORTEN_RUNTIME_LIB_EXECUTION_FRAMECHECKER_H

#include "corten/Runtime/Error.h"
#include "corten/Runtime/Tensor.h"

#include "corten/Runtime/Plan_generated.h"

#include <vector>

namespace corten::runtime::execution {

/// Where a frame has its tensors.
struct FrameLayout {
  struct Place {
    /// Which memory; -1: none of the frame's.
    int32_t space = -1;
    int64_t begin = 0;
    int64_t bytes = 0;
  };
  /// Bytes from the beginning of the buffer.
  struct Extent {
    int64_t begin = 0;
    int64_t end = 0;
    bool isKnown = false;
    /// Which of those bytes: the elements of a tensor whose first one is there.
    /// None: all of them.
    const Tensor *tensor = nullptr;
    int64_t first = 0;
  };
  /// Steps of one group and different strands run at the same time.
  struct Beside {
    int32_t group = -1;
    int32_t strand = -1;
  };
  std::vector<Place> buffers;
  /// By step.
  std::vector<Place> scratch;
  std::vector<Extent> values;
  /// By step, if some do.
  std::vector<Beside> beside;
};

/// Checks that each value is written before it is read, and that nobody else
/// writes to its memory in between, nor at the same time. Values that have no
/// size yet are left out.
Error checkFrame(const plan::Plan &plan, size_t block,
                 const FrameLayout &layout);

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_FRAMECHECKER_H
