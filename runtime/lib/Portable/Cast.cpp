// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From one element type to another.

#include "Conversion.h"
#include "Portable.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::portable;

namespace {

/// A type that has every number of T: all pairs of types are two short steps.
template <typename T>
using Wide = std::conditional_t<
    ComplexElement<T>, std::complex<float>,
    std::conditional_t<FloatElement<T>, double,
                       std::conditional_t<std::is_unsigned_v<ComputeType<T>>,
                                          uint64_t, int64_t>>>;
} // namespace

Error portable::runCast(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  if (Error error = checkShape("Cast", input, output))
    return error;
  constexpr int64_t kChunk = 256;
  // Reads a part of a run into wide numbers, and writes them.
  auto convertRun = [&]<typename Number>(auto &&read) {
    std::array<Number, kChunk> wide;
    withType(output.type, [&]<typename To>() {
      stridedLoop<2>(
          output.shape(), {input.steps.data(), output.steps.data()},
          [&](const auto &offsets, int64_t count, const auto &steps) {
            for (int64_t first = 0; first < count; first += kChunk) {
              int64_t length = std::min(kChunk, count - first);
              read(wide.data(), offsets[0] + first * steps[0], steps[0],
                   length);
              To *to = output.as<To>() + offsets[1] + first * steps[1];
              for (int64_t i = 0; i != length; ++i)
                to[i * steps[1]] = convert<To>(wide[i]);
            }
          });
    });
  };
  /// One function for each type that is read, not one for each pair.
  auto readerOf = [&]<typename Number>() {
    using Read = void (*)(const Tensor &, Number *, int64_t, int64_t, int64_t);
    Read chosen = nullptr;
    withType(input.type, [&]<typename From>() {
      if constexpr (std::is_same_v<Wide<From>, Number>)
        chosen = [](const Tensor &tensor, Number *wide, int64_t offset,
                    int64_t step, int64_t length) {
          const From *from = tensor.as<From>() + offset;
          for (int64_t i = 0; i != length; ++i)
            // NOLINTNEXTLINE(bugprone-signed-char-misuse): it is a number
            wide[i] = Number(ComputeType<From>(from[i * step]));
        };
    });
    if (chosen)
      convertRun.template operator()<Number>(
          [&](Number *wide, int64_t offset, int64_t step, int64_t length) {
            chosen(input, wide, offset, step, length);
          });
  };
  readerOf.template operator()<double>();
  readerOf.template operator()<int64_t>();
  readerOf.template operator()<uint64_t>();
  readerOf.template operator()<std::complex<float>>();
  return Error::success();
}
