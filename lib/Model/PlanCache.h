// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans of assets that were loaded before, in the user's cache folder: the next
// process need not compile again, nor pack weights. Whatever goes wrong with
// the cache, models are loaded without it.
//
//   CORTEN_CACHE        another folder; 0: none
//   CORTEN_CACHE_LIMIT  how many MiB it may have; the oldest go first

#ifndef CORTEN_LIB_MODEL_PLANCACHE_H
#define CORTEN_LIB_MODEL_PLANCACHE_H

#include "corten/Runtime/Model.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <optional>
#include <string>

namespace corten {

/// The place of one asset's plan.
class CachedPlan {
public:
  /// Of an asset that is large enough to be worth it, if there is a cache.
  static std::optional<CachedPlan> of(llvm::StringRef asset,
                                      llvm::StringRef precision);

  /// Where packed weights are kept.
  std::string weightPath() const { return stem + ".weights"; }
  /// Null if there is no plan, or none that can be used.
  std::shared_ptr<runtime::Model> load(const runtime::LoadOptions &options);
  void store(llvm::StringRef plan);
  /// Once weights are packed: takes the oldest plans away if there is too much.
  void finish();

private:
  std::string planPath() const { return stem + ".cplan"; }

  std::string folder;
  /// In the folder, without what tells the files apart.
  std::string stem;
};

} // namespace corten

#endif // CORTEN_LIB_MODEL_PLANCACHE_H
