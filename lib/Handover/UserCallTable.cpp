// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations have no identity that survives the handover; their order has.

#include "corten/Handover/Handover.h"

#include "llvm/ADT/DenseMap.h"

using namespace corten;
using namespace mlir;

static ValuePlace placeOf(const NamedValue &entry,
                          const llvm::DenseMap<Operation *, unsigned> &order) {
  ValuePlace place;
  place.name = entry.node->name.str();
  if (entry.node->results.size() > 1)
    place.name += "#" + std::to_string(entry.result);
  if (auto result = dyn_cast<OpResult>(entry.value)) {
    place.operation = order.at(result.getOwner());
    place.number = result.getResultNumber();
    return place;
  }
  auto argument = cast<BlockArgument>(entry.value);
  // Regions of the dialect have one block.
  Region *region = argument.getParentRegion();
  place.operation = order.at(region->getParentOp());
  place.region = region->getRegionNumber();
  place.number = argument.getArgNumber();
  return place;
}

UserCallTable corten::userCallTable(const ConvertedModule &module) {
  UserCallTable table;
  if (module.userCalls.empty())
    return table;
  llvm::DenseMap<Operation *, unsigned> order;
  module.module.get()->walk(
      [&](Operation *op) { order.insert({op, order.size()}); });
  for (const UserCall &call : module.userCalls)
    table.standIns.push_back(order.at(call.standIn));
  for (const auto &values : module.scopes) {
    auto &places = table.scopes.emplace_back();
    places.reserve(values.size());
    for (const NamedValue &entry : values)
      places.push_back(placeOf(entry, order));
  }
  return table;
}
