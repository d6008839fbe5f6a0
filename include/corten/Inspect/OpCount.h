// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often each operation occurs, by one rule for `corten ops`, `corten info`
// and the report of a conversion: an operation counts once wherever it stands,
// in regions too. Graphs are no operations, nor is what says where values come
// from (`debuginfo`), nor what stands in for calls that the user lowers.

#ifndef CORTEN_INSPECT_OPCOUNT_H
#define CORTEN_INSPECT_OPCOUNT_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace corten {

class Program;

struct OpCount {
  std::string name;
  size_t count = 0;
};

/// The operations of a program, most frequent first, equals by name.
struct OpCounts {
  struct Composite {
    /// As the declaration names it.
    std::string name;
    /// Its graphs.
    size_t instances = 0;
    size_t calls = 0;
    /// In all instances together.
    std::vector<OpCount> ops;

    size_t total() const;
  };

  /// Names without the prefix of the dialect. What is in composites is among
  /// `composites`.
  std::vector<OpCount> ops;
  /// By name.
  std::vector<Composite> composites;

  size_t total() const;
  /// `ops` and those of all composites together.
  std::vector<OpCount> everywhere() const;
  /// How many graphs each composite has.
  std::vector<OpCount> instances() const;
};

/// Whether a call of a composite counts as the one operation that it stands for
/// ("composite.layer_norm").
enum class CompositeCalls : uint8_t { Invocations, Collapsed };

OpCounts countOps(mlir::ModuleOp module, CompositeCalls calls);
/// Of an exported program: the calls, as torch prints their operators.
OpCounts countOps(const Program &program);

/// As a table with totals below.
void printOpCounts(const OpCounts &counts, llvm::raw_ostream &out);

/// One of two programs that are shown side by side.
struct NamedOpCounts {
  std::string path;
  OpCounts counts;
};

/// Side by side, with the differences; rows that differ have a '*'.
void printOpCounts(const NamedOpCounts &first, const NamedOpCounts &second,
                   llvm::raw_ostream &out);

/// {"ops": {name: count}, "composites": {name: {"instances": n, "ops": {…}}},
/// "total": n, "unique": n}
llvm::json::Value toJson(const OpCounts &counts);

} // namespace corten

#endif // CORTEN_INSPECT_OPCOUNT_H
