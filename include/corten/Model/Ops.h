// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often each op occurs in files: what `corten ops` prints. The counting is
// lib/Inspect's.

#ifndef CORTEN_MODEL_OPS_H
#define CORTEN_MODEL_OPS_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>
#include <vector>

namespace corten {

class Model;

/// The ops of one or more files: assets, programs as text, and `.pt2` archives,
/// whose operators are torch's.
class OpReport {
public:
  /// With `collapseComposites` the call of a composite counts as one op
  /// "composite.NAME".
  static llvm::Expected<OpReport> make(const std::vector<std::string> &paths,
                                       bool collapseComposites);
  /// Of a program that is open.
  static OpReport make(Model &model, bool collapseComposites);
  ~OpReport();
  OpReport(OpReport &&) noexcept;
  OpReport &operator=(OpReport &&) noexcept;

  /// A table; two files side by side, with the difference.
  void print(llvm::raw_ostream &os) const;
  llvm::json::Object json() const;

private:
  struct State;
  explicit OpReport(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace corten

#endif // CORTEN_MODEL_OPS_H
