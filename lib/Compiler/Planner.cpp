// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Planner.h"

#include "Lowerings.h"

#include "corten/Constants/Elements.h"
#include "corten/Dialect/CoreAI/IR/TensorKinds.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Values and forms
//===----------------------------------------------------------------------===//

const Form &Planner::form(Value value) {
  auto found = forms.find(value);
  assert(found != forms.end() && "operations are planned in their order");
  return found->second;
}

void Planner::setForm(Value value, Form form) {
  forms.insert_or_assign(value, std::move(form));
}

Form Planner::whole(Value base, ArrayRef<Size> extents,
                    ArrayRef<int64_t> order) {
  Form result;
  result.base = base;
  result.element = cast<RankedTensorType>(base.getType()).getElementType();
  result.extents.assign(extents.begin(), extents.end());
  result.strides = order.empty() ? rowMajor(sizes, extents)
                                 : denseStrides(sizes, extents, order);
  result.offset = sizes.number(0);
  return result;
}

/// The type of a tensor of these extents.
static RankedTensorType typeOf(ArrayRef<Size> extents, Type element) {
  SmallVector<int64_t> shape;
  for (Size extent : extents)
    shape.push_back(known(extent).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, element);
}

/// Those that are not known, as values.
static SmallVector<Value> openOnes(Sizes &sizes, ArrayRef<Size> list) {
  SmallVector<Value> result;
  for (Size size : list)
    if (!known(size))
      result.push_back(sizes.value(size));
  return result;
}

/// With a mark where one is not known.
static SmallVector<int64_t> knownOnes(ArrayRef<Size> list) {
  return llvm::map_to_vector(list, [](Size size) {
    return known(size).value_or(ShapedType::kDynamic);
  });
}

/// Whether a size is what the call says of an axis.
static bool isExtentOf(Size size, Value tensor, size_t axis) {
  auto value = dyn_cast_if_present<Value>(size);
  auto op = value ? value.getDefiningOp<plan::ExtentOp>() : nullptr;
  return op && op.getTensor() == tensor && op.getAxis() == axis;
}

/// How all of the base of a form lies, which is no view.
static std::optional<Form> naturalForm(Planner &planner, const Form &form) {
  Value base = form.base;
  auto result = dyn_cast<OpResult>(base);
  auto kernel = result ? dyn_cast<plan::KernelOp>(result.getOwner()) : nullptr;
  auto type = cast<RankedTensorType>(base.getType());
  SizeList extents;
  ValueRange open =
      kernel ? kernel.getSizesOf(result.getResultNumber()) : ValueRange();
  for (auto [axis, extent] : llvm::enumerate(type.getShape())) {
    if (ShapedType::isStatic(extent)) {
      extents.push_back(planner.sizes.number(extent));
    } else if (!open.empty()) {
      extents.push_back(open.front());
      open = open.drop_front();
    } else if (axis < form.rank() &&
               isExtentOf(form.extents[axis], base, axis)) {
      extents.push_back(form.extents[axis]);
    } else {
      return std::nullopt;
    }
  }
  ArrayRef<int64_t> order;
  if (kernel && kernel.getOrder())
    order = *kernel.getOrder();
  return planner.whole(base, extents, order);
}

Value Planner::value(const Form &form) {
  std::optional<Form> natural = naturalForm(*this, form);
  if (natural && natural->extents == form.extents &&
      natural->strides == form.strides && isKnown(form.offset, 0))
    return form.base;
  return plan::ViewOp::create(
      builder, location, typeOf(form.extents, form.element), form.base,
      openOnes(sizes, form.extents), openOnes(sizes, form.offset),
      openOnes(sizes, form.strides),
      known(form.offset).value_or(ShapedType::kDynamic),
      knownOnes(form.strides));
}

SizeList Planner::extentsOf(Value tensor) {
  SizeList result;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (auto [axis, extent] : llvm::enumerate(type.getShape())) {
    if (ShapedType::isStatic(extent))
      result.push_back(sizes.number(extent));
    else
      result.push_back(
          plan::ExtentOp::create(builder, builder.getUnknownLoc(),
                                 builder.getIndexType(), tensor,
                                 builder.getI64IntegerAttr(int64_t(axis)))
              .getResult());
  }
  return result;
}

void Planner::refine(SizeList &extents, Type declared) {
  auto type = dyn_cast<RankedTensorType>(declared);
  if (!type || size_t(type.getRank()) != extents.size())
    return;
  for (auto [extent, size] : llvm::zip_equal(type.getShape(), extents))
    if (ShapedType::isStatic(extent) && !known(size))
      size = sizes.number(extent);
}

void Planner::require(Size condition, StringRef message,
                      ArrayRef<StringRef> names, ArrayRef<Size> told) {
  require(condition, message, builder.getStrArrayAttr(names), told);
}

void Planner::require(Size condition, StringRef message, ArrayAttr names,
                      ArrayRef<Size> told) {
  if (std::optional<int64_t> number = known(condition); number && *number != 0)
    return;
  Value flag = sizes.value(condition);
  if (!required.insert({builder.getInsertionBlock(), flag}).second)
    return;
  SmallVector<Value> values =
      llvm::map_to_vector(told, [&](Size size) { return sizes.value(size); });
  plan::AssertOp::create(builder, location, flag,
                         builder.getStringAttr(message), names, values);
}

bool Planner::isConstant(const Form &form) {
  Operation *op = form.base.getDefiningOp();
  if (!op || !llvm::all_of(form.extents, known) ||
      !llvm::all_of(form.strides, known) || !known(form.offset))
    return false;
  if (auto kernel = dyn_cast<plan::KernelOp>(op))
    return kernel.getPrepared();
  return isa<plan::ConstantOp>(op);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Form Planner::kernel(const KernelCall &call) {
  SmallVector<Value> inputs;
  for (const std::optional<Form> &input : call.inputs)
    inputs.push_back(
        input ? value(*input)
              : plan::AbsentOp::create(builder, location, builder.getNoneType())
                    .getResult());
  SmallVector<int64_t> order = canonicalOrder(call.extents, call.order);
  bool isOrdered = !call.order.empty() && !llvm::is_sorted(order);
  bool isPrepared =
      call.kernel != "Fill" && !call.isFresh && !call.inputs.empty() &&
      llvm::all_of(call.numbers, known) && llvm::all_of(call.extents, known) &&
      llvm::all_of(call.inputs, [&](const std::optional<Form> &input) {
        return !input || isConstant(*input);
      });
  auto op = plan::KernelOp::create(
      builder, location, TypeRange(typeOf(call.extents, call.element)),
      builder.getStringAttr(call.kernel), inputs, ValueRange(),
      openOnes(sizes, call.numbers), openOnes(sizes, call.extents),
      builder.getDenseI64ArrayAttr(knownOnes(call.numbers)),
      isOrdered ? builder.getDenseI64ArrayAttr(order) : DenseI64ArrayAttr(),
      isPrepared ? builder.getUnitAttr() : UnitAttr());
  return whole(op.getResult(0), call.extents,
               isOrdered ? ArrayRef(order) : ArrayRef<int64_t>());
}

plan::KernelOp Planner::kernelOp(const SeveralResults &call) {
  SmallVector<Value> operands;
  for (const Form &input : call.inputs)
    operands.push_back(value(input));
  SmallVector<Type> types;
  SmallVector<Value> open;
  for (auto [shape, element] : llvm::zip_equal(call.extents, call.elements)) {
    types.push_back(typeOf(shape, element));
    llvm::append_range(open, openOnes(sizes, shape));
  }
  return plan::KernelOp::create(
      builder, location, types, builder.getStringAttr(call.kernel), operands,
      ValueRange(), openOnes(sizes, call.numbers), open,
      builder.getDenseI64ArrayAttr(knownOnes(call.numbers)),
      DenseI64ArrayAttr(), UnitAttr());
}

SmallVector<Form> Planner::resultsOf(plan::KernelOp op,
                                     ArrayRef<SizeList> extents) {
  SmallVector<Form> results;
  for (auto [result, shape] : llvm::zip_equal(op.getResults(), extents))
    results.push_back(whole(result, shape));
  return results;
}

SmallVector<Form> Planner::kernel(const SeveralResults &call) {
  return resultsOf(kernelOp(call), call.extents);
}

SmallVector<Form> Planner::foreign(StringRef name, StringRef source,
                                   SeveralResults call) {
  call.kernel = "Foreign";
  for (Form &input : call.inputs)
    input = rowMajored(input);
  plan::KernelOp op = kernelOp(call);
  op->setAttr(plan::KernelOp::kForeignName, builder.getStringAttr(name));
  op->setAttr(plan::KernelOp::kForeignSource, builder.getStringAttr(source));
  return resultsOf(op, call.extents);
}

Form Planner::elementwise(StringRef kernelName, ArrayRef<Form> inputs,
                          Type element) {
  KernelCall call;
  call.kernel = kernelName;
  call.extents = broadcastExtents(inputs);
  call.element = element;
  for (const Form &input : inputs)
    call.inputs.push_back(broadcast(sizes, input, call.extents));
  return kernel(call);
}

/// What registers of a tile program hold for elements of a type.
Type corten::laneType(Type element) {
  if (isa<FloatType>(element))
    return Float32Type::get(element.getContext());
  if (element.isInteger(1))
    return element;
  return IntegerType::get(element.getContext(), 32, IntegerType::Signed);
}

bool corten::sharesBytes(Type element) {
  std::optional<runtime::ElementType> type = elementTypeOf(element);
  return type && runtime::packedBits(*type) < 8;
}

/// The inputs in the shape in which a kernel computed one of them, where that
/// is another and all of them can be seen so: the kernel may take the program
/// over then.
static std::optional<SmallVector<Form>> asComputed(Planner &planner,
                                                   ArrayRef<Form> inputs) {
  Sizes &sizes = planner.sizes;
  for (const Form &input : inputs) {
    if (!input.base.getDefiningOp<plan::KernelOp>() ||
        planner.isConstant(input))
      continue;
    std::optional<Form> natural = naturalForm(planner, input);
    if (!natural || natural->extents == input.extents ||
        !isRowMajor(sizes, *natural) || !isRowMajor(sizes, input) ||
        sizes.product(natural->extents) != sizes.product(input.extents))
      continue;
    SmallVector<Form> result;
    for (const Form &other : inputs)
      if (auto form = corten::reshaped(sizes, other, natural->extents))
        result.push_back(*form);
    if (result.size() == inputs.size())
      return result;
  }
  return std::nullopt;
}

Form Planner::tile(ArrayRef<Form> inputs, Type element, LaneBuilder lanes) {
  if (auto others = asComputed(*this, inputs))
    return *corten::reshaped(sizes, tileAsIs(*others, element, lanes),
                             inputs.front().extents);
  return tileAsIs(inputs, element, lanes);
}

Form Planner::tileAsIs(ArrayRef<Form> inputs, Type element, LaneBuilder lanes) {
  const SizeList &extents = inputs.front().extents;
  // As the first input lies that has a place for each element.
  SmallVector<int64_t> order;
  for (const Form &input : inputs)
    if (!isConstant(input))
      if (auto own = denseOrder(sizes, input)) {
        order = *own;
        break;
      }
  SmallVector<Value> operands;
  for (const Form &input : inputs)
    operands.push_back(value(input));
  bool isOrdered = !llvm::is_sorted(order);
  auto op = plan::KernelOp::create(
      builder, location, TypeRange(typeOf(extents, element)),
      builder.getStringAttr("Tile"), ValueRange(), operands, ValueRange(),
      openOnes(sizes, extents), builder.getDenseI64ArrayAttr({}),
      isOrdered ? builder.getDenseI64ArrayAttr(order) : DenseI64ArrayAttr(),
      llvm::all_of(inputs, [&](const Form &input) { return isConstant(input); })
          ? builder.getUnitAttr()
          : UnitAttr());
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&op.getProgram());
    for (const Form &input : inputs)
      block->addArgument(laneType(input.element), location);
    Value result = lanes(builder, block->getArguments());
    plan::YieldOp::create(builder, location, result);
  }
  // Strides are computed outside of the program.
  return whole(op.getResult(0), extents, order);
}

Form Planner::copied(const Form &form, ArrayRef<int64_t> order) {
  KernelCall call;
  call.kernel = "Copy";
  call.inputs = {form};
  call.extents = form.extents;
  call.element = form.element;
  call.order.assign(order.begin(), order.end());
  return kernel(call);
}

Form Planner::freshCopy(const Form &form) {
  KernelCall call;
  call.kernel = "Copy";
  call.inputs = {form};
  call.extents = form.extents;
  call.element = form.element;
  call.isFresh = true;
  return kernel(call);
}

Form Planner::rowMajored(const Form &form) {
  return isRowMajor(sizes, form) ? form : copied(form);
}

Form Planner::reshaped(const Form &form, ArrayRef<Size> extents) {
  if (auto result = corten::reshaped(sizes, form, extents))
    return *result;
  return *corten::reshaped(sizes, copied(form), extents);
}

Form Planner::inserted(const Form &update, const Form &target,
                       const Form &part) {
  auto op = plan::InsertOp::create(
      builder, location, target.base.getType(), value(update), target.base,
      openOnes(sizes, part.offset), openOnes(sizes, part.strides),
      known(part.offset).value_or(ShapedType::kDynamic),
      knownOnes(part.strides));
  Form result = target;
  result.base = op.getResult();
  return result;
}

Form Planner::filled(const Form &scalar, ArrayRef<Size> extents) {
  Form one = scalar;
  while (one.rank() != 0)
    one = withoutAxes(one, int64_t(one.rank()) - 1);
  return broadcast(sizes, one, extents);
}

Form Planner::constant(DenseElementsAttr value) {
  auto type = cast<RankedTensorType>(value.getType());
  SizeList extents;
  for (int64_t extent : type.getShape())
    extents.push_back(sizes.number(extent));
  if (value.isSplat() && type.getRank() != 0)
    value = value.resizeSplat(RankedTensorType::get({}, type.getElementType()));
  Value base = plan::ConstantOp::create(builder, location, value.getType(),
                                        cast<ElementsAttr>(value));
  if (value.getType() != type)
    return broadcast(sizes, whole(base, {}), extents);
  return whole(base, extents);
}

Form Planner::scalarOf(Type element, double value) {
  auto type = RankedTensorType::get({}, element);
  if (auto floating = dyn_cast<FloatType>(element))
    return constant(DenseElementsAttr::get(
        type, builder.getFloatAttr(floating, value).getValue()));
  return constant(DenseElementsAttr::get(
      type, builder.getIntegerAttr(element, int64_t(value)).getValue()));
}

/// That an axis of `own` elements can be seen as one of `wanted`, unless
/// something else holds.
void Planner::requireBroadcast(Size own, Size wanted, Size otherwise) {
  Size fits =
      sizes.add(sizes.equal(own, wanted), sizes.equal(own, sizes.number(1)));
  require(sizes.add(fits, otherwise), "two axes cannot be broadcast together",
          {"one", "the other"}, {own, wanted});
}

Form Planner::broadcasted(const Form &form, ArrayRef<Size> extents) {
  for (auto [own, wanted] :
       llvm::zip(llvm::reverse(form.extents), llvm::reverse(extents)))
    if (!isKnown(own, 1) && own != wanted)
      requireBroadcast(own, wanted, sizes.number(0));
  return broadcast(sizes, form, extents);
}

SizeList Planner::broadcastExtents(ArrayRef<Form> forms) {
  unsigned rank = 0;
  for (const Form &form : forms)
    rank = std::max(rank, form.rank());
  SizeList result(rank, sizes.number(1));
  for (const Form &form : forms)
    for (unsigned axis = 0; axis != form.rank(); ++axis) {
      Size &extent = result[rank - form.rank() + axis];
      Size own = form.extents[axis];
      if (isKnown(own, 1) || own == extent)
        continue;
      if (!isKnown(extent, 1))
        requireBroadcast(own, extent, sizes.equal(extent, sizes.number(1)));
      if (isKnown(extent, 1) || (known(own) && !known(extent)))
        extent = own;
      else if (!known(extent))
        extent =
            sizes.select(sizes.equal(extent, sizes.number(1)), own, extent);
    }
  return result;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// The name that callers know a value by.
template <typename T>
static T attributeIn(ArrayAttr attributes, unsigned index, StringRef key) {
  if (!attributes || index >= attributes.size())
    return {};
  return cast<DictionaryAttr>(attributes[index]).getAs<T>(key);
}

static StringRef nameIn(ArrayAttr attributes, unsigned index, StringRef key) {
  auto name = attributeIn<StringAttr>(attributes, index, key);
  return name ? name.getValue() : StringRef();
}

/// The tensor behind an argument: itself, what a handle holds, or the pixels of
/// an image.
static RankedTensorType argumentType(Value argument) {
  Type type = argument.getType();
  if (auto handle = dyn_cast<coreai::HandleType>(type))
    type = handle.getInnerType();
  if (isa<coreai::ImageType>(type))
    for (Operation *user : argument.getUsers())
      if (auto pixels = dyn_cast<coreai::ImageToTensorOp>(user))
        type = pixels.getType();
  return dyn_cast<RankedTensorType>(type);
}

LogicalResult Planner::planArguments(coreai::GraphOp graph,
                                     plan::FunctionOp function) {
  ArrayAttr attributes = graph.getArgAttrsAttr();
  SmallVector<Attribute> inputNames, stateNames, ranges;
  SmallVector<Value> inputs, stateful;
  bool hasRanges = false;
  Block &body = graph.getBodyRegion().front();
  for (BlockArgument argument : body.getArguments()) {
    unsigned index = argument.getArgNumber();
    StringRef name = nameIn(attributes, index, "coreai.name");
    std::string given =
        name.empty() ? "arg" + std::to_string(index) : name.str();
    bool isState =
        isa<coreai::HandleType>(argument.getType()) ||
        !nameIn(attributes, index, "MutableBuffers.buffer_mutation").empty();
    (isState ? stateNames : inputNames).push_back(builder.getStringAttr(given));
    (isState ? stateful : inputs).push_back(argument);
    if (isState)
      continue;
    ArrayAttr range =
        attributeIn<ArrayAttr>(attributes, index, "corten.shape_ranges");
    hasRanges |= bool(range);
    ranges.push_back(range ? range : builder.getArrayAttr({}));
  }
  if (hasRanges)
    function->setAttr(plan::FunctionOp::kRanges, builder.getArrayAttr(ranges));
  function.setInputsAttr(builder.getArrayAttr(inputNames));
  function.setStatesAttr(builder.getArrayAttr(stateNames));
  Block &block = function.getBody().front();
  SmallVector<Value> all =
      llvm::to_vector(llvm::concat<Value>(inputs, stateful));
  for (Value argument : all) {
    RankedTensorType type = argumentType(argument);
    if (!type || !elementTypeOf(type.getElementType()))
      return graph.emitError("the engine cannot run it: an argument has the "
                             "type ")
             << argument.getType();
    Value own = block.addArgument(
        RankedTensorType::get(type.getShape(), type.getElementType()),
        argument.getLoc());
    Form natural = whole(own, extentsOf(own));
    if (isa<coreai::HandleType>(argument.getType())) {
      states[argument] = natural;
    } else {
      setForm(argument, natural);
    }
    stateArguments[argument] = own;
  }
  return success();
}

/// Whether a form that has no gaps shows every element of what it is a view of.
static bool isAllOfBase(Planner &planner, const Form &form) {
  std::optional<Form> natural = naturalForm(planner, form);
  return natural && isKnown(form.offset, 0) &&
         planner.sizes.product(natural->extents) ==
             planner.sizes.product(form.extents);
}

LogicalResult Planner::planResults(coreai::GraphOp graph,
                                   plan::FunctionOp function) {
  Block &body = graph.getBodyRegion().front();
  Operation *output = body.getTerminator();
  location = output->getLoc();
  ArrayAttr names = graph.getResAttrsAttr();
  // A result that carries the new value of an argument goes there.
  llvm::StringMap<Value> targets;
  for (BlockArgument argument : body.getArguments()) {
    StringRef target = nameIn(graph.getArgAttrsAttr(), argument.getArgNumber(),
                              "MutableBuffers.buffer_mutation");
    if (!target.empty())
      targets[target] = argument;
  }
  SmallVector<Attribute> outputNames;
  SmallVector<Value> outputs;
  llvm::DenseSet<Value> taken;
  SmallVector<std::pair<Value, Value>> stores;
  for (auto [index, operand] : llvm::enumerate(output->getOperands())) {
    if (isa<coreai::TokenType>(operand.getType()))
      continue;
    StringRef name = nameIn(names, index, "coreai.name");
    if (Value target = targets.lookup(name)) {
      stores.push_back({value(form(operand)), stateArguments[target]});
      targets.erase(name);
      continue;
    }
    outputNames.push_back(builder.getStringAttr(
        name.empty() ? "out" + std::to_string(index) : name.str()));
    // Memory of its own, which the caller may take over or give.
    const Form &given = form(operand);
    bool isOwn = isa_and_present<plan::KernelOp>(given.base.getDefiningOp()) &&
                 !isConstant(given) && isRowMajor(sizes, given) &&
                 isAllOfBase(*this, given) && taken.insert(given.base).second;
    outputs.push_back(isOwn ? value(given) : freshCopy(given).base);
  }
  for (auto &[handle, state] : states)
    if (state.base != stateArguments[handle])
      stores.push_back({value(state), stateArguments[handle]});
  for (auto [from, to] : stores)
    plan::StoreOp::create(builder, location, from, to);
  plan::ReturnOp::create(builder, location, outputs);
  function.setOutputsAttr(builder.getArrayAttr(outputNames));
  return success();
}

LogicalResult Planner::plan(coreai::GraphOp graph) {
  if (graph.isDeclaration())
    return graph.emitError("the engine cannot run a graph without a body");
  location = graph.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  auto none = builder.getArrayAttr({});
  auto function = plan::FunctionOp::create(
      builder, location, graph.getSymNameAttr(), none, none, none);
  builder.createBlock(&function.getBody());
  if (failed(planArguments(graph, function)) ||
      failed(planBlock(graph.getBodyRegion().front())))
    return failure();
  if (!nearMisses.empty())
    function->setAttr(kNearMissesAttr,
                      builder.getArrayAttr(nearMisses.getArrayRef()));
  return planResults(graph, function);
}

void Planner::noteNearMiss(Operation *op, StringRef pattern, StringRef why) {
  if (!why.empty())
    nearMisses.insert(builder.getArrayAttr({builder.getStringAttr(pattern),
                                            builder.getStringAttr(why),
                                            LocationAttr(op->getLoc())}));
}

LogicalResult Planner::planBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(planOperation(&op)))
      return failure();
  return success();
}

LogicalResult Planner::planOperation(Operation *op) {
  location = op->getLoc();
  if (failed(lowerOperation(op, *this)))
    return failure();
  // Here, where every region that uses them sees them.
  for (Value result : op->getResults())
    knownNumbers(result);
  return success();
}

SmallVector<Value> Planner::returned(ValueRange values) {
  return llvm::map_to_vector(
      values, [&](Value operand) { return value(rowMajored(form(operand))); });
}

LogicalResult
Planner::planRegion(Region &from, Region &to,
                    llvm::function_ref<LogicalResult(Operation *)> end) {
  OpBuilder::InsertionGuard guard(builder);
  Sizes::Scope scope(sizes);
  Block *block = builder.createBlock(&to);
  for (Value argument : from.front().getArguments()) {
    RankedTensorType type = argumentType(argument);
    if (!type)
      return emitError(argument.getLoc(), "the engine cannot run a loop that "
                                          "carries ")
             << argument.getType();
    Value own = block->addArgument(
        RankedTensorType::get(type.getShape(), type.getElementType()),
        argument.getLoc());
    setForm(argument, whole(own, extentsOf(own)));
  }
  if (failed(planBlock(from.front())))
    return failure();
  location = from.front().getTerminator()->getLoc();
  return end(from.front().getTerminator());
}

Form Planner::state(Value handle) { return states[handle]; }

void Planner::setState(Value handle, Form form) {
  states[handle] = std::move(form);
}
