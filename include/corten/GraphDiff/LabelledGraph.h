// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A directed graph whose nodes and edges carry text: what programs of any kind
// are turned into before they are compared. It holds no reference to what it
// was made from.

#ifndef CORTEN_GRAPHDIFF_LABELLEDGRAPH_H
#define CORTEN_GRAPHDIFF_LABELLEDGRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace corten {

/// Nodes are numbered in the order in which they are added; that order is taken
/// for the order of the program where nothing else tells two nodes apart.
class LabelledGraph {
public:
  /// A text of the graph. Equal texts have equal numbers.
  using Text = uint32_t;
  /// A name and a value.
  using Attribute = std::pair<Text, Text>;

  struct Node {
    /// What it is: "op", "value", "region", "block".
    Text type;
    /// What kind of it: the name of an operation. Nodes of different names are
    /// never taken for each other.
    Text name;
    unsigned firstAttribute;
    unsigned numAttributes;
  };

  struct Edge {
    unsigned source;
    unsigned target;
    /// How the source takes part in the target ("operand"), and its place.
    Text kind;
    unsigned index;
    /// The target is in the source rather than made from it. What it is does
    /// not depend on where it is.
    bool isContainment;
  };

  Text text(llvm::StringRef value);
  llvm::StringRef str(Text value) const { return texts[value]; }
  /// A hash of the text that is the same in every graph.
  uint64_t hash(Text value) const { return hashes[value]; }

  unsigned addNode(Text type, Text name,
                   llvm::ArrayRef<Attribute> nodeAttributes);
  void addEdge(unsigned source, unsigned target, Text kind, unsigned index,
               bool isContainment = false) {
    edges.push_back({source, target, kind, index, isContainment});
  }

  llvm::ArrayRef<Attribute> attributesOf(const Node &node) const {
    return llvm::ArrayRef(attributes)
        .slice(node.firstAttribute, node.numAttributes);
  }

  std::vector<Node> nodes;
  std::vector<Edge> edges;

private:
  llvm::StringMap<Text> numbers;
  std::vector<llvm::StringRef> texts;
  std::vector<uint64_t> hashes;
  std::vector<Attribute> attributes;
};

} // namespace corten

#endif // CORTEN_GRAPHDIFF_LABELLEDGRAPH_H
