// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls with arguments of a kind that their schemas do not allow. The programs
// are a call of every operator of the table that one can be made up for, and
// the seeds of the convert fuzzer, whose calls hang together; each argument of
// each call is replaced by one of every kind, behind the checks of whoever read
// the program.

#include "OperatorCalls.h"

#include "SchemaTable.h"

#include "corten/Program/Calls.h"

#include <gtest/gtest.h>

using namespace corten;
using namespace corten::pt2;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

/// Visits the calls of a graph and of those in it.
static void forEachCall(const Graph &graph,
                        llvm::function_ref<void(const Node &)> visit) {
  for (const Node *node : graph.nodes) {
    if (node->kind != Node::Kind::Call)
      continue;
    visit(*node);
    for (const Argument &argument : node->arguments)
      if (argument.kind() == Argument::Kind::Graph)
        forEachCall(*argument.asGraph(), visit);
  }
}

namespace {
class WrongArguments {
public:
  explicit WrongArguments(Program &program)
      : program(program), right(convertedText(program)) {}

  void replaceAll() {
    if (right.module.empty())
      return;
    forEachCall(program.main, [&](const Node &node) { replaceIn(node); });
  }

private:
  void replaceIn(const Node &node) {
    std::vector<ParameterType> types;
    if (StringRef text = findSchema(node.callee->nameSpace, node.callee->name);
        !text.empty())
      types = parseSchema(text, builder).types;
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      bool isNumber = i < types.size() && !types[i].isList &&
                      (types[i].base == ParameterType::Base::Int ||
                       types[i].base == ParameterType::Base::Float ||
                       types[i].base == ParameterType::Base::Bool ||
                       types[i].base == ParameterType::Base::Scalar);
      StringRef name = i < node.callee->parameters.size()
                           ? node.callee->parameters[i].name
                           : StringRef("?");
      SCOPED_TRACE(node.callee->printedName() + ": " + name.str());
      replace(node, i, isNumber);
    }
  }

  Outcome convertWith(const Node &node, size_t place, Argument argument) {
    // Programs are not made to be changed, which is the point here.
    auto &changed = const_cast<Node &>(node);
    ArrayRef<Argument> old = node.arguments;
    SmallVector<Argument> arguments(old);
    arguments[place] = argument;
    changed.arguments = arguments;
    Outcome outcome = convertedText(program);
    changed.arguments = old;
    EXPECT_TRUE(!outcome.module.empty() || !outcome.message.empty());
    return outcome;
  }

  void replace(const Node &node, size_t place, bool isNumber) {
    std::complex<double> imaginary(0, 1);
    Argument text = Argument::string("wrong"), one = Argument::integer(1);
    Graph empty;
    // Some of these may be right: then it is only about not crashing.
    for (Argument argument :
         {Argument(), Argument::boolean(true), Argument::integer(7),
          Argument::integer(-1), Argument::floating(0.5),
          Argument::complex(&imaginary), Argument::list({}),
          Argument::list(one), values(node).first, values(node).second})
      convertWith(node, place, argument);
    // These are no numbers; where one is wanted they are refused, unless
    // nothing looks at it.
    for (Argument argument :
         {text, Argument::opaque("cpu"), Argument::dtype(ScalarType::Float16),
          Argument::list(text), Argument::graph(&empty)}) {
      Outcome outcome = convertWith(node, place, argument);
      if (!isNumber)
        continue;
      EXPECT_TRUE(outcome.module.empty() || outcome.module == right.module);
      if (outcome.module.empty())
        EXPECT_NE(outcome.message.find(node.name), std::string::npos)
            << outcome.message;
    }
  }

  /// A tensor and a symbolic number that there are before a node; None where
  /// there is none.
  std::pair<Argument, Argument> values(const Node &node) {
    std::pair<Argument, Argument> found;
    for (const Node *each : program.main.nodes) {
      if (each == &node)
        break;
      if (each->results.size() != 1)
        continue;
      if (each->info().isTensor())
        found.first = Argument::node(each);
      else if (each->info().kind == ValueInfo::Kind::SymInt)
        found.second = Argument::node(each);
    }
    return found;
  }

  Program &program;
  Outcome right;
  /// Holds the lists of schemas.
  ProgramBuilder builder;
};
} // namespace

TEST(WrongArguments, OfEveryOperatorAreRefused) {
  auto [valid, count] = forEachOperator(
      [](Program &program) { WrongArguments(program).replaceAll(); });
  EXPECT_GT(count, 500U);
  EXPECT_GT(valid, 300U) << "of " << count;
}

TEST(WrongArguments, OfSeedsAreRefused) {
  EXPECT_GT(forEachSeed(
                [](Program &program) { WrongArguments(program).replaceAll(); }),
            100U);
}

/// Their lowerings look at as many arguments as that says.
TEST(WrongArguments, FunctionsOnNumbersTakeAKnownNumberOfThem) {
  size_t count = 0;
  for (const SupportedOperator &each : supportedOperators(OperatorSet::All)) {
    if (each.family != "Symbolic" || each.name.contains('.'))
      continue;
    ++count;
    EXPECT_TRUE(numNumbers(each.name) || each.name == "sym_sum")
        << each.name.str();
  }
  EXPECT_GT(count, 40U);
}
