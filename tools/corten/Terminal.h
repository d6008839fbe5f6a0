// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a long command says meanwhile.

#ifndef CORTEN_TOOLS_CORTEN_TERMINAL_H
#define CORTEN_TOOLS_CORTEN_TERMINAL_H

#include "llvm/ADT/Twine.h"

#include <chrono>
#include <string>

namespace corten::tool {

/// One line on standard error that is written over and over, if somebody sits
/// before it; nothing in a file or a pipe. The line is gone when this is, or
/// when something is to be printed that stays.
class Progress {
public:
  Progress();
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Whether somebody sits before it.
  bool isWanted() const { return isShown; }

  void show(const llvm::Twine &text);
  /// With a bar that says how much of something is done. May be called often.
  void show(const llvm::Twine &text, double fraction);

  /// Takes away the line, whoever shows it: a terminal has one.
  static void clear();

private:
  bool isShown;
  std::chrono::steady_clock::time_point lastShown;
};

/// A bar of `width` columns that is filled so far, in eighths of a column.
std::string bar(double fraction, unsigned width);

} // namespace corten::tool

#endif // CORTEN_TOOLS_CORTEN_TERMINAL_H
