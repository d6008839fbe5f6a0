// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What torch.save wrote: an archive with a pickle of plain containers and
// tensors, and one entry for each storage. A pickle is a program; this reader
// runs none. It knows containers, numbers, strings and the few functions that
// stand for a tensor, and refuses every other name.

#ifndef CORTEN_LIB_PT2_PICKLE_H
#define CORTEN_LIB_PT2_PICKLE_H

#include "corten/Program/ScalarType.h"
#include "corten/Support/Bytes.h"

#include "llvm/ADT/SmallVector.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace corten::pt2 {

using Bytes = SharedBytes;

/// A tensor as it was saved: a strided view of a storage.
struct SavedTensor {
  ScalarType dtype = ScalarType::Float32;
  llvm::SmallVector<int64_t> shape;
  /// In elements.
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  Bytes storage;
  /// Not for one of the meta device: its storage is empty.
  bool hasData = true;
};

/// The tensors of a saved dictionary with strings as keys, in its order.
using SavedTensors = std::vector<std::pair<std::string, SavedTensor>>;

/// Reads an archive that torch.save made of such a dictionary. An empty file
/// stands for an empty one. Values that are no tensors are left out.
llvm::Expected<SavedTensors> readSavedTensors(const Bytes &file);

/// Reads an archive that torch.save made of one tensor.
llvm::Expected<SavedTensor> readSavedTensor(const Bytes &file);

/// An object that is only known by name: a type, a device.
struct SavedObject {
  std::string name;
};

/// A value in a saved one that is no container itself.
struct SavedLeaf {
  /// The way there, as Python spells it: {"[0]", "['mask']"}.
  std::vector<std::string> path;
  /// Nothing stands for None.
  std::variant<std::monostate, bool, int64_t, double, std::string, SavedTensor,
               SavedObject>
      value;
};

/// Reads an archive that torch.save made of lists, tuples and dictionaries, and
/// gives out what they hold, in order.
llvm::Expected<std::vector<SavedLeaf>> readSavedLeaves(const Bytes &file);

} // namespace corten::pt2

#endif // CORTEN_LIB_PT2_PICKLE_H
