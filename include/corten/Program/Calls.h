// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of a program, from those that torch records: a front door hands over
// what is called with what, and which results torch says it has. Calls that
// torch wraps, to order or to functionalize them, become calls of the operator
// inside.

#ifndef CORTEN_PROGRAM_CALLS_H
#define CORTEN_PROGRAM_CALLS_H

#include "corten/Program/Arguments.h"
#include "corten/Program/OperatorSchema.h"
#include "corten/Program/Program.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace corten {

/// How an operator of torch's calls another one, which is given to it.
struct Wrapper {
  /// Its first arguments, which are not those of the call: the operator that is
  /// called is the last of them. 0 for an operator that calls none.
  unsigned numArguments = 0;
  /// Its first results, which are not those of the call: tokens, which put
  /// calls into an order.
  unsigned numTokens = 0;
  /// What the operator writes to, the call returns behind its results.
  bool isFunctional = false;
};
Wrapper wrapperOf(llvm::StringRef nameSpace, llvm::StringRef name);

/// Whether a higher-order operator stands for a graph that only torch can make:
/// it is lowered as a call of that, which is its first argument.
bool isExpanded(llvm::StringRef higherOrder);

/// The namespace of a function of the Python module `module`: those that
/// compute with numbers have one, wherever Python has them.
llvm::StringRef functionNamespace(llvm::StringRef module);

/// How many numbers a function of that namespace takes; nothing for one that is
/// not known, or takes a list.
std::optional<unsigned> numNumbers(llvm::StringRef function);

/// What is called, with what is known of its calls.
struct Callee {
  const Operator *op = nullptr;
  /// Nothing for an operator of which only the name is known.
  std::optional<OperatorSchema> schema;
  /// By which it is called, if by any.
  Wrapper wrapper;
};
Callee addCallee(ProgramBuilder &builder, llvm::StringRef nameSpace,
                 llvm::StringRef name,
                 std::optional<OperatorSchema> schema = std::nullopt,
                 const Wrapper &wrapper = {});

/// Adds the calls of one program.
class CallBuilder {
public:
  explicit CallBuilder(ProgramBuilder &builder) : builder(builder) {}

  /// Adds a call; `given` is without the first arguments of a wrapper. What
  /// picks a token from its results becomes a node that is in no graph. Fails
  /// as setArguments() does, for a wrapped operator that writes to a part of a
  /// tensor, and for one without a schema if it cannot be given that: a pick of
  /// a result that there is not, a higher-order operator without its graphs.
  llvm::Expected<Node *> add(Graph &graph, llvm::StringRef name,
                             const Callee &callee,
                             llvm::ArrayRef<GivenArgument> given);
  /// Says which results torch recorded for a call of `callee`, those of a
  /// wrapper too; none are one that is not there. Fails for those that no
  /// operator with this schema returns: of another number or kind, a list in
  /// place of a value.
  llvm::Error setResults(Node &call, const Callee &callee,
                         llvm::ArrayRef<ValueInfo> results, bool returnsTuple);
  bool isToken(const Node &node) const { return tokens.contains(&node); }
  /// What a graph returns as torch has it, tokens too.
  void setOutputs(Graph &graph, llvm::ArrayRef<Argument> values);

private:
  ProgramBuilder &builder;
  /// How many tokens there are in front of the results of a call.
  llvm::DenseMap<const Node *, unsigned> numTokens;
  llvm::DenseSet<const Node *> tokens;
};

} // namespace corten

#endif // CORTEN_PROGRAM_CALLS_H
