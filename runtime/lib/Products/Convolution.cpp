// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions as products: the rows are what a window sees, by a table of
// addresses instead of a copy. A transposed one is several with steps of one,
// each for the places that are as far from a multiple of the stride.

#include "Blocks.h"
#include "Depthwise.h"
#include "WindowRows.h"

using namespace corten::runtime;
using namespace corten::runtime::products;

/// Channels that are worth a segment of their own. Fewer are copied, so that
/// neighbours of a window are one segment.
static constexpr int64_t kFewChannels = 16;

namespace {
enum class Weights { Packed, Pairs, Plain, Transposed, TransposedPacked };

constexpr bool isTransposed(Weights kind) {
  return kind == Weights::Transposed || kind == Weights::TransposedPacked;
}

/// A part of the output: places that the same taps serve.
struct Sweep {
  Tensor output;
  PartOfSpace part = {};
  Place strides = {1, 1, 1};
  int64_t segments = 0;
};

class Convolution {
public:
  Convolution(const Vectors &vectors, const Invocation &call,
              const Window &window, Weights kind);
  size_t layOut(void *base);
  void run();

private:
  /// How many places after a multiple of the stride an axis has.
  int64_t phases(int axis) const {
    return std::min(window.strides[size_t(axis)],
                    std::max<int64_t>(call.output().extents[axis + 2], 1));
  }
  int64_t sweeps() const {
    int64_t count = 1;
    for (int axis = 0; isTransposed(kind) && axis != window.rank; ++axis)
      count *= phases(axis);
    return count;
  }
  /// Writes taps where there is memory for them.
  Sweep sweepAt(int64_t index) const;
  Sweep sweepInOrder() const;
  Sink sinkOf(const Sweep &sweep) const {
    return {call, sweep.output, 1, vectors, nullptr, 2, sweep.part};
  }
  Blocks blocksOf(const Sweep &sweep, const Sink &sink) const;
  bool isPacked() const {
    return kind == Weights::Packed || kind == Weights::Pairs ||
           kind == Weights::TransposedPacked;
  }
  Factor factor() const {
    return kind == Weights::Pairs ? Factor::Pairs
           : isPacked()           ? factorOf(weights.type)
                                  : Factor::F32;
  }
  void packWeights();
  void packPanelOf(int64_t group, int64_t panel) const;
  void runSweep(const Sweep &sweep, const ChannelRows &rows);

  const Vectors &vectors;
  const Invocation &call;
  Window window;
  Weights kind;
  const Tensor &x;
  const Tensor &weights;
  /// Of a group; of pairs, how many there are.
  int64_t channels;
  int64_t outputs;
  bool isCopied;
  /// How many neighbours along the last axis are one segment.
  int64_t merged = 1;
  CopyForm form;
  float *copy = nullptr;
  float *panels = nullptr;
  float *zeros = nullptr;
  Tap *taps = nullptr;
  int64_t *panelRows = nullptr;
  char *threadBase = nullptr;
  size_t threadBytes = 0;
};
} // namespace

Convolution::Convolution(const Vectors &vectors, const Invocation &call,
                         const Window &window, Weights kind)
    : vectors(vectors), call(call), window(window), kind(kind),
      x(call.input(0)), weights(call.input(1)),
      channels(kind == Weights::Pairs ? pairCount(x.extents[1] / window.groups)
                                      : x.extents[1] / window.groups),
      outputs(call.output().extents[1] / window.groups),
      isCopied(kind == Weights::Pairs ? !hasPairRows(x) : !hasChannelRows(x)),
      form{x.extents[0], channels * window.groups} {
  int last = window.rank - 1;
  form.space = portable::spaceOf(x);
  if (isTransposed(kind))
    return;
  bool canMerge = window.groups == 1 && window.kernel[last] > 1 &&
                  window.dilations[last] == 1;
  if (canMerge && channels < kFewChannels)
    isCopied = true;
  if (!isCopied)
    return;
  // All that the window sees, so that nothing of it is outside.
  Place places = portable::spaceOf(call.output());
  for (int axis = 0; axis != window.rank; ++axis) {
    form.before[axis] = window.before[axis];
    form.space[axis] = std::max<int64_t>(
        (places[axis] - 1) * window.strides[axis] +
            (window.kernel[axis] - 1) * window.dilations[axis] + 1,
        1);
  }
  if (canMerge)
    merged = window.kernel[last];
}

/// A convolution as it is: one sweep, taps one after the other.
Sweep Convolution::sweepInOrder() const {
  Sweep sweep{.output = call.output(), .strides = window.strides};
  Place kernel = window.kernel;
  kernel[window.rank - 1] /= merged;
  portable::forEachPlace(kernel, [&](const Place &tap) {
    Tap next;
    for (int axis = 0; axis != portable::kMaxSpatial; ++axis)
      next.shift[axis] = tap[axis] * window.dilations[axis] -
                         (isCopied ? 0 : window.before[axis]);
    if (taps)
      taps[sweep.segments] = next;
    ++sweep.segments;
  });
  return sweep;
}

/// Of a transposed one: the places that are `index` beyond a multiple of the
/// strides. A tap reaches all of them or none.
Sweep Convolution::sweepAt(int64_t index) const {
  if (!isTransposed(kind))
    return sweepInOrder();
  Sweep sweep{.output = call.output()};
  Place &phase = sweep.part.first;
  for (int axis = 0; axis != window.rank; ++axis) {
    phase[axis] = index % phases(axis);
    index /= phases(axis);
    sweep.part.apart[axis] = window.strides[axis];
  }
  sweep.output = sweep.part.of(call.output());
  int64_t number = 0;
  portable::forEachPlace(window.kernel, [&](const Place &tap) {
    Tap next;
    bool reaches = true;
    for (int axis = 0; axis != window.rank; ++axis) {
      int64_t back = phase[axis] + window.before[axis] -
                     tap[axis] * window.dilations[axis];
      reaches &= back % window.strides[axis] == 0;
      next.shift[axis] = back / window.strides[axis];
    }
    if (reaches && taps) {
      panelRows[sweep.segments] = number * channels;
      taps[sweep.segments] = next;
    }
    sweep.segments += reaches;
    ++number;
  });
  return sweep;
}

Blocks Convolution::blocksOf(const Sweep &sweep, const Sink &sink) const {
  Extents extents{sink.rows().count(), outputs, sweep.segments,
                  channels * merged, factor()};
  return {vectors, extents, !sink.isDirect(), threadsOf(call)};
}

size_t Convolution::layOut(void *base) {
  Scratch scratch(base);
  int64_t numTaps = std::max<int64_t>(window.taps(), 1);
  if (isCopied)
    copy = scratch.take<float>(form.size());
  if (!isPacked())
    panels = scratch.take<float>(window.groups * panelCount(outputs) *
                                 window.taps() * channels * kPanelWidth);
  zeros = scratch.take<float>(channels);
  taps = scratch.take<Tap>(numTaps);
  panelRows = scratch.take<int64_t>(numTaps);
  threadBytes = 0;
  for (int64_t i = 0; i != sweeps(); ++i) {
    Sweep sweep = sweepAt(i);
    Scratch thread(nullptr);
    blocksOf(sweep, sinkOf(sweep)).take(thread);
    threadBytes = std::max(threadBytes, thread.size());
  }
  if (kind == Weights::Pairs && isCopied)
    threadBytes = std::max(threadBytes, pairCopyBytes(x));
  threadBase = scratch.take<char>(int64_t(threadBytes) * threadsOf(call));
  return scratch.size();
}

void Convolution::packPanelOf(int64_t group, int64_t panel) const {
  int64_t rowStep = weights.steps[isTransposed(kind) ? 0 : 1];
  int64_t columnStep = weights.steps[isTransposed(kind) ? 1 : 0];
  int64_t groupStep =
      (isTransposed(kind) ? channels : outputs) * weights.steps[0];
  int64_t column = panel * kPanelWidth;
  int64_t count = std::min(kPanelWidth, outputs - column);
  float *to = panels + (group * panelCount(outputs) + panel) * window.taps() *
                           channels * kPanelWidth;
  Place steps = portable::spaceStepsOf(weights);
  portable::forEachPlace(window.kernel, [&](const Place &tap) {
    int64_t offset = group * groupStep + portable::at(tap, steps);
    Elements from{static_cast<const char *>(weights.data) +
                      offset * int64_t(byteSize(weights.type)),
                  weights.type, rowStep, columnStep};
    packPanel(vectors.products, from.from(0, column), channels, count, to);
    to += channels * kPanelWidth;
  });
}

void Convolution::packWeights() {
  forEachChunk(
      call, window.groups * panelCount(outputs), [&](int64_t chunk, int) {
        packPanelOf(chunk / panelCount(outputs), chunk % panelCount(outputs));
      });
}

void Convolution::runSweep(const Sweep &sweep, const ChannelRows &rows) {
  if (sweep.output.size() == 0)
    return;
  Sink sink = sinkOf(sweep);
  Blocks blocks = blocksOf(sweep, sink);
  WindowRows window(rows, portable::spaceOf(sweep.output), sweep.strides,
                    {taps, size_t(sweep.segments)}, zeros);
  int64_t depth = this->window.taps() * channels;
  const char *matrices = isPacked() ? static_cast<const char *>(weights.data)
                                    : reinterpret_cast<const char *>(panels);
  int64_t panelBytes =
      depth * kPanelWidth *
      (isPacked() && kind != Weights::Pairs ? int64_t(byteSize(weights.type))
                                            : 4);
  forEachChunk(
      call, this->window.groups * blocks.count(),
      [&](int64_t chunk, int thread) {
        int64_t group = chunk / blocks.count();
        Block block = blocks.at(chunk % blocks.count());
        Scratch scratch(threadBase + size_t(thread) * threadBytes);
        auto fill = [&](int64_t row, int64_t count, const float **table) {
          window.fill(row, count, group * channels, table,
                      vectors.products.tableStep);
        };
        int64_t panel = group * panelCount(outputs) + block.panel;
        blocks.multiply(block, blocks.take(scratch), fill,
                        matrices + panel * panelBytes, sink, 0, group * outputs,
                        isTransposed(kind) ? panelRows : nullptr, depth);
      });
}

void Convolution::run() {
  if (call.output().size() == 0)
    return;
  std::fill(zeros, zeros + channels, 0.0f);
  if (!isPacked())
    packWeights();
  ChannelRows rows;
  if (kind == Weights::Pairs)
    rows = isCopied ? copyPairRows(call, vectors.products, x, form, copy,
                                   {threadBase, threadBytes})
                    : pairRows(x);
  else
    rows = isCopied ? copyChannelRows(call, vectors.products, x, form, copy)
                    : channelRows(x);
  for (int64_t i = 0; i != sweeps(); ++i)
    runSweep(sweepAt(i), rows);
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

static bool hasPackedFactors(const Invocation &call) {
  return !Epilogue(call, 2).check("a convolution") &&
         portable::isFactor(call.input(0).type) &&
         portable::isFactor(call.input(1).type) && call.input(1).isContiguous();
}

static bool acceptsPacked(const Invocation &call) {
  return portable::readPackedWindow(call) && hasPackedFactors(call);
}

static bool acceptsTransposedPacked(const Invocation &call) {
  return portable::readTransposedPackedWindow(call) && hasPackedFactors(call);
}

/// Of several groups, pairs have to be within one.
static bool acceptsPairs(const Invocation &call) {
  Expected<Window> window = portable::readPairWindow(call);
  return window && !Epilogue(call, 2).check("ConvolutionPairs") &&
         portable::isFactor(call.input(0).type) &&
         (window->groups == 1 ||
          call.input(0).extents[1] / window->groups % 2 == 0);
}

/// With weights as they are: all of one type, and no program.
template <Weights kind> static bool acceptsPlain(const Invocation &call) {
  if (call.inputs.size() != 2 || call.program)
    return false;
  const Tensor &x = call.input(0);
  const Tensor &weights = call.input(1);
  const Tensor &output = call.output();
  if (!portable::isFactor(x.type) || weights.type != x.type ||
      output.type != x.type)
    return false;
  Expected<Window> window = portable::readWindow("Convolution", call);
  if (!window)
    return false;
  int64_t inputs = x.extents[1];
  int64_t outputs = output.extents[1];
  int64_t groups = window->groups;
  if (kind == Weights::Transposed)
    return weights.extents[0] == inputs && inputs % groups == 0 &&
           weights.extents[1] * groups == outputs;
  return weights.extents[1] * groups == inputs &&
         weights.extents[0] == outputs && outputs % groups == 0;
}

/// A call was accepted: it has a window.
template <Weights kind> static Window windowOf(const Invocation &call) {
  return *(kind == Weights::Packed  ? portable::readPackedWindow(call)
           : kind == Weights::Pairs ? portable::readPairWindow(call)
           : kind == Weights::TransposedPacked
               ? portable::readTransposedPackedWindow(call)
               : portable::readWindow("Convolution", call));
}

template <Weights kind>
static Error convolve(const Vectors &vectors, const Invocation &call) {
  Window window = windowOf<kind>(call);
  if (kind == Weights::Plain && isDepthwise(call, window))
    return convolveDepthwise(vectors, call, window);
  Convolution convolution(vectors, call, window, kind);
  convolution.layOut(call.scratch);
  convolution.run();
  return Error::success();
}

template <Weights kind>
static size_t scratchOf(const Vectors &vectors, const Invocation &call) {
  Window window = windowOf<kind>(call);
  if (kind == Weights::Plain && isDepthwise(call, window))
    return depthwiseScratch(vectors, call, window);
  return Convolution(vectors, call, window, kind).layOut(nullptr);
}

CORTEN_VARIANTS_WITH_SCRATCH(ConvolutionPacked, acceptsPacked,
                             convolve<Weights::Packed>,
                             scratchOf<Weights::Packed>)
CORTEN_DOT_VARIANTS(ConvolutionPairs, acceptsPairs, convolve<Weights::Pairs>,
                    scratchOf<Weights::Pairs>)
CORTEN_VARIANTS_WITH_SCRATCH(Convolution, acceptsPlain<Weights::Plain>,
                             convolve<Weights::Plain>,
                             scratchOf<Weights::Plain>)
CORTEN_VARIANTS_WITH_SCRATCH(ConvolutionTransposed,
                             acceptsPlain<Weights::Transposed>,
                             convolve<Weights::Transposed>,
                             scratchOf<Weights::Transposed>)
CORTEN_VARIANTS_WITH_SCRATCH(ConvolutionTransposedPacked,
                             acceptsTransposedPacked,
                             convolve<Weights::TransposedPacked>,
                             scratchOf<Weights::TransposedPacked>)
