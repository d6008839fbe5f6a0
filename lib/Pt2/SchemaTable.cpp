// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SchemaTable.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using llvm::StringRef;

/// In the order of their names.
static constexpr llvm::StringLiteral kSchemas[] = {
#include "OperatorSchemas.inc"
};

llvm::ArrayRef<llvm::StringLiteral> pt2::allSchemas() { return kSchemas; }

static StringRef nameOf(StringRef schema) {
  return schema.take_until([](char c) { return c == '('; });
}

StringRef pt2::findSchema(StringRef nameSpace, StringRef name) {
  name.consume_back(".default");
  std::string key = (nameSpace + "::" + name).str();
  const auto *found = llvm::partition_point(
      kSchemas, [&](StringRef schema) { return nameOf(schema) < key; });
  if (found == std::end(kSchemas) || nameOf(*found) != key)
    return {};
  return *found;
}
