// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives a finished module to coreai-core in the same process. The two MLIRs
// share no objects: the module crosses as text without weight data, and each
// weight is attached on the other side as a view of its own memory. Text,
// because debug locations have no other form there, and one parse is then all
// it takes.

#ifndef CORTEN_HANDOVER_HANDOVER_H
#define CORTEN_HANDOVER_HANDOVER_H

#include "corten/Conversion/AtenToCoreAI/Conversion.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>
#include <vector>

namespace corten {

/// The module as text for coreai-core's parser, with the locations of all
/// operations. Resources are mentioned by key; their data is not in it.
std::string handoverText(const ConvertedModule &module);

/// For each graph of the module the resources that the constants at its top
/// take, as places in ConvertedModule::resources; -1 for one that takes none.
std::vector<std::vector<int>> resourceUses(const ConvertedModule &module);

/// A weight that an operation of a module has as an attribute.
struct HandedWeight {
  /// Place of the operation, in the order of a walk that visits an operation
  /// after what it contains.
  unsigned operation = 0;
  std::string attribute, key;
  /// Lives as long as the context of the module.
  llvm::ArrayRef<char> data;
};

/// A module that was read from a file, for coreai-core's parser.
struct HandedModule {
  /// With locations, and with weights by their keys.
  std::string text;
  std::vector<HandedWeight> weights;
};

/// coreai-core ends the process on files that it cannot read, while its parser
/// returns: so what we have read crosses as a conversion does.
HandedModule handOver(mlir::ModuleOp module);

/// Where a value is, for whoever walks the module on the other side.
struct ValuePlace {
  /// The node's name; "name#1" for a node with several results.
  std::string name;
  /// Place of the operation that owns it, in the order of a walk that visits an
  /// operation after what it contains.
  unsigned operation = 0;
  /// The region whose argument it is; none for a result.
  std::optional<unsigned> region;
  unsigned number = 0;
};

/// Places of what ConvertedModule::userCalls and ::scopes refer to.
struct UserCallTable {
  std::vector<unsigned> standIns;
  std::vector<std::vector<ValuePlace>> scopes;
};

UserCallTable userCallTable(const ConvertedModule &module);

/// The module as text, in custom or generic form.
std::string moduleText(const ConvertedModule &module, bool generic);

} // namespace corten

#endif // CORTEN_HANDOVER_HANDOVER_H
