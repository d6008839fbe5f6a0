// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Weights/WeightForms.h"

#include "LoweredNodes.h"
#include "Weights/PackedWeights.h"

#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Program/Outline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/Twine.h"

using namespace corten;
using llvm::ArrayRef;
using llvm::failed;
using llvm::failure;
using llvm::LogicalResult;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::success;
using llvm::Twine;

int WeightForms::weightOf(const Node &node) const {
  auto found = weights.find(&node);
  return found == weights.end() ? -1 : found->second;
}

const WeightForms::Use *WeightForms::find(const Node &call,
                                          StringRef parameter) const {
  for (auto [i, each] : llvm::enumerate(call.callee->parameters)) {
    if (each.name != parameter)
      continue;
    auto found = uses.find({&call, static_cast<unsigned>(i)});
    return found == uses.end() ? nullptr : &found->second;
  }
  return nullptr;
}

ArrayRef<WeightForm> WeightForms::formsOf(int weight) const {
  auto found = forms.find(weight);
  return found == forms.end() ? ArrayRef<WeightForm>() : found->second;
}

const TensorView *WeightForms::viewOf(const Node &call,
                                      StringRef parameter) const {
  const Argument *argument = call.findArgument(parameter);
  if (!argument || !argument->isValue())
    return nullptr;
  int weight = weightOf(*argument->asNode());
  return weight < 0 ? nullptr : &program->weights[weight];
}

/// Notes that `call` takes a weight in `form`; false if the operand is none.
bool WeightForms::use(const Node &call, StringRef parameter, WeightForm form) {
  const TensorView *view = viewOf(call, parameter);
  if (!view)
    return false;
  if (form == WeightForm{view->dtype, SmallVector<int64_t>(view->shape)})
    return true;
  for (auto [i, each] : llvm::enumerate(call.callee->parameters)) {
    if (each.name != parameter)
      continue;
    int weight = weightOf(*call.arguments[i].asNode());
    auto &known = forms[weight];
    auto *found = llvm::find(known, form);
    unsigned index = found - known.begin();
    if (found == known.end())
      known.push_back(std::move(form));
    uses[{&call, static_cast<unsigned>(i)}] = {weight, index};
    return true;
  }
  return false;
}

LogicalResult WeightForms::plan(const Program &forProgram, const Graph &root,
                                ArrayRef<std::pair<const Node *, int>> nodes,
                                llvm::function_ref<bool(const Node &)> opaque,
                                Report reportTo) {
  *this = WeightForms(*window, keepsAssertions);
  program = &forProgram;
  isOpaque = opaque;
  report = reportTo;
  for (auto [node, weight] : nodes)
    weights[node] = weight;
  return visit(root);
}

LogicalResult WeightForms::fail(const Node &call, const Twine &what) {
  report(call, what);
  return failure();
}

/// Operands of a call of graphs are what the graphs see. Those that a loop
/// carries or takes apart come first: where there are lists, only the last one
/// is seen as it is. Returns the places of the arguments that are.
SmallVector<unsigned> WeightForms::bindOperands(const Node &call) {
  SmallVector<const Graph *, 2> graphs;
  SmallVector<Argument> operands;
  SmallVector<unsigned> places;
  for (auto [i, argument] : llvm::enumerate(call.arguments)) {
    if (argument.kind() == Argument::Kind::Graph) {
      graphs.push_back(argument.asGraph());
    } else if (!graphs.empty() && argument.isList()) {
      operands.assign(argument.asList().begin(), argument.asList().end());
      places = {static_cast<unsigned>(i)};
    } else if (!graphs.empty() && (argument.isValue() || argument.isNumber())) {
      operands.push_back(argument);
      places.push_back(static_cast<unsigned>(i));
    }
  }
  for (const Graph *graph : graphs) {
    SmallVector<const Node *> placeholders;
    for (const Node *node : graph->nodes)
      if (node->kind == Node::Kind::Placeholder)
        placeholders.push_back(node);
    if (placeholders.size() < operands.size())
      return {};
    for (auto [inner, operand] : llvm::zip_equal(
             ArrayRef(placeholders).take_back(operands.size()), operands))
      if (operand.isValue())
        if (int weight = weightOf(*operand.asNode()); weight >= 0)
          weights[inner] = weight;
  }
  return places;
}

LogicalResult WeightForms::visit(const Graph &graph) {
  llvm::DenseSet<const Node *> live = loweredNodes(graph, keepsAssertions);
  for (const Node *node : graph.nodes)
    if (live.contains(node))
      forEachOperand(node->arguments, [&, node = node](const Node *operand) {
        users[operand].push_back(node);
      });
  auto takeAsIs = [&](const Argument &argument) {
    forEachOperand(argument, [&](const Node *operand) {
      if (int weight = weightOf(*operand); weight >= 0)
        takenAsIs.insert(weight);
    });
  };
  // A value that leaves the graph has a user that is not known here.
  forEachOperand(graph.outputs,
                 [&](const Node *node) { users[node].push_back(nullptr); });

  for (const Node *node : graph.nodes) {
    if (node->kind != Node::Kind::Call || !live.contains(node))
      continue;
    SmallVector<unsigned> seenInside;
    bool isSimple = isOpaque(*node) || isModuleCall(*node);
    if (!isSimple) {
      if (failed(planCall(*node)))
        return failure();
      seenInside = bindOperands(*node);
    }
    for (auto [i, argument] : llvm::enumerate(node->arguments)) {
      auto place = static_cast<unsigned>(i);
      if (argument.kind() != Argument::Kind::Graph) {
        if (!llvm::is_contained(seenInside, place) &&
            !uses.contains({node, place}))
          takeAsIs(argument);
      } else if (!isSimple) {
        if (failed(visit(*argument.asGraph())))
          return failure();
      }
    }
  }
  llvm::for_each(graph.outputs, takeAsIs);
  return success();
}

LogicalResult WeightForms::planCall(const Node &call) {
  if (isCompressionCall(call, "lut_to_dense"))
    return planLookup(call);
  if (isCompressionCall(call, "sparse_to_dense"))
    return planSparse(call);
  if (std::optional<BlockwiseCall> blockwise = asBlockwiseCall(call))
    return planBlockwise(call, *blockwise);
  if (isCompressionCall(call, "quantize") ||
      isCompressionCall(call, "dequantize"))
    planActivation(call);
  return success();
}

/// A weight that is packed already must be what the call takes it for.
LogicalResult WeightForms::checkPacked(const Node &call, const TensorView &view,
                                       ScalarType wanted) {
  if (!isSubByte(view.dtype) || view.dtype == wanted)
    return success();
  return fail(call, "data of " + scalarTypeName(view.dtype) + " where " +
                        scalarTypeName(wanted) + " is expected");
}

LogicalResult WeightForms::planLookup(const Node &call) {
  const TensorView *indices = viewOf(call, "indices");
  std::optional<ScalarType> type = paletteIndexType(call);
  const ValueInfo *lut = infoOf(call, "lut");
  // The lowering says what is wrong with the table.
  if (!indices || !type || !isIntegerOrBool(indices->dtype) ||
      lut->sizes.size() != indices->shape.size() + 2)
    return success();
  if (failed(checkPacked(call, *indices, *type)))
    return failure();
  use(call, "indices", {*type, SmallVector<int64_t>(indices->shape)});
  return success();
}

LogicalResult WeightForms::planSparse(const Node &call) {
  const TensorView *mask = viewOf(call, "mask");
  const TensorView *values = viewOf(call, "nonzero_data");
  if (mask && isIntegerOrBool(mask->dtype)) {
    if (failed(checkPacked(call, *mask, ScalarType::UInt1)))
      return failure();
    if (mask->dtype != ScalarType::UInt1) {
      std::optional<int64_t> kept = countOnes(*mask, *window);
      if (!kept)
        return fail(call, "mask must have only 0 and 1 values");
      if (values && *kept != values->numElements())
        return fail(call, "nonzero_data has " + Twine(values->numElements()) +
                              " elements, mask keeps " + Twine(*kept));
    }
    use(call, "mask", {ScalarType::UInt1, SmallVector<int64_t>(mask->shape)});
  }
  // Indices that are kept sparse are as narrow as those that are not.
  ArrayRef<const Node *> consumers = users[&call];
  if (!values || consumers.size() != 1 || !consumers.front() ||
      !isCompressionCall(*consumers.front(), "lut_to_dense") ||
      !isIntegerOrBool(values->dtype) ||
      !isResultOf(*consumers.front(), "indices", call))
    return success();
  std::optional<ScalarType> type = paletteIndexType(*consumers.front());
  if (type && isSubByte(*type) &&
      use(call, "nonzero_data", {*type, SmallVector<int64_t>(values->shape)}))
    narrow.insert(&call);
  return success();
}

/// An entry `quantization_n_bits` beside the data, where a compressor left one.
std::optional<int64_t> WeightForms::siblingBits(int weight) const {
  auto pathOf = [](StringRef target) {
    return target.take_front(target.rfind('.') + 1);
  };
  for (const InputSpec &data : program->inputs) {
    if (data.weight != weight)
      continue;
    std::string sibling = (pathOf(data.target) + "quantization_n_bits").str();
    for (const InputSpec &spec : program->inputs)
      if (spec.target == sibling && spec.weight >= 0)
        if (auto range = valueRange(program->weights[spec.weight], *window))
          return range->first;
  }
  return std::nullopt;
}

/// An operator that states a range of numbers instead of a type.
static bool isTorchsOwn(const Node &call) {
  return call.callee->nameSpace == "quantized_decomposed" ||
         call.callee->nameSpace == "torchao";
}

/// The type of quantized data: as the call or the compressor states it, else
/// the narrowest that holds all values and zero points.
std::optional<ScalarType> WeightForms::dataType(const Node &call,
                                                const BlockwiseCall &blockwise,
                                                const TensorView &data) const {
  if (isSubByte(data.dtype))
    return data.dtype;
  if (blockwise.declared && !isTorchsOwn(call))
    return blockwise.declared;
  if (blockwise.declared) {
    // A range that torch clips to when it quantizes: the data may still be
    // anything, and so may the zero point.
    auto [low, high] = limitsOf(*blockwise.declared);
    auto fits = [&, low = low, high = high](int64_t least, int64_t greatest) {
      return least >= low && greatest <= high;
    };
    auto areFit = [&](const TensorView *view) {
      auto range = view ? valueRange(*view, *window) : std::nullopt;
      return !range || fits(range->first, range->second);
    };
    const Argument *zero = call.findArgument(blockwise.zeroPoint);
    bool isFit =
        areFit(&data) && areFit(viewOf(call, blockwise.zeroPoint)) &&
        (!zero || !zero->isInt() || fits(zero->asInt(), zero->asInt()));
    return isFit ? *blockwise.declared : data.dtype;
  }
  const Node *node = call.argument(blockwise.data).asNode();
  if (std::optional<int64_t> bits = siblingBits(weightOf(*node)))
    return withBits(data.dtype, *bits);
  auto range = valueRange(data, *window);
  if (!range)
    return data.dtype;
  if (const TensorView *zero = viewOf(call, blockwise.zeroPoint))
    if (auto others = valueRange(*zero, *window)) {
      range->first = std::min(range->first, others->first);
      range->second = std::max(range->second, others->second);
    }
  return narrowest(data.dtype, range->first, range->second);
}

/// A type that quantized data can have, kept in torch's `storage`.
static bool isKeptIn(ScalarType type, ScalarType storage) {
  switch (type) {
  case ScalarType::Int2:
  case ScalarType::Int4:
  case ScalarType::Int8:
    return storage == ScalarType::Int8 || storage == type;
  case ScalarType::UInt2:
  case ScalarType::UInt4:
  case ScalarType::UInt8:
    return storage == ScalarType::UInt8 || storage == type;
  default:
    return false;
  }
}

LogicalResult WeightForms::checkBlockSize(const Node &call) {
  SmallVector<int64_t> extents = staticShape(*infoOf(call, "input"));
  ArrayRef<Argument> sizes = blockSizes(call);
  if (sizes.size() != extents.size())
    return fail(call, "block_size must have an entry for each axis");
  for (auto [extent, size] : llvm::zip_equal(extents, sizes))
    if (int64_t block = blockAlong(extent, size);
        block == 0 || extent % block != 0)
      return fail(call, "blocks of " + Twine(block) +
                            " do not divide an extent of " + Twine(extent));
  return success();
}

LogicalResult WeightForms::planBlockwise(const Node &call,
                                         const BlockwiseCall &blockwise) {
  if (isAffine(call) && failed(checkBlockSize(call)))
    return failure();
  const ValueInfo &info = call.argument(blockwise.data).asNode()->info();
  // torch also quantizes to wider integers; those are dequantized by
  // arithmetic.
  if (isTorchsOwn(call) && scalarTypeBits(info.dtype) > 8)
    return success();
  const TensorView *data = viewOf(call, blockwise.data);
  ScalarType type = info.dtype;
  const ValueInfo *scale = infoOf(call, blockwise.scale);
  bool isFloat4 = data && (data->dtype == ScalarType::Float4E2M1FNx2 ||
                           (data->dtype == ScalarType::UInt8 && scale &&
                            scale->dtype == ScalarType::Float8E8M0FNU));
  if (isFloat4) {
    SmallVector<int64_t> shape(data->shape);
    if (data->dtype == ScalarType::UInt8 && !shape.empty())
      shape.back() *= 2;
    use(call, blockwise.data, {ScalarType::Float4E2M1FNx2, std::move(shape)});
  } else if (data && isIntegerOrBool(data->dtype)) {
    std::optional<ScalarType> stated = dataType(call, blockwise, *data);
    if (!stated || !isKeptIn(*stated, data->dtype))
      return fail(call, "data of " + scalarTypeName(data->dtype) +
                            (stated ? " cannot be of the quantized type " +
                                          scalarTypeName(*stated)
                                    : Twine(" of a width other than 2, 4, 8")));
    type = *stated;
    use(call, blockwise.data, {type, SmallVector<int64_t>(data->shape)});
  }
  // Parameters that have another number of elements are for the lowering to
  // complain about.
  auto fits = [&](StringRef parameter) {
    const TensorView *view = viewOf(call, parameter);
    int64_t count = 1;
    for (int64_t extent : blockwise.blocks)
      count *= extent;
    return view && view->numElements() == count;
  };
  for (StringRef parameter : {blockwise.scale, blockwise.minval})
    if (fits(parameter))
      use(call, parameter, {viewOf(call, parameter)->dtype, blockwise.blocks});
  if (fits(blockwise.zeroPoint) && isIntegerOrBool(type) &&
      isIntegerOrBool(viewOf(call, blockwise.zeroPoint)->dtype))
    use(call, blockwise.zeroPoint, {type, blockwise.blocks});
  return success();
}

void WeightForms::planActivation(const Node &call) {
  const ValueInfo *data = infoOf(call, "input");
  if (!data)
    return;
  ScalarType type = data->dtype;
  if (isCompressionCall(call, "quantize")) {
    type = dtypeOf(call, "output_dtype").value_or(type);
    bool isKnown = type == ScalarType::Int4 || type == ScalarType::UInt4;
    bool isDequantized = llvm::all_of(users[&call], [&](const Node *user) {
      return user && isCompressionCall(*user, "dequantize") &&
             isResultOf(*user, "input", call);
    });
    if (isKnown && isDequantized)
      narrow.insert(&call);
    else
      type = call.info().dtype;
  } else if (const Node *input = call.argument("input").asNode();
             narrow.contains(input)) {
    type = dtypeOf(*input, "output_dtype").value_or(type);
  }
  SmallVector<int64_t> shape = parameterShape(call);
  int64_t count = shape.empty() ? 1 : shape.front();
  auto fits = [&](StringRef parameter) {
    const TensorView *view = viewOf(call, parameter);
    return view && view->numElements() == count;
  };
  for (StringRef parameter : {"scale", "minval"})
    if (fits(parameter))
      use(call, parameter, {viewOf(call, parameter)->dtype, shape});
  if (fits("zero_point") && isIntegerOrBool(type) &&
      isIntegerOrBool(viewOf(call, "zero_point")->dtype))
    use(call, "zero_point", {type, shape});
}

std::vector<std::pair<std::string, ScalarType>>
corten::narrowWeights(const Program &program) {
  SmallVector<std::pair<const Node *, int>> nodes;
  for (const InputSpec &spec : program.inputs)
    if (spec.weight >= 0 && !spec.isMutated)
      nodes.emplace_back(spec.node, spec.weight);
  ReadWindow window;
  WeightForms forms(window);
  std::vector<std::pair<std::string, ScalarType>> result;
  // What is wrong with a program is said when it is converted.
  if (failed(forms.plan(
          program, program.main, nodes, [](const Node &) { return false; },
          [](const Node &, const Twine &) {})))
    return result;
  for (const InputSpec &spec : program.inputs)
    if (ArrayRef<WeightForm> wanted = forms.formsOf(spec.weight);
        wanted.size() == 1 && isSubByte(wanted.front().type) &&
        !isSubByte(program.weights[spec.weight].dtype) &&
        !forms.isTakenAsIs(spec.weight))
      result.emplace_back(spec.target.str(), wanted.front().type);
  return result;
}
