// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the weights of a `.pt2` file are, as commands that take one are told.

#ifndef CORTEN_TOOLS_CORTEN_WEIGHTS_H
#define CORTEN_TOOLS_CORTEN_WEIGHTS_H

#include "Commands.h"
#include "corten/Pt2/WeightSource.h"

namespace corten::tool {

struct WeightOptions {
  std::string folder;
  /// NAME=OTHER each.
  std::vector<std::string> tied;

  void addTo(CLI::App &command);
  /// Fails if a tie is none.
  llvm::Expected<WeightSource> parse() const;
};

} // namespace corten::tool

#endif // CORTEN_TOOLS_CORTEN_WEIGHTS_H
