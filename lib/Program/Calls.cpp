// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Calls.h"

#include "corten/Program/Axis.h"
#include "corten/Program/Functionalize.h"
#include "corten/Program/Outline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSwitch.h"

using namespace corten;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Wrapper corten::wrapperOf(StringRef nameSpace, StringRef name) {
  if (nameSpace != "higher_order")
    return {};
  return llvm::StringSwitch<Wrapper>(name)
      // (token, operator, *arguments) -> (token, *results)
      .Case("with_effects", {2, 1, false})
      // (operator, **arguments) -> (*results, *new values)
      .Cases({"auto_functionalized", "auto_functionalized_v2"}, {1, 0, true})
      .Default({});
}

bool corten::isExpanded(StringRef higherOrder) {
  return higherOrder == "flex_attention" || higherOrder == "out_dtype";
}

StringRef corten::functionNamespace(StringRef module) {
  return llvm::StringSwitch<StringRef>(module)
      .Cases({"", "torch", "math", "builtins"}, "_operator")
      .Default(module);
}

Callee corten::addCallee(ProgramBuilder &builder, StringRef nameSpace,
                         StringRef name, std::optional<OperatorSchema> schema,
                         const Wrapper &wrapper) {
  // Without a schema the name is all there is to go by.
  bool mutates =
      schema ? schema->mutates : nameSpace == "aten" && functionalName(name);
  Callee callee;
  callee.op = builder.addOperator(
      nameSpace, name,
      schema ? ArrayRef(schema->parameters) : ArrayRef<Parameter>(),
      mutates && !wrapper.isFunctional, schema && schema->returnsView);
  callee.schema = std::move(schema);
  callee.wrapper = wrapper;
  return callee;
}

//===----------------------------------------------------------------------===//
// Calls of operators without a schema
//===----------------------------------------------------------------------===//

/// Which arguments a higher-order operator has, by position: g a graph, l a
/// list, b a bool, * anything. More may follow.
static StringRef formOf(StringRef higherOrder) {
  return llvm::StringSwitch<StringRef>(higherOrder)
      .Case("cond", "*ggl")
      .Case("while_loop", "ggll")
      .Case("scan", "glll")
      .Case("associative_scan", "gll")
      .Case("map_impl", "gll")
      .Case("wrap_with_set_grad_enabled", "*g")
      .Case("wrap_with_autocast", "**b*g")
      .Default("");
}

static bool hasForm(StringRef form, ArrayRef<Argument> arguments) {
  if (arguments.size() < form.size())
    return false;
  return llvm::all_of(llvm::zip(form, arguments), [](auto pair) {
    auto [wanted, argument] = pair;
    switch (wanted) {
    case 'g':
      return argument.kind() == Argument::Kind::Graph;
    case 'l':
      return argument.isList();
    case 'b':
      return argument.kind() == Argument::Kind::Bool;
    default:
      return true;
    }
  });
}

std::optional<unsigned> corten::numNumbers(StringRef function) {
  if (function.starts_with("_sym_"))
    return 1;
  return llvm::StringSwitch<std::optional<unsigned>>(function)
      .Cases({"abs", "ceil", "floor", "neg", "not_", "pos", "round"}, 1)
      .Cases({"sym_float", "sym_int", "sym_not", "trunc"}, 1)
      .Cases({"add", "sub", "mul", "truediv", "floordiv", "mod", "pow"}, 2)
      .Cases({"eq", "ne", "lt", "le", "gt", "ge"}, 2)
      .Cases({"and_", "or_", "xor", "lshift", "rshift"}, 2)
      .Cases({"sym_max", "sym_min"}, 2)
      .Case("sym_ite", 3)
      .Default(std::nullopt);
}

/// Whether a function of Python's takes these arguments. One that is not known
/// may take what it likes: it is not lowered.
static bool takesNumbers(StringRef function, ArrayRef<Argument> arguments) {
  if (function == "sym_sum") {
    if (arguments.size() != 1 || !arguments[0].isList())
      return false;
    arguments = arguments[0].asList();
  } else {
    std::optional<unsigned> count = numNumbers(function);
    if (!count)
      return true;
    // How many digits are kept is nobody's choice, or said besides.
    bool hasDigits = function == "round" && arguments.size() == 2;
    if (hasDigits && arguments[1].isNone())
      arguments = arguments.drop_back();
    else if (!hasDigits && arguments.size() != *count)
      return false;
  }
  return llvm::all_of(arguments, [](const Argument &argument) {
    return argument.isNumber() ||
           (argument.isValue() && !argument.asNode()->returnsTuple);
  });
}

/// Whether a call picks a result that there is.
static bool picksResult(const Node &call) {
  if (!isPick(call))
    return false;
  const Node &tuple = *call.arguments[0].asNode();
  return tuple.returnsTuple &&
         positionOf(call.arguments[1].asInt(), tuple.results.size());
}

/// Refuses calls of operators without a schema that are of no known form.
static llvm::Error checkForm(const Node &call) {
  const Operator &op = *call.callee;
  auto refuse = [&](const Twine &what) {
    return llvm::createStringError("call '" + call.name + "': " + what);
  };
  bool isFunction = op.nameSpace == "_operator";
  if (isFunction && op.name == "getitem")
    return picksResult(call) ? llvm::Error::success()
                             : refuse("a result that there is not");
  if ((isFunction && !takesNumbers(op.name, call.arguments)) ||
      (op.nameSpace == "higher_order" &&
       !hasForm(formOf(op.name), call.arguments)))
    return refuse("the arguments of " + op.printedName() +
                  " are of the wrong types");
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Functional forms of operators that write
//===----------------------------------------------------------------------===//

namespace {
/// The arguments of `auto_functionalized`. Its second version has a list of the
/// tensors that are written to, and says of each parameter that is one of them
/// which it is and, if not all of it, which part.
class FunctionalArguments {
public:
  explicit FunctionalArguments(ArrayRef<GivenArgument> given) : given(given) {}

  /// Takes an argument away, if it is there.
  std::optional<Argument> take(StringRef name) {
    auto *found = llvm::find_if(given, [&](const GivenArgument &argument) {
      return argument.name == name;
    });
    if (found == given.end())
      return std::nullopt;
    Argument value = found->value;
    given.erase(found);
    return value;
  }
  bool hasAny(StringRef prefix) const {
    return llvm::any_of(given, [&](const GivenArgument &argument) {
      return argument.name.starts_with(prefix);
    });
  }

  SmallVector<GivenArgument> given;
};
} // namespace

/// What the operator itself is given. Of the tensors that it writes to, each
/// has to be a whole one, and another.
static llvm::Expected<SmallVector<GivenArgument>>
ownArguments(StringRef call, const Callee &callee,
             ArrayRef<GivenArgument> given) {
  FunctionalArguments arguments(given);
  std::optional<Argument> bases = arguments.take("_all_bases");
  if (!bases || !bases->isList())
    return std::move(arguments.given);
  auto refuse = [&](const Twine &what) {
    return llvm::createStringError("call '" + call +
                                   "': " + callee.op->printedName() +
                                   " writes to " + what);
  };
  SmallVector<int64_t> taken;
  for (auto [parameter, type] :
       llvm::zip_equal(callee.schema->parameters, callee.schema->types)) {
    if (!type.isWritten)
      continue;
    std::string prefix = ("_" + parameter.name + "_").str();
    std::optional<Argument> base = arguments.take(prefix + "base_index");
    std::optional<Argument> alias = arguments.take(prefix + "alias");
    bool isWhole =
        !alias || alias->kind() != Argument::Kind::Bool || alias->asBool();
    if (!isWhole || arguments.hasAny(prefix))
      return refuse("'" + parameter.name +
                    "', which is a view of another tensor; call clone() on it "
                    "first and copy the result back");
    Argument tensor;
    if (base && base->isInt()) {
      taken.push_back(base->asInt());
      if (taken.back() >= 0 && size_t(taken.back()) < bases->asList().size())
        tensor = bases->asList()[taken.back()];
    }
    arguments.given.push_back({parameter.name, tensor});
  }
  if (!llvm::equal(taken, llvm::seq<int64_t>(0, bases->asList().size())))
    return refuse("one tensor through two names");
  return std::move(arguments.given);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

llvm::Expected<Node *> CallBuilder::add(Graph &graph, StringRef name,
                                        const Callee &callee,
                                        ArrayRef<GivenArgument> given) {
  SmallVector<GivenArgument> arguments(given);
  if (callee.wrapper.isFunctional && callee.schema) {
    llvm::Expected<SmallVector<GivenArgument>> own =
        ownArguments(name, callee, given);
    if (!own)
      return own.takeError();
    arguments = std::move(*own);
  }
  bool isPick = callee.op->nameSpace == "_operator" &&
                callee.op->name == "getitem" && arguments.size() == 2 &&
                arguments[0].value.isValue() && arguments[1].value.isInt();
  unsigned hidden = isPick ? numTokens.lookup(arguments[0].value.asNode()) : 0;
  if (hidden) {
    int64_t position = arguments[1].value.asInt();
    if (position >= 0 && position < hidden) {
      Node &token = builder.createNode(Node::Kind::Call, name);
      token.callee = callee.op;
      tokens.insert(&token);
      return &token;
    }
    arguments[1].value = Argument::integer(position - hidden);
  }
  Node &call = builder.addNode(graph, Node::Kind::Call, name);
  call.callee = callee.op;
  if (callee.wrapper.numTokens)
    numTokens[&call] = callee.wrapper.numTokens;
  if (llvm::Error error = setArguments(
          builder, call, callee.schema ? &*callee.schema : nullptr, arguments))
    return error;
  if (llvm::Error error = checkForm(call))
    return error;
  return &call;
}

/// What a schema says that a call returns: "2 values".
static std::string describeResults(const OperatorSchema &schema) {
  if (schema.returnsList)
    return "a list";
  if (schema.numResults == 0)
    return "nothing";
  return std::to_string(schema.numResults) +
         (schema.numResults == 1 ? " value" : " values");
}

/// What torch recorded that a call returns.
static std::string describeResults(ArrayRef<ValueInfo> results,
                                   bool returnsTuple) {
  if (returnsTuple)
    return "a list of " + std::to_string(results.size());
  return results.empty() ? "nothing" : "one value";
}

/// Whether a call may return so many values, in a list or not.
static bool fitsCount(const OperatorSchema &schema, ArrayRef<ValueInfo> results,
                      bool returnsTuple) {
  if (schema.returnsList)
    return returnsTuple;
  if (schema.numResults == 0)
    return llvm::all_of(results, [](const ValueInfo &info) {
      return info.kind == ValueInfo::Kind::None;
    });
  return results.size() == schema.numResults &&
         returnsTuple == (schema.numResults > 1);
}

/// Holds what torch recorded against the schema. Graphs can be edited, and a
/// file may say anything.
static llvm::Error checkResults(const Node &call, const Callee &callee,
                                ArrayRef<ValueInfo> results,
                                bool returnsTuple) {
  // What calls others has results of its own among theirs.
  if (!callee.schema || callee.wrapper.numArguments)
    return llvm::Error::success();
  const OperatorSchema &schema = *callee.schema;
  auto refuse = [&](const Twine &what, const Twine &instead) {
    return llvm::createStringError("call '" + call.name +
                                   "': " + callee.op->printedName() +
                                   " returns " + what + ", and not " + instead);
  };
  if (!fitsCount(schema, results, returnsTuple))
    return refuse(describeResults(schema),
                  describeResults(results, returnsTuple));
  for (auto [position, info] : llvm::enumerate(results)) {
    if (schema.results.empty())
      break;
    ParameterType type = schema.results[schema.returnsList ? 0 : position];
    // The elements of the only result.
    if (schema.returnsList)
      type.isList = false;
    if (!type.isResult(info))
      return info.isTensor() ? refuse("something else", "a tensor")
                             : refuse("a tensor", "something else");
  }
  return llvm::Error::success();
}

llvm::Error CallBuilder::setResults(Node &call, const Callee &callee,
                                    ArrayRef<ValueInfo> results,
                                    bool returnsTuple) {
  if (llvm::Error error = checkResults(call, callee, results, returnsTuple))
    return error;
  static const ValueInfo kNothing;
  if (results.empty() && !returnsTuple)
    results = kNothing;
  size_t hidden = std::min<size_t>(numTokens.lookup(&call), results.size());
  call.results = builder.save(results.drop_front(hidden));
  call.returnsTuple = returnsTuple;
  return llvm::Error::success();
}

void CallBuilder::setOutputs(Graph &graph, ArrayRef<Argument> values) {
  llvm::copy_if(values, std::back_inserter(graph.outputs),
                [&](const Argument &value) {
                  return !value.isValue() || !isToken(*value.asNode());
                });
}
