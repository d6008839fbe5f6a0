// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known about a module that stays a graph of its own: its place in the
// model and how its graphs are declared to a compiler.

#ifndef CORTEN_PROGRAM_EXTERNALMODULE_H
#define CORTEN_PROGRAM_EXTERNALMODULE_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace corten {

/// A value that a declaration records.
struct AttributeValue {
  using List = std::vector<AttributeValue>;
  using Dictionary = std::vector<std::pair<std::string, AttributeValue>>;
  std::variant<bool, int64_t, double, std::string, List, Dictionary> value;
};

/// An operation that compilers know by name, and the graph that stands for it.
struct CompositeDeclaration {
  std::string name;
  std::vector<std::string> inputNames;
  std::vector<std::string> outputNames;
  AttributeValue::Dictionary attributes;
};

/// A module of the user's whose calls become graphs.
struct ExternalModule {
  /// Dotted path, as the marks in the program spell it; empty for the root.
  std::string path;
  /// What the symbols of its graphs begin with.
  std::string symbol;
  /// Set for a composite. Its input names are those of the module's own
  /// parameters and buffers; the operands of a call follow them.
  std::optional<CompositeDeclaration> composite;
};

} // namespace corten

#endif // CORTEN_PROGRAM_EXTERNALMODULE_H
