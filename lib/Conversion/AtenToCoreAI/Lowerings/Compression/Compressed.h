// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowerings of compressed weights and of torch's own quantized
// programs share.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_COMPRESSION_COMPRESSED_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_COMPRESSION_COMPRESSED_H

#include "Table.h"
#include "Weights/WeightForms.h"

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

/// As lowerWith, for operators of libraries: a program that was saved without
/// the library at hand may not say what the arguments of a call are.
template <auto Lower>
mlir::FailureOr<Results> lowerWithSchema(const AtenNode &node, Emitter &emit) {
  if (node.get().callee->parameters.empty())
    return emit.error(node) << "the schema of " << node.op() << " is not known";
  return lowerWith<Lower>(node, emit);
}

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_COMPRESSION_COMPRESSED_H
