// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Callees come first, so that what is copied is in its final form, and what a
// module will have is known before anything is.

#include "DebugLocations.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

using namespace corten;
using namespace mlir;

namespace corten {
#define GEN_PASS_DEF_INLINEGRAPHS
#include "corten/Transforms/Passes.h.inc"
} // namespace corten

namespace {
struct InlineGraphs : corten::impl::InlineGraphsBase<InlineGraphs> {
  using InlineGraphsBase::InlineGraphsBase;
  void runOnOperation() override;
};

/// The graphs of a module, and which calls of them are inlined.
class CallGraph {
public:
  /// Keeps composites of these names, or with `keepMarked` all that is marked.
  CallGraph(ArrayRef<std::string> names, bool keepMarked)
      : keepMarked(keepMarked) {
    for (const std::string &name : names)
      kept.insert(name);
  }

  void add(ModuleOp module);
  /// How many ops there will be.
  uint64_t numOps() const;
  void inlineAll();

private:
  /// A graph and what is known of it.
  struct Callable {
    enum class State { Unseen, Active, Done };
    State state = State::Unseen;
    /// Is on a way from itself to itself.
    bool callsItself = false;
    /// Those that become part of it, in the order of the program.
    SmallVector<coreai::InvokeOp> calls;
    /// When all that is inlined is.
    uint64_t numOps = 0;
  };

  bool mayInline(coreai::GraphOp graph) const;
  coreai::GraphOp calleeOf(coreai::InvokeOp call);
  /// Puts `graph` after all that it calls into `order`.
  void visit(coreai::GraphOp graph);

  bool keepMarked;
  llvm::StringSet<> kept;
  SymbolTableCollection symbols;
  llvm::DenseMap<Operation *, Callable> callables;
  SmallVector<coreai::GraphOp> order;
};
} // namespace

/// Whether something of another program or of a device may look for the graph.
static bool isMarked(coreai::GraphOp graph) {
  return graph.getCompositeDeclAttr() || graph.getExternalize() ||
         graph.getNoInline();
}

bool CallGraph::mayInline(coreai::GraphOp graph) const {
  if (graph.isDeclaration() || !graph.getParamDecls().getValue().empty())
    return false;
  if (keepMarked)
    return graph.getPriv() && !isMarked(graph);
  coreai::CompositeDeclarationAttr composite = graph.getCompositeDeclAttr();
  return !composite || !kept.contains(composite.getName());
}

coreai::GraphOp CallGraph::calleeOf(coreai::InvokeOp call) {
  SymbolRefAttr name = call.getCalleeSymbol();
  return name ? symbols.lookupNearestSymbolFrom<coreai::GraphOp>(call, name)
              : coreai::GraphOp();
}

void CallGraph::visit(coreai::GraphOp graph) {
  // On a stack of its own: programs may be as deep as they are long.
  struct Frame {
    coreai::GraphOp graph;
    SmallVector<coreai::InvokeOp> calls;
    size_t next = 0;
  };
  SmallVector<Frame> frames;
  auto enter = [&](coreai::GraphOp entered) {
    Callable &callable = callables[entered];
    callable.state = Callable::State::Active;
    frames.push_back({entered, {}});
    entered->walk([&](Operation *op) {
      ++callable.numOps;
      if (auto call = dyn_cast<coreai::InvokeOp>(op))
        frames.back().calls.push_back(call);
    });
  };
  enter(graph);
  while (!frames.empty()) {
    Frame &frame = frames.back();
    if (frame.next == frame.calls.size()) {
      callables[frame.graph].state = Callable::State::Done;
      order.push_back(frame.graph);
      frames.pop_back();
      continue;
    }
    coreai::InvokeOp call = frame.calls[frame.next];
    coreai::GraphOp callee = calleeOf(call);
    Callable::State state =
        callee ? callables[callee].state : Callable::State::Done;
    if (state == Callable::State::Unseen) {
      // Looked at again when it is done.
      enter(callee);
      continue;
    }
    ++frame.next;
    if (!callee)
      continue;
    Callable &called = callables[callee];
    if (state == Callable::State::Active)
      called.callsItself = true;
    if (called.callsItself || !mayInline(callee))
      continue;
    Callable &caller = callables[frame.graph];
    caller.calls.push_back(call);
    caller.numOps = llvm::SaturatingAdd(caller.numOps, called.numOps);
  }
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// The last access to a handle before a call, as a token; null if there is
/// none. Fails where an access is of another form.
static FailureOr<Value> tokenBefore(Value handle, Operation *call) {
  Operation *last = nullptr;
  for (Operation *user : handle.getUsers()) {
    Operation *access = call->getBlock()->findAncestorOpInBlock(*user);
    if (access && access != call && access->isBeforeInBlock(call) &&
        (!last || last->isBeforeInBlock(access)))
      last = access;
  }
  if (!last)
    return Value();
  if (auto read = dyn_cast<coreai::ReadHandleOp>(last))
    return Value(read.getOutToken());
  if (auto write = dyn_cast<coreai::WriteHandleOp>(last))
    return Value(write.getOutToken());
  return failure();
}

/// A callee starts the history of a state; in the place of a call it goes on
/// with the caller's. Fails where that is not known.
static LogicalResult continueHistories(coreai::InvokeOp call,
                                       coreai::GraphOp callee,
                                       llvm::DenseMap<Value, Value> &tokens) {
  for (auto [operand, argument] : llvm::zip_equal(
           call.getOperands(), callee.getBodyRegion().getArguments())) {
    if (!isa<coreai::HandleType>(operand.getType()))
      continue;
    FailureOr<Value> token = tokenBefore(operand, call);
    if (failed(token))
      return failure();
    if (*token)
      tokens[argument] = *token;
  }
  return success();
}

/// Where an access begins a history, it continues that of `token`.
static void continueHistory(OpOperand &operand, Value token) {
  if (operand.get().getDefiningOp<coreai::CreateTokenOp>())
    operand.set(token);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Puts the body of `callee` in the place of a call.
static void inlineCall(coreai::InvokeOp call, coreai::GraphOp callee) {
  llvm::DenseMap<Value, Value> tokens;
  if (failed(continueHistories(call, callee, tokens)))
    return;
  Block &body = callee.getBodyRegion().front();
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(body.getArguments(), call.getOperands());
  llvm::DenseMap<Location, Location> places;
  auto place = [&](Location location) {
    return places.try_emplace(location, fuse(location, {call.getLoc()}))
        .first->second;
  };
  for (Operation &op : body.without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    copy->walk(
        [&](Operation *inner) { inner->setLoc(place(inner->getLoc())); });
    if (isa<coreai::ReadHandleOp, coreai::WriteHandleOp>(op))
      if (Value token = tokens.lookup(op.getOperand(0)))
        continueHistory(copy->getOpOperands().back(), token);
  }
  SmallVector<Value> results;
  for (auto [value, type] : llvm::zip_equal(body.getTerminator()->getOperands(),
                                            call.getResultTypes())) {
    Value result = mapping.lookup(value);
    // A graph may return more than it promises.
    if (result.getType() != type)
      result = coreai::CastOp::create(builder, call.getLoc(), type, result);
    results.push_back(result);
  }
  call->replaceAllUsesWith(results);
  call->erase();
}

void CallGraph::add(ModuleOp module) {
  // Graphs may be in namespaces, never in graphs.
  module->walk<WalkOrder::PreOrder>([&](coreai::GraphOp graph) {
    if (callables[graph].state == Callable::State::Unseen)
      visit(graph);
    return WalkResult::skip();
  });
}

uint64_t CallGraph::numOps() const {
  uint64_t total = 0;
  for (coreai::GraphOp graph : order)
    total = llvm::SaturatingAdd(total, callables.at(graph).numOps);
  return total;
}

void CallGraph::inlineAll() {
  for (coreai::GraphOp graph : order)
    for (coreai::InvokeOp call : callables[graph].calls)
      inlineCall(call, calleeOf(call));
}

void InlineGraphs::runOnOperation() {
  CallGraph graphs(ArrayRef<std::string>(keptComposites), keepMarked);
  graphs.add(getOperation());
  uint64_t numOps = graphs.numOps();
  if (numOps > maxOps) {
    getOperation()->emitError("has ")
        << numOps << " operations when calls are inlined, more than the "
        << maxOps.getValue() << " that it may have";
    return signalPassFailure();
  }
  graphs.inlineAll();
}
