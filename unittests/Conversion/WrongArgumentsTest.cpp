// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls with arguments of a kind that their schemas do not allow. The programs
// are the seeds of the convert fuzzer, which have every operator of the table;
// each argument of each call is replaced by one of every kind, behind the
// checks of whoever read the program.

#include "GraphReader.h"
#include "SchemaTable.h"

#include "corten/Conversion/AtenToCoreAI/Conversion.h"

#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace corten;
using namespace corten::pt2;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

/// What a conversion gave: a module, or a message.
struct Outcome {
  std::string module;
  std::string message;
};

static Outcome convertedText(const Program &program) {
  Outcome outcome;
  EntryPoint entry;
  entry.program = &program;
  llvm::Expected<std::unique_ptr<ConvertedModule>> converted =
      convert(entry, ConversionOptions());
  if (converted)
    llvm::raw_string_ostream(outcome.module) << *(*converted)->module;
  else
    outcome.message = llvm::toString(converted.takeError());
  return outcome;
}

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
    Argument text = Argument::string("wrong");
    Graph empty;
    // Some of these may be right: then it is only about not crashing.
    for (Argument argument :
         {Argument(), Argument::boolean(true), Argument::integer(7),
          Argument::integer(-1), Argument::floating(0.5),
          Argument::complex(&imaginary), Argument::list({}),
          Argument::list(Argument::integer(1)), values(node).first,
          values(node).second})
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

//===----------------------------------------------------------------------===//
// Calls of every operator
//===----------------------------------------------------------------------===//

namespace {
/// Something that makes a call of most operators valid.
struct Operand {
  ScalarType dtype;
  SmallVector<Size> shape;
  /// For each integer, and for how many of them a list is.
  int64_t integer;
  unsigned length;
};
} // namespace

static Argument argumentFor(const ParameterType &type, const Argument &tensor,
                            const Operand &operand, ProgramBuilder &builder) {
  auto one = [&]() -> Argument {
    switch (type.base) {
    case ParameterType::Base::Tensor:
      return tensor;
    case ParameterType::Base::Int:
      return Argument::integer(operand.integer);
    case ParameterType::Base::Float:
    case ParameterType::Base::Scalar:
      return isFloat(operand.dtype) ? Argument::floating(0.5)
                                    : Argument::integer(2);
    case ParameterType::Base::Bool:
      return Argument::boolean(false);
    case ParameterType::Base::String:
      return Argument::string("none");
    case ParameterType::Base::DType:
      return Argument::dtype(operand.dtype);
    case ParameterType::Base::Opaque:
    case ParameterType::Base::Any:
      return {};
    }
    return {};
  };
  if (!type.isList)
    return one();
  unsigned length = type.length ? type.length : operand.length;
  return Argument::list(builder.save(SmallVector<Argument>(length, one())));
}

/// A program of one call on tensors that are all the same.
static std::unique_ptr<Program> callOf(StringRef nameSpace, StringRef name,
                                       StringRef text, const Operand &operand) {
  ProgramBuilder builder;
  builder.setIsDecomposed(false);
  OperatorSchema schema = parseSchema(text, builder);
  ValueInfo info;
  info.kind = ValueInfo::Kind::Tensor;
  info.dtype = operand.dtype;
  info.sizes = builder.save(operand.shape);
  Node &input =
      builder.addNode(builder.mainGraph(), Node::Kind::Placeholder, "x");
  input.results = builder.save(info);
  InputSpec spec;
  spec.node = &input;
  builder.addInput(spec);
  Node &call = builder.addNode(builder.mainGraph(), Node::Kind::Call, "call");
  call.callee = builder.addOperator(nameSpace, name, schema.parameters,
                                    schema.mutates, schema.returnsView);
  SmallVector<Argument> arguments;
  for (auto [parameter, type] :
       llvm::zip_equal(schema.parameters, schema.types))
    arguments.push_back(
        parameter.hasDefault
            ? parameter.defaultValue
            : argumentFor(type, Argument::node(&input), operand, builder));
  call.arguments = builder.save(arguments);
  call.results = builder.save(
      SmallVector<ValueInfo>(std::max(schema.numResults, 1U), info));
  Argument result = Argument::node(&call);
  call.returnsTuple = schema.returnsList || schema.numResults > 1;
  if (call.returnsTuple) {
    Node &item = builder.addNode(builder.mainGraph(), Node::Kind::Call, "item");
    item.callee = builder.addOperator("_operator", "getitem", {});
    item.arguments = builder.save({result, Argument::integer(0)});
    item.results = call.results.take_front();
    result = Argument::node(&item);
  }
  builder.mainGraph().outputs.push_back(result);
  OutputSpec output;
  output.value = result;
  builder.addOutput(output);
  return builder.finish();
}

TEST(WrongArguments, OfEveryOperatorAreRefused) {
  const Operand operands[] = {
      {ScalarType::Float32, {2, 3}, 0, 2},
      {ScalarType::Int32, {2, 3}, 0, 2},
      {ScalarType::Bool, {2, 3}, 0, 2},
      {ScalarType::Float32, {2, 2}, 1, 2},
      {ScalarType::Float32, {1, 1, 4, 4}, 1, 2},
      {ScalarType::Float32, {1, 2, 4}, 1, 1},
      {ScalarType::Float32, {1, 1, 4, 4, 4}, 1, 3},
      {ScalarType::Float32, {4}, 1, 1},
      {ScalarType::Complex64, {2, 2}, 0, 2},
  };
  size_t count = 0, valid = 0;
  for (const SupportedOperator &each : supportedOperators(OperatorSet::All)) {
    auto [nameSpace, name] = StringRef(each.name).split("::");
    if (name.empty())
      std::tie(nameSpace, name) = std::pair(StringRef("aten"), nameSpace);
    StringRef text = findSchema(nameSpace, name);
    if (text.empty())
      continue;
    ++count;
    std::unique_ptr<Program> program;
    for (const Operand &operand : operands) {
      program = callOf(nameSpace, name, text, operand);
      if (convertedText(*program).module.empty())
        continue;
      ++valid;
      WrongArguments(*program).replaceAll();
      break;
    }
  }
  EXPECT_GT(count, 500U);
  EXPECT_GT(valid, 300U) << "of " << count;
}

TEST(WrongArguments, OfSeedsAreRefused) {
  auto seeds = llvm::MemoryBuffer::getFile(CORTEN_SEEDS);
  ASSERT_TRUE(bool(seeds));
  size_t count = 0;
  for (llvm::line_iterator line(**seeds); !line.is_at_eof(); ++line) {
    llvm::Expected<std::unique_ptr<Program>> program =
        readGraph(*line, /*maxWeightBytes=*/1 << 16, [](const Operator &op) {
          return !op.mutates && hasLowering(op.nameSpace, op.name);
        });
    if (!program) {
      // Some are there to be refused.
      llvm::consumeError(program.takeError());
      continue;
    }
    if (!findUnsupported(**program).empty())
      continue;
    WrongArguments(**program).replaceAll();
    ++count;
  }
  EXPECT_GT(count, 100U);
}
