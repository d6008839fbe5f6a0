// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels may be told by a number.

#ifndef CORTEN_RUNTIME_MODES_H
#define CORTEN_RUNTIME_MODES_H

#include <cstdint>
#include <optional>

namespace corten::runtime {

/// How an axis goes on beyond its ends. By one value it is not here: that is a
/// fill and a copy.
enum class PaddingMode : int64_t { Replicate, Reflect, Symmetric, Circular };

/// What becomes of an element that an update meets.
enum class ScatterMode : int64_t { Update, Add, Sub, Mul, Div, Max, Min };

/// What a reduction does; each means what the portable kernel of its name does.
enum class ReduceMode : int64_t { Sum, Mean, Product, Max, Min, All, Any };

constexpr PaddingMode lastMode(PaddingMode) { return PaddingMode::Circular; }
constexpr ScatterMode lastMode(ScatterMode) { return ScatterMode::Min; }
constexpr ReduceMode lastMode(ReduceMode) { return ReduceMode::Any; }

/// The mode that a number in a plan means, if it is that of one.
template <typename Mode> constexpr std::optional<Mode> modeOf(int64_t number) {
  if (number < 0 || number > int64_t(lastMode(Mode())))
    return std::nullopt;
  return Mode(number);
}

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_MODES_H
