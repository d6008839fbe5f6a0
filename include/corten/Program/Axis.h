// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How torch counts: what a negative number means, and which numbers mean
// something.

#ifndef CORTEN_PROGRAM_AXIS_H
#define CORTEN_PROGRAM_AXIS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace corten {

/// Which of `count` elements a number means, from the end if it is negative;
/// nothing if there is no such element.
inline std::optional<size_t> positionOf(int64_t number, size_t count) {
  auto end = static_cast<int64_t>(count);
  if (number < -end || number >= end)
    return std::nullopt;
  return static_cast<size_t>(number < 0 ? number + end : number);
}

/// Which axis of a tensor a number means. One without axes may be treated as if
/// it had one.
inline std::optional<size_t> axisOf(int64_t number, size_t rank) {
  return positionOf(number, std::max<size_t>(rank, 1));
}

} // namespace corten

#endif // CORTEN_PROGRAM_AXIS_H
