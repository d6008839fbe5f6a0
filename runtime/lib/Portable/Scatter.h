// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of an element that an update meets.

#ifndef CORTEN_RUNTIME_LIB_SCATTER_H
#define CORTEN_RUNTIME_LIB_SCATTER_H

#include "Arithmetic.h"

#include "corten/Runtime/Modes.h"

namespace corten::runtime::portable {

/// `Op` where it has a form for these, else the update.
template <typename Op, typename T> T applied(T old, T update) {
  if constexpr (requires { Op::apply(old, update); })
    return Op::apply(old, update);
  else
    return update;
}

template <typename T> T combine(ScatterMode mode, T old, T update) {
  // Of two truth values the larger one is true if one of them is.
  constexpr bool kIsTruth = std::is_same_v<T, bool>;
  using Larger = std::conditional_t<kIsTruth, Add, Maximum>;
  using Smaller = std::conditional_t<kIsTruth, Mul, Minimum>;
  switch (mode) {
  case ScatterMode::Update:
    return update;
  case ScatterMode::Add:
    return applied<Add>(old, update);
  case ScatterMode::Sub:
    return applied<Sub>(old, update);
  case ScatterMode::Mul:
    return applied<Mul>(old, update);
  case ScatterMode::Div:
    return applied<Divide>(old, update);
  case ScatterMode::Max:
    return applied<Larger>(old, update);
  case ScatterMode::Min:
    return applied<Smaller>(old, update);
  }
  __builtin_unreachable();
}

} // namespace corten::runtime::portable

#endif // CORTEN_RUNTIME_LIB_SCATTER_H
