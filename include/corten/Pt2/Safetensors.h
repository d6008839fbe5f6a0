// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights in files of their own, by name: a folder of `.safetensors` files, as
// checkpoints are published. With it a program can do without weights, one that
// was exported on the meta device, and a model converts that is larger than the
// machine's memory. Files are mapped; nothing in them is trusted.

#ifndef CORTEN_PT2_SAFETENSORS_H
#define CORTEN_PT2_SAFETENSORS_H

#include "corten/Program/Weights.h"
#include "corten/Pt2/WeightSource.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>

namespace corten {

/// Reads the headers of the files that `model.safetensors.index.json` names, or
/// else of all files `*.safetensors`. `path` may also be one such file.
llvm::Expected<std::shared_ptr<const TensorFolder>>
openSafetensors(llvm::StringRef path);

/// Nothing if the source has no folder.
llvm::Expected<std::optional<NamedWeights>>
openWeights(const WeightSource &source);

} // namespace corten

#endif // CORTEN_PT2_SAFETENSORS_H
