// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DebugLocations.h"

#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"

#include "llvm/ADT/SetVector.h"

using namespace corten;
using namespace mlir;
using debuginfo::DebugLocationAttr;

Location corten::fuse(Location location, ArrayRef<Location> others) {
  llvm::SmallSetVector<Location, 4> distinct;
  for (Location other : others)
    if (other != location && !isa<UnknownLoc>(other))
      distinct.insert(other);
  if (distinct.empty())
    return location;
  auto debug = dyn_cast<DebugLocationAttr>(LocationAttr(location));
  bool isDebug = debug && llvm::all_of(distinct, [](Location other) {
                   return isa<DebugLocationAttr>(LocationAttr(other));
                 });
  if (!isDebug) {
    SmallVector<Location> all = {location};
    llvm::append_range(all, distinct);
    return FusedLoc::get(location.getContext(), all);
  }
  llvm::SmallSetVector<DebugLocationAttr, 4> fused(debug.getFusedWith().begin(),
                                                   debug.getFusedWith().end());
  for (Location other : distinct)
    fused.insert(cast<DebugLocationAttr>(LocationAttr(other)));
  return DebugLocationAttr::get(debug.getSource(), debug.getScope(),
                                fused.getArrayRef(), debug.getMetadata());
}
