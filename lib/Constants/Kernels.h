// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of kernels for ops, a file for each family. Each function computes what
// an op makes of its operands; false if it cannot. Operands and results have
// known shapes, but verifiers do not hold all declared types against each
// other, so nothing is taken to fit.

#ifndef CORTEN_LIB_CONSTANTS_KERNELS_H
#define CORTEN_LIB_CONSTANTS_KERNELS_H

#include "corten/Constants/Elements.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Runtime/Kernel.h"

namespace corten {

using Operands = llvm::ArrayRef<Elements>;

/// Whether a kernel did what it was asked for.
bool runs(runtime::PortableKernel kernel,
          llvm::ArrayRef<runtime::Tensor> inputs, runtime::Tensor output,
          llvm::ArrayRef<int64_t> numbers = {});

/// An axis that one of the operands gives, counted from the front.
std::optional<int64_t> axisOf(const Elements &axis, int64_t rank);

/// The kernel of an element-wise op; none if `op` is another one.
std::optional<runtime::PortableKernel> elementwiseKernel(mlir::Operation &op);
bool computeElementwise(runtime::PortableKernel kernel, Operands operands,
                        const Elements &result);

bool computeBroadcastShapes(Operands operands, const Elements &result);
bool computeConcat(Operands operands, const Elements &result);
bool computePad(coreai::PadOp op, Operands operands, const Elements &result);
bool computeRange(Operands operands, const Elements &result);
bool computeReverse(Operands operands, const Elements &result);
bool computeSlice(Operands operands, const Elements &result);
bool computeSliceUpdate(Operands operands, const Elements &result);
bool computeSplit(Operands operands, llvm::ArrayRef<Elements> results);
bool computeTile(Operands operands, const Elements &result);
bool computeTranspose(Operands operands, const Elements &result);

/// The kernel of a reduction over axes; none if `op` is another one.
std::optional<runtime::PortableKernel> reductionKernel(mlir::Operation &op);
bool computeReduction(runtime::PortableKernel kernel, Operands operands,
                      const Elements &result);
bool computeScan(coreai::ScanOp op, Operands operands, const Elements &result);
/// Kernels of one axis, which is the second operand, and a flag, if there is
/// another.
bool computeAlongAxis(runtime::PortableKernel kernel, Operands operands,
                      const Elements &result);
bool computeGatherAlongAxis(Operands operands, const Elements &result);
bool computeGatherNd(Operands operands, const Elements &result);
bool computeScatterAlongAxis(coreai::ScatterAlongAxisOp op, Operands operands,
                             const Elements &result);
bool computeScatterNd(coreai::ScatterNdOp op, Operands operands,
                      const Elements &result);

bool computeMatmul(Operands operands, const Elements &result);
bool computeConvolution(Operands operands, const Elements &result);
bool computeTransposedConvolution(Operands operands, const Elements &result);
bool computePool(runtime::PortableKernel kernel, Operands operands,
                 const Elements &result);
bool computeInterpolation(coreai::InterpolateOp op, Operands operands,
                          const Elements &result);
bool computeSamples(coreai::InterpolateCoordinatesOp op, Operands operands,
                    const Elements &result);

/// Of `quantize` and `dequantize`.
bool computeQuantization(runtime::PortableKernel kernel, Operands operands,
                         const Elements &result);
bool computeBlockwise(Operands operands, const Elements &result);
bool computeLookup(Operands operands, const Elements &result);

} // namespace corten

#endif // CORTEN_LIB_CONSTANTS_KERNELS_H
