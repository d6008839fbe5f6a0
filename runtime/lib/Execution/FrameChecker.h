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
  };
  std::vector<Place> buffers;
  /// By step.
  std::vector<Place> scratch;
  std::vector<Extent> values;
};

/// Checks that each value is written before it is read, and that nobody else
/// writes to its memory in between. Values that have no size yet are left out.
Error checkFrame(const plan::Plan &plan, size_t block,
                 const FrameLayout &layout);

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_FRAMECHECKER_H
