// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often each op occurs in one or more programs, side by side: what
// `corten ops` prints.

#ifndef CORTEN_INSPECT_FREQUENCY_H
#define CORTEN_INSPECT_FREQUENCY_H

#include "corten/Inspect/Info.h"

#include <string>
#include <vector>

namespace corten {

/// The ops of one file.
struct OpFrequency {
  std::string path;
  /// Most frequent first.
  std::vector<OperationCount> operations;
  /// What composites are made of.
  std::vector<CompositeInfo> composites;

  uint64_t total() const;
};

/// As data. Two files are also subtracted: "delta" is the second less the
/// first, where they differ.
llvm::json::Object frequencyJson(const std::vector<OpFrequency> &files);

/// A table with a column for each file. Two files have a third with the
/// difference, and a star where there is one.
void printFrequency(const std::vector<OpFrequency> &files,
                    llvm::raw_ostream &os);

} // namespace corten

#endif // CORTEN_INSPECT_FREQUENCY_H
