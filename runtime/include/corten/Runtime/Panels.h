// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the right side of a product is packed: in panels of some columns, row
// after row. The width is the same for all instruction sets, so packed weights
// do not depend on the machine.

#ifndef CORTEN_RUNTIME_PANELS_H
#define CORTEN_RUNTIME_PANELS_H

#include <cstdint>

namespace corten::runtime {

inline constexpr int64_t kPanelWidth = 32;

/// How many panels `columns` take; the last one is filled up with zeros.
inline constexpr int64_t panelCount(int64_t columns) {
  return (columns + kPanelWidth - 1) / kPanelWidth;
}

// Narrow factors lie in groups of k that fill four bytes for each column: two
// of bf16, or four bytes. In a row of a panel there are these groups, one for
// each column. The last group is filled up with zeros.

inline constexpr int64_t kPairRow = 2 * kPanelWidth;
inline constexpr int64_t kQuadRow = 4 * kPanelWidth;

inline constexpr int64_t pairCount(int64_t depth) { return (depth + 1) / 2; }
inline constexpr int64_t quadCount(int64_t depth) { return (depth + 3) / 4; }

/// Bytes of weights are whole numbers from -127 to 127 with this added.
inline constexpr int kQuadZero = 128;
/// What numbers are quantized to; the largest of a row or column is one.
inline constexpr int kQuadLimit = 127;
/// Rows and columns in which nothing is larger count as zeros.
inline constexpr float kQuadTiny = 0x1p-100f;

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_PANELS_H
