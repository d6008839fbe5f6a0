// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments of kinds that their schemas do not allow, in programs that write:
// each operator that torch has is called on something, the result is written
// to, and functionalize() and the passes behind it see every argument replaced
// by one of every kind.

#include "OperatorCalls.h"

#include "SchemaTable.h"

#include "corten/Program/Functionalize.h"

#include <gtest/gtest.h>

using namespace corten;
using namespace corten::pt2;
using llvm::SmallVector;
using llvm::StringRef;

/// "aten", "add_.Tensor" of "aten::add_.Tensor(Tensor(a!) self, …".
static std::pair<StringRef, std::string> nameOf(StringRef schema) {
  auto [nameSpace, name] = schema.split('(').first.split("::");
  return {nameSpace,
          name.contains('.') ? name.str() : (name + ".default").str()};
}

/// copy_(self=`target`, src=`target`)
static void addWrite(ProgramBuilder &builder, const Node &target) {
  OperatorSchema schema =
      parseSchema(findSchema("aten", "copy_.default"), builder);
  Node &write = builder.addNode(builder.mainGraph(), Node::Kind::Call, "write");
  write.callee = builder.addOperator("aten", "copy_.default", schema.parameters,
                                     schema.mutates, schema.returnsView);
  write.arguments =
      builder.save({Argument::node(&target), Argument::node(&target),
                    Argument::boolean(false)});
  write.results = target.results;
}

/// Arguments of every kind; those of values are of the program.
static SmallVector<Argument> allKinds(const Node &value, const Graph &graph) {
  static const std::complex<double> imaginary(0, 1);
  static const Argument text = Argument::string("wrong");
  static const Argument one = Argument::integer(1);
  return {Argument(),
          Argument::boolean(true),
          Argument::integer(-1),
          Argument::integer(INT64_MAX),
          Argument::floating(0.5),
          Argument::complex(&imaginary),
          text,
          Argument::opaque("cpu"),
          Argument::dtype(ScalarType::Float16),
          Argument::list({}),
          Argument::list(one),
          Argument::list(text),
          Argument::graph(&graph),
          Argument::node(&value)};
}

/// What becomes of a program that writes to what a call returns; the argument
/// at `place`, if there is one, is of kind `kind`. False if it has fewer.
static bool rewrite(StringRef schema, unsigned place, unsigned kind) {
  auto [nameSpace, name] = nameOf(schema);
  ProgramBuilder builder;
  Node &call = addCallOf(builder, {nameSpace, name, schema},
                         {ScalarType::Float32, {2, 3}, 0, 2});
  if (place >= call.arguments.size())
    return false;
  SmallVector<Argument> arguments(call.arguments);
  const Graph &empty = builder.addSubgraph("empty");
  arguments[place] = allKinds(*builder.mainGraph().nodes.front(), empty)[kind];
  call.arguments = builder.save(arguments);
  addWrite(builder, *builder.mainGraph().nodes.back());
  if (functionalize(builder))
    return true;
  llvm::Expected<std::unique_ptr<Program>> program = builder.finish();
  if (!program)
    llvm::consumeError(program.takeError());
  return true;
}

TEST(WrongWrites, OfEveryOperatorAreNoHarm) {
  size_t count = 0;
  for (StringRef schema : allSchemas())
    for (unsigned place = 0; rewrite(schema, place, 0); ++place)
      for (unsigned kind = 1; kind < 14; ++kind)
        count += rewrite(schema, place, kind);
  EXPECT_GT(count, 50000U);
}

/// wrap_with_autocast(device, dtype, enabled, cache, graph)
TEST(WrongWrites, OnlyAFalseTurnsCastsOff) {
  for (unsigned kind = 0; kind < 15; ++kind) {
    ProgramBuilder builder;
    Graph &region = builder.addSubgraph("region");
    Node &x =
        builder.addNode(builder.mainGraph(), Node::Kind::Placeholder, "x");
    InputSpec spec;
    spec.node = &x;
    builder.addInput(spec);
    Node &call = builder.addNode(builder.mainGraph(), Node::Kind::Call, "call");
    call.callee = builder.addOperator("higher_order", "wrap_with_autocast", {});
    Argument enabled =
        kind == 14 ? Argument::boolean(false) : allKinds(x, region)[kind];
    call.arguments = builder.save({Argument::string("cpu"), Argument(), enabled,
                                   Argument(), Argument::graph(&region)});
    std::optional<Obstacle> obstacle = functionalize(builder);
    EXPECT_EQ(!obstacle.has_value(), kind == 14) << kind;
  }
}
