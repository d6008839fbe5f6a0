// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that are others under a second name, with the same parameters.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_UNDECOMPOSED_SAMEAS_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_UNDECOMPOSED_SAMEAS_H

#include "Table.h"

#include <algorithm>

namespace corten {

/// The name of an operator as a template argument.
template <size_t N> struct OperatorName {
  constexpr OperatorName(const char (&name)[N]) { std::copy_n(name, N, text); }
  char text[N];
};

template <OperatorName Other>
mlir::FailureOr<Results> lowerSameAs(const AtenNode &node, Emitter &emit) {
  return findLowering("aten", Other.text)(node, emit);
}

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_UNDECOMPOSED_SAMEAS_H
