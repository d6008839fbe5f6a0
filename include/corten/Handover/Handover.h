// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives a finished module to coreai-core in the same process. The two MLIRs
// share no objects: the module crosses as bytecode without weight data, and
// each weight is attached on the other side as a view of its own memory.
// Locations cross on their own, as the table that the conversion made.

#ifndef CORTEN_HANDOVER_HANDOVER_H
#define CORTEN_HANDOVER_HANDOVER_H

#include "corten/Conversion/AtenToCoreAI/Conversion.h"

#include <string>

namespace corten {

/// The module as MLIR bytecode that coreai-core's parser reads. Resources are
/// mentioned by key; their data is not in it, and neither are locations.
std::string moduleBytecode(const ConvertedModule &module);

/// The module as text, in custom or generic form.
std::string moduleText(const ConvertedModule &module, bool generic);

/// Weight data as coreai-core wants it. Blobs must start at a multiple of 16
/// bytes; a view that does not (a slice of a larger storage, a mapped file) is
/// copied, every other one is returned as it is.
TensorView alignedResource(const TensorView &view);

} // namespace corten

#endif // CORTEN_HANDOVER_HANDOVER_H
