// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `.pt2` archives of torch.export.save, of torch 2.8 and later, read
// without torch or Python. What comes out is the same corten::Program that the
// Python package makes of the ExportedProgram; weights are views of the mapped
// file.
//
// A file is never trusted: one that is damaged, hostile or of an unknown
// version gives an error that says what is wrong.

#ifndef CORTEN_PT2_PT2_H
#define CORTEN_PT2_PT2_H

#include "corten/Program/Program.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace corten {

class NamedWeights;

namespace pt2 {
class TorchArchive;
struct SavedTensor;
} // namespace pt2

/// What a program was written by.
struct Pt2Versions {
  /// The release of torch ("2.13.0"); empty where the file does not say.
  std::string torch;
  /// Of torch's schema for programs.
  int64_t major = 0;
  int64_t minor = 0;
};

/// One of the values that a program was exported with.
class Pt2Example {
public:
  enum class Kind : uint8_t { None, Bool, Int, Float, String, Tensor, Object };

  /// Where it stands in the call: "args[0]", "kwargs['mask']".
  std::string path;
  Kind kind = Kind::None;
  /// Of a bool or an integer.
  int64_t integer = 0;
  double floating = 0;
  /// Of a string; of another object its type, if known.
  std::string text;
  /// Of a tensor.
  ScalarType dtype = ScalarType::Float32;
  std::vector<int64_t> shape;
  /// Of a tensor: not if it was on the meta device.
  bool hasData = true;

  /// The elements of a tensor in row-major order, as long as `owner` lives:
  /// a view of the file where they lie in one piece. Fails if the tensor
  /// has no data, or
  /// reaches beyond its storage.
  struct Data {
    llvm::StringRef bytes;
    std::shared_ptr<const void> owner;
  };
  llvm::Expected<Data> data() const;

private:
  friend class Pt2File;
  std::shared_ptr<const pt2::SavedTensor> tensor;
};

/// An archive. Programs that were read from it stay valid without it.
class Pt2File {
public:
  /// Maps the file and reads its directory.
  static llvm::Expected<Pt2File> open(llvm::StringRef path);
  /// The same for an archive in memory, which `owner` keeps alive.
  static llvm::Expected<Pt2File> fromMemory(llvm::StringRef bytes,
                                            std::shared_ptr<const void> owner);
  Pt2File(Pt2File &&) noexcept;
  Pt2File &operator=(Pt2File &&) noexcept;
  ~Pt2File();

  /// The programs in the archive; torch.export.save writes one, "model".
  const std::vector<std::string> &models() const { return modelNames; }

  /// Reads a program.
  ///
  /// `hasLowering` says which operators a decomposed program may have. One that
  /// is not decomposed is functionalized: writes become values. Without it the
  /// program stays as it was saved, to be looked at.
  ///
  /// With `named`, parameters and buffers are taken from there, and the file
  /// need not have them. Without `needsData`, weights that are nowhere are left
  /// out: the program can be looked at, not converted.
  llvm::Expected<std::unique_ptr<Program>>
  read(llvm::StringRef model,
       llvm::function_ref<bool(const Operator &)> hasLowering = nullptr,
       NamedWeights *named = nullptr, bool needsData = true) const;

  llvm::Expected<Pt2Versions> versions(llvm::StringRef model) const;

  /// The values that a program was exported with: one for each input of the
  /// user's, in order, or none where the file has none. Pickles are not run,
  /// so objects of other classes than Python's containers and torch's tensors
  /// are an error.
  llvm::Expected<std::vector<Pt2Example>> examples(llvm::StringRef model) const;

private:
  explicit Pt2File(pt2::TorchArchive archive);

  std::unique_ptr<pt2::TorchArchive> archive;
  std::vector<std::string> modelNames;
};

} // namespace corten

#endif // CORTEN_PT2_PT2_H
