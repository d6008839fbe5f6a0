// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Walk/GraphBuilder.h"

#include "corten/Dialect/Param/IR/ParamDialect.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

std::string corten::distinctName(StringRef base, llvm::StringSet<> &taken) {
  std::string name = base.str();
  for (unsigned suffix = 1; !taken.insert(name).second; ++suffix)
    name = (base + "_" + Twine(suffix)).str();
  return name;
}

static ArrayAttr rangesAttribute(Builder &builder, ArrayRef<AxisRange> ranges) {
  return builder.getArrayAttr(
      llvm::map_to_vector(ranges, [&](const AxisRange &range) -> Attribute {
        return range.max ? builder.getI64ArrayAttr({range.min, *range.max})
                         : builder.getI64ArrayAttr(range.min);
      }));
}

static DictionaryAttr inputAttributes(Builder &builder,
                                      const GraphInput &input) {
  SmallVector<NamedAttribute> attributes;
  if (!input.mutatedBy.empty())
    attributes.push_back(
        builder.getNamedAttr("MutableBuffers.buffer_mutation",
                             builder.getStringAttr(input.mutatedBy)));
  if (!input.name.empty())
    attributes.push_back(
        builder.getNamedAttr("coreai.name", builder.getStringAttr(input.name)));
  if (!input.ranges.empty())
    attributes.push_back(builder.getNamedAttr(
        "corten.shape_ranges", rangesAttribute(builder, input.ranges)));
  return builder.getDictionaryAttr(attributes);
}

coreai::GraphOp corten::createGraph(OpBuilder &builder, Location location,
                                    const GraphSignature &signature) {
  OpBuilder::InsertionGuard guard(builder);
  OperationState state(location, coreai::GraphOp::getOperationName());
  SmallVector<Type> types;
  SmallVector<Attribute> attributes;
  for (const GraphInput &input : signature.inputs) {
    types.push_back(input.type);
    attributes.push_back(inputAttributes(builder, input));
  }
  state.addRegion();
  auto &properties = state.getOrAddProperties<coreai::GraphOp::Properties>();
  properties.sym_name = builder.getStringAttr(signature.symbol);
  properties.function_type = TypeAttr::get(builder.getFunctionType(types, {}));
  properties.param_decls = param::DeclArrayAttr::get(builder.getContext(), {});
  properties.arg_attrs = builder.getArrayAttr(attributes);
  auto graph = cast<coreai::GraphOp>(builder.create(state));
  builder.createBlock(&graph.getBodyRegion(), {}, types,
                      SmallVector<Location>(types.size(), location));
  return graph;
}

void corten::finishGraph(OpBuilder &builder, Location location,
                         coreai::GraphOp graph, ArrayRef<GraphResult> results) {
  SmallVector<Value> values;
  SmallVector<Type> types;
  SmallVector<Attribute> attributes;
  for (const GraphResult &result : results) {
    values.push_back(result.value);
    types.push_back(result.value.getType());
    SmallVector<NamedAttribute> named;
    if (!result.name.empty())
      named.push_back(builder.getNamedAttr("coreai.name",
                                           builder.getStringAttr(result.name)));
    attributes.push_back(builder.getDictionaryAttr(named));
  }
  coreai::OutputOp::create(builder, location, values);
  auto type = cast<FunctionType>(graph.getFunctionType());
  graph.setFunctionTypeAttr(
      TypeAttr::get(builder.getFunctionType(type.getInputs(), types)));
  graph.setResAttrsAttr(builder.getArrayAttr(attributes));
}

ResultRange corten::createInvoke(OpBuilder &builder, Location location,
                                 coreai::GraphOp graph, ValueRange operands) {
  OperationState state(location, coreai::InvokeOp::getOperationName());
  state.addOperands(operands);
  state.addTypes(cast<FunctionType>(graph.getFunctionType()).getResults());
  auto &properties = state.getOrAddProperties<coreai::InvokeOp::Properties>();
  properties.callee =
      param::ConstantAttr::get(FlatSymbolRefAttr::get(graph.getSymNameAttr()));
  return builder.create(state)->getResults();
}
