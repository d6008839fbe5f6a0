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

namespace pt2 {
class TorchArchive;
} // namespace pt2

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
  /// `isFunctional` says of an operator that it may stand in a decomposed
  /// program. A program that has others is functionalized: writes become
  /// values.
  llvm::Expected<std::unique_ptr<Program>>
  read(llvm::StringRef model,
       llvm::function_ref<bool(const Operator &)> isFunctional) const;

private:
  explicit Pt2File(pt2::TorchArchive archive);

  std::unique_ptr<pt2::TorchArchive> archive;
  std::vector<std::string> modelNames;
};

} // namespace corten

#endif // CORTEN_PT2_PT2_H
