// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ShapeRules/CallShapes.h"

#include "ShapeRules/CheckedCall.h"

#include "llvm/ADT/StringMap.h"

using namespace corten;
using namespace corten::shapes;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace {
struct Rule {
  StringRef pattern;
  void (*check)(CheckedCall &) = nullptr;
};
} // namespace

static const Rule *findRule(const Operator &op) {
  static const llvm::StringMap<Rule> rules = [] {
    llvm::StringMap<Rule> table;
#define SHAPES(key, pattern) table[key] = {pattern, nullptr};
#define COMPUTED(key, function) table[key] = {"", function};
#include "ShapeRules/CallShapes.def"
    return table;
  }();
  auto found = op.nameSpace == "aten"
                   ? rules.find(op.name)
                   : rules.find((op.nameSpace + "::" + op.name).str());
  return found == rules.end() ? nullptr : &found->second;
}

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

/// A call computes something; Python's operators compute one number.
static void checkResultKinds(CheckedCall &call) {
  using Kind = ValueInfo::Kind;
  ArrayRef<ValueInfo> results = call.node.results;
  StringRef nameSpace = call.node.callee->nameSpace;
  if (nameSpace == "_operator")
    call.require(results.size() == 1 && !results[0].isTensor(),
                 "the result is no number");
  if (nameSpace != "higher_order")
    call.require(!results.empty() && results[0].kind != Kind::None &&
                     results[0].kind != Kind::Other,
                 "there is no result");
}

std::string corten::findContradiction(const Node &node, bool isElementwise) {
  CheckedCall call(node);
  checkResultKinds(call);
  // The arguments of operators without a schema have no names.
  if (call.hasFailed() || node.callee->parameters.empty())
    return call.problem;
  checkNumbers(call);
  if (const Rule *rule = findRule(*node.callee)) {
    if (rule->check)
      rule->check(call);
    else
      checkPattern(call, rule->pattern);
  } else if (isElementwise) {
    checkBroadcast(call);
  }
  return call.problem;
}
