// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every tensor of the program is a place: either memory of its own, or a view
// of another place. Memory has a value and a version, which a write increases.
// A view remembers its value and the version that this belongs to; when it is
// read at a later version, the view operator is applied again to the current
// value of what it is a view of. A write to a view is a write to the place
// below, of that place's value with the written part replaced.

#ifndef CORTEN_LIB_PROGRAM_FUNCTIONALIZER_H
#define CORTEN_LIB_PROGRAM_FUNCTIONALIZER_H

#include "corten/Program/Functionalize.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

#include <optional>
#include <utility>
#include <vector>

namespace corten {

/// Rewrites one graph; the regions that dissolve into it are part of it.
class Functionalizer {
public:
  Functionalizer(ProgramBuilder &builder, Graph &graph, bool isMain)
      : builder(builder), graph(graph), isMain(isMain) {}

  std::optional<Obstacle> run();

private:
  struct Memory {
    const Node *value;
    unsigned version = 0;
    /// The placeholder that it belongs to, if any.
    const Node *placeholder = nullptr;
    /// An operator that made a view of it, or made it a view, in a way that is
    /// not known: it must not be written to.
    const Node *unknownView = nullptr;
  };
  struct Place {
    unsigned memory;
    /// The place that this is a view of, by which operator, and which of its
    /// results.
    std::optional<unsigned> base;
    const Node *view = nullptr;
    size_t piece = 0;
    const Node *value = nullptr;
    unsigned version = 0;
  };
  /// Several views of one place, at the version that they were made of; without
  /// a base their relation to it is not known.
  struct Views {
    std::optional<unsigned> base;
    unsigned version = 0;
  };
  /// False once there is an obstacle.
  using Status = bool;

  Status fail(const Node &node, const llvm::Twine &reason) {
    obstacle = Obstacle{&node, reason.str()};
    return false;
  }

  // The walk.
  Status rewrite(llvm::ArrayRef<const Node *> nodes);
  Status rewriteCall(const Node *node);
  Status rewriteView(const Node *node);
  Status rewriteUnknownView(const Node *node);
  Status rewriteGetitem(const Node *node);
  Status rewriteInPlace(const Node *node);
  Status rewriteBatchNorm(const Node *node);
  Status dissolve(const Node *node);
  Status rewriteSubgraphs(const Node &node);
  void writeOutputs();
  void dropDead();

  // Places.
  unsigned placeOf(const Node *node);
  unsigned addView(unsigned base, const Node *view, size_t piece,
                   const Node *value);
  const Node *current(unsigned place);
  Status write(const Node *by, const Node *target, const Node *value);
  const Node *replacePart(const Node *by, const Place &part, const Node *whole,
                          const Node *value);

  // Arguments and nodes.
  Argument resolve(Argument argument) const;
  Argument currentOf(const Argument &argument);
  void updateArguments(const Node *node);
  Node &create(const Node &like, llvm::StringRef name,
               llvm::ArrayRef<std::pair<llvm::StringRef, Argument>> arguments,
               llvm::ArrayRef<ValueInfo> results);
  Node &createGetitem(const Node &like, const Node &tuple, size_t piece);
  Node &applyAgain(const Place &place, const Node *operand);
  llvm::ArrayRef<Argument> integers(llvm::ArrayRef<int64_t> values);
  llvm::StringRef uniqueName(llvm::StringRef base);

  ProgramBuilder &builder;
  Graph &graph;
  bool isMain;
  std::vector<const Node *> rewritten;
  std::vector<Memory> memories;
  std::vector<Place> places;
  llvm::DenseMap<const Node *, unsigned> placeOfNode;
  llvm::DenseMap<const Node *, Views> viewsOfNode;
  /// Nodes that stand for something else: placeholders of a dissolved region,
  /// and the results picked from it.
  llvm::DenseMap<const Node *, Argument> substitutes;
  llvm::DenseMap<const Node *, std::vector<Argument>> dissolvedResults;
  llvm::DenseSet<const Graph *> dissolved;
  llvm::StringMap<const Operator *> operators;
  llvm::StringSet<> names;
  llvm::StringMap<unsigned> lastSuffix;
  std::optional<Obstacle> obstacle;
};

} // namespace corten

#endif // CORTEN_LIB_PROGRAM_FUNCTIONALIZER_H
