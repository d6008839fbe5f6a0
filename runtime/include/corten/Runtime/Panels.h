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

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_PANELS_H
