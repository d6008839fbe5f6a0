// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a program to an asset: `coreai` to `aicode`.

#include "AttributeExporter.h"
#include "Decomposition.h"
#include "OpTable.h"
#include "Simplify.h"
#include "corten/Asset/Translation.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/CoreAIX/IR/CoreAIXDialect.h"
#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"
#include "corten/Dialect/UDML/IR/UDMLDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

#include <vector>

using namespace corten;
using namespace mlir;

namespace {
/// Rebuilds a program op by op. The first failure ends it.
class Exporter {
public:
  Exporter(MLIRContext *context, Simplification simplification)
      : simplification(simplification), builder(context), attributes(context) {}

  FailureOr<OwningOpRef<aicode::AssetOp>> run(ModuleOp module);

private:
  LogicalResult exportBlock(Block &from, Block &to);
  LogicalResult exportRegion(Region &from, Region &to);
  LogicalResult exportOp(Operation &op);
  LogicalResult exportSimplified(Operation &op);
  LogicalResult exportConstant(Operation &op, Attribute value);
  LogicalResult addProperties(Operation &op, OperationState &state);
  LogicalResult addGraph(coreai::GraphOp op, OperationState &state);
  template <typename OpT>
  LogicalResult addSignature(OpT op, OperationState &state);
  LogicalResult addDelegate(coreai::DelegateOp op, OperationState &state);
  LogicalResult addPlaceholder(udml::PlaceholderOp op, OperationState &state);
  uint32_t newestOp(Operation *root);

  Simplification simplification;
  OpBuilder builder;
  AttributeExporter attributes;
  IRMapping mapping;
  /// Made from ops without effects, in their order.
  std::vector<Operation *> removable;
};
} // namespace

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// The date of the newest form in the program, decompositions included.
uint32_t Exporter::newestOp(Operation *root) {
  uint32_t newest = attributes.newest();
  root->walk([&](Operation *op) {
    if (const AssetOpInfo *info = assetOpOfCode(op->getName().getStringRef()))
      newest = std::max(newest, info->since);
  });
  return newest;
}

/// Brings the uses of each value into the order in which a reader meets them:
/// bytecode says so where they are not, and assets never do.
static void sortUses(Operation *root) {
  llvm::DenseMap<Operation *, unsigned> places;
  root->walk<WalkOrder::PreOrder>(
      [&](Operation *op) { places[op] = places.size(); });
  auto isBefore = [&](OpOperand *lhs, OpOperand *rhs) {
    return std::pair(places[lhs->getOwner()], lhs->getOperandNumber()) <
           std::pair(places[rhs->getOwner()], rhs->getOperandNumber());
  };
  auto sort = [&](Value value) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : value.getUses())
      uses.push_back(&use);
    // The newest comes first.
    if (llvm::is_sorted(llvm::reverse(uses), isBefore))
      return;
    llvm::sort(uses, isBefore);
    for (OpOperand *use : uses)
      use->set(value);
  };
  root->walk([&](Operation *op) {
    llvm::for_each(op->getResults(), sort);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), sort);
  });
}

FailureOr<OwningOpRef<aicode::AssetOp>> Exporter::run(ModuleOp module) {
  MLIRContext *context = builder.getContext();
  OperationState state(attributes.location(module.getLoc()),
                       aicode::AssetOp::getOperationName());
  state.addRegion();
  OwningOpRef<aicode::AssetOp> asset(
      cast<aicode::AssetOp>(Operation::create(state)));
  Block &block = asset->getBody().emplaceBlock();
  if (failed(exportBlock(*module.getBody(), block)))
    return failure();
  if (simplification == Simplification::Official)
    for (Operation *op : llvm::reverse(removable))
      if (op->use_empty())
        op->erase();
  sortUses(asset->getOperation());
  asset->setVersionAttr(aicode::WholeAttr::get(
      context, 32, /*isUnsigned=*/true, newestOp(asset->getOperation())));
  return std::move(asset);
}

LogicalResult Exporter::exportRegion(Region &from, Region &to) {
  return translateRegion(from, to, attributes, mapping,
                         [&](Block &block, Block &created) {
                           return exportBlock(block, created);
                         });
}

LogicalResult Exporter::exportBlock(Block &from, Block &to) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&to);
  for (Operation &op : from) {
    attributes.setPlace(op.getLoc());
    if (auto graph = dyn_cast<coreai::GraphOp>(op))
      attributes.setGraph(graph.getSymNameAttr());
    if (failed(exportOp(op)))
      return failure();
  }
  return success();
}

LogicalResult Exporter::exportOp(Operation &op) {
  // Says nothing but how a tensor lies in memory.
  if (isa<coreaix::ViewOp>(op)) {
    mapping.map(op.getResult(0), mapping.lookup(op.getOperand(0)));
    return success();
  }
  bool isKept = simplification == Simplification::None;
  if (!isKept && succeeded(exportSimplified(op)))
    return success();
  const AssetOpInfo *info = assetOpOfName(op.getName().getStringRef());
  if (!info)
    return op.emitOpError("has no form in an asset");
  SmallVector<Value> operands =
      isKept ? llvm::to_vector(op.getOperands()) : simplifiedOperands(op);
  OperationState state(attributes.location(op.getLoc()), info->code);
  for (Value operand : operands)
    state.operands.push_back(mapping.lookup(operand));
  for (Type type : op.getResultTypes()) {
    Type translated = attributes.type(type);
    if (!translated)
      return failure();
    state.types.push_back(translated);
  }
  if (failed(addProperties(op, state)))
    return failure();
  size_t regions = info->hasDecomposition ? 1 : op.getNumRegions();
  for (size_t i = 0; i < regions; ++i)
    state.addRegion();
  Operation *created = builder.create(state);
  if (isRemovable(op))
    removable.push_back(created);
  mapping.map(op.getResults(), created->getResults());
  if (info->hasDecomposition) {
    // Of the values as they were, whatever stands in their place.
    SmallVector<Location> places;
    for (Value operand : operands)
      places.push_back(attributes.location(operand.getLoc()));
    decompose(created, places);
    return success();
  }
  for (size_t i = 0; i < regions; ++i)
    if (failed(exportRegion(op.getRegion(i), created->getRegion(i))))
      return failure();
  return success();
}

/// Writes what stands in the place of an op; fails if nothing does.
LogicalResult Exporter::exportSimplified(Operation &op) {
  OpFoldResult known = simplified(op);
  if (!known)
    return failure();
  if (auto constant = dyn_cast<Attribute>(known))
    return exportConstant(op, constant);
  mapping.map(op.getResult(0), mapping.lookup(cast<Value>(known)));
  return success();
}

LogicalResult Exporter::exportConstant(Operation &op, Attribute value) {
  Type type = attributes.type(op.getResult(0).getType());
  Attribute elements = attributes.elements(value);
  if (!type || !elements)
    return failure();
  OperationState state(attributes.location(op.getLoc()),
                       aicode::ConstantV1Op::getOperationName());
  state.addAttribute("value", elements);
  state.addTypes(type);
  removable.push_back(builder.create(state));
  mapping.map(op.getResult(0), removable.back()->getResult(0));
  return success();
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

/// Adds a property, unless there is none because of an error.
static LogicalResult add(OperationState &state, StringRef name,
                         Attribute value) {
  if (!value)
    return failure();
  state.addAttribute(name, value);
  return success();
}

LogicalResult Exporter::addProperties(Operation &op, OperationState &state) {
  auto addValue = [&](StringRef name, Attribute value) {
    return add(state, name, attributes.value(value));
  };
  auto addLists = [&](auto call) {
    return success(
        succeeded(add(state, "arg_attrs",
                      attributes.dictionaries(call.getArgAttrsAttr()))) &&
        succeeded(add(state, "res_attrs",
                      attributes.dictionaries(call.getResAttrsAttr()))));
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](coreai::ConstantOp constant) {
        return add(state, "value", attributes.elements(constant.getValue()));
      })
      .Case([&](coreai::GraphOp graph) { return addGraph(graph, state); })
      .Case([&](udml::FuncOp func) { return addSignature(func, state); })
      .Case([&](udml::NamespaceOp group) {
        state.addAttribute("name", attributes.text(group.getSymName()));
        return add(state, "paramDecls",
                   attributes.declarations(group.getParamDecls()));
      })
      .Case<coreai::InvokeOp, udml::CallOp>([&](auto call) {
        return success(succeeded(addValue("callee", call.getCalleeAttr())) &&
                       succeeded(addLists(call)));
      })
      .Case([&](coreai::IsolatedGroupOp group) {
        state.addAttribute("delegate_id",
                           attributes.text(group.getDelegateId()));
        return addLists(group);
      })
      .Case([&](coreai::DelegateOp call) { return addDelegate(call, state); })
      .Case([&](udml::PlaceholderOp placeholder) {
        return addPlaceholder(placeholder, state);
      })
      .Case([&](coreai::TargetSpecOp spec) {
        return success(
            succeeded(addValue("spec", spec.getSpecAttr())) &&
            succeeded(addValue("compilation", spec.getCompilationAttr())));
      })
      .Case([&](coreai::Metal4KernelOp kernel) {
        state.addAttribute("kernel_name",
                           attributes.text(kernel.getKernelName()));
        state.addAttribute("kernel_source",
                           attributes.text(kernel.getKernelSource()));
        return success();
      })
      .Case([&](coreai::GeluOp gelu) {
        return addValue("approximate", gelu.getApproximateAttr());
      })
      .Case<coreai::InterpolateOp, coreai::InterpolateCoordinatesOp>(
          [&](auto resize) {
            return addValue("interpolation_mode",
                            resize.getInterpolationModeAttr());
          })
      .Case([&](coreai::PadOp pad) {
        return addValue("padding_mode", pad.getPaddingModeAttr());
      })
      .Case([&](coreai::ScanOp scan) {
        return addValue("combiner", scan.getScanOpAttr());
      })
      .Case([&](coreai::ScatterAlongAxisOp scatter) {
        return addValue("scatter_mode", scatter.getScatterModeAttr());
      })
      .Case([&](debuginfo::RecordOp record) {
        return addValue("id", record.getIdAttr());
      })
      .Case([&](debuginfo::ValueOp value) {
        return addValue("variable", value.getVariableAttr());
      })
      .Default(success());
}

/// What a graph and a function have in common.
template <typename OpT>
LogicalResult Exporter::addSignature(OpT op, OperationState &state) {
  Attribute arguments = attributes.dictionaries(op.getArgAttrsAttr());
  Attribute results = attributes.dictionaries(op.getResAttrsAttr());
  Type function = attributes.type(op.getFunctionType());
  Attribute declarations = attributes.declarations(op.getParamDecls());
  if (!arguments || !results || !function || !declarations)
    return failure();
  state.addAttribute("argAttrs", arguments);
  state.addAttribute("resAttrs", results);
  state.addAttribute("functionType",
                     aicode::TypeLiteralAttr::get(op.getContext(), function));
  state.addAttribute("name", attributes.text(op.getSymName()));
  state.addAttribute("paramDecls", declarations);
  state.addAttribute("noInline", attributes.flag(op.getNoInline()));
  return success();
}

LogicalResult Exporter::addGraph(coreai::GraphOp op, OperationState &state) {
  if (failed(addSignature(op, state)))
    return failure();
  state.addAttribute("isPrivate", attributes.flag(op.getPriv()));
  state.addAttribute("externalize", attributes.flag(op.getExternalize()));
  if (coreai::CompositeDeclarationAttr composite = op.getCompositeDeclAttr()) {
    SmallVector<Attribute> entries;
    if (!attributes.entries(composite.getAttributes(), entries))
      return failure();
    state.addAttribute("compositeDecl",
                       aicode::NamedListAttr::get(
                           op.getContext(), composite.getName(), entries));
  }
  return success();
}

LogicalResult Exporter::addDelegate(coreai::DelegateOp op,
                                    OperationState &state) {
  MLIRContext *context = op.getContext();
  Attribute arguments = attributes.dictionaries(op.getArgAttrsAttr());
  Attribute results = attributes.dictionaries(op.getResAttrsAttr());
  if (!arguments || !results)
    return failure();
  state.addAttribute("arg_attrs", arguments);
  state.addAttribute("res_attrs", results);
  state.addAttribute("delegate_id", attributes.text(op.getDelegateId()));
  if (DictionaryAttr values = op.getDelegateAttrsAttr())
    if (failed(add(state, "delegate_attrs", attributes.value(values))))
      return failure();
  udml::LifecycleAttr lifecycle = op.getLifecycleAttr();
  state.addAttribute(
      "lifecycle",
      lifecycle ? attributes.value(lifecycle)
                : Attribute(aicode::LifecyclePhaseAttr::get(context, 0)));
  ArrayRef<int8_t> blob = op.getResource();
  state.addAttribute(
      "resource",
      aicode::BytesAttr::get(
          context, /*isSplat=*/false,
          ArrayRef(reinterpret_cast<const char *>(blob.data()), blob.size())));
  return success();
}

LogicalResult Exporter::addPlaceholder(udml::PlaceholderOp op,
                                       OperationState &state) {
  SmallVector<Attribute> annotations;
  if (!attributes.entries(op->getDiscardableAttrDictionary(), annotations))
    return failure();
  state.addAttribute("annotations", attributes.list(annotations));
  state.addAttribute("opname", attributes.text(op.getOpname()));
  if (op.getKeepPlaceholder())
    state.addAttribute("keep_placeholder",
                       aicode::UnitAttr::get(op.getContext()));
  return success();
}

FailureOr<OwningOpRef<aicode::AssetOp>>
corten::exportProgram(ModuleOp module, Simplification simplification) {
  module.getContext()->loadDialect<aicode::AICodeDialect>();
  return Exporter(module.getContext(), simplification).run(module);
}
