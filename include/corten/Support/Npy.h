// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of NumPy, with one array each or with several.

#ifndef CORTEN_SUPPORT_NPY_H
#define CORTEN_SUPPORT_NPY_H

#include "corten/Support/Bytes.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <utility>
#include <vector>

namespace corten {

/// An array in a mapped file.
struct NpyArray {
  /// Without the byte order: "f4", "i8", "b1".
  std::string type;
  std::vector<int64_t> shape;
  /// The first axis is the innermost.
  bool isFortranOrder = false;
  SharedBytes elements;
};

/// Reads the array of a file. Whatever it holds, this is an array or an error.
llvm::Expected<NpyArray> readNpy(llvm::StringRef path);

/// The arrays of a file NAME.npz, each with its name.
llvm::Expected<std::vector<std::pair<std::string, NpyArray>>>
readNpz(llvm::StringRef path);

/// An array to write: elements in row-major order.
struct NpyContent {
  std::string name;
  /// As NumPy writes it: "<f4".
  std::string type;
  std::vector<int64_t> shape;
  llvm::ArrayRef<char> elements;
};

/// Writes a file NAME.npz.
void writeNpz(llvm::raw_ostream &os, llvm::ArrayRef<NpyContent> arrays);

/// Writes elements in row-major order.
void writeNpy(llvm::raw_ostream &os, llvm::StringRef type,
              llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<char> elements);

} // namespace corten

#endif // CORTEN_SUPPORT_NPY_H
