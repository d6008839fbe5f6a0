// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OperatorCalls.h"

#include "GraphReader.h"
#include "SchemaTable.h"

#include "corten/Asset/Translation.h"
#include "corten/Support/DiagnosticError.h"

#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace corten;
using namespace corten::pt2;
using llvm::SmallVector;
using llvm::StringRef;

Outcome corten::convertedText(const Program &program) {
  Outcome outcome;
  EntryPoint entry;
  entry.program = &program;
  llvm::Expected<std::unique_ptr<ConvertedModule>> converted =
      convert(entry, ConversionOptions());
  if (!converted) {
    outcome.message = llvm::toString(converted.takeError());
    return outcome;
  }
  llvm::raw_string_ostream(outcome.module) << *(*converted)->module;
  // What assets cannot hold is a diagnostic.
  DiagnosticError diagnostic((*converted)->module->getContext());
  (void)exportProgram(*(*converted)->module);
  return outcome;
}

//===----------------------------------------------------------------------===//
// Calls of every operator
//===----------------------------------------------------------------------===//

/// What one call of most operators or another is valid with.
static const Operand kOperands[] = {
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

Node &corten::addCallOf(ProgramBuilder &builder, const OperatorText &op,
                        const Operand &operand) {
  builder.setIsDecomposed(false);
  OperatorSchema schema = parseSchema(op.schema, builder);
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
  call.callee = builder.addOperator(op.nameSpace, op.name, schema.parameters,
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
  return call;
}

OperatorText corten::textOf(const SupportedOperator &op) {
  auto [nameSpace, name] = StringRef(op.name).split("::");
  if (name.empty())
    std::tie(nameSpace, name) = std::pair(StringRef("aten"), nameSpace);
  return {nameSpace, name, findSchema(nameSpace, name)};
}

std::pair<size_t, size_t>
corten::forEachOperator(llvm::function_ref<void(Program &)> visit) {
  size_t count = 0, valid = 0;
  for (const SupportedOperator &each : supportedOperators(OperatorSet::All)) {
    OperatorText op = textOf(each);
    if (op.schema.empty())
      continue;
    ++count;
    for (const Operand &operand : kOperands) {
      ProgramBuilder builder;
      addCallOf(builder, op, operand);
      std::unique_ptr<Program> program = llvm::cantFail(builder.finish());
      if (convertedText(*program).module.empty())
        continue;
      ++valid;
      visit(*program);
      break;
    }
  }
  return {valid, count};
}

size_t corten::forEachSeed(llvm::function_ref<void(Program &)> visit) {
  auto seeds = llvm::MemoryBuffer::getFile(CORTEN_SEEDS);
  if (!seeds)
    return 0;
  size_t count = 0;
  for (llvm::line_iterator line(**seeds); !line.is_at_eof(); ++line) {
    llvm::Expected<std::unique_ptr<Program>> program =
        readGraph(*line, /*maxWeightBytes=*/1 << 16, [](const Operator &op) {
          return hasLowering(op.nameSpace, op.name);
        });
    if (!program) {
      // Some are there to be refused.
      llvm::consumeError(program.takeError());
      continue;
    }
    if (!findUnsupported(**program).empty())
      continue;
    visit(**program);
    ++count;
  }
  return count;
}
