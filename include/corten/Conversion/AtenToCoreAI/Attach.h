// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For whoever goes on with a converted module in this process: its locations
// and the data of its weights become part of it.

#ifndef CORTEN_CONVERSION_ATENTOCOREAI_ATTACH_H
#define CORTEN_CONVERSION_ATENTOCOREAI_ATTACH_H

#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Support/Bytes.h"

#include "mlir/IR/AsmState.h"

namespace corten {

/// Gives operations and arguments of blocks the locations of the table, which
/// is empty afterwards.
void attachLocations(ConvertedModule &converted);

/// Gives each weight its data, under its name in the model: the conversion only
/// numbers them. Names that occur twice get a number, in the order of the
/// program, which is what the Python package arrives at. There are no resources
/// afterwards; the context keeps their memory.
void attachWeights(ConvertedModule &converted);

/// The data of a weight for a context, which keeps its owner. It may start
/// anywhere: whoever reads elements looks where they lie, and assets are
/// written with an alignment of their own.
mlir::AsmResourceBlob weightBlob(SharedBytes bytes);

} // namespace corten

#endif // CORTEN_CONVERSION_ATENTOCOREAI_ATTACH_H
