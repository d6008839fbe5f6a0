// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a long command says meanwhile.

#ifndef CORTEN_TOOLS_CORTEN_TERMINAL_H
#define CORTEN_TOOLS_CORTEN_TERMINAL_H

#include "llvm/ADT/Twine.h"

namespace corten::tool {

/// One line on standard error that is written over and over, if somebody sits
/// before it; nothing in a file or a pipe. The line is gone when this is.
class Progress {
public:
  Progress();
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  void show(const llvm::Twine &text);

private:
  bool isShown;
};

} // namespace corten::tool

#endif // CORTEN_TOOLS_CORTEN_TERMINAL_H
