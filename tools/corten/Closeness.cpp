// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Closeness.h"

#include "corten/Support/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <limits>
#include <tuple>

using namespace corten;
using namespace corten::tool;
using runtime::ElementType;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What computations of this type may differ by, done in another order.
static double usualTolerance(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return 1e-8;
  case ElementType::F32:
  case ElementType::C64:
    return 1e-4;
  case ElementType::F16:
  case ElementType::BF16:
    return 1e-2;
  default:
    return runtime::isFloat(type) ? 0.25 : 0;
  }
}

/// How far off an element is; infinitely if only one of them is a number.
static double errorOf(double actual, double expected) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected)))
    return 0;
  double error = std::abs(actual - expected);
  return std::isfinite(error) ? error : kInfinity;
}

/// The place of an element in row-major order.
static std::vector<int64_t> indexOf(int64_t place, llvm::ArrayRef<int64_t> of) {
  std::vector<int64_t> index(of.size());
  for (size_t axis = of.size(); axis-- > 0; place /= of[axis])
    index[axis] = place % of[axis];
  return index;
}

Closeness tool::compare(llvm::StringRef name, const runtime::Tensor &actual,
                        const runtime::Tensor &expected,
                        std::optional<double> tolerance, Scale scale) {
  Closeness result;
  result.name = name.str();
  result.type = actual.describe();
  result.tolerance = tolerance.value_or(usualTolerance(actual.type));
  std::vector<double> ours = numbersOf(actual);
  std::vector<double> theirs = numbersOf(expected);
  result.count = int64_t(ours.size());
  double noise = 0;
  double peak = 0;
  int64_t worst = -1;
  for (double number : theirs)
    if (std::isfinite(number))
      peak = std::max(peak, std::abs(number));
  for (size_t i = 0; i != ours.size(); ++i) {
    double error = errorOf(ours[i], theirs[i]);
    double size = scale == Scale::Largest ? peak : std::abs(theirs[i]);
    result.numDifferent += error > result.tolerance * std::max(1.0, size);
    noise += error * error;
    if (worst == -1 || error > result.largest) {
      worst = int64_t(i);
      result.largest = error;
    }
  }
  if (worst != -1) {
    result.actual = ours[size_t(worst)];
    result.expected = theirs[size_t(worst)];
    // Complex elements are two.
    result.index = indexOf(actual.type == ElementType::C64 ? worst / 2 : worst,
                           actual.shape());
  }
  result.psnr =
      noise == 0 ? kInfinity
      : peak > 0
          ? 20 * std::log10(peak / std::sqrt(noise / double(ours.size())))
          : -kInfinity;
  return result;
}

/// A number as a reader wants it.
static std::string text(const char *format, double number) {
  if (std::isinf(number))
    return number > 0 ? "inf" : "-inf";
  std::string result;
  llvm::raw_string_ostream(result) << llvm::format(format, number);
  return result;
}

void tool::print(llvm::raw_ostream &os, std::vector<Closeness> all) {
  llvm::sort(all, [](const Closeness &a, const Closeness &b) {
    return std::tie(a.psnr, a.name) < std::tie(b.psnr, b.name);
  });
  Table table({"output", "type", ">largest error", "at", ">is", ">expected",
               ">PSNR [dB]", ">beyond", ">tolerance"});
  for (const Closeness &one : all) {
    auto numbers =
        llvm::map_range(one.index, [](int64_t i) { return std::to_string(i); });
    table.add(
        {one.name, one.type, text("%.3g", one.largest),
         one.count ? "[" + llvm::join(numbers, ", ") + "]" : "",
         one.count ? text("%.6g", one.actual) : "",
         one.count ? text("%.6g", one.expected) : "", text("%.1f", one.psnr),
         std::to_string(one.numDifferent) + " of " + std::to_string(one.count),
         text("%g", one.tolerance)});
  }
  table.print(os, 0);
}
