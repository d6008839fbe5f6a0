// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the weights of a module in the `coreai` dialect are compressed: for the
// report of a conversion, and for tools that look at a program. It reads types
// and operations, never the data, and changes nothing.

#ifndef CORTEN_INSPECT_COMPRESSION_H
#define CORTEN_INSPECT_COMPRESSION_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
class Operation;
class ShapedType;
} // namespace mlir

namespace corten {

struct CompressionReport {
  struct Compressed {
    std::string name;
    /// "si4 in blocks of [1, 32], zero points".
    std::string scheme;
    /// What it stands for, as printed ("tensor<64x64xf16>").
    std::string type;
    /// All of its parts: data, tables, scales, offsets, masks.
    size_t bytes = 0;
    /// As a plain constant of `type`.
    size_t denseBytes = 0;
    /// Its data alone, at the width of its elements.
    size_t idealBytes = 0;
    int64_t elements = 0;
  };
  struct Uncompressed {
    std::string name;
    std::string type;
    size_t bytes = 0;
    /// Why it is not compressed.
    std::string reason;
  };

  /// Both in the order of the module; a weight that is used twice counts once.
  std::vector<Compressed> compressed;
  std::vector<Uncompressed> uncompressed;
};

/// Looks at all graphs of `module`. `nameOf` gives the name of a constant that
/// is a weight; other constants are parts of the program.
CompressionReport inspectCompression(
    mlir::ModuleOp module,
    llvm::function_ref<std::optional<std::string>(mlir::Operation *)> nameOf);

/// A weight's path as the user knows it, from that of its data: without what
/// parametrizations and layers of compressors put between
/// ("l.parametrizations.weight.0.indices" is "l.weight").
std::string weightName(llvm::StringRef path);

/// Bytes that the elements of a tensor take in a program.
size_t storedBytes(mlir::ShapedType type);

} // namespace corten

#endif // CORTEN_INSPECT_COMPRESSION_H
