// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call that is being lowered: typed access to its arguments by schema name.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_ATENNODE_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_ATENNODE_H

#include "corten/Program/Program.h"

#include "llvm/ADT/SmallVector.h"

namespace corten {

class Emitter;

/// Graphs can be edited, files can say anything, and what the export knows as a
/// number may be one that only a call knows. So no argument is what its schema
/// promises until an accessor has looked. One that finds something else reports
/// it, marks the emission as failed and returns a harmless value of the type
/// that was wanted: zero as an axis, one as a number, nothing as a list. The
/// lowering runs on with it, as it does after an operation that could not be
/// created, and whoever called it sees the mark. That keeps formulas readable,
/// which a failure to hand on at each of several hundred accesses would not,
/// and leaves no way to read an argument without the check.
class AtenNode {
public:
  AtenNode(const Node &node, Emitter &emit)
      : node(node), emit(emit), origin(node) {}
  /// A call that stands in for `caller` or for a part of it.
  AtenNode(const Node &node, Emitter &emit, const AtenNode &caller)
      : node(node), emit(emit), origin(caller.origin) {}

  const Node &get() const { return node; }
  /// The node of the program that this is, or that it stands in for.
  const Node &inProgram() const { return origin; }
  operator const Node &() const { return node; }
  llvm::StringRef name() const { return node.name; }
  /// "add.Tensor".
  llvm::StringRef op() const { return node.callee->name; }

  /// An argument as it is, to be looked at or passed on.
  const Argument &operator[](llvm::StringRef parameter) const;
  /// The positional argument; for operators without a schema. None for one that
  /// is not given.
  const Argument &operator[](unsigned position) const;
  /// The schema has this parameter and the call gives it a value.
  bool has(llvm::StringRef parameter) const {
    const Argument *argument = node.findArgument(parameter);
    return argument && !argument->isNone();
  }

  // Each takes the name of a parameter or an argument.

  /// An integer that is known; a bool counts as one.
  int64_t integer(const Argument &argument) const;
  int64_t integer(llvm::StringRef parameter) const {
    return integer((*this)[parameter]);
  }
  /// Any number that is known. For one that may be symbolic there is
  /// ScalarExpr.
  double number(const Argument &argument) const;
  double number(llvm::StringRef parameter) const {
    return number((*this)[parameter]);
  }
  bool flag(const Argument &argument) const;
  bool flag(llvm::StringRef parameter) const {
    return flag((*this)[parameter]);
  }
  llvm::StringRef string(llvm::StringRef parameter) const;
  ScalarType dtype(llvm::StringRef parameter) const;
  llvm::ArrayRef<Argument> list(const Argument &argument) const;
  llvm::ArrayRef<Argument> list(llvm::StringRef parameter) const {
    return list((*this)[parameter]);
  }
  const Graph &graph(const Argument &argument) const;
  /// For `int[]` parameters. An absent optional list is empty.
  llvm::SmallVector<int64_t> integers(llvm::StringRef parameter) const;
  /// What is known about an operand.
  const ValueInfo &info(const Argument &argument) const;
  const ValueInfo &info(llvm::StringRef parameter) const {
    return info((*this)[parameter]);
  }

  /// One of the axes of a tensor, counted from the first. A tensor without axes
  /// has one for this purpose.
  int64_t axis(const Argument &argument, int64_t rank) const;
  int64_t axis(llvm::StringRef parameter, int64_t rank) const {
    return axis((*this)[parameter], rank);
  }
  /// Those of a list.
  llvm::SmallVector<int64_t> axes(llvm::StringRef parameter,
                                  int64_t rank) const;
  /// One axis or a list of them; all where there is none. A tensor without axes
  /// has none to name.
  llvm::SmallVector<int64_t> axesOrAll(llvm::StringRef parameter,
                                       int64_t rank) const;

  const ValueInfo &result(unsigned index = 0) const {
    return node.results[index];
  }
  size_t numResults() const { return node.results.size(); }

private:
  const Node &node;
  Emitter &emit;
  const Node &origin;
};

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_ATENNODE_H
