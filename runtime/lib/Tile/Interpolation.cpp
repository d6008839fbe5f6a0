// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fast forms of values between the elements of an image. If there is an axis
// along which nothing lies between, channels as a rule, all of it at once; else
// rows are blended first, and then elements of that row.

#include "../Portable/Between.h"
#include "../Vector/Images.h"
#include "../Vector/Variants.h"
#include "Nest.h"
#include "Programs.h"

using namespace corten::runtime;
using namespace corten::runtime::tile;
using portable::Between;

/// The longest row of a result, or of an input, that fits on the stack.
static constexpr int64_t kLongest = 4096;
/// As many axes as values lie between on.
static constexpr int kMaxSplit = 4;

namespace {

/// The corners of a place of the output on all axes but one.
struct Corners {
  std::array<const void *, 1 << kMaxSplit> taps;
  std::array<float, 1 << kMaxSplit> shares;
  int64_t count = 1;
  /// Where it is in the output; false if it lies between on too many axes.
  int64_t target = 0;
  bool fits = true;

  Corners(const Invocation &call, int without, int64_t number) {
    const Tensor &input = call.input(0);
    const Tensor &output = call.output();
    std::array<int64_t, 1 << kMaxSplit> offsets = {};
    shares[0] = 1;
    for (int axis = output.rank - 1; axis >= 0; --axis) {
      if (axis == without)
        continue;
      int64_t place = number % output.extents[axis];
      number /= output.extents[axis];
      target += place * output.steps[axis];
      Between between = portable::locateOnGrid(call, axis, place);
      bool isSplit = between.share != 0;
      fits &= !isSplit || count < int64_t(taps.size());
      if (!fits)
        return;
      for (int64_t i = 0; i != count; ++i) {
        if (isSplit) {
          offsets[count + i] = offsets[i] + between.high * input.steps[axis];
          shares[count + i] = shares[i] * between.share;
          shares[i] *= 1 - between.share;
        }
        offsets[i] += between.low * input.steps[axis];
      }
      count *= isSplit ? 2 : 1;
    }
    for (int64_t i = 0; i != count; ++i)
      taps[i] = input.as<char>() + offsets[i] * int64_t(byteSize(input.type));
  }
};
} // namespace

/// Whether elements of an axis are where those of the input are.
static bool isSame(const Invocation &call, int axis) {
  for (int64_t i = 0; i != call.output().extents[axis]; ++i) {
    Between between = portable::locateOnGrid(call, axis, i);
    if (between.low != i || between.share != 0)
      return false;
  }
  return true;
}

static bool acceptsInterpolate(const Invocation &call) {
  return tileLane(call.input(0).type) == TileLane::F &&
         !portable::checkInterpolate(call);
}

static Error runInterpolate(const Vectors &vectors, const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &output = call.output();
  int inner = -1;
  for (int axis = 0; axis != input.rank; ++axis)
    if (input.steps[axis] == 1 && output.steps[axis] == 1 &&
        (inner < 0 || output.extents[axis] > output.extents[inner]))
      inner = axis;
  if (output.size() == 0)
    return Error::success();
  if (inner < 0 || input.extents[inner] > kLongest ||
      output.extents[inner] > kLongest || !Corners(call, inner, 0).fits ||
      input.rank > kMaxSplit + 1)
    return portable::runInterpolate(call);
  int64_t length = output.extents[inner];
  bool isWhole = isSame(call, inner);
  std::array<Between, kLongest> places;
  for (int64_t i = 0; !isWhole && i != length; ++i)
    places[i] = portable::locateOnGrid(call, inner, i);
  int64_t rows = output.size() / length;
  int64_t some = std::max<int64_t>(1, chunkSize(8) / length);
  const Images &images = vectors.images;
  runChunks(call.pool, (rows + some - 1) / some, [&](int64_t chunk) {
    int64_t end = std::min(rows, (chunk + 1) * some);
    for (int64_t row = chunk * some; row < end; ++row) {
      Corners corners(call, inner, row);
      char *to =
          output.as<char>() + corners.target * int64_t(byteSize(output.type));
      if (isWhole) {
        images.blendColumns(corners.taps.data(), corners.shares.data(),
                            corners.count, input.type, to, output.type, length);
        continue;
      }
      std::array<float, kLongest> blended;
      std::array<float, kLongest> values;
      images.blendColumns(corners.taps.data(), corners.shares.data(),
                          corners.count, input.type, blended.data(),
                          ElementType::F32, input.extents[inner]);
      for (int64_t i = 0; i != length; ++i) {
        const Between &place = places[i];
        float low = blended[place.low];
        values[i] = place.share == 0 ? low
                                     : low * (1 - place.share) +
                                           blended[place.high] * place.share;
      }
      Rows source = {values.data(), 1, 0, ElementType::F32};
      Rows target = {to, 1, 0, output.type};
      TileLane lane = TileLane::F;
      SmallProgram identity(1);
      vectors.runTiles({identity.code(), &source, &target, &lane, 1, length});
    }
  });
  return Error::success();
}
CORTEN_VARIANTS(Interpolate, acceptsInterpolate, runInterpolate, nullptr)
