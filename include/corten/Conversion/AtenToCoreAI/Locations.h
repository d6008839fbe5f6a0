// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the operations of a converted module come from, as data. What repeats
// stands once and is referred to by its place in the table. No attributes are
// made of it while a program is converted: whoever goes on with the module has
// them made (Attach.h), and who hands it over writes them as text.

#ifndef CORTEN_CONVERSION_ATENTOCOREAI_LOCATIONS_H
#define CORTEN_CONVERSION_ATENTOCOREAI_LOCATIONS_H

#include "mlir/IR/Attributes.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace corten {

struct LocationTable {
  /// A line of the user's code.
  struct Line {
    unsigned file = 0;
    unsigned number = 0;
  };

  /// A line within a scope, and those that it was called from.
  struct Place {
    /// Innermost first.
    llvm::SmallVector<unsigned, 4> lines;
    /// The symbol of a graph, a function, a compile unit, or the unit attribute
    /// where nothing is known.
    mlir::Attribute scope;
  };

  /// The modules on the way to a call.
  struct Modules {
    /// Their names, innermost first.
    std::vector<std::string> callStack;
    /// Of the innermost; empty for the root.
    std::string path;
  };

  /// A node of an exported graph.
  struct Node {
    uint64_t id = 0;
    std::string name;
    unsigned place = 0;
    std::optional<unsigned> modules;
  };

  /// A result of an operation that is a result of its node.
  struct Output {
    unsigned ofNode = 0;
    unsigned ofOperation = 0;
  };

  /// Where one operation comes from.
  struct Entry {
    unsigned place = 0;
    std::optional<unsigned> node;
    /// The operation's own number; the module has none.
    std::optional<uint64_t> number;
    unsigned firstOutput = 0;
    unsigned numOutputs = 0;
  };

  llvm::ArrayRef<Output> outputsOf(const Entry &entry) const {
    return llvm::ArrayRef(outputs).slice(entry.firstOutput, entry.numOutputs);
  }

  /// Paths as they are shown.
  std::vector<std::string> files;
  std::vector<Line> lines;
  std::vector<Place> places;
  std::vector<Modules> modules;
  std::vector<Node> nodes;
  std::vector<Output> outputs;
  /// In the order of a walk that visits an operation after what it contains.
  /// The arguments of blocks are where the operation is that owns them.
  std::vector<Entry> operations;
};

} // namespace corten

#endif // CORTEN_CONVERSION_ATENTOCOREAI_LOCATIONS_H
