// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program is, as plain data: entry points and their values, ops by kind,
// composites, weights by element type, versions. The command line, the C API
// and the Python module show it; nothing here needs MLIR to be read.

#ifndef CORTEN_INSPECT_INFO_H
#define CORTEN_INSPECT_INFO_H

#include "corten/Inspect/Compression.h"
#include "corten/Inspect/OpCount.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace corten {

/// One dimension of a value.
struct Dimension {
  /// None for one that is known only when the program runs.
  std::optional<int64_t> size;
  /// The sizes that a dynamic one may have, where the program says so.
  std::optional<int64_t> min;
  std::optional<int64_t> max;
};

/// An input, an output or a state of an entry point.
struct InterfaceValue {
  enum class Kind { Tensor, Image, Other };

  /// Empty for a value that callers cannot bind.
  std::string name;
  Kind kind = Kind::Other;
  /// "f32"; of an image its pixel format.
  std::string elementType;
  /// Of an image height and width.
  std::vector<Dimension> shape;
  /// As the program's text has it.
  std::string type;
};

/// A public graph.
struct EntryPointInfo {
  std::string name;
  std::vector<InterfaceValue> inputs;
  std::vector<InterfaceValue> outputs;
  /// What the program changes in place.
  std::vector<InterfaceValue> states;
};

/// The weights of one element type. A weight is a constant that lies outside
/// the program's text, or a tensor of floating-point numbers in it.
struct WeightGroup {
  std::string elementType;
  uint64_t count = 0;
  uint64_t elements = 0;
  /// As stored: a constant of one repeated value takes one element.
  uint64_t bytes = 0;
};

/// Numbers that loaders look at.
struct VersionInfo {
  /// Of metadata.json ("2.0").
  std::optional<std::string> asset;
  /// Of MLIR's bytecode.
  std::optional<uint64_t> bytecode;
  /// The date of the newest op, type or attribute (20260409).
  std::optional<uint64_t> dialect;
};

struct ProgramInfo {
  std::string path;
  std::vector<EntryPointInfo> entryPoints;
  /// Graphs that only other graphs call, composites included.
  uint64_t privateGraphs = 0;
  /// By the rules of `corten ops`: what composites are made of counts there.
  OpCounts operations;
  /// Largest first. Constants that share their memory count once.
  std::vector<WeightGroup> weights;
  /// How each weight is compressed, or why not, by the names of resources.
  CompressionReport compression;
  VersionInfo versions;

  /// Of metadata.json; empty where it says nothing.
  std::string producer;
  std::string author;
  std::string license;
  std::string description;
  std::string creationDate;
  llvm::json::Object creatorDefined;
  /// Bytes of the program's file; none for a program that is not in an asset.
  std::optional<uint64_t> fileSize;

  uint64_t weightBytes() const;
};

/// What can be said of a program by itself; the part that an asset adds is left
/// empty.
ProgramInfo describeProgram(mlir::ModuleOp module);

/// As data: what `corten info --json` prints. docs/cli.md describes the keys.
llvm::json::Object infoJson(const ProgramInfo &info);

/// For people.
void printInfo(const ProgramInfo &info, llvm::raw_ostream &os);

/// "f32[?, 3, 8, 8]", with the limits of dynamic dimensions where known:
/// "f32[1..64, 3]".
std::string describeValue(const InterfaceValue &value);

/// "1.5 MB".
std::string describeBytes(uint64_t bytes);
/// "1 tensor", "2 tensors".
std::string plural(uint64_t count, llvm::StringRef noun);

} // namespace corten

#endif // CORTEN_INSPECT_INFO_H
