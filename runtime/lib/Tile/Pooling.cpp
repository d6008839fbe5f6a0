// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fast forms of windows over images. If channels are neighbours, all channels
// of a place at once; else a row of places at once.

#include "../Portable/Window.h"
#include "../Vector/Images.h"
#include "../Vector/Variants.h"
#include "Nest.h"
#include "Programs.h"

using namespace corten::runtime;
using namespace corten::runtime::tile;

namespace {

/// More taps than windows have that are worth it; a sum of more would need more
/// digits.
constexpr int64_t kMaxTaps = 128;
/// The longest vector of floats.
constexpr int kRoom = 16;

/// The numbers of a call, for each spatial axis.
struct Windows {
  int rank;
  std::span<const int64_t> window;
  std::span<const int64_t> strides;
  std::span<const int64_t> dilations;
  std::span<const int64_t> before;

  explicit Windows(const Invocation &call)
      : rank(call.input().rank - 2), window(part(call, 0)),
        strides(part(call, 1)), dilations(part(call, 2)),
        before(part(call, 3)) {}

  std::span<const int64_t> part(const Invocation &call, int which) const {
    return call.numbers.subspan(size_t(which) * size_t(rank), size_t(rank));
  }
  int64_t taps() const {
    int64_t count = 1;
    // Of more it does not matter how many there are.
    for (int64_t extent : window)
      count = std::min(count * extent, kMaxTaps + 1);
    return count;
  }
};
} // namespace

static bool acceptsPool(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int rank = input.rank - 2;
  if (rank < 1 || output.rank != input.rank ||
      call.numbers.size() != 4 * size_t(rank) ||
      tileLane(input.type) != TileLane::F || input.type != output.type ||
      input.extents[0] != output.extents[0] ||
      input.extents[1] != output.extents[1] ||
      !portable::hasCountableWindows(call))
    return false;
  return Windows(call).taps() <= kMaxTaps;
}

/// Calls `function(offset, last)` for the taps of a window whose places on the
/// first `numAxes` spatial axes are inside: where it is in the input, and the
/// tap's number along the axis after those.
template <typename Function>
static void forEachTap(const Windows &windows, const Tensor &input,
                       const std::array<int64_t, kMaxRank> &place, int numAxes,
                       Function &&function) {
  std::array<int64_t, kMaxRank> tap = {};
  while (true) {
    int64_t offset = 0;
    bool isInside = true;
    for (int i = 0; i != numAxes; ++i) {
      int64_t index = place[i] * windows.strides[i] - windows.before[i] +
                      tap[i] * windows.dilations[i];
      isInside &= index >= 0 && index < input.extents[i + 2];
      offset += index * input.steps[i + 2];
    }
    if (isInside)
      function(offset, tap[windows.rank - 1]);
    int i = windows.rank - 1;
    for (; i >= 0; --i) {
      if (++tap[i] != windows.window[i])
        break;
      tap[i] = 0;
    }
    if (i < 0)
      return;
  }
}

/// The place on spatial axes with a number, and the number of what is outside.
static int64_t placeOf(int64_t number, const Tensor &output, int numAxes,
                       std::array<int64_t, kMaxRank> &place) {
  for (int i = numAxes - 1; i >= 0; --i) {
    place[i] = number % output.extents[i + 2];
    number /= output.extents[i + 2];
  }
  return number;
}

static char *at(const Tensor &tensor, int64_t offset) {
  return tensor.as<char>() + offset * int64_t(byteSize(tensor.type));
}

/// Calls `body` with numbers from 0 to count-1, some to a chunk.
template <typename Body>
static void forEachNumber(ThreadPool *pool, int64_t count, int64_t cost,
                          Body &&body) {
  int64_t some =
      std::max<int64_t>(1, chunkSize(1) * 4 / std::max<int64_t>(1, cost));
  runChunks(pool, (count + some - 1) / some, [&](int64_t chunk) {
    int64_t end = std::min(count, (chunk + 1) * some);
    for (int64_t i = chunk * some; i < end; ++i)
      body(i);
  });
}

static void poolChannels(const Vectors &vectors, const Invocation &call,
                         ReduceMode mode) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  Windows windows(call);
  int64_t channels = input.extents[1];
  int64_t places = channels == 0 ? 0 : output.size() / channels;
  forEachNumber(
      call.pool, places, channels * windows.taps(), [&](int64_t number) {
        std::array<int64_t, kMaxRank> place = {};
        int64_t sample = placeOf(number, output, windows.rank, place);
        std::array<const void *, kMaxTaps> taps;
        int64_t numTaps = 0;
        int64_t base = sample * input.steps[0];
        forEachTap(windows, input, place, windows.rank,
                   [&](int64_t offset, int64_t) {
                     taps[numTaps++] = at(input, base + offset);
                   });
        int64_t to = sample * output.steps[0];
        for (int i = 0; i != windows.rank; ++i)
          to += place[i] * output.steps[i + 2];
        vectors.images.poolColumns(mode, taps.data(), numTaps, input.type,
                                   at(output, to), channels);
      });
}

/// Whole numbers, rounded down.
static int64_t floorOf(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

static void poolRows(const Vectors &vectors, const Invocation &call,
                     ReduceMode mode) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  const Images &images = vectors.images;
  Windows windows(call);
  int last = windows.rank - 1;
  int64_t length = output.extents[last + 2];
  if (output.size() == 0)
    return;
  int64_t stride = windows.strides[last];
  int64_t extent = input.extents[last + 2];
  int64_t step = input.steps[last + 2];
  forEachNumber(
      call.pool, output.size() / length, length * windows.taps(),
      [&](int64_t number) {
        std::array<int64_t, kMaxRank> place = {};
        int64_t image = placeOf(number, output, last, place);
        int64_t sample = image / output.extents[1];
        int64_t channel = image % output.extents[1];
        int64_t from = sample * input.steps[0] + channel * input.steps[1];
        int64_t to = sample * output.steps[0] + channel * output.steps[1];
        for (int i = 0; i != last; ++i)
          to += place[i] * output.steps[i + 2];
        for (int64_t first = 0; first < length; first += kTileSize) {
          int64_t count = std::min<int64_t>(kTileSize, length - first);
          std::array<float, kTileSize + kRoom> totals;
          totals.fill(mode == ReduceMode::Max
                          ? -std::numeric_limits<float>::infinity()
                          : 0.0f);
          forEachTap(
              windows, input, place, last, [&](int64_t offset, int64_t tap) {
                // The places whose tap is inside.
                int64_t shift =
                    tap * windows.dilations[last] - windows.before[last];
                int64_t low =
                    std::max(first, floorOf(-shift + stride - 1, stride));
                int64_t high = std::min(
                    first + count, floorOf(extent - 1 - shift, stride) + 1);
                if (low < high)
                  images.poolRow(
                      mode,
                      {at(input, from + offset + (low * stride + shift) * step),
                       stride * step, 0, input.type},
                      totals.data() + (low - first), high - low);
              });
          Rows source = {totals.data(), 1, 0, ElementType::F32};
          Rows target = {at(output, to + first * output.steps[last + 2]),
                         output.steps[last + 2], 0, output.type};
          TileLane lane = TileLane::F;
          SmallProgram identity(1);
          vectors.runTiles(
              {identity.code(), &source, &target, &lane, 1, count});
        }
      });
}

template <ReduceMode mode>
static Error runPool(const Vectors &vectors, const Invocation &call) {
  if (call.input().steps[1] == 1 && call.output().steps[1] == 1)
    poolChannels(vectors, call, mode);
  else
    poolRows(vectors, call, mode);
  return Error::success();
}
CORTEN_VARIANTS(MaxPool, acceptsPool, runPool<ReduceMode::Max>, nullptr)
CORTEN_VARIANTS(SumPool, acceptsPool, runPool<ReduceMode::Sum>, nullptr)
