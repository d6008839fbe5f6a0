// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a window sees from each place of the output, as rows of channels.

#ifndef CORTEN_RUNTIME_LIB_PRODUCTS_WINDOWROWS_H
#define CORTEN_RUNTIME_LIB_PRODUCTS_WINDOWROWS_H

#include "../Portable/Window.h"
#include "Common.h"

namespace corten::runtime::products {

using portable::Place;
using portable::Window;

/// An input whose channels lie one after the other: the call's own, or a copy
/// that has what lies outside of it as zeros.
struct ChannelRows {
  const float *data = nullptr;
  int64_t batchStep = 0;
  Place space = {1, 1, 1};
  Place steps = {};
};

/// The places that a copy of an input has: `space` of them, from `before` the
/// first on.
struct CopyForm {
  int64_t batches;
  int64_t channels;
  Place before = {};
  Place space = {1, 1, 1};

  int64_t size() const {
    return batches * channels * space[0] * space[1] * space[2];
  }
};

/// Whether micro-kernels can read the channels of an input where they are.
bool hasChannelRows(const Tensor &input);
/// The input where it is.
ChannelRows channelRows(const Tensor &input);
/// A copy with channels one after the other.
ChannelRows copyChannelRows(const Invocation &call, const MicroKernels &kernels,
                            const Tensor &input, const CopyForm &form,
                            float *to);

/// The same of inputs in pairs of channels, which count as one: those of bf16
/// whose channels are even in number and lie one after the other.
bool hasPairRows(const Tensor &input);
ChannelRows pairRows(const Tensor &input);

/// What each thread needs for a copy.
struct ThreadMemory {
  char *base;
  size_t bytes;
};
size_t pairCopyBytes(const Tensor &input);
/// Rounded to bf16; the last of an odd number of channels gets a zero.
ChannelRows copyPairRows(const Invocation &call, const MicroKernels &kernels,
                         const Tensor &input, const CopyForm &form, float *to,
                         const ThreadMemory &memory);

/// One element of a window: how far from a place it is.
struct Tap {
  Place shift = {};
  int64_t offset = 0;
};

/// From places of the output to rows of channels of the input.
class WindowRows {
public:
  /// A place of the output is at `strides` times itself in the input.
  WindowRows(const ChannelRows &input, const Place &places,
             const Place &strides, std::span<Tap> taps, const float *zeros);

  /// Writes where the taps of some places are, which are counted through all
  /// batches: zeros for those outside.
  void fill(int64_t row, int64_t count, int64_t channel, const float **table,
            int64_t tableStep = kMaxTileRows) const;

private:
  bool isInside(const Place &place, int axis) const;
  /// One whose taps may be outside; `base` is where it would be inside.
  void fillPlace(const Place &place, const float *base, const float **table,
                 int64_t tableStep) const;

  ChannelRows input;
  Place places;
  Place strides;
  std::span<const Tap> taps;
  const float *zeros;
  /// Places whose taps are all inside.
  Place firstInside;
  Place lastInside;
  /// The last axis with several places.
  int lineAxis = portable::kMaxSpatial - 1;
  /// How far rows are apart, if that is the same for all; else 0.
  int64_t evenStep = 0;
};

} // namespace corten::runtime::products

#endif // CORTEN_RUNTIME_LIB_PRODUCTS_WINDOWROWS_H
