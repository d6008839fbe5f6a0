// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WindowRows.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::products;

bool products::hasChannelRows(const Tensor &input) {
  return input.type == ElementType::F32 &&
         (input.steps[1] == 1 || input.extents[1] <= 1);
}

ChannelRows products::channelRows(const Tensor &input) {
  return {input.as<float>(), input.steps[0], portable::spaceOf(input),
          portable::spaceStepsOf(input)};
}

/// Copies lines along the last axis; `store(from, count, target, thread)` does
/// so with those places that lie inside.
template <typename Store>
static ChannelRows copyLines(const Invocation &call, const Tensor &input,
                             const CopyForm &form, float *to, Store &&store) {
  int64_t channels = form.channels;
  int last = input.rank - 3;
  Place steps = {};
  int64_t step = channels;
  for (int axis = 3; axis-- > 0;) {
    steps[axis] = step;
    step *= form.space[axis];
  }
  Place space = portable::spaceOf(input);
  Place inputSteps = portable::spaceStepsOf(input);
  // Lines along the last axis there is.
  int64_t lineLength = form.space[last];
  int64_t lines = form.size() / std::max<int64_t>(lineLength * channels, 1);
  int64_t first = std::clamp<int64_t>(form.before[last], 0, lineLength);
  // Those of the input from here on, if there is less than no padding.
  int64_t skipped = std::max<int64_t>(-form.before[last], 0);
  int64_t inside =
      std::clamp<int64_t>(space[last] - skipped, 0, lineLength - first);
  forEachChunk(call, lines, [&](int64_t line, int thread) {
    float *target = to + line * lineLength * channels;
    int64_t rest = line;
    int64_t offset = skipped * inputSteps[last];
    bool isOutside = inside == 0;
    for (int axis = last; axis-- > 0;) {
      int64_t place = rest % form.space[axis] - form.before[axis];
      rest /= form.space[axis];
      isOutside |= place < 0 || place >= space[axis];
      offset += place * inputSteps[axis];
    }
    if (isOutside) {
      std::fill(target, target + lineLength * channels, 0.0f);
      return;
    }
    Elements from{static_cast<const char *>(input.data) +
                      (rest * input.steps[0] + offset) *
                          int64_t(byteSize(input.type)),
                  input.type, inputSteps[last], input.steps[1]};
    std::fill(target, target + first * channels, 0.0f);
    store(from, inside, target + first * channels, thread);
    std::fill(target + (first + inside) * channels,
              target + lineLength * channels, 0.0f);
  });
  return {to, step, form.space, steps};
}

ChannelRows products::copyChannelRows(const Invocation &call,
                                      const MicroKernels &kernels,
                                      const Tensor &input, const CopyForm &form,
                                      float *to) {
  return copyLines(
      call, input, form, to,
      [&](const Elements &from, int64_t count, float *target, int) {
        gather(kernels, from, count, form.channels, target, form.channels);
      });
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

bool products::hasPairRows(const Tensor &input) {
  bool isEven = input.type == ElementType::BF16 && input.steps[1] == 1 &&
                input.extents[1] % 2 == 0;
  for (int axis = 0; axis != input.rank; ++axis)
    isEven &= axis == 1 || input.steps[axis] % 2 == 0;
  return isEven;
}

ChannelRows products::pairRows(const Tensor &input) {
  ChannelRows rows{static_cast<const float *>(input.data), input.steps[0] / 2,
                   portable::spaceOf(input), portable::spaceStepsOf(input)};
  for (int64_t &step : rows.steps)
    step /= 2;
  return rows;
}

/// Places that are floats at a time.
static constexpr int64_t kPlacesAtOnce = 32;

size_t products::pairCopyBytes(const Tensor &input) {
  return size_t(kPlacesAtOnce * input.extents[1]) * sizeof(float);
}

ChannelRows products::copyPairRows(const Invocation &call,
                                   const MicroKernels &kernels,
                                   const Tensor &input, const CopyForm &form,
                                   float *to, const ThreadMemory &memory) {
  int64_t channels = input.extents[1];
  auto round = kernels.dots->toPairs;
  return copyLines(
      call, input, form, to,
      [&](const Elements &from, int64_t count, float *target, int thread) {
        auto *widened = reinterpret_cast<float *>(
            memory.base + size_t(thread) * memory.bytes);
        for (int64_t i = 0; i < count; i += kPlacesAtOnce) {
          int64_t here = std::min(kPlacesAtOnce, count - i);
          Elements places = from.from(i, 0);
          const auto *floats = static_cast<const float *>(places.data);
          int64_t step = places.rowStep;
          if (places.type != ElementType::F32 ||
              (places.columnStep != 1 && channels > 1)) {
            gather(kernels, places, here, channels, widened, channels);
            floats = widened;
            step = channels;
          }
          for (int64_t j = 0; j != here; ++j)
            round(floats + j * step, channels, form.channels,
                  target + (i + j) * form.channels);
        }
      });
}

WindowRows::WindowRows(const ChannelRows &input, const Place &places,
                       const Place &strides, std::span<Tap> taps,
                       const float *zeros)
    : input(input), places(places), strides(strides), taps(taps), zeros(zeros) {
  for (Tap &tap : taps)
    tap.offset = portable::at(tap.shift, input.steps);
  for (int axis = 0; axis != portable::kMaxSpatial; ++axis) {
    int64_t low = 0, high = 0;
    for (const Tap &tap : taps) {
      low = std::min(low, tap.shift[axis]);
      high = std::max(high, tap.shift[axis]);
    }
    firstInside[axis] = ceilDivide(-low, strides[axis]);
    // None if the window is larger than the input.
    int64_t room = input.space[axis] - 1 - high;
    lastInside[axis] = room < 0 ? -1 : room / strides[axis];
  }
  // Axes of one place have no neighbours.
  while (lineAxis > 0 && places[lineAxis] == 1)
    --lineAxis;
  // A window of one tap that moves from each place to the next.
  bool isEven = taps.size() == 1 && taps[0].shift == Place{};
  int64_t first = 0, next = 0;
  for (int axis = portable::kMaxSpatial; axis-- > 0;) {
    isEven &= places[axis] == input.space[axis];
    if (places[axis] == 1)
      continue;
    isEven &= strides[axis] == 1 && (!first || input.steps[axis] == next);
    if (!first)
      first = input.steps[axis];
    next = input.steps[axis] * places[axis];
  }
  if (isEven && input.batchStep == next)
    evenStep = first;
}

bool WindowRows::isInside(const Place &place, int axis) const {
  return place[axis] >= firstInside[axis] && place[axis] <= lastInside[axis];
}

void WindowRows::fillPlace(const Place &place, const float *base,
                           const float **table, int64_t tableStep) const {
  for (const Tap &tap : taps) {
    bool isThere = true;
    for (int axis = 0; axis != portable::kMaxSpatial; ++axis) {
      int64_t at = place[axis] * strides[axis] + tap.shift[axis];
      isThere &= at >= 0 && at < input.space[axis];
    }
    *table = isThere ? base + tap.offset : zeros;
    table += tableStep;
  }
}

void WindowRows::fill(int64_t row, int64_t count, int64_t channel,
                      const float **table, int64_t tableStep) const {
  if (evenStep) {
    const float *base = input.data + row * evenStep + channel;
    for (int64_t i = 0; i != count; ++i)
      table[i] = base + i * evenStep;
    return;
  }
  Place place;
  for (int axis = portable::kMaxSpatial; axis-- > 0;) {
    place[axis] = row % places[axis];
    row /= places[axis];
  }
  int64_t batch = row;
  int64_t lineStep = strides[lineAxis] * input.steps[lineAxis];
  // Along lines: neighbours that see nothing outside are evenly apart.
  for (int64_t i = 0; i < count;) {
    const float *base = input.data + batch * input.batchStep + channel;
    bool isWhole = true;
    for (int axis = 0; axis != portable::kMaxSpatial; ++axis) {
      base += place[axis] * strides[axis] * input.steps[axis];
      isWhole &= isInside(place, axis);
    }
    int64_t &onLine = place[lineAxis];
    int64_t here = 1;
    if (isWhole) {
      here = std::min({count - i, places[lineAxis] - onLine,
                       lastInside[lineAxis] + 1 - onLine});
      const float **target = table + i;
      for (const Tap &tap : taps) {
        const float *from = base + tap.offset;
        for (int64_t j = 0; j != here; ++j)
          target[j] = from + j * lineStep;
        target += tableStep;
      }
    } else {
      fillPlace(place, base, table + i, tableStep);
    }
    i += here;
    onLine += here;
    for (int axis = lineAxis; place[axis] == places[axis]; --axis) {
      place[axis] = 0;
      if (axis == 0) {
        ++batch;
        break;
      }
      ++place[axis - 1];
    }
  }
}
