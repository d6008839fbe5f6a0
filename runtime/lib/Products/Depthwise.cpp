// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Depthwise.h"

#include "Sink.h"

using namespace corten::runtime;
using namespace corten::runtime::products;

/// Multiplications that are worth a chunk of their own.
static constexpr int64_t kChunkWork = 150000;

bool products::isDepthwise(const Invocation &call, const Window &window) {
  int64_t channels = call.input(0).extents[1];
  return window.groups == channels && channels > 1 &&
         call.output().extents[1] == channels;
}

namespace {
class Depthwise {
public:
  Depthwise(const Vectors &vectors, const Invocation &call,
            const Window &window)
      : vectors(vectors), call(call), window(window), x(call.input(0)),
        weights(call.input(1)), channels(x.extents[1]),
        sink(call, call.output(), 1, vectors),
        form{x.extents[0], channels, {}, portable::spaceOf(x)} {}

  size_t layOut(void *base) {
    Scratch scratch(base);
    if (!hasChannelRows(x))
      copy = scratch.take<float>(form.size());
    if (!areWeightsRows())
      weightRows = scratch.take<float>(window.taps() * channels);
    zeros = scratch.take<float>(channels);
    taps = scratch.take<Tap>(std::max<int64_t>(window.taps(), 1));
    threadBytes = takeForThread(nullptr).bytes;
    threadBase = scratch.take<char>(int64_t(threadBytes) * threadsOf(call));
    return scratch.size();
  }

  void run() {
    int64_t rows = sink.rows().count();
    if (rows * channels == 0)
      return;
    std::fill(zeros, zeros + channels, 0.0f);
    gatherWeights();
    ChannelRows input =
        copy ? copyChannelRows(call, vectors.products, x, form, copy)
             : channelRows(x);
    findLines();
    int64_t number = 0;
    portable::forEachPlace(window.kernel, [&](const Place &tap) {
      Tap &next = taps[number++] = {};
      for (int axis = 0; axis != window.rank; ++axis)
        next.shift[axis] =
            tap[axis] * window.dilations[axis] - window.before[axis];
    });
    WindowRows places(input, portable::spaceOf(call.output()), window.strides,
                      {taps, size_t(number)}, zeros);
    int64_t work = channels * std::max<int64_t>(window.taps(), 1);
    int64_t chunkRows = std::clamp<int64_t>(
        kChunkWork / work / kMaxTileRows * kMaxTileRows, kMaxTileRows, rows);
    // As many for each thread.
    int64_t threads = threadsOf(call);
    int64_t chunks = ceilDivide(ceilDivide(rows, chunkRows), threads) * threads;
    chunks = std::min(chunks, rows);
    forEachChunk(call, chunks, [&](int64_t chunk, int thread) {
      convolveRows(input, places, rows * chunk / chunks,
                   rows * (chunk + 1) / chunks,
                   takeForThread(threadBase + size_t(thread) * threadBytes));
    });
  }

private:
  struct ThreadMemory {
    float *sums;
    const float **table;
    int64_t *lineSteps;
    size_t bytes;
  };

  bool areWeightsRows() const {
    return weights.rank == 2 && weights.type == ElementType::F32 &&
           (weights.steps[1] == 1 || channels == 1);
  }

  ThreadMemory takeForThread(void *base) const {
    Scratch scratch(base);
    ThreadMemory memory;
    memory.sums = scratch.take<float>(kMaxTileRows * channels);
    memory.table = scratch.take<const float *>(window.taps() * kMaxTileRows);
    memory.lineSteps = scratch.take<int64_t>(window.taps());
    memory.bytes = scratch.size();
    return memory;
  }

  void gatherWeights() {
    if (areWeightsRows())
      return;
    auto rowOf = [&](int64_t offset, int64_t step, int64_t tap) {
      gather(vectors.products,
             {static_cast<const char *>(weights.data) +
                  offset * int64_t(byteSize(weights.type)),
              weights.type, 0, step},
             1, channels, weightRows + tap * channels, channels);
    };
    int64_t tap = 0;
    if (weights.rank == 2) {
      for (; tap != window.taps(); ++tap)
        rowOf(tap * weights.steps[0], weights.steps[1], tap);
      return;
    }
    Place steps = portable::spaceStepsOf(weights);
    portable::forEachPlace(window.kernel, [&](const Place &place) {
      rowOf(portable::at(place, steps), weights.steps[0], tap++);
    });
  }

  /// Rows along the last axis, if there is a kernel for them.
  void findLines() {
    int last = window.rank - 1;
    int64_t width = window.kernel[last];
    int64_t stride = window.strides[last];
    if (width < 1 || width > kMaxLineWidth || stride > kMaxLineStride ||
        window.dilations[last] != 1)
      return;
    lineKernel = vectors.products.depthwiseLine[width - 1][stride - 1];
  }

  /// Where the lines of the input begin that a place sees; gives the place on
  /// its line.
  int64_t fillLines(const ChannelRows &rows, int64_t row,
                    const ThreadMemory &memory) const {
    int last = window.rank - 1;
    Place space = portable::spaceOf(call.output());
    Place place;
    for (int axis = portable::kMaxSpatial; axis-- > 0;) {
      place[axis] = row % space[axis];
      row /= space[axis];
    }
    const float *batch = rows.data + row * rows.batchStep;
    for (int64_t line = 0; line != numLines(); ++line) {
      const Tap &tap = taps[line * window.kernel[last]];
      bool isInside = true;
      int64_t offset = 0;
      for (int axis = 0; axis != window.rank; ++axis) {
        int64_t at = place[axis] * window.strides[axis] + tap.shift[axis];
        if (axis == last)
          continue;
        isInside &= at >= 0 && at < rows.space[axis];
        offset += at * rows.steps[axis];
      }
      memory.table[line] = isInside ? batch + offset : zeros;
      memory.lineSteps[line] = isInside ? rows.steps[last] : 0;
    }
    return place[last];
  }

  int64_t numLines() const {
    return window.taps() / window.kernel[window.rank - 1];
  }

  const float *weightData() const {
    return weightRows ? weightRows : weights.as<float>();
  }
  int64_t weightStep() const {
    return weightRows ? channels : weights.steps[0];
  }

  void convolveLine(const ChannelRows &rows, int64_t first, int64_t count,
                    const ThreadMemory &memory, float *target,
                    int64_t targetStep, const Finish *finish) const {
    int last = window.rank - 1;
    int64_t place = fillLines(rows, first, memory);
    lineKernel(
        {.lines = memory.table,
         .steps = memory.lineSteps,
         .numLines = numLines(),
         .space = rows.space[last],
         .firstColumn = place * window.strides[last] - window.before[last],
         .weights = weightData(),
         .weightStep = weightStep(),
         .channels = channels,
         .places = count,
         .target = target,
         .targetStep = targetStep,
         .finish = finish});
  }

  void convolvePlaces(const WindowRows &places, int64_t first, int64_t count,
                      const ThreadMemory &memory, float *target,
                      int64_t targetStep, const Finish *finish) const {
    places.fill(first, count, 0, memory.table);
    vectors.products.depthwise[count - 1]({memory.table, window.taps(),
                                           weightData(), weightStep(), channels,
                                           target, targetStep, finish});
  }

  /// How many places from `row` on are done at once: of a line, if there is a
  /// kernel for lines.
  int64_t placesAt(int64_t row, int64_t last) const {
    int64_t count = last - row;
    if (lineKernel) {
      int64_t width = call.output().extents[window.rank + 1];
      count = std::min(count, width - row % width);
    } else {
      count = std::min<int64_t>(count, vectors.products.depthwisePlaces);
    }
    // Otherwise, as many as there is memory for.
    return sink.isDirect() ? count : std::min<int64_t>(count, kMaxTileRows);
  }

  void convolveRows(const ChannelRows &rows, const WindowRows &places,
                    int64_t first, int64_t last,
                    const ThreadMemory &memory) const {
    Finish finish;
    while (first != last) {
      bool isDirect = sink.isDirect();
      int64_t count = placesAt(first, last);
      float *target = isDirect ? sink.target(first, 0) : memory.sums;
      int64_t step = isDirect ? sink.targetStep() : channels;
      const Finish *finishing =
          isDirect && sink.finish(first, 0, finish) ? &finish : nullptr;
      if (lineKernel)
        convolveLine(rows, first, count, memory, target, step, finishing);
      else
        convolvePlaces(places, first, count, memory, target, step, finishing);
      if (!isDirect)
        sink.store(first, count, 0, channels, memory.sums, channels);
      first += count;
    }
  }

  const Vectors &vectors;
  const Invocation &call;
  Window window;
  const Tensor &x;
  const Tensor &weights;
  int64_t channels;
  Sink sink;
  CopyForm form;
  float *copy = nullptr;
  float *weightRows = nullptr;
  float *zeros = nullptr;
  Tap *taps = nullptr;
  void (*lineKernel)(const DepthwiseLineCall &) = nullptr;
  char *threadBase = nullptr;
  size_t threadBytes = 0;
};
} // namespace

Error products::convolveDepthwise(const Vectors &vectors,
                                  const Invocation &call,
                                  const Window &window) {
  Depthwise convolution(vectors, call, window);
  convolution.layOut(call.scratch);
  convolution.run();
  return Error::success();
}

size_t products::depthwiseScratch(const Vectors &vectors,
                                  const Invocation &call,
                                  const Window &window) {
  return Depthwise(vectors, call, window).layOut(nullptr);
}

static bool accepts(const Invocation &call) {
  return portable::readDepthwiseWindow(call) &&
         !Epilogue(call, 2).check("ConvolutionDepthwise") &&
         portable::isFactor(call.input(0).type) &&
         portable::isFactor(call.input(1).type);
}

static Error convolve(const Vectors &vectors, const Invocation &call) {
  return convolveDepthwise(vectors, call, *portable::readDepthwiseWindow(call));
}

static size_t scratchOf(const Vectors &vectors, const Invocation &call) {
  return depthwiseScratch(vectors, call, *portable::readDepthwiseWindow(call));
}

CORTEN_VARIANTS_WITH_SCRATCH(ConvolutionDepthwise, accepts, convolve, scratchOf)
