// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a `.pt2` archive holds, as plain data: what `corten info` shows of one,
// before anything is converted. Types and operators are torch's.

#ifndef CORTEN_INSPECT_ARCHIVE_H
#define CORTEN_INSPECT_ARCHIVE_H

#include "corten/Inspect/Info.h"
#include "corten/Pt2/Pt2.h"

#include "llvm/Support/Error.h"

namespace corten {

/// A value that a program was exported with, and the input that it is for.
struct NamedExample {
  /// Empty for a plain value, which is part of the program.
  std::string input;
  Pt2Example value;
};

/// One of the programs in an archive.
struct SavedProgramInfo {
  Pt2Versions versions;
  /// Its name is that of the program.
  EntryPointInfo interface;
  /// Operators, as torch prints them. There are no composites.
  OpCounts operations;
  /// Parameters, buffers and constants; tied ones count once.
  std::vector<WeightGroup> weights;
  /// Whether the file has their data, too.
  bool hasWeights = true;
  /// Whether run_decompositions() was called. Not known of a program that
  /// cannot be converted.
  std::optional<bool> isDecomposed;
  /// Why the program cannot be converted, as `corten convert` would say, if
  /// anything is known to be in the way.
  std::optional<std::string> problem;
  std::vector<NamedExample> examples;
  /// Why there are no example inputs, if the file has some.
  std::optional<std::string> examplesProblem;
};

struct ArchiveInfo {
  std::string path;
  uint64_t fileSize = 0;
  std::vector<SavedProgramInfo> programs;
};

/// Whether a path is that of an archive: NAME.pt2.
bool isArchivePath(llvm::StringRef path);

/// Reads all programs of an archive. Fails if the file is bad; a program that
/// only cannot be converted is described.
llvm::Expected<ArchiveInfo> describeArchive(llvm::StringRef path);

/// As data: what `corten info --json` prints. docs/cli.md describes the keys.
llvm::json::Object archiveJson(const ArchiveInfo &info);

/// For people.
void printArchive(const ArchiveInfo &info, llvm::raw_ostream &os);

} // namespace corten

#endif // CORTEN_INSPECT_ARCHIVE_H
