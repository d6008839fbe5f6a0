// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights may be larger than the memory of the machine: they then lie in mapped
// files. Whoever reads them from front to back tells a window, and what has
// gone through it is not kept in memory for it.

#ifndef CORTEN_SUPPORT_READWINDOW_H
#define CORTEN_SUPPORT_READWINDOW_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace corten {

/// Bytes that were read and are not needed soon. Those that are pages of a
/// mapped file are given back when a window full of them has come together; the
/// next access reads them from the file again. Nothing is lost: pages that
/// somebody wrote to, and memory that is in no file, stay as they are. A model
/// that fits into one window is left alone.
class ReadWindow {
public:
  /// How much may be in memory.
  static constexpr size_t kSize = size_t(128) << 20;
  /// How much is best read between two calls of passed().
  static constexpr size_t kStep = size_t(16) << 20;

  /// What a look at one place brings into memory, at most: the kernel reads
  /// what is around it as well.
  static constexpr size_t kLook = size_t(128) << 10;

  ReadWindow() = default;
  ReadWindow(const ReadWindow &) = delete;
  ReadWindow &operator=(const ReadWindow &) = delete;
  ~ReadWindow();

  /// `bytes` are read soon: the kernel may fetch them from the disk meanwhile.
  /// That brings none of them into the memory of the process.
  static void announce(llvm::StringRef bytes);

  /// All of `bytes` were read.
  void passed(llvm::StringRef bytes) { passed(bytes, bytes.size()); }
  /// Some of `bytes` were read, which has brought about `resident` into memory.
  void passed(llvm::StringRef bytes, size_t resident);
  /// What has passed is given back, however little that is.
  void giveBack();

private:
  llvm::SmallVector<llvm::StringRef, 16> pending;
  size_t size = 0;
  /// Something was given back: so is the rest in the end.
  bool isLarge = false;
};

} // namespace corten

#endif // CORTEN_SUPPORT_READWINDOW_H
