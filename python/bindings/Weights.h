// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_PYTHON_BINDINGS_WEIGHTS_H
#define CORTEN_PYTHON_BINDINGS_WEIGHTS_H

#include "corten/Pt2/WeightSource.h"

#include <utility>

namespace corten::bindings {

/// Weights that are tied, and what the folder has them as.
using TiedPairs = std::vector<std::pair<std::string, std::string>>;

inline WeightSource weightSource(std::string folder, const TiedPairs &tied) {
  WeightSource result;
  result.folder = std::move(folder);
  for (const auto &[name, stored] : tied)
    result.tied.push_back({name, stored});
  return result;
}

} // namespace corten::bindings

#endif // CORTEN_PYTHON_BINDINGS_WEIGHTS_H
