// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emission/Composite.h"
#include "Walk/DebugRecorder.h"
#include "Walk/GraphBuilder.h"
#include "Walk/ProgramEmitter.h"

#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/Param/IR/ParamDialect.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

using namespace corten;
using namespace mlir;

static Attribute valueAttribute(Builder &builder, const CompositeValue &value) {
  Type si64 = builder.getIntegerType(64, true);
  auto integer = [&](int64_t number) -> Attribute {
    return IntegerAttr::get(si64, number);
  };
  if (auto *flag = std::get_if<bool>(&value))
    return builder.getBoolAttr(*flag);
  if (auto *number = std::get_if<int64_t>(&value))
    return integer(*number);
  if (auto *number = std::get_if<double>(&value))
    return builder.getF32FloatAttr(static_cast<float>(*number));
  return builder.getArrayAttr(
      llvm::map_to_vector(std::get<SmallVector<int64_t>>(value), integer));
}

static coreai::CompositeDeclarationAttr declaration(Builder &builder,
                                                    const CompositeSpec &spec) {
  SmallVector<NamedAttribute> attributes = {builder.getNamedAttr(
      "version", IntegerAttr::get(builder.getIntegerType(64, true), 1))};
  for (const auto &[key, value] : spec.attributes)
    attributes.push_back(
        builder.getNamedAttr(key, valueAttribute(builder, value)));
  DictionaryAttr dictionary = builder.getDictionaryAttr(
      {builder.getNamedAttr("input_names",
                            builder.getStrArrayAttr(spec.inputs.empty()
                                                        ? spec.arguments
                                                        : spec.inputs)),
       builder.getNamedAttr("op_attrs", builder.getDictionaryAttr(attributes)),
       builder.getNamedAttr("output_names",
                            builder.getStrArrayAttr({"output"}))});
  return coreai::CompositeDeclarationAttr::get(builder.getContext(), spec.name,
                                               dictionary);
}

/// Eight lower-case letters derived from where the call stands, so that the
/// same program always gives the same symbols.
static std::string letters(uint64_t hash) {
  std::string result;
  for (int i = 0; i < 8; ++i, hash /= 26)
    result.push_back(static_cast<char>('a' + hash % 26));
  return result;
}

std::string ProgramEmitter::uniqueSymbol(StringRef base, StringRef salt) {
  for (unsigned attempt = 0;; ++attempt) {
    const Twine separator('\0');
    std::string seed = (entryName + separator + base + separator + salt +
                        separator + Twine(attempt))
                           .str();
    std::string symbol = (base + "_" + letters(llvm::xxh3_64bits(seed))).str();
    if (symbols.try_emplace(symbol).second)
      return symbol;
  }
}

FailureOr<Value> ProgramEmitter::composite(
    const CompositeSpec &spec, ValueRange operands,
    llvm::function_ref<FailureOr<Value>(ValueRange)> body) {
  OpBuilder::InsertionGuard guard(builder);
  OpBuilder::InsertPoint callSite = builder.saveInsertionPoint();

  // The newest composite stands first in the module.
  builder.setInsertionPointToStart(module.getBody());
  GraphSignature signature;
  signature.symbol =
      uniqueSymbol(spec.symbol, currentNode ? currentNode->name : "");
  for (auto [name, operand] : llvm::zip_equal(spec.arguments, operands))
    signature.inputs.push_back({operand.getType(), name.str(), {}, {}});
  coreai::GraphOp graph = createGraph(builder, location, signature);
  graph.setPriv(true);
  graph.setNoInline(true);
  graph.setCompositeDeclAttr(declaration(builder, spec));
  graph->setDiscardableAttr("template_op", builder.getStringAttr(spec.symbol));

  Block &block = graph.getBodyRegion().front();
  builder.setInsertionPointToStart(&block);
  FailureOr<Value> result = body(block.getArguments());
  if (mlir::failed(result))
    return failure();
  dropUnusedConstants(&block, /*last=*/nullptr, *result);
  finishGraph(builder, location, graph, {{*result, ""}});
  if (currentNode)
    debug->recordComposite(graph, *currentNode);

  builder.restoreInsertionPoint(callSite);
  return createInvoke(builder, location, graph, operands).front();
}
