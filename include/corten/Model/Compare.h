// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two models side by side: what `corten diff` prints. The matching is
// lib/GraphDiff's.

#ifndef CORTEN_MODEL_COMPARE_H
#define CORTEN_MODEL_COMPARE_H

#include "corten/Model/Model.h"

namespace corten {

struct CompareOptions {
  /// The graph to compare; empty for all.
  std::string graph;
  /// Whether the values of weights count, or only their types.
  bool compareWeights = true;
  /// Whether the names count that callers bind values by.
  bool compareNames = true;
  /// How many ops to list; all of them if not given.
  std::optional<size_t> maxItems;
};

/// A comparison. It does not need the models any more.
class Comparison {
public:
  /// Fails if a model lacks the graph that is asked for.
  static llvm::Expected<Comparison> make(Model &first, Model &second,
                                         const CompareOptions &options = {});
  ~Comparison();
  Comparison(Comparison &&) noexcept;
  Comparison &operator=(Comparison &&) noexcept;

  bool isSame() const;
  void print(llvm::raw_ostream &os) const;
  /// A page that needs nothing else.
  void printHtml(llvm::raw_ostream &os) const;
  llvm::json::Object json() const;

private:
  struct State;
  explicit Comparison(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace corten

#endif // CORTEN_MODEL_COMPARE_H
