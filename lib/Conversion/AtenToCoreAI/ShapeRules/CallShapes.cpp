// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ShapeRules/CallShapes.h"

#include "ShapeRules/CheckedCall.h"

using namespace corten;
using namespace corten::shapes;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

/// Numbers that lowerings compute with themselves are literals.
static void checkNumbers(CheckedCall &call) {
  constexpr StringRef kLiterals[] = {
      "correction", "eps",       "initial", "input_scale",    "lambd",
      "lower",      "max_val",   "min_val", "negative_slope", "ord",
      "p",          "threshold", "upper"};
  auto [op, overload] = call.node.callee->name.split('.');
  SmallVector<StringRef> names;
  llvm::append_range(names, kLiterals);
  if (op == "elu" || op == "celu" || op == "softplus")
    names.append({"alpha", "beta", "scale"});
  else if (op == "addcmul" || op == "addcdiv")
    names.append({"value"});
  else if (op == "histc")
    names.append({"min", "max"});
  for (StringRef name : names)
    call.require(!call.has(name) || call.node.argument(name).isNumber(),
                 "'" + name + "' is no number");
}

/// A call computes something.
static void checkResultKinds(CheckedCall &call) {
  using Kind = ValueInfo::Kind;
  ArrayRef<ValueInfo> results = call.node.results;
  if (call.node.callee->nameSpace != "higher_order")
    call.require(!results.empty() && results[0].kind != Kind::None &&
                     results[0].kind != Kind::Other,
                 "there is no result");
}

/// The arguments of Python's functions and of torch's higher-order operators
/// have no names, and their rules ask for none.
static bool isPositional(const Operator &op) {
  return op.nameSpace == "_operator" || op.nameSpace == "higher_order";
}

std::string corten::findContradiction(const Node &node, const ShapeRule &rule) {
  CheckedCall call(node);
  checkResultKinds(call);
  // Without a schema nothing is known of the arguments.
  if (call.hasFailed() ||
      (node.callee->parameters.empty() && !isPositional(*node.callee)))
    return call.problem;
  checkNumbers(call);
  if (rule.check)
    rule.check(call);
  else
    checkPattern(call, rule.pattern);
  return call.problem;
}
