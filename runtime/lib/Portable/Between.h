// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_RUNTIME_LIB_BETWEEN_H
#define CORTEN_RUNTIME_LIB_BETWEEN_H

#include "Portable.h"

namespace corten::runtime::portable {

/// Between which two elements of an axis a value lies, and how much of the
/// second one is in it.
struct Between {
  int64_t low = 0;
  int64_t high = 0;
  float share = 0;
};

Between locate(float coordinate, int64_t extent, bool isNearest);

/// Where the element with a number of an axis of the result of Interpolate lies
/// on the axis of its input.
Between locateOnGrid(const Invocation &call, int axis, int64_t number);

/// Whether the tensors of Interpolate fit.
Error checkInterpolate(const Invocation &call);

} // namespace corten::runtime::portable

#endif // CORTEN_RUNTIME_LIB_BETWEEN_H
