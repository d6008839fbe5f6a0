// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The locations of a module as text for coreai-core's parser.

#ifndef CORTEN_LIB_HANDOVER_LOCATIONTEXT_H
#define CORTEN_LIB_HANDOVER_LOCATIONTEXT_H

#include "corten/Conversion/AtenToCoreAI/Locations.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

namespace corten {

/// What repeats stands once, behind an alias.
class LocationText {
public:
  explicit LocationText(const LocationTable &table);

  /// The aliases, one to a line.
  llvm::StringRef aliases() const { return definitionText; }
  /// That of an operation, by its place in the table.
  llvm::StringRef operator[](unsigned operation) const {
    return llvm::StringRef(text).slice(ends[operation], ends[operation + 1]);
  }
  size_t size() const { return ends.size() - 1; }

private:
  /// The metadata of a node, before and behind that of an operation.
  struct NodeText {
    std::string before;
    llvm::StringRef behind;
  };

  /// A new alias for `text`, or the one that it has.
  std::string define(llvm::StringRef text);
  llvm::StringRef alias(llvm::StringRef text);

  std::string scopeText(mlir::Attribute scope);
  std::string lineText(unsigned line);
  const std::string &placeText(unsigned place);
  const std::string &modulesText(unsigned modules);
  const NodeText &nodeText(unsigned node);
  void writeOutputs(const LocationTable::Entry &entry, uint64_t node);
  void write(const LocationTable::Entry &entry);

  const LocationTable &table;
  std::string definitionText, text;
  llvm::raw_string_ostream definitions, stream;
  /// Where in `text` that of each operation ends, behind a zero.
  std::vector<size_t> ends;
  unsigned numAliases = 0;
  llvm::StringMap<std::string> known;
  /// Empty until they are needed.
  std::vector<std::string> places, modules;
  std::vector<NodeText> nodes;
  /// How many operations have each node.
  std::vector<unsigned> uses;
};

} // namespace corten

#endif // CORTEN_LIB_HANDOVER_LOCATIONTEXT_H
