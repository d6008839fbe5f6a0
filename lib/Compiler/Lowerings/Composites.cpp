// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Composites that are a kernel, known by their name: loops, which nobody would
// recognise by what they consist of. All others are inlined.

#include "../Lowerings.h"

using namespace corten;
using namespace mlir;

static constexpr StringLiteral kGatedDelta = "gated_delta_update";

static DictionaryAttr attributesOf(coreai::GraphOp graph) {
  coreai::CompositeDeclarationAttr composite = graph.getCompositeDeclAttr();
  if (!composite || composite.getName() != kGatedDelta)
    return nullptr;
  return composite.getAttributes();
}

/// Whether queries and keys are divided by their length; nothing if it is not
/// said.
static std::optional<bool> isNormalized(coreai::GraphOp graph) {
  DictionaryAttr attributes = attributesOf(graph);
  auto options = attributes ? attributes.getAs<DictionaryAttr>("op_attrs")
                            : DictionaryAttr();
  auto flag =
      options ? options.getAs<IntegerAttr>("use_qk_l2_norm") : IntegerAttr();
  if (!flag)
    return std::nullopt;
  return !flag.getValue().isZero();
}

/// Whether a graph takes and gives what the kernel does: floats of one type.
static bool isGatedDelta(coreai::GraphOp graph) {
  DictionaryAttr attributes = attributesOf(graph);
  auto names =
      attributes ? attributes.getAs<ArrayAttr>("input_names") : ArrayAttr();
  constexpr StringLiteral kNames[] = {"query", "key",  "value",
                                      "g",     "beta", "initial_state"};
  constexpr int64_t kRanks[] = {4, 4, 4, 3, 3, 4};
  FunctionType type = graph.getFunctionType();
  if (!names || names.size() != std::size(kNames) ||
      type.getNumInputs() != std::size(kNames) || type.getNumResults() != 2 ||
      !isNormalized(graph))
    return false;
  Type element = getElementTypeOrSelf(type.getInput(0));
  auto fits = [&](Type tensor, int64_t rank) {
    auto ranked = dyn_cast<RankedTensorType>(tensor);
    return ranked && ranked.getRank() == rank &&
           ranked.getElementType() == element;
  };
  for (auto [name, wanted, input, rank] :
       llvm::zip_equal(names, kNames, type.getInputs(), kRanks)) {
    auto text = dyn_cast<StringAttr>(name);
    if (!text || text.getValue() != wanted || !fits(input, rank))
      return false;
  }
  return fits(type.getResult(0), 4) && fits(type.getResult(1), 4) &&
         (element.isF32() || element.isF16() || element.isBF16());
}

std::vector<std::string> corten::keepKnownComposites(ModuleOp program) {
  for (auto graph : program.getOps<coreai::GraphOp>())
    if (attributesOf(graph) && !isGatedDelta(graph))
      graph.removeCompositeDeclAttr();
  return {kGatedDelta.str()};
}

LogicalResult corten::lowerInvoke(coreai::InvokeOp op, Planner &planner) {
  SymbolRefAttr name = op.getCalleeSymbol();
  auto graph =
      name ? SymbolTable::lookupNearestSymbolFrom<coreai::GraphOp>(op, name)
           : coreai::GraphOp();
  if (!graph || !isGatedDelta(graph))
    return cannotRun(op) << "it calls what cannot be inlined";
  SeveralResults call;
  call.kernel = "GatedDelta";
  for (Value operand : op.getOperands())
    call.inputs.push_back(planner.form(operand));
  const Form &values = call.inputs[2];
  const Form &state = call.inputs[5];
  call.numbers = {planner.sizes.number(*isNormalized(graph))};
  // Results have steps before heads.
  call.extents = {{values.extents[0], values.extents[2], values.extents[1],
                   values.extents[3]},
                  state.extents};
  call.elements = {values.element, state.element};
  for (auto [extents, result] : llvm::zip_equal(call.extents, op.getResults()))
    planner.refine(extents, result.getType());
  SmallVector<Form> made = planner.kernel(call);
  for (auto [result, form] : llvm::zip_equal(op.getResults(), made))
    planner.setForm(result, form);
  return success();
}
