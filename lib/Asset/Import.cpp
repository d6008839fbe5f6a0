// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From an asset to a program: `aicode` to `coreai`.

#include "AttributeImporter.h"
#include "OpTable.h"
#include "corten/Asset/Translation.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/UDML/IR/UDMLDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace corten;
using namespace mlir;

namespace {
/// Rebuilds a program op by op. The first failure ends it.
class Importer {
public:
  Importer(MLIRContext *context, std::shared_ptr<void> owner)
      : builder(context), attributes(context, std::move(owner)) {}

  FailureOr<OwningOpRef<ModuleOp>> import(aicode::AssetOp asset);

private:
  LogicalResult importBlock(Block &from, Block &to);
  LogicalResult importRegion(Region &from, Region &to);
  LogicalResult importOp(Operation &op);

  /// Ops that are more than a name, operands and results.
  template <typename OpT>
  LogicalResult addSignature(OpT op, const Twine &what, OperationState &state);
  LogicalResult importGraph(aicode::GraphV1Op op);
  LogicalResult importFunction(aicode::FuncV1Op op);
  LogicalResult importNamespace(aicode::NamespaceV1Op op);
  LogicalResult importConstant(aicode::ConstantV1Op op);
  LogicalResult importKernel(aicode::Metal4KernelV1Op op);
  LogicalResult importOldOp(Operation &op);
  LogicalResult importWithOffset(Operation &op, StringRef name,
                                 unsigned operands);
  LogicalResult importProperties(Operation &op, OperationState &state);

  /// What `op` becomes, with its operands and results but no attributes.
  FailureOr<OperationState> begin(Operation &op, StringRef name);
  Operation *finish(Operation &op, OperationState &state);
  StringAttr text(Operation &op, Attribute attribute, StringRef what);

  OpBuilder builder;
  AttributeImporter attributes;
  IRMapping mapping;
};
} // namespace

FailureOr<OperationState> Importer::begin(Operation &op, StringRef name) {
  OperationState state(attributes.location(op.getLoc()), name);
  for (Value operand : op.getOperands()) {
    Value known = mapping.lookupOrNull(operand);
    if (!known)
      return op.emitOpError("operand of an op that comes later");
    state.operands.push_back(known);
  }
  for (Type type : op.getResultTypes()) {
    Type translated = attributes.type(type);
    if (!translated)
      return failure();
    state.types.push_back(translated);
  }
  return state;
}

Operation *Importer::finish(Operation &op, OperationState &state) {
  Operation *created = builder.create(state);
  mapping.map(op.getResults(), created->getResults());
  return created;
}

StringAttr Importer::text(Operation &op, Attribute attribute, StringRef what) {
  auto literal = dyn_cast_or_null<aicode::TextAttr>(attribute);
  if (!literal) {
    op.emitOpError() << what << " is not a string";
    return {};
  }
  return builder.getStringAttr(literal.getValue());
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

FailureOr<OwningOpRef<ModuleOp>> Importer::import(aicode::AssetOp asset) {
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(attributes.location(asset.getLoc()));
  Region &body = asset.getBody();
  if (!body.hasOneBlock()) {
    asset.emitOpError("an asset holds one block");
    return failure();
  }
  if (failed(importBlock(body.front(), *module->getBody())) ||
      failed(verify(*module)))
    return failure();
  return std::move(module);
}

LogicalResult Importer::importRegion(Region &from, Region &to) {
  return translateRegion(from, to, attributes, mapping,
                         [&](Block &block, Block &created) {
                           return importBlock(block, created);
                         });
}

LogicalResult Importer::importBlock(Block &from, Block &to) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&to);
  for (Operation &op : from) {
    attributes.setPlace(op.getLoc());
    if (failed(importOp(op)))
      return failure();
  }
  return success();
}

LogicalResult Importer::importOp(Operation &op) {
  LogicalResult result =
      llvm::TypeSwitch<Operation *, LogicalResult>(&op)
          .Case([&](aicode::GraphV1Op graph) { return importGraph(graph); })
          .Case([&](aicode::FuncV1Op func) { return importFunction(func); })
          .Case([&](aicode::NamespaceV1Op group) {
            return importNamespace(group);
          })
          .Case([&](aicode::ConstantV1Op constant) {
            return importConstant(constant);
          })
          .Case([&](aicode::Metal4KernelV1Op kernel) {
            return importKernel(kernel);
          })
          .Default([&](Operation *) -> LogicalResult {
            const AssetOpInfo *info =
                assetOpOfCode(op.getName().getStringRef());
            if (!info)
              return importOldOp(op);
            FailureOr<OperationState> state = begin(op, info->name);
            if (failed(state) || failed(importProperties(op, *state)))
              return failure();
            // The decomposition serves readers that lack the op.
            size_t regions = info->hasDecomposition ? 0 : op.getNumRegions();
            for (size_t i = 0; i < regions; ++i)
              state->addRegion();
            Operation *created = finish(op, *state);
            for (size_t i = 0; i < regions; ++i)
              if (failed(importRegion(op.getRegion(i), created->getRegion(i))))
                return failure();
            return success();
          });
  return result;
}

LogicalResult Importer::importProperties(Operation &op, OperationState &state) {
  auto add = [&](StringRef name, Attribute attribute) {
    if (attribute)
      state.addAttribute(name, attribute);
    return success(static_cast<bool>(attribute));
  };
  auto addDictionaries = [&](StringRef name, Attribute attribute) {
    FailureOr<ArrayAttr> translated = attributes.dictionaries(attribute);
    if (failed(translated))
      return failure();
    if (*translated)
      state.addAttribute(name, *translated);
    return success();
  };
  auto addCall = [&](auto call) {
    return success(
        succeeded(add("callee", attributes.value(call.getCallee()))) &&
        succeeded(addDictionaries("arg_attrs", call.getArgAttrs())) &&
        succeeded(addDictionaries("res_attrs", call.getResAttrs())));
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](aicode::InvokeV1Op call) { return addCall(call); })
      .Case([&](aicode::CallV1Op call) { return addCall(call); })
      .Case([&](aicode::GeluV1Op gelu) {
        return add("approximate", attributes.value(gelu.getApproximate()));
      })
      .Case<aicode::InterpolateV1Op, aicode::InterpolateCoordinatesV1Op>(
          [&](auto resize) {
            return add("interpolation_mode",
                       attributes.value(resize.getInterpolationMode()));
          })
      .Case([&](aicode::PadV1Op pad) {
        return add("padding_mode", attributes.value(pad.getPaddingMode()));
      })
      .Case([&](aicode::ScanV1Op scan) {
        return add("scan_op", attributes.value(scan.getCombiner()));
      })
      .Case([&](aicode::ScatterAlongAxisV1Op scatter) {
        return add("scatter_mode", attributes.value(scatter.getScatterMode()));
      })
      .Case([&](aicode::IsolatedGroupV1Op group) {
        return success(
            succeeded(
                add("delegate_id", attributes.value(group.getDelegateId()))) &&
            succeeded(addDictionaries("arg_attrs", group.getArgAttrs())) &&
            succeeded(addDictionaries("res_attrs", group.getResAttrs())));
      })
      .Case([&](aicode::DelegateV2Op call) {
        auto blob = dyn_cast<aicode::BytesAttr>(call.getResource());
        if (!blob)
          return LogicalResult(
              op.emitOpError("a delegate whose resource is not bytes"));
        ArrayRef<char> bytes = blob.getBytes();
        state.addAttribute("resource",
                           builder.getDenseI8ArrayAttr(
                               {reinterpret_cast<const int8_t *>(bytes.data()),
                                bytes.size()}));
        // The phase of a delegate that has none is written as 0.
        auto phase = dyn_cast<aicode::LifecyclePhaseAttr>(call.getLifecycle());
        if ((!phase || phase.getValue() != 0) &&
            failed(add("lifecycle", attributes.value(call.getLifecycle()))))
          return failure();
        if (std::optional<Attribute> values = call.getDelegateAttrs())
          if (failed(add("delegate_attrs", attributes.value(*values))))
            return failure();
        return success(
            succeeded(
                add("delegate_id", attributes.value(call.getDelegateId()))) &&
            succeeded(addDictionaries("arg_attrs", call.getArgAttrs())) &&
            succeeded(addDictionaries("res_attrs", call.getResAttrs())));
      })
      .Case([&](aicode::PlaceholderV1Op placeholder) {
        auto annotations =
            dyn_cast<aicode::ListAttr>(placeholder.getAnnotations());
        DictionaryAttr entries =
            annotations ? attributes.dictionary(annotations.getValues())
                        : DictionaryAttr();
        if (!entries)
          return LogicalResult(op.emitOpError("annotations that are no list"));
        state.addAttributes(entries.getValue());
        if (placeholder.getKeepPlaceholder())
          state.addAttribute("keep_placeholder", builder.getUnitAttr());
        return add("opname", attributes.value(placeholder.getOpname()));
      })
      .Case([&](aicode::TargetSpecV1Op spec) {
        return success(
            succeeded(add("spec", attributes.value(spec.getSpec()))) &&
            succeeded(
                add("compilation", attributes.value(spec.getCompilation()))));
      })
      .Case([&](aicode::RecordV1Op record) {
        return add("id", attributes.value(record.getId()));
      })
      .Case([&](aicode::ValueV1Op value) {
        return add("variable", attributes.value(value.getVariable()));
      })
      .Default([&](Operation *) -> LogicalResult {
        if (op.getPropertiesStorageSize())
          return op.emitOpError("cannot be read: its properties are unknown");
        return success();
      });
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

/// What a graph and a function have in common; `what` is one of them.
template <typename OpT>
LogicalResult Importer::addSignature(OpT op, const Twine &what,
                                     OperationState &state) {
  StringAttr name = text(*op, op.getName(), ("the name of a " + what).str());
  auto literal = dyn_cast<aicode::TypeLiteralAttr>(op.getFunctionType());
  Type function = literal ? attributes.type(literal.getValue()) : Type();
  param::DeclArrayAttr declarations =
      attributes.declarations(op.getParamDecls());
  FailureOr<ArrayAttr> arguments = attributes.dictionaries(op.getArgAttrs());
  FailureOr<ArrayAttr> results = attributes.dictionaries(op.getResAttrs());
  if (!name || !declarations || failed(arguments) || failed(results))
    return failure();
  if (!isa_and_nonnull<mlir::FunctionType>(function))
    return op.emitOpError("a " + what + " without a signature");
  state.addAttribute("sym_name", name);
  state.addAttribute("function_type", TypeAttr::get(function));
  state.addAttribute("param_decls", declarations);
  if (*arguments)
    state.addAttribute("arg_attrs", *arguments);
  if (*results)
    state.addAttribute("res_attrs", *results);
  if (AttributeImporter::isSet(op.getNoInline()))
    state.addAttribute("no_inline", builder.getUnitAttr());
  state.addRegion();
  return success();
}

LogicalResult Importer::importGraph(aicode::GraphV1Op op) {
  OperationState state(attributes.location(op.getLoc()),
                       coreai::GraphOp::getOperationName());
  if (failed(addSignature(op, "graph", state)))
    return failure();
  if (std::optional<Attribute> composite = op.getCompositeDecl()) {
    auto named = dyn_cast<aicode::NamedListAttr>(*composite);
    if (!named)
      return op.emitOpError("a composite without a name");
    DictionaryAttr entries = attributes.dictionary(named.getValues());
    if (!entries)
      return failure();
    state.addAttribute("composite_decl",
                       coreai::CompositeDeclarationAttr::get(
                           op.getContext(), named.getName(), entries));
  }
  if (AttributeImporter::isSet(op.getIsPrivate()))
    state.addAttribute("priv", builder.getUnitAttr());
  if (AttributeImporter::isSet(op.getExternalize()))
    state.addAttribute("externalize", builder.getUnitAttr());
  Operation *created = builder.create(state);
  return importRegion(op.getBody(), created->getRegion(0));
}

LogicalResult Importer::importFunction(aicode::FuncV1Op op) {
  OperationState state(attributes.location(op.getLoc()),
                       udml::FuncOp::getOperationName());
  if (failed(addSignature(op, "function", state)))
    return failure();
  Operation *created = builder.create(state);
  return importRegion(op.getBody(), created->getRegion(0));
}

LogicalResult Importer::importNamespace(aicode::NamespaceV1Op op) {
  OperationState state(attributes.location(op.getLoc()),
                       udml::NamespaceOp::getOperationName());
  StringAttr name = text(*op, op.getName(), "the name of a namespace");
  param::DeclArrayAttr declarations =
      attributes.declarations(op.getParamDecls());
  if (!name || !declarations)
    return failure();
  state.addAttribute("sym_name", name);
  state.addAttribute("param_decls", declarations);
  state.addRegion();
  Operation *created = builder.create(state);
  return importRegion(op.getBody(), created->getRegion(0));
}

//===----------------------------------------------------------------------===//
// Single ops
//===----------------------------------------------------------------------===//

LogicalResult Importer::importConstant(aicode::ConstantV1Op op) {
  FailureOr<OperationState> state =
      begin(*op, coreai::ConstantOp::getOperationName());
  if (failed(state))
    return failure();
  if (state->types.size() != 1)
    return op.emitOpError("a constant has one result");
  Attribute elements = attributes.elements(op.getValue(), state->types.front());
  if (!elements)
    return failure();
  state->addAttribute("value", elements);
  finish(*op, *state);
  return success();
}

LogicalResult Importer::importKernel(aicode::Metal4KernelV1Op op) {
  FailureOr<OperationState> state =
      begin(*op, coreai::Metal4KernelOp::getOperationName());
  StringAttr name = text(*op, op.getKernelName(), "the name of a kernel");
  StringAttr source = text(*op, op.getKernelSource(), "the source of a kernel");
  if (failed(state) || !name || !source)
    return failure();
  int32_t shapes = op->getNumResults();
  int32_t arguments = op->getNumOperands() - 2 - shapes;
  if (arguments < 0)
    return op.emitOpError("a kernel has two sizes and a shape for each result");
  state->addAttribute("kernel_name", name);
  state->addAttribute("kernel_source", source);
  state->addAttribute("operandSegmentSizes",
                      builder.getDenseI32ArrayAttr({arguments, 1, 1, shapes}));
  finish(*op, *state);
  return success();
}

/// A form that lacks the second offset: it is zeros, as many as the scale has,
/// in the type of what is not quantized.
LogicalResult Importer::importWithOffset(Operation &op, StringRef name,
                                         unsigned operands) {
  constexpr unsigned kScale = 1, kOffset = 3;
  FailureOr<OperationState> state = begin(op, name);
  if (failed(state))
    return failure();
  auto type =
      state->operands.size() == operands
          ? dyn_cast<RankedTensorType>(state->operands[kScale].getType())
          : RankedTensorType();
  if (!type || !type.hasStaticShape() || state->types.size() != 1)
    return op.emitOpError("its scale is not a tensor of known extents");
  Type element = getElementTypeOrSelf(isa<aicode::QuantizeV1Op>(op)
                                          ? state->operands.front().getType()
                                          : state->types.front());
  if (!isa<FloatType>(element))
    return op.emitOpError("it is not about floating-point numbers");
  type = type.clone(element);
  OperationState zeros(state->location, coreai::ConstantOp::getOperationName());
  zeros.addAttribute(
      "value",
      DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType())));
  zeros.addTypes(type);
  state->operands.insert(state->operands.begin() + kOffset,
                         builder.create(zeros)->getResult(0));
  finish(op, *state);
  return success();
}

/// Forms that today's writers do not use any more.
LogicalResult Importer::importOldOp(Operation &op) {
  auto castTo = [&](Location loc, Value value, Type element) -> Value {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return value;
    OperationState cast(loc, coreai::CastOp::getOperationName());
    cast.addOperands(value);
    cast.addTypes(type.clone(element));
    return builder.create(cast)->getResult(0);
  };
  Type index = builder.getIntegerType(32, /*isSigned=*/false);
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](aicode::ReshapeV1Op) -> LogicalResult {
        FailureOr<OperationState> state =
            begin(op, coreai::ReshapeOp::getOperationName());
        if (failed(state))
          return failure();
        finish(op, *state);
        return success();
      })
      .Case([&](aicode::GetShapeV1Op) -> LogicalResult {
        FailureOr<OperationState> state =
            begin(op, coreai::GetShapeOp::getOperationName());
        if (failed(state))
          return failure();
        auto old = state->types.size() == 1
                       ? dyn_cast<RankedTensorType>(state->types.front())
                       : RankedTensorType();
        if (!old)
          return op.emitOpError("a shape that is no tensor");
        state->types.front() = old.clone(index);
        Operation *shape = builder.create(*state);
        mapping.map(
            op.getResult(0),
            castTo(state->location, shape->getResult(0), old.getElementType()));
        return success();
      })
      .Case([&](aicode::TileV1Op) -> LogicalResult {
        FailureOr<OperationState> state =
            begin(op, coreai::TileOp::getOperationName());
        if (failed(state))
          return failure();
        if (state->operands.size() != 2)
          return op.emitOpError("a tile has two operands");
        state->operands[1] = castTo(state->location, state->operands[1], index);
        finish(op, *state);
        return success();
      })
      .Case<aicode::QuantizeV1Op, aicode::DequantizeV1Op>([&](auto) {
        bool isQuantize = isa<aicode::QuantizeV1Op>(op);
        return importWithOffset(op,
                                isQuantize
                                    ? coreai::QuantizeOp::getOperationName()
                                    : coreai::DequantizeOp::getOperationName(),
                                /*operands=*/4);
      })
      .Case([&](aicode::BlockwiseShiftScaleV1Op) {
        return importWithOffset(
            op, coreai::BlockwiseShiftScaleOp::getOperationName(),
            /*operands=*/3);
      })
      .Default([](Operation *op) {
        return op->emitOpError("cannot be read: it is of an unknown kind");
      });
}

FailureOr<OwningOpRef<ModuleOp>>
corten::importProgram(aicode::AssetOp asset, std::shared_ptr<void> owner) {
  return Importer(asset.getContext(), std::move(owner)).import(asset);
}
