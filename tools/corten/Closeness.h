// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How close results are to those of somebody else.

#ifndef CORTEN_TOOLS_CORTEN_CLOSENESS_H
#define CORTEN_TOOLS_CORTEN_CLOSENESS_H

#include "Arrays.h"

namespace corten::tool {

/// A result beside another that has its shape.
struct Closeness {
  std::string name;
  /// `f32[2, 3]`
  std::string type;
  int64_t count = 0;
  /// How many elements are farther off than `tolerance`.
  int64_t numDifferent = 0;
  double tolerance = 0;
  /// The largest error, where it is, and what stands there.
  double largest = 0;
  std::vector<int64_t> index;
  double actual = 0;
  double expected = 0;
  /// In decibels: peak of what is expected, to noise.
  double psnr = 0;

  bool isClose() const { return numDifferent == 0; }
};

/// What an error is measured by, where that is larger than one.
enum class Scale : uint8_t {
  Element,
  /// The largest element of the tensor: small ones carry its rounding.
  Largest,
};

/// An element may be off by the tolerance times its scale. Without a choice, it
/// follows the element type.
Closeness compare(llvm::StringRef name, const runtime::Tensor &actual,
                  const runtime::Tensor &expected,
                  std::optional<double> tolerance,
                  Scale scale = Scale::Element);

/// A table of them, the worst first.
void print(llvm::raw_ostream &os, std::vector<Closeness> all);

} // namespace corten::tool

#endif // CORTEN_TOOLS_CORTEN_CLOSENESS_H
