// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Terminal.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace corten::tool;

/// To the start of the line, and erase it.
static constexpr const char *kEraseLine = "\r\033[K";

/// Whether the terminal has a line that is to go away again.
static bool isLineThere = false;

Progress::Progress() : isShown(llvm::sys::Process::StandardErrIsDisplayed()) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (std::exchange(isLineThere, false))
    llvm::errs() << kEraseLine;
}

void Progress::show(const llvm::Twine &text) {
  if (!isShown)
    return;
  llvm::errs() << kEraseLine << text;
  isLineThere = true;
}

void Progress::show(const llvm::Twine &text, double fraction) {
  using namespace std::chrono_literals;
  auto now = std::chrono::steady_clock::now();
  if (!isShown || now - lastShown < 100ms)
    return;
  lastShown = now;
  constexpr unsigned kWidth = 24;
  std::string drawn = bar(fraction, kWidth);
  // Blocks have three bytes and one column.
  unsigned columns = 0;
  for (char c : drawn)
    columns += (c & 0xc0) != 0x80;
  llvm::errs() << kEraseLine << text << ' ' << drawn
               << std::string(kWidth - columns, ' ') << ' '
               << unsigned(100 * fraction) << " %";
  isLineThere = true;
}

std::string corten::tool::bar(double fraction, unsigned width) {
  static constexpr const char *kEighths[] = {"",  "▏", "▎", "▍",
                                             "▌", "▋", "▊", "▉"};
  auto eighths =
      unsigned(std::lround(std::clamp(fraction, 0.0, 1.0) * double(width) * 8));
  std::string result;
  for (unsigned i = 0; i != eighths / 8; ++i)
    result += "█";
  return result + kEighths[eighths % 8];
}
