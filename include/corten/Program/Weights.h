// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tensor is which weight of a program. A front door says which tensors
// the program has, and what is decided here is where a weight comes from: from
// the program, or by its name from files beside it, where it may go by the name
// of another one that it is tied to.

#ifndef CORTEN_PROGRAM_WEIGHTS_H
#define CORTEN_PROGRAM_WEIGHTS_H

#include "corten/Program/Program.h"
#include "corten/Program/StridedMemory.h"
#include "corten/Support/Bytes.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace corten {

/// The tensors of files, by name: a checkpoint.
class TensorFolder {
public:
  struct Tensor {
    ScalarType dtype = ScalarType::Float32;
    std::vector<int64_t> shape;
    /// In row-major order.
    SharedBytes bytes;
    /// The name of its file, and where it begins there.
    std::string file;
    size_t offset = 0;
  };

  explicit TensorFolder(std::string path) : folder(std::move(path)) {}

  const std::string &path() const { return folder; }
  /// Null if there is none of that name.
  const Tensor *find(llvm::StringRef name) const;
  /// Sorted.
  std::vector<llvm::StringRef> names() const;
  /// Gives the tensor that has the name already, if there is one; the new one
  /// is left out then.
  const Tensor *add(llvm::StringRef name, Tensor tensor);

private:
  std::string folder;
  llvm::StringMap<Tensor> tensors;
};

/// A folder that several programs take their weights from.
class NamedWeights {
public:
  explicit NamedWeights(std::shared_ptr<const TensorFolder> folder)
      : folder(std::move(folder)) {}

  llvm::StringRef path() const { return folder->path(); }
  /// From now on, what is not there as `name` is looked for as `stored`.
  void tie(llvm::StringRef name, llvm::StringRef stored) {
    tied[name] = stored.str();
  }
  /// Some program has a tensor of this name, even if nothing uses it.
  void know(llvm::StringRef name);
  /// What other programs that take their weights from the same folder know, and
  /// what is tied there.
  void add(const NamedWeights &others);
  /// Fails if there are tensors that no program has, or ties of weights that
  /// none has.
  llvm::Error checkAllKnown() const;

private:
  friend class ProgramWeights;

  std::shared_ptr<const TensorFolder> folder;
  llvm::StringMap<std::string> tied;
  llvm::StringSet<> known;
};

/// What tells whether two names are of one tensor: all of this is equal.
struct TensorIdentity {
  /// What it is a view of, known by its address; null if that is not known.
  const void *storage = nullptr;
  ScalarType dtype = ScalarType::Float32;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> shape, strides;

  bool operator==(const TensorIdentity &other) const = default;
};

/// A tensor that a program has, as its front door finds it.
struct ProgramTensor {
  ScalarType dtype = ScalarType::Float32;
  llvm::ArrayRef<int64_t> shape;
  /// Not on the meta device.
  bool hasData = true;
  /// Where its elements lie, which is asked only if they are wanted.
  llvm::function_ref<llvm::Expected<StridedMemory>()> memory;
};

/// What is said of a weight that is nowhere.
std::string withoutData(llvm::StringRef name);

/// The weights of one program.
class ProgramWeights {
public:
  /// With `named`, parameters and buffers come from there. Without `needsData`,
  /// those that are nowhere are left out: the program can be looked at, not
  /// converted.
  explicit ProgramWeights(NamedWeights *named = nullptr, bool needsData = true)
      : named(named), needsData(needsData) {}

  /// The program has a tensor of this name, even if nothing uses it. It has to
  /// be said of all before one is asked for.
  void know(llvm::StringRef name, TensorIdentity identity);

  /// Whether a weight is to come from the folder. Those that are `isState` are
  /// in every checkpoint of the model; constants and buffers that are not
  /// persistent are in none, unless somebody put them there.
  bool isFromFolder(llvm::StringRef name, bool isState, bool hasData) const;
  /// The tensor of the folder that is a weight of the program. One that is
  /// missing, or is of another type or shape, is noted, and null returned.
  const TensorFolder::Tensor *take(llvm::StringRef name, ScalarType dtype,
                                   llvm::ArrayRef<int64_t> shape, bool isState);
  /// Fails if a weight was missing or wrong, and says so of all of them.
  llvm::Error check() const;

  /// Registers the weight that `placeholder` stands for, from wherever it
  /// comes; `tensor` is null if the program has none of that name. The index is
  /// -1 for one that is left out or wrong in the folder, which check() tells.
  llvm::Expected<AddedWeight> add(ProgramBuilder &builder, llvm::StringRef name,
                                  const Node &placeholder, bool isState,
                                  const ProgramTensor *tensor);
  /// The same for a tensor that is in no folder, and part of no signature.
  llvm::Expected<AddedWeight> addOwn(ProgramBuilder &builder,
                                     llvm::StringRef name,
                                     const ProgramTensor &tensor) const;

private:
  const TensorFolder::Tensor *find(llvm::StringRef name) const;
  llvm::Expected<AddedWeight> addFromFolder(ProgramBuilder &builder,
                                            llvm::StringRef name,
                                            const ValueInfo &info,
                                            bool isState);
  void noteMissing(llvm::StringRef name, ScalarType dtype,
                   llvm::ArrayRef<int64_t> shape);

  NamedWeights *named;
  bool needsData;
  llvm::StringMap<TensorIdentity> identities;
  std::vector<std::string> missing, missingConstants, misshapen;
  /// Ties that would give missing weights their values.
  std::vector<std::string> possibleTies;
};

} // namespace corten

#endif // CORTEN_PROGRAM_WEIGHTS_H
