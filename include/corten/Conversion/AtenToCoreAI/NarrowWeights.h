// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_CONVERSION_ATENTOCOREAI_NARROWWEIGHTS_H
#define CORTEN_CONVERSION_ATENTOCOREAI_NARROWWEIGHTS_H

#include "corten/Program/Program.h"

#include <string>
#include <utility>
#include <vector>

namespace corten {

/// The weights that a program has one to the byte and a conversion packs: path
/// and type ("int4"), in the order of the program.
std::vector<std::pair<std::string, ScalarType>>
narrowWeights(const Program &program);

} // namespace corten

#endif // CORTEN_CONVERSION_ATENTOCOREAI_NARROWWEIGHTS_H
