// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call that is being lowered: typed access to its arguments by schema name.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_ATENNODE_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_ATENNODE_H

#include "corten/Program/Program.h"

#include "llvm/ADT/SmallVector.h"

namespace corten {

class AtenNode {
public:
  explicit AtenNode(const Node &node) : node(node) {}

  const Node &get() const { return node; }
  operator const Node &() const { return node; }
  llvm::StringRef name() const { return node.name; }
  /// "add.Tensor".
  llvm::StringRef op() const { return node.callee->name; }

  const Argument &operator[](llvm::StringRef parameter) const {
    return node.argument(parameter);
  }
  /// The positional argument; for operators without a schema.
  const Argument &operator[](unsigned position) const {
    return node.arguments[position];
  }
  /// The schema has this parameter and the call gives it a value.
  bool has(llvm::StringRef parameter) const {
    const Argument *argument = node.findArgument(parameter);
    return argument && !argument->isNone();
  }

  /// For parameters whose schema type is `int` (never symbolic).
  int64_t integer(llvm::StringRef parameter) const {
    return node.argument(parameter).asInt();
  }
  /// For `float` and literal `Scalar` parameters.
  double number(llvm::StringRef parameter) const {
    return node.argument(parameter).asDouble();
  }
  bool flag(llvm::StringRef parameter) const {
    return node.argument(parameter).asInt() != 0;
  }
  llvm::StringRef string(llvm::StringRef parameter) const {
    return node.argument(parameter).asString();
  }
  llvm::ArrayRef<Argument> list(llvm::StringRef parameter) const {
    return node.argument(parameter).asList();
  }
  /// For `int[]` parameters. An absent optional list is empty.
  llvm::SmallVector<int64_t> integers(llvm::StringRef parameter) const {
    llvm::SmallVector<int64_t> result;
    if (has(parameter))
      for (const Argument &element : list(parameter))
        result.push_back(element.asInt());
    return result;
  }

  const ValueInfo &result(unsigned index = 0) const {
    return node.results[index];
  }
  size_t numResults() const { return node.results.size(); }

private:
  const Node &node;
};

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_ATENNODE_H
