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
