// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowerings of compressed weights and of torch's own quantized
// programs share.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_COMPRESSED_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_COMPRESSED_H

#include "Emitter.h"

namespace corten {

/// An operand of quantization in `element` and `shape`: a weight is already, a
/// value is brought to it, a number becomes a constant.
mlir::Value quantizationParameter(const AtenNode &node, Emitter &emit,
                                  llvm::StringRef name, mlir::Type element,
                                  llvm::ArrayRef<int64_t> shape);

/// (data - zero point) * scale, or (data - least value) * scale + minval, with
/// one set of parameters per block. Computed in the scale's type; the result is
/// of the node's.
mlir::FailureOr<mlir::Value> dequantizeBlocks(const AtenNode &node,
                                              Emitter &emit,
                                              const BlockwiseCall &call);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_COMPRESSED_H
