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
        sink(call, call.output(), 1, vectors.isa),
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
    forEachChunk(
        call, ceilDivide(rows, chunkRows), [&](int64_t chunk, int thread) {
          int64_t first = chunk * chunkRows;
          convolveRows(
              places, first, std::min(rows, first + chunkRows),
              takeForThread(threadBase + size_t(thread) * threadBytes));
        });
  }

private:
  struct ThreadMemory {
    float *sums;
    const float **table;
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

  void convolveRows(const WindowRows &places, int64_t first, int64_t last,
                    const ThreadMemory &memory) const {
    Finish finish;
    DepthwiseCall tile = {};
    tile.rows = memory.table;
    tile.taps = window.taps();
    tile.weights = weightRows ? weightRows : weights.as<float>();
    tile.weightStep = weightRows ? channels : weights.steps[0];
    tile.channels = channels;
    while (first != last) {
      int64_t count =
          std::min<int64_t>(last - first, vectors.products.depthwisePlaces);
      places.fill(first, count, 0, memory.table);
      tile.target = memory.sums;
      tile.targetStep = channels;
      if (sink.isDirect()) {
        tile.target = sink.target(first, 0);
        tile.targetStep = sink.targetStep();
        tile.finish = sink.finish(first, 0, finish) ? &finish : nullptr;
      }
      vectors.products.depthwise[count - 1](tile);
      if (!sink.isDirect())
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
