// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ShapeRules/CallShapes.h"

#include "ShapeRules/CheckedCall.h"

using namespace corten;
using namespace corten::shapes;
using llvm::ArrayRef;

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

llvm::Error corten::checkShapes(const Node &node, const ShapeRule &rule) {
  CheckedCall call(node);
  checkResultKinds(call);
  // Without a schema nothing is known of the arguments.
  if (call.hasFailed() ||
      (node.callee->parameters.empty() && !isPositional(*node.callee)))
    return call.takeError();
  if (rule.check)
    rule.check(call);
  else
    checkPattern(call, rule.pattern);
  return call.takeError();
}
