// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Strip.h"

#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

/// Gives every op and block argument in `root` another location.
static void mapLocations(Operation *root,
                         llvm::function_ref<Location(Location)> map) {
  root->walk([&](Operation *op) {
    op->setLoc(map(op->getLoc()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(map(argument.getLoc()));
  });
}

/// Erases ops that say which variable of the source a value is.
template <typename... Ops> static void eraseAll(Operation *root) {
  SmallVector<Operation *> found;
  root->walk([&](Operation *op) {
    if (isa<Ops...>(op))
      found.push_back(op);
  });
  for (Operation *op : found)
    op->erase();
}

//===----------------------------------------------------------------------===//
// In an asset
//===----------------------------------------------------------------------===//

/// `"op_id": {type = "coreai", value = N}`, the number of the op itself; those
/// of other levels tell of the source.
static bool isOwnNumber(Attribute attribute) {
  auto metadata = dyn_cast<aicode::MetadataAttr>(attribute);
  if (!metadata || metadata.getName() != "op_id")
    return false;
  auto data = dyn_cast<aicode::MetadataDataAttr>(metadata.getData());
  auto entries = data ? dyn_cast<aicode::DictionaryAttr>(data.getValue())
                      : aicode::DictionaryAttr();
  return entries && llvm::any_of(entries.getEntries(), [](Attribute attribute) {
           auto entry = dyn_cast<aicode::NamedListAttr>(attribute);
           if (!entry || entry.getName() != "type" ||
               entry.getValues().size() != 1)
             return false;
           auto level = dyn_cast<aicode::TextAttr>(entry.getValues().front());
           return level && level.getValue() == "coreai";
         });
}

void corten::stripDebugInfo(aicode::AssetOp code) {
  MLIRContext *context = code.getContext();
  // What the format has for an unknown place.
  auto nowhere = aicode::SourceLocationAttr::get(
      context, aicode::FileAttr::get(context, "-", "", ""), 0, 0, 0, 0);
  auto noScope = aicode::UnitAttr::get(context);
  llvm::DenseMap<Attribute, LocationAttr> known;
  eraseAll<aicode::RecordV1Op, aicode::ValueV1Op>(code);
  mapLocations(code, [&](Location location) -> Location {
    LocationAttr &stripped = known[location];
    if (stripped)
      return stripped;
    ArrayRef<Attribute> metadata;
    if (auto debug = dyn_cast<aicode::DebugLocationAttr>(location))
      metadata = debug.getMetadata();
    else if (auto facts = dyn_cast<aicode::MetadataLocationAttr>(location))
      metadata = facts.getMetadata();
    auto kept = llvm::to_vector(llvm::make_filter_range(metadata, isOwnNumber));
    stripped = aicode::DebugLocationAttr::get(
        context, nowhere, noScope, /*inlinedAt=*/Attribute(),
        /*fusedWith=*/ArrayRef<Attribute>(), kept);
    return stripped;
  });
}

//===----------------------------------------------------------------------===//
// Elsewhere
//===----------------------------------------------------------------------===//

void corten::stripDebugInfo(ModuleOp module) {
  eraseAll<debuginfo::RecordOp, debuginfo::ValueOp>(module);
  auto unknown = UnknownLoc::get(module.getContext());
  mapLocations(module, [&](Location) -> Location { return unknown; });
}
