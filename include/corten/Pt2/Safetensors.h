// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights in files of their own, by name: a folder of `.safetensors` files, as
// checkpoints are published. With it a program can do without weights, one that
// was exported on the meta device, and a model converts that is larger than the
// machine's memory. Files are mapped; nothing in them is trusted.

#ifndef CORTEN_PT2_SAFETENSORS_H
#define CORTEN_PT2_SAFETENSORS_H

#include "corten/Program/Program.h"
#include "corten/Pt2/WeightSource.h"
#include "corten/Support/Bytes.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace corten {

/// The tensors of a folder.
class SafetensorsFolder {
public:
  struct Tensor {
    ScalarType dtype = ScalarType::Float32;
    std::vector<int64_t> shape;
    SharedBytes bytes;
    /// The name of its file.
    std::string file;
  };

  /// Reads the headers of the files that `model.safetensors.index.json` names,
  /// or else of all files `*.safetensors`. `path` may also be one such file.
  static llvm::Expected<std::shared_ptr<const SafetensorsFolder>>
  open(llvm::StringRef path);

  const std::string &path() const { return folder; }
  /// Null if there is none of that name.
  const Tensor *find(llvm::StringRef name) const;
  /// Sorted.
  std::vector<llvm::StringRef> names() const;

private:
  llvm::Error readFile(llvm::StringRef file,
                       const llvm::StringMap<std::string> *index);
  llvm::Error readIndex(llvm::StringRef file);

  std::string folder;
  llvm::StringMap<Tensor> tensors;
};

/// Gives programs their weights from a folder, and notes what does not fit
/// together.
class NamedWeights {
public:
  /// Nothing if the source has no folder.
  static llvm::Expected<std::optional<NamedWeights>>
  open(const WeightSource &source);

  explicit NamedWeights(std::shared_ptr<const SafetensorsFolder> folder)
      : folder(std::move(folder)) {}

  bool has(llvm::StringRef name) const { return find(name); }

  /// From now on, what is not there as `name` is looked for as `stored`.
  void tie(llvm::StringRef name, llvm::StringRef stored) {
    tied[name] = stored.str();
  }

  /// Registers a tensor as a weight and returns its index. One that is not
  /// there, or is of another type or shape, is noted, and -1 returned. Those
  /// that are not `isState` (constants, buffers that are not persistent) are in
  /// no checkpoint.
  int add(ProgramBuilder &builder, llvm::StringRef name, ScalarType dtype,
          llvm::ArrayRef<int64_t> shape, bool isState = true);
  /// The program has a tensor of this name, even if nothing uses it.
  void know(llvm::StringRef name) { known.insert(name); }

  /// What was missing or wrong so far, all of it.
  llvm::Error check() const;
  /// Tensors of the folder that no program has, and ties of weights that none
  /// has.
  llvm::Error checkAllKnown() const;

private:
  /// Null if it is not there, under whichever name.
  const SafetensorsFolder::Tensor *find(llvm::StringRef name) const;
  void noteMissing(llvm::StringRef name, ScalarType dtype,
                   llvm::ArrayRef<int64_t> shape);

  std::shared_ptr<const SafetensorsFolder> folder;
  llvm::StringMap<std::string> tied;
  std::vector<std::string> missing, missingConstants, misshapen;
  /// Ties that would give missing weights their values.
  std::vector<std::string> possibleTies;
  llvm::StringSet<> known;
  /// Whether whoever asks for weights can say which are tied.
  bool takesTies = false;
};

} // namespace corten

#endif // CORTEN_PT2_SAFETENSORS_H
