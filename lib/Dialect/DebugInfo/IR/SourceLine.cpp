// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/DebugInfo/IR/SourceLine.h"

#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"

using namespace corten;
using namespace mlir;

FileLineColRange debuginfo::sourceLine(Location location) {
  FileLineColRange found;
  location->walk([&](Location inner) {
    FileLineColRange range = dyn_cast<FileLineColRange>(inner);
    if (auto debug = dyn_cast<debuginfo::DebugLocationAttr>(inner))
      range = debug.getSource();
    // "-" stands for no file.
    if (!range || range.getStartLine() == 0 || range.getFilename() == "-")
      return WalkResult::advance();
    found = range;
    return WalkResult::interrupt();
  });
  return found;
}

static void readFact(debuginfo::MetadataAttr fact, debuginfo::Origin &origin,
                     std::string &classes) {
  if (fact.getName() == "op_id") {
    auto dictionary = dyn_cast<DictionaryAttr>(fact.getData());
    auto type = dictionary ? dictionary.getAs<StringAttr>("type") : nullptr;
    auto value = dictionary ? dictionary.getAs<IntegerAttr>("value") : nullptr;
    if (type && value && type.getValue() == "coreai")
      origin.operations.push_back(value.getValue().getZExtValue());
  } else if (fact.getName() == "module_path") {
    if (auto path = dyn_cast<StringAttr>(fact.getData());
        path && origin.module.empty())
      origin.module = path.getValue().str();
  } else if (fact.getName() == "call_stack" && classes.empty()) {
    if (auto stack = dyn_cast<ArrayAttr>(fact.getData()))
      for (Attribute entry : llvm::reverse(stack))
        if (auto name = dyn_cast<StringAttr>(entry))
          // "Linear$2" is the second one.
          classes += (classes.empty() ? "" : ".") +
                     name.getValue().split('$').first.str();
  }
}

debuginfo::Origin debuginfo::originOf(Location location) {
  Origin origin;
  std::string classes;
  location->walk([&](Location inner) {
    ArrayRef<MetadataAttr> facts;
    if (auto debug = dyn_cast<DebugLocationAttr>(inner))
      facts = debug.getMetadata();
    else if (auto metadata = dyn_cast<MetadataLocationAttr>(inner))
      facts = metadata.getMetadata();
    for (MetadataAttr fact : facts)
      readFact(fact, origin, classes);
    return WalkResult::advance();
  });
  if (origin.module.empty())
    origin.module = std::move(classes);
  llvm::sort(origin.operations);
  origin.operations.erase(llvm::unique(origin.operations),
                          origin.operations.end());
  return origin;
}
