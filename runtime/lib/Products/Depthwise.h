// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions of each channel by itself.

#ifndef CORTEN_RUNTIME_LIB_PRODUCTS_DEPTHWISE_H
#define CORTEN_RUNTIME_LIB_PRODUCTS_DEPTHWISE_H

#include "WindowRows.h"

namespace corten::runtime::products {

/// Whether a convolution with weights [channels, 1, space...] is one.
bool isDepthwise(const Invocation &call, const Window &window);

/// The weights are [taps, channels], or those of a convolution.
Error convolveDepthwise(const Vectors &vectors, const Invocation &call,
                        const Window &window);
size_t depthwiseScratch(const Vectors &vectors, const Invocation &call,
                        const Window &window);

} // namespace corten::runtime::products

#endif // CORTEN_RUNTIME_LIB_PRODUCTS_DEPTHWISE_H
