// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms that ops of a program have in an asset.

#ifndef CORTEN_LIB_ASSET_OPTABLE_H
#define CORTEN_LIB_ASSET_OPTABLE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace corten {

struct AssetOpInfo {
  llvm::StringRef name;
  llvm::StringRef code;
  /// When the form was introduced, as YYYYMMDD.
  uint32_t since;
  bool hasDecomposition;
};

/// By the name in a program, `coreai.exp`; null if it has no form.
const AssetOpInfo *assetOpOfName(llvm::StringRef name);
/// By the name in an asset, `aicode.primitive.exp_v1`.
const AssetOpInfo *assetOpOfCode(llvm::StringRef code);

} // namespace corten

#endif // CORTEN_LIB_ASSET_OPTABLE_H
