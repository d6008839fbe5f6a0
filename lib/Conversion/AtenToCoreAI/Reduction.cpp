// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Table.h"

using namespace corten;
using namespace mlir;

llvm::ArrayRef<TableEntry> corten::loweringsReduction() { return {}; }
