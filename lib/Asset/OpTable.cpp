// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace corten;
using llvm::StringRef;

static constexpr AssetOpInfo kOps[] = {
#define ASSET_OP(name, code, since, hasDecomposition)                          \
  {name, code, since, hasDecomposition},
#include "OpTable.def"
};

static llvm::StringMap<const AssetOpInfo *>
indexBy(StringRef AssetOpInfo::*key) {
  llvm::StringMap<const AssetOpInfo *> index;
  for (const AssetOpInfo &info : kOps)
    index[info.*key] = &info;
  return index;
}

const AssetOpInfo *corten::assetOpOfName(StringRef name) {
  static const llvm::StringMap<const AssetOpInfo *> index =
      indexBy(&AssetOpInfo::name);
  return index.lookup(name);
}

const AssetOpInfo *corten::assetOpOfCode(StringRef code) {
  static const llvm::StringMap<const AssetOpInfo *> index =
      indexBy(&AssetOpInfo::code);
  return index.lookup(code);
}
