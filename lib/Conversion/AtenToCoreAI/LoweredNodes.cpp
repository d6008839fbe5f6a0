// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LoweredNodes.h"

#include "Table.h"

using namespace corten;

llvm::DenseSet<const Node *> corten::loweredNodes(const Graph &graph,
                                                  bool keepsAssertions) {
  if (!keepsAssertions)
    return liveNodes(graph);
  Graph withAssertions = graph;
  for (const Node *node : graph.nodes)
    if (node->callee && isAssertion(node->callee->name))
      withAssertions.outputs.push_back(Argument::node(node));
  return liveNodes(withAssertions);
}
