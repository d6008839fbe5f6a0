// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Terminal.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten::tool;

/// To the start of the line, and erase it.
static constexpr const char *kEraseLine = "\r\033[K";

Progress::Progress() : isShown(llvm::sys::Process::StandardErrIsDisplayed()) {}

Progress::~Progress() {
  if (isShown)
    llvm::errs() << kEraseLine;
}

void Progress::show(const llvm::Twine &text) {
  if (isShown)
    llvm::errs() << kEraseLine << text;
}
