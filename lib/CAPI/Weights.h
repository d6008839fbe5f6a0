// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where weights are, as the options of several functions say it.

#ifndef CORTEN_LIB_CAPI_WEIGHTS_H
#define CORTEN_LIB_CAPI_WEIGHTS_H

#include "corten/Pt2/WeightSource.h"

namespace corten::capi {

template <typename Options> WeightSource weightsOf(const Options &options) {
  WeightSource result;
  if (options.weights)
    result.folder = options.weights;
  for (size_t i = 0; i != options.tiedCount; ++i)
    result.tied.push_back({options.tiedNames[i], options.tiedStored[i]});
  return result;
}

} // namespace corten::capi

#endif // CORTEN_LIB_CAPI_WEIGHTS_H
