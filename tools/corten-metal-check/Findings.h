// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is wrong with a kernel, as far as a run of it shows. Findings of one
// kind at one place are one finding with a count.

#ifndef CORTEN_TOOLS_METALCHECK_FINDINGS_H
#define CORTEN_TOOLS_METALCHECK_FINDINGS_H

#include "runtime.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace corten::check {

struct Finding {
  /// "race", "out of bounds", …
  std::string kind;
  /// The tensor or the threadgroup variable; empty if it is about neither.
  std::string buffer;
  std::string message;
  /// An address in the kernel's code, or zero where `file` and `line` say it.
  uintptr_t pc = 0;
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
  /// The thread of the first instance, if there is one.
  bool hasThread = false;
  unsigned thread[3] = {};
  unsigned group[3] = {};
  unsigned long count = 1;
};

class Findings {
public:
  void add(Finding finding);
  /// From now on instances of what is known are not counted.
  void stopCounting() { isCounting = false; }
  bool isEmpty() const { return all.empty(); }
  /// One JSON array; addresses are relative to `base`.
  void print(std::FILE *out, uintptr_t base) const;

private:
  std::vector<Finding> all;
  bool isCounting = true;
};

} // namespace corten::check

#endif // CORTEN_TOOLS_METALCHECK_FINDINGS_H
