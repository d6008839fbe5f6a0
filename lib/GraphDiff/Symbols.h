// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_LIB_GRAPHDIFF_SYMBOLS_H
#define CORTEN_LIB_GRAPHDIFF_SYMBOLS_H

#include "llvm/ADT/StringRef.h"

namespace corten {

/// The symbol without the eight letters that keep graphs of one name apart
/// ("layer_norm_bwulernn" is "layer_norm").
llvm::StringRef withoutRandomSuffix(llvm::StringRef symbol);

} // namespace corten

#endif // CORTEN_LIB_GRAPHDIFF_SYMBOLS_H
