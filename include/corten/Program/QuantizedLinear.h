// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers with weights of eight bits, as torchao's weight-only quantization
// leaves them in a program: the product with the integers, scaled afterwards,
//
//   mul(mm(x, to(t(W))), s)   becomes   mm(x, t(dequantize_per_channel(W, s)))
//
// which says that W is a compressed weight. The ends of a program's building
// apply it; nothing else needs to.

#ifndef CORTEN_PROGRAM_QUANTIZEDLINEAR_H
#define CORTEN_PROGRAM_QUANTIZEDLINEAR_H

#include "corten/Program/Program.h"

namespace corten {

/// Rewrites such layers in all graphs of a program that is being built. A
/// product, a conversion or a transpose that something else uses too stays.
void recognizeQuantizedLinear(ProgramBuilder &builder);

} // namespace corten

#endif // CORTEN_PROGRAM_QUANTIZEDLINEAR_H
