// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Composites: operations that Core AI's compilers recognise by name. Each call
// becomes a private graph whose body is the fallback, declared with the name,
// the inputs and the attributes, and an invocation of it.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_COMPOSITE_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_COMPOSITE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <utility>
#include <variant>

namespace corten {

/// Written as bool, si64, f32 and an array of si64.
using CompositeValue =
    std::variant<bool, int64_t, double, llvm::SmallVector<int64_t>>;

struct CompositeSpec {
  /// The name that compilers look for ("layer_norm").
  llvm::StringRef name;
  /// Start of the graph's symbol, and its `template_op`.
  llvm::StringRef symbol;
  /// `coreai.name` of the graph's arguments.
  llvm::SmallVector<llvm::StringRef> arguments;
  /// Attributes besides `version`.
  llvm::SmallVector<std::pair<llvm::StringRef, CompositeValue>> attributes = {};
  /// The declared input names, where they differ from those of the arguments.
  llvm::SmallVector<llvm::StringRef> inputs = {};
};

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_COMPOSITE_H
