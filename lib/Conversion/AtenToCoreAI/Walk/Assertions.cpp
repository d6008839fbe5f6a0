// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program says that has to hold: `torch._check` of numbers that only a
// call knows, `torch._assert_async` of tensors, and bounds on sizes.

#include "Emission/DerivedOps.h"
#include "Walk/DebugRecorder.h"
#include "Walk/ProgramEmitter.h"

#include "corten/Dialect/Plan/IR/PlanDialect.h"

#include "llvm/ADT/SetVector.h"

using namespace corten;
using namespace mlir;

using Subjects = llvm::SmallSetVector<const Node *, 4>;

/// The numbers that a condition is computed from: what arithmetic begins with.
static void collectSubjects(ArrayRef<Argument> arguments, Subjects &subjects) {
  forEachOperand(arguments, [&](const Node *operand) {
    if (operand->callee && operand->callee->nameSpace == "_operator")
      collectSubjects(operand->arguments, subjects);
    else if (operand->results.size() == 1 &&
             operand->info().kind == ValueInfo::Kind::SymInt)
      subjects.insert(operand);
  });
}

/// What has to hold, from the message of an assertion: the expression, where
/// torch wrote the message.
static std::string requirement(StringRef message) {
  if (message.empty())
    return "something that the program requires does not hold";
  if (!message.consume_front("Runtime assertion failed for expression "))
    return ("the program requires: " + message).str();
  return ("the program requires " +
          message.take_front(message.rfind(" on node '")))
      .str();
}

namespace {
/// A condition with what to say where it does not hold; there is nothing to
/// check without one.
struct Assertion {
  Value condition;
  std::string message;
};
} // namespace

/// `_assert_scalar`, `_assert_async`: of a number, a truth value or a tensor.
static FailureOr<Assertion> assertionOf(const AtenNode &node, Emitter &emit,
                                        StringRef parameter,
                                        StringRef message) {
  FailureOr<Value> flag =
      node[parameter].isValue()
          ? emit.convert(emit.value(node[parameter]), emit.i1())
          : emit.operand(node, parameter, emit.i1());
  if (failed(flag))
    return failure();
  return Assertion{*flag, requirement(message)};
}

/// `sym_constrain_range`: bounds of a number, either of which may be open.
static FailureOr<Assertion> boundsOf(const AtenNode &node, Emitter &emit,
                                     StringRef name) {
  Assertion result;
  std::string text = name.str();
  Value size = emit.size(node["size"]);
  auto add = [&](Value holds) {
    result.condition =
        result.condition ? emit.logicalAnd(result.condition, holds) : holds;
  };
  if (node.has("min")) {
    add(greaterEqual(emit, size, emit.size(node["min"])));
    text = std::to_string(node.integer("min")) + " <= " + text;
  }
  if (node.has("max")) {
    add(greaterEqual(emit, emit.size(node["max"]), size));
    text += " <= " + std::to_string(node.integer("max"));
  }
  result.message = "the program requires " + text;
  return result;
}

StringRef ProgramEmitter::nameOfNumber(const Node &node) const {
  if (node.info().sizes.size() == 1 && node.info().sizes.front().isDynamic())
    return program->symbols[node.info().sizes.front().symbol()].expression;
  return node.name;
}

LogicalResult ProgramEmitter::emitAssertion(const Node &node) {
  if (mlir::failed(checkOperands(node)))
    return failure();
  AtenNode call(node, *this);
  StringRef name = node.callee->name;
  FailureOr<Assertion> assertion = Assertion();
  Subjects subjects;
  collectSubjects(node.arguments, subjects);
  if (name == "_assert_scalar.default")
    assertion = assertionOf(call, *this, "self", call.string("assert_msg"));
  else if (name == "_assert_async.default")
    assertion = assertionOf(call, *this, "self", "");
  else if (name == "_assert_async.msg")
    assertion = assertionOf(call, *this, "self", call.string("assert_msg"));
  else if (name.starts_with("sym_constrain_range") && !subjects.empty())
    assertion = boundsOf(call, *this, nameOfNumber(*subjects.front()));
  if (mlir::failed(assertion) || hasFailed())
    return failure();
  if (!assertion->condition)
    return success();
  SmallVector<StringRef> names;
  SmallVector<Value> values;
  for (const Node *subject : subjects) {
    names.push_back(nameOfNumber(*subject));
    values.push_back(value(Argument::node(subject)));
  }
  auto op = plan::AssertOp::create(builder, location, assertion->condition,
                                   builder.getStringAttr(assertion->message),
                                   builder.getStrArrayAttr(names), values);
  debug->recordNode(node, {}, op);
  return success();
}
