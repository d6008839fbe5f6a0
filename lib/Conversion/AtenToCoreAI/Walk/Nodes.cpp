// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass over the nodes of a graph.

#include "Emission/KernelNamespace.h"
#include "LoweredNodes.h"
#include "Lowerings/Control/MetalKernel.h"
#include "ShapeRules/CallShapes.h"
#include "Table.h"
#include "Walk/DebugRecorder.h"
#include "Walk/ProgramEmitter.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Program/Axis.h"
#include "corten/Program/Outline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Extents that data decides over
//===----------------------------------------------------------------------===//

/// Whether a symbol is made of unbacked ones (u0, u0 + 3, …) and may be zero.
static bool isOpen(const Symbol &symbol) {
  static const llvm::Regex unbacked("(^|[^A-Za-z0-9_])u[0-9]+");
  return unbacked.match(symbol.expression) && symbol.min.value_or(0) <= 0;
}

void ProgramEmitter::findOpenSymbols(const Program &program) {
  openSymbols.clear();
  for (auto [i, symbol] : llvm::enumerate(program.symbols))
    if (isOpen(symbol))
      openSymbols.insert(static_cast<unsigned>(i));
}

bool ProgramEmitter::hasOpenExtents(const Node &node) const {
  if (openSymbols.empty())
    return false;
  auto isOpen = [&](const ValueInfo &info) {
    return info.isTensor() && llvm::any_of(info.sizes, [&](Size size) {
             return size.isDynamic() && openSymbols.contains(size.symbol());
           });
  };
  bool found = llvm::any_of(node.results, isOpen);
  forEachOperand(node.arguments, [&](const Node *operand) {
    found = found || llvm::any_of(operand->results, isOpen);
  });
  return found;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Nodes between two reports of progress.
static constexpr size_t kProgressInterval = 64;

void corten::dropUnusedConstants(Block *block, Operation *last,
                                 ArrayRef<Value> results) {
  for (Operation *op = block->empty() ? nullptr : &block->back();
       op && op != last;) {
    Operation *before = op->getPrevNode();
    if (isa<coreai::ConstantOp>(op) && op->use_empty() &&
        !llvm::is_contained(results, op->getResult(0)))
      op->erase();
    op = before;
  }
}

/// Adds the matrices that something other than a view of a higher rank uses.
static void noteMatrices(const Graph &graph, const DenseSet<const Node *> &live,
                         DenseSet<const Node *> &used) {
  auto note = [&](const Node *operand) {
    if (operand->results.size() == 1 && operand->info().isTensor() &&
        operand->info().sizes.size() == 2)
      used.insert(operand);
  };
  for (const Node *node : graph.nodes) {
    if (!live.contains(node))
      continue;
    bool isSplit = node->callee && node->results.size() == 1 &&
                   llvm::is_contained({"view.default", "reshape.default",
                                       "_unsafe_view.default"},
                                      node->callee->name) &&
                   node->info().sizes.size() > 2;
    if (!isSplit)
      forEachOperand(node->arguments, note);
  }
  forEachOperand(graph.outputs, note);
}

LogicalResult ProgramEmitter::emitNodes(const Graph &graph) {
  // A branch is emitted while the node that owns it is being lowered.
  const Node *outerNode = currentNode;
  DenseSet<const Node *> live = loweredNodes(graph, options.assertions);
  for (const Node *node : graph.nodes)
    if (live.contains(node) && isPick(*node))
      usedResults.insert({node->arguments[0].asNode(),
                          static_cast<unsigned>(node->arguments[1].asInt())});
  noteMatrices(graph, live, usedMatrices);
  llvm::SaveAndRestore outerScope(scope);
  beginScope(graph);
  for (const Node *node : graph.nodes) {
    if (node->kind != Node::Kind::Call || !live.contains(node))
      continue;
    currentNode = node;
    Block *block = builder.getInsertionBlock();
    Operation *last = block->empty() ? nullptr : &block->back();
    if (mlir::failed(emitNode(*node)))
      return failure();
    dropUnusedConstants(block, last, results(*node));
    noteValues(*node);
    debug->recordNode(*node, results(*node));
    if (++nodesLowered % kProgressInterval == 0 && options.progress)
      options.progress(nodesLowered);
  }
  // Kept on failure: it says where that was.
  currentNode = outerNode;
  return success();
}

/// All results are tensors that are known to have no elements.
static bool isEmpty(const Node &node) {
  return !node.results.empty() &&
         llvm::all_of(node.results, [](const ValueInfo &info) {
           return info.isTensor() &&
                  llvm::none_of(info.sizes,
                                [](Size size) { return size.isDynamic(); }) &&
                  llvm::is_contained(info.sizes, Size(0));
         });
}

/// Whether all operands of a call have values. Checks have none, nor have
/// results that are neither numbers nor tensors.
LogicalResult ProgramEmitter::checkOperands(const Node &node) {
  const Node *missing = nullptr;
  forEachOperand(node.arguments, [&](const Node *operand) {
    ArrayRef<Value> found = results(*operand);
    if (found.empty() || (!operand->returnsTuple && !found.front()))
      missing = operand;
  });
  if (!missing)
    return success();
  return error(node) << "the operand '" << missing->name << "' has no value";
}

/// Picks a result of a call, or an element of a list that stands in the graph.
LogicalResult ProgramEmitter::emitGetItem(const Node &node) {
  AtenNode call(node, *this);
  const Argument &from = call[0u];
  SmallVector<Value> elements;
  if (from.isList())
    for (const Argument &element : from.asList())
      elements.push_back(value(element));
  else if (from.isValue())
    elements.assign(results(*from.asNode()).begin(),
                    results(*from.asNode()).end());
  else
    return error(node) << "what it picks from has no elements";
  int64_t number = call.integer(call[1u]);
  if (hasFailed())
    return failure();
  std::optional<size_t> position = positionOf(number, elements.size());
  if (!position)
    return error(node) << "there is no element " << number << " of "
                       << elements.size();
  setResults(node, {elements[*position]});
  return success();
}

LogicalResult ProgramEmitter::emitNode(const Node &node) {
  if (isAssertion(node.callee->name))
    return options.assertions ? emitAssertion(node) : success();
  if (mlir::failed(checkOperands(node)))
    return failure();
  if (node.callee->name == "getitem")
    return emitGetItem(node);
  if (isModuleCall(node))
    return emitModuleCall(node);
  // Lowerings rely on every type having an equivalent.
  for (const ValueInfo &info : node.results)
    if (info.isTensor() && !elementType(info.dtype))
      return error(node) << "'" << node.name << "' has the type "
                         << scalarTypeName(info.dtype)
                         << ", which Core AI cannot express";
  // A node that was made here has nothing that a user's function could be
  // given.
  if (StringRef lowering = userLowering(*node.callee);
      node.origin && !lowering.empty())
    return emitUserCall(node, lowering);
  // Nothing can be computed about tensors without elements, and many ops of the
  // runtime do not take them.
  if (isEmpty(node)) {
    Results empty;
    for (const ValueInfo &info : node.results)
      empty.push_back(constant(
          DenseElementsAttr::get(typeOf(info), ArrayRef<Attribute>())));
    setResults(node, std::move(empty));
    return success();
  }
  if (node.callee->nameSpace == kKernelSizesNamespace) {
    setResults(node, {sizes(AtenNode(node, *this).list("values"),
                            IndexKind::Unsigned)});
    return success(!hasFailed());
  }
  if (node.callee->nameSpace == kKernelNamespace)
    return emitKernel(node);
  return lowerNode(node);
}

LogicalResult ProgramEmitter::emitKernel(const Node &node) {
  auto kernel = options.kernels.find(node.callee->name);
  if (kernel == options.kernels.end())
    return error(node) << "unable to handle call function op: target: "
                       << node.callee->name
                       << ", namespace: " << kKernelNamespace;
  FailureOr<Results> lowered =
      lowerMetalKernel(kernel->second, AtenNode(node, *this), *this);
  if (mlir::failed(lowered) || hasFailed())
    return failure();
  setResults(node, *std::move(lowered));
  return success();
}

/// Calls the operator's lowering, between checks of what it relies on and of
/// what it made.
LogicalResult ProgramEmitter::lowerNode(const Node &node) {
  const OperatorRow *row = findRow(node.callee->nameSpace, node.callee->name);
  if (!row)
    return error(node) << "Unsupported ATen op: " << node.callee->name
                       << "; add a lowering with register_torch_lowering()";
  if (llvm::Error contradiction = checkShapes(node, *row->rule))
    return error(node) << llvm::toString(std::move(contradiction));
  // A branch of a conditional has nodes of its own.
  llvm::SaveAndRestore outerNode(mayBeEmpty, hasOpenExtents(node));
  FailureOr<Results> lowered = row->lower(AtenNode(node, *this), *this);
  if (mlir::failed(lowered) || hasFailed())
    return failure();
  if (node.isStored)
    lowered->front() =
        convert(lowered->front(), elementType(node.info().dtype));
  if (mlir::failed(checkResults(node, *lowered)))
    return failure();
  setResults(node, *std::move(lowered));
  return success();
}

LogicalResult ProgramEmitter::checkResults(const Node &node,
                                           ArrayRef<Value> lowered) {
  if (lowered.size() != node.results.size())
    return error(node) << node.name << ": " << lowered.size() << " results vs "
                       << node.results.size();
  for (auto [i, info, value] : llvm::enumerate(node.results, lowered)) {
    if (!info.isTensor() || !value)
      continue;
    auto mismatch = [&](StringRef what, auto have, auto want) {
      return error(node) << node.name << "[" << i << "]: " << what << " "
                         << have << " vs " << want;
    };
    auto type = dyn_cast<RankedTensorType>(value.getType());
    RankedTensorType expected = typeOf(info);
    if (!type)
      return error(node) << node.name << "[" << i << "]: not a ranked tensor";
    if (type.getRank() != expected.getRank())
      return mismatch("rank", type.getRank(), expected.getRank());
    if (type.getElementType() != expected.getElementType() &&
        !forms.staysNarrow(node))
      return mismatch("dtype", type.getElementType(),
                      expected.getElementType());
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      int64_t have = type.getDimSize(axis), want = expected.getDimSize(axis);
      if (have != want && !ShapedType::isDynamic(have) &&
          !ShapedType::isDynamic(want))
        return mismatch(("dim[" + Twine(axis) + "]").str(), have, want);
    }
  }
  return success();
}
