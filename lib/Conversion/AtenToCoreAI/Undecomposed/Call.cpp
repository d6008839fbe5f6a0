// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Undecomposed/Call.h"

#include "Table.h"

#include "llvm/Support/SaveAndRestore.h"

#include <deque>

using namespace corten;
using namespace mlir;

namespace {

/// Nodes that are not in the program. They live as long as one call.
class StandIns {
public:
  explicit StandIns(Emitter &emit) : emit(emit) {}
  ~StandIns() {
    for (const Node &node : nodes)
      emit.forget(node);
  }

  Node &add(const Node &like) {
    Node &node = nodes.emplace_back();
    node.name = like.name;
    node.stackTrace = like.stackTrace;
    node.module = like.module;
    return node;
  }

  /// The metadata that a value's type gives. Extents that are not known are
  /// symbols without a name.
  ValueInfo infoOf(RankedTensorType type) {
    SmallVector<Size> &extents = sizes.emplace_back();
    for (int64_t extent : type.getShape())
      extents.push_back(ShapedType::isDynamic(extent) ? Size::symbolic(0)
                                                      : Size(extent));
    ValueInfo info;
    info.kind = ValueInfo::Kind::Tensor;
    info.dtype = Emitter::scalarType(type.getElementType());
    info.sizes = extents;
    return info;
  }

  Argument argument(const Node &like, const CallArgument &given) {
    if (const auto *argument = std::get_if<Argument>(&given.content))
      return *argument;
    if (const auto *value = std::get_if<Value>(&given.content))
      return *value ? tensor(like, *value) : Argument();
    SmallVector<Argument> &list = lists.emplace_back();
    for (Value value : std::get<SmallVector<Value>>(given.content))
      list.push_back(tensor(like, value));
    return Argument::list(list);
  }

private:
  Argument tensor(const Node &like, Value value) {
    Node &node = add(like);
    infos.push_back(infoOf(Emitter::type(value)));
    node.results = infos.back();
    emit.setResults(node, {value});
    return Argument::node(&node);
  }

  Emitter &emit;
  std::deque<Node> nodes;
  std::deque<ValueInfo> infos;
  std::deque<SmallVector<Size>> sizes;
  std::deque<SmallVector<Argument>> lists;
};

} // namespace

static FailureOr<Results> callOn(StandIns &standIns, const AtenNode &caller,
                                 Emitter &emit, StringRef op,
                                 ArrayRef<CallArgument> arguments,
                                 ArrayRef<ValueInfo> results) {
  SmallVector<Parameter> parameters;
  SmallVector<Argument> values;
  for (const CallArgument &given : arguments) {
    parameters.push_back({given.name, false, {}});
    values.push_back(standIns.argument(caller, given));
  }
  Operator callee;
  callee.nameSpace = "aten";
  callee.name = op;
  callee.parameters = parameters;
  Node &node = standIns.add(caller);
  node.callee = &callee;
  node.arguments = values;
  node.results = results;
  // Messages are about the call in the program: this one does not live on.
  llvm::SaveAndRestore current(emit.currentNode);
  LoweringFn lower = findLowering("aten", op);
  assert(lower && "a lowering calls an operator that is not in the table");
  return lower(AtenNode(node, emit, caller), emit);
}

FailureOr<Results> corten::call(const AtenNode &caller, Emitter &emit,
                                StringRef op, ArrayRef<CallArgument> arguments,
                                ArrayRef<ValueInfo> results) {
  StandIns standIns(emit);
  return callOn(standIns, caller, emit, op, arguments, results);
}

static FailureOr<Value> firstOf(FailureOr<Results> results) {
  if (failed(results))
    return failure();
  return results->front();
}

FailureOr<Value> corten::call(const AtenNode &caller, Emitter &emit,
                              StringRef op, ArrayRef<CallArgument> arguments) {
  return firstOf(call(caller, emit, op, arguments, caller.get().results));
}

FailureOr<Value> corten::call(const AtenNode &caller, Emitter &emit,
                              StringRef op, ArrayRef<CallArgument> arguments,
                              RankedTensorType type) {
  StandIns standIns(emit);
  // Results beyond the first, which nothing asks for, get its metadata.
  SmallVector<ValueInfo> infos(6, standIns.infoOf(type));
  return firstOf(callOn(standIns, caller, emit, op, arguments, infos));
}

Argument corten::listOf(ArrayRef<int64_t> values,
                        SmallVectorImpl<Argument> &storage) {
  storage.clear();
  for (int64_t value : values)
    storage.push_back(Argument::integer(value));
  return Argument::list(storage);
}
