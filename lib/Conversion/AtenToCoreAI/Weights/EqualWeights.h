// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights of the same type and content are one weight, wherever they lie: in
// two files that were saved from one model, or in two modules that one copy of
// the weights was loaded into. They are found without reading more than is
// needed to tell them apart: a weight that is alone with its type is not read
// at all, one that has company by its first page, and only what looks equal so
// far is read as a whole, each byte once.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_WEIGHTS_EQUALWEIGHTS_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_WEIGHTS_EQUALWEIGHTS_H

#include "corten/Program/Program.h"
#include "corten/Support/ReadWindow.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"

#include "llvm/ADT/DenseMap.h"

#include <deque>
#include <utility>

namespace corten {

/// Every element equals the first. Ends at the first difference, so for real
/// weights it reads a few bytes. Weights of more than a few megabytes are not
/// looked through to the end: they are no constants.
bool isUniform(const TensorView &view, ReadWindow &window);

class EqualWeights {
public:
  explicit EqualWeights(ReadWindow &window) : window(window) {}

  /// The attribute of the first weight of this type and content; null for a new
  /// one, to be filled in. The bytes of a new one have to stay where they are.
  mlir::Attribute &find(mlir::Type type, const TensorView &view);

private:
  using Hash = std::pair<uint64_t, uint64_t>;
  /// A weight, and what was read of it.
  struct Entry {
    llvm::StringRef bytes;
    mlir::Attribute attribute;
    /// Of its pieces, as far as somebody asked.
    llvm::SmallVector<Hash, 3> hashes;
  };

  const Hash &hashOf(Entry &entry, size_t piece);
  bool areEqual(Entry &left, Entry &right);

  ReadWindow &window;
  std::deque<Entry> entries;
  /// The only weight of a type, of which nothing was read.
  llvm::DenseMap<mlir::Type, Entry *> alone;
  /// By the first page.
  llvm::DenseMap<std::pair<mlir::Type, Hash>, llvm::SmallVector<Entry *, 1>>
      byHead;
};

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_WEIGHTS_EQUALWEIGHTS_H
