// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tensors of a saved program: weights and constants by name, in whichever
// of its layouts the release of torch has put them into the archive.

#ifndef CORTEN_LIB_PT2_PAYLOAD_H
#define CORTEN_LIB_PT2_PAYLOAD_H

#include "Archive.h"
#include "Json.h"
#include "Pickle.h"

#include "corten/Program/StridedMemory.h"

namespace corten::pt2 {

/// torch's numbers for element types in files; nothing for an unknown one.
std::optional<ScalarType> scalarTypeFromSchema(int64_t number);

/// The tensors of one kind of one model.
class Payload {
public:
  /// From 2.9 on: a JSON file that says in which entry of `folder` each tensor
  /// lies, and how.
  static llvm::Expected<Payload> fromConfig(const TorchArchive &archive,
                                            llvm::StringRef config,
                                            llvm::StringRef folder);
  /// Until 2.8: a file of torch.save.
  static llvm::Expected<Payload> fromSaved(const TorchArchive &archive,
                                           llvm::StringRef name);

  void add(llvm::StringRef name, SavedTensor tensor) {
    tensors[name] = std::move(tensor);
  }

  /// Null if there is no tensor of that name.
  const SavedTensor *find(llvm::StringRef name) const;
  /// In no order.
  auto names() const { return tensors.keys(); }

private:
  llvm::StringMap<SavedTensor> tensors;
};

/// Shape, strides, offset and type of the tensor `name` from its description.
llvm::Error readTensorMeta(JsonValue meta, llvm::StringRef name,
                           SavedTensor &tensor);

/// The elements of a tensor in row-major order, where they can be read as such:
/// a view of the file if they lie there in one piece, and a copy otherwise.
/// Fails if it reaches beyond its storage.
llvm::Expected<Bytes> elementsOf(const SavedTensor &tensor);

/// Where the elements of a tensor lie. The tensor has to outlive it.
StridedMemory memoryOf(const SavedTensor &tensor);

} // namespace corten::pt2

#endif // CORTEN_LIB_PT2_PAYLOAD_H
