// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors from files and to files, for the commands that run models.

#ifndef CORTEN_TOOLS_CORTEN_ARRAYS_H
#define CORTEN_TOOLS_CORTEN_ARRAYS_H

#include "corten/Runtime/Model.h"
#include "corten/Support/Npy.h"

#include <random>

namespace corten::tool {

/// Elements and a view of them.
struct Owned {
  /// Uninitialized memory, where the engine takes it as it is.
  Owned(runtime::ElementType type, llvm::ArrayRef<int64_t> shape);

  std::shared_ptr<char> memory;
  runtime::Tensor tensor;

  size_t numBytes() const;
};

/// How images become inputs of floats.
struct ImageOptions {
  /// One for each channel, or one for all; none: 0 and 1.
  std::vector<double> mean;
  std::vector<double> deviation;
};

/// Where an input comes from, and the shape that the user says it has, if any.
struct InputSource {
  /// FILE.npy, FILE.npz, raw:FILE, or an image.
  std::string text;
  std::string shape;
};

/// An input from a file, as the parameter wants it: integers and floats are
/// converted.
llvm::Expected<Owned> readInput(const InputSource &source,
                                const runtime::Parameter &parameter,
                                const ImageOptions &images);

/// A tensor as the parameter wants it; `where` is for messages.
llvm::Expected<Owned> convert(const runtime::Tensor &from,
                              llvm::StringRef where,
                              const runtime::Parameter &parameter);
llvm::Expected<Owned> convert(const NpyArray &array, llvm::StringRef where,
                              const runtime::Parameter &parameter);

/// Random elements: floats as a network sees them, small whole numbers, which
/// are indices most of the time.
Owned randomInput(const runtime::Parameter &parameter,
                  llvm::ArrayRef<int64_t> shape, std::mt19937 &random);

/// The shape of an input that nobody gives: fixed, or as the user says.
llvm::Expected<std::vector<int64_t>>
shapeFor(const runtime::Parameter &parameter, llvm::StringRef given);

/// A tensor that is to be written.
struct NamedTensor {
  llvm::StringRef name;
  runtime::Tensor tensor;
};
/// Writes all of them to NAME.npz.
llvm::Error writeArchive(llvm::ArrayRef<NamedTensor> tensors,
                         llvm::StringRef path);
/// Writes one to FILE.npy, or its elements alone to raw:FILE.
llvm::Error writeTensor(const runtime::Tensor &tensor, llvm::StringRef path);

/// The elements in row-major order; a complex one is two.
std::vector<double> numbersOf(const runtime::Tensor &tensor);

} // namespace corten::tool

#endif // CORTEN_TOOLS_CORTEN_ARRAYS_H
