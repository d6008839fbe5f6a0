// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/GraphDiff/LabelledGraph.h"

#include "llvm/Support/xxhash.h"

using namespace corten;

LabelledGraph::Text LabelledGraph::text(llvm::StringRef value) {
  auto [entry, isNew] =
      numbers.try_emplace(value, static_cast<Text>(texts.size()));
  if (isNew) {
    texts.push_back(entry->getKey());
    hashes.push_back(llvm::xxh3_64bits(value));
  }
  return entry->second;
}

unsigned LabelledGraph::addNode(Text type, Text name,
                                llvm::ArrayRef<Attribute> nodeAttributes) {
  nodes.push_back({type, name, static_cast<unsigned>(attributes.size()),
                   static_cast<unsigned>(nodeAttributes.size())});
  attributes.insert(attributes.end(), nodeAttributes.begin(),
                    nodeAttributes.end());
  return nodes.size() - 1;
}
