// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights as they lie in memory. A program has them in row-major order.

#ifndef CORTEN_PROGRAM_STRIDEDMEMORY_H
#define CORTEN_PROGRAM_STRIDEDMEMORY_H

#include "corten/Program/Program.h"
#include "corten/Support/Bytes.h"

#include "llvm/ADT/ArrayRef.h"

namespace corten {

/// A view of a storage, in elements.
struct StridedMemory {
  llvm::ArrayRef<int64_t> shape;
  llvm::ArrayRef<int64_t> strides;
  int64_t offset = 0;
  size_t elementBytes = 1;
  SharedBytes storage;
};

/// The elements in row-major order: a view of the storage if they lie there in
/// one piece, and a copy otherwise. They start wherever they do: torch aligns
/// tensors, other programs that write files may not. Fails if they reach beyond
/// the storage.
llvm::Expected<SharedBytes> elementsOf(const StridedMemory &memory);

struct AddedWeight {
  /// Into Program::weights.
  int index = -1;
  /// A later change of the original does not reach it.
  bool isCopy = false;
};

/// Registers memory as a weight of this type and shape, of which it need not
/// say anything: there are packed ones. Fails as elementsOf() does.
llvm::Expected<AddedWeight> addWeight(ProgramBuilder &builder, ScalarType dtype,
                                      llvm::ArrayRef<int64_t> shape,
                                      const StridedMemory &memory);

} // namespace corten

#endif // CORTEN_PROGRAM_STRIDEDMEMORY_H
