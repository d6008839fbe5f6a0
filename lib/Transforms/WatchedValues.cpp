// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Transforms/WatchedValues.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"
#include "corten/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

using namespace corten;
using namespace mlir;

/// On what stands for a result of a call: which it is.
static constexpr llvm::StringLiteral kResult = "corten.result";

static std::optional<uint64_t> numberIn(debuginfo::DebugLocationAttr location) {
  std::optional<uint64_t> found;
  for (debuginfo::MetadataAttr fact : location.getMetadata()) {
    auto entry = fact.getName() == "op_id"
                     ? dyn_cast<DictionaryAttr>(fact.getData())
                     : DictionaryAttr();
    if (!entry)
      continue;
    auto level = entry.getAs<StringAttr>("type");
    auto value = entry.getAs<IntegerAttr>("value");
    if (level && value && level.getValue() == "coreai")
      found = value.getValue().getZExtValue();
  }
  return found;
}

std::optional<uint64_t> corten::opNumber(Location location) {
  if (auto debug =
          dyn_cast<debuginfo::DebugLocationAttr>(LocationAttr(location)))
    return numberIn(debug);
  // An op that was made of several has its own number last.
  std::optional<uint64_t> found;
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::optional<uint64_t> number = opNumber(part))
        found = number;
  return found;
}

/// An op of its own for each result of a call, which stays when it is inlined.
static void keepResults(coreai::InvokeOp call) {
  OpBuilder builder(call.getContext());
  builder.setInsertionPointAfter(call);
  for (OpResult result : call->getResults()) {
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    auto kept = coreai::CastOp::create(builder, call.getLoc(), result.getType(),
                                       result);
    kept->setAttr(kResult, builder.getIndexAttr(result.getResultNumber()));
  }
}

static coreai::GraphOp findGraph(ModuleOp program, StringRef name) {
  coreai::GraphOp found;
  program->walk<WalkOrder::PreOrder>([&](coreai::GraphOp graph) {
    if (graph.getSymName() == name && !graph.isDeclaration())
      found = graph;
    return found ? WalkResult::interrupt() : WalkResult::skip();
  });
  return found;
}

namespace {
/// An op's number and the number of a result.
using Key = std::pair<uint64_t, unsigned>;
using Values = llvm::MapVector<Key, Value>;
} // namespace

static Values collect(coreai::GraphOp graph,
                      const llvm::DenseSet<uint64_t> &wanted) {
  Values values;
  for (Operation &op : graph.getBodyRegion().front().without_terminator()) {
    std::optional<uint64_t> number = opNumber(op.getLoc());
    if (!number || !wanted.contains(*number))
      continue;
    auto stands = op.getAttrOfType<IntegerAttr>(kResult);
    for (OpResult result : op.getResults())
      if (isa<RankedTensorType>(result.getType()))
        values[{*number, stands ? unsigned(stands.getInt())
                                : result.getResultNumber()}] = result;
  }
  return values;
}

/// Has a graph return values besides its results.
static std::vector<WatchedValue> addOutputs(coreai::GraphOp graph,
                                            const Values &values) {
  Builder builder(graph.getContext());
  Operation *output = graph.getBodyRegion().front().getTerminator();
  SmallVector<Value> operands(output->getOperands());
  SmallVector<Type> types(graph.getFunctionType().getResults());
  SmallVector<Attribute> names;
  if (ArrayAttr known = graph.getResAttrsAttr())
    llvm::append_range(names, known);
  names.resize(types.size(), builder.getDictionaryAttr({}));
  std::vector<WatchedValue> watched;
  for (auto [key, value] : values) {
    std::string name =
        "__op_" + std::to_string(key.first) + "_" + std::to_string(key.second);
    operands.push_back(value);
    types.push_back(value.getType());
    names.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr("coreai.name", builder.getStringAttr(name))));
    watched.push_back({key.first, key.second, std::move(name)});
  }
  output->setOperands(operands);
  graph.setFunctionType(
      builder.getFunctionType(graph.getFunctionType().getInputs(), types));
  graph.setResAttrsAttr(builder.getArrayAttr(names));
  return watched;
}

FailureOr<std::vector<WatchedValue>>
corten::watchValues(ModuleOp program, StringRef name, ArrayRef<uint64_t> ops) {
  coreai::GraphOp graph = findGraph(program, name);
  if (!graph)
    return program.emitError("there is no graph '") << name << "'", failure();
  llvm::DenseSet<uint64_t> wanted(ops.begin(), ops.end());
  program->walk([&](coreai::InvokeOp call) {
    std::optional<uint64_t> number = opNumber(call.getLoc());
    if (number && wanted.contains(*number))
      keepResults(call);
  });
  PassManager inlining(program.getContext());
  inlining.addPass(createInlineGraphs());
  if (failed(inlining.run(program)))
    return failure();
  return addOutputs(graph, collect(graph, wanted));
}
