// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sparse weights are packed by all threads, panel by panel.

#include "../Portable/CompressedProduct.h"
#include "Common.h"

#include <cstring>

using namespace corten::runtime;
using namespace corten::runtime::products;

static bool acceptsPlaces(const Invocation &call) {
  return !portable::checkPackPlaces(call);
}

static Error packPlaces(const Vectors &, const Invocation &call) {
  forEachChunk(call, call.output().extents[0],
               [&](int64_t panel, int) { portable::writePlaces(call, panel); });
  portable::linkPlaces(call.output());
  return Error::success();
}

CORTEN_VARIANTS(PackPlaces, acceptsPlaces, packPlaces, nullptr)

static bool acceptsValues(const Invocation &call) {
  return !portable::checkPackValues(call);
}

static Error packValues(const Vectors &, const Invocation &call) {
  if (Error error = portable::checkPlaces(call))
    return error;
  const Tensor &values = call.output();
  std::memset(values.data, 0, size_t(values.size()) * byteSize(values.type));
  forEachChunk(call, call.input(1).extents[0],
               [&](int64_t panel, int) { portable::writeValues(call, panel); });
  return Error::success();
}

CORTEN_VARIANTS(PackValues, acceptsValues, packValues, nullptr)
