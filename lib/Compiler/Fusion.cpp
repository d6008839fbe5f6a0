// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fusion.h"

#include "corten/Runtime/Modes.h"
#include "corten/Runtime/TileProgram.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSwitch.h"

using namespace corten;
using namespace mlir;

/// Programs are kept short: registers are few, and each input is one more
/// stream from memory.
static constexpr size_t kMaxInputs = 12;
static constexpr size_t kMaxInstructions = 64;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// How many registers a program takes at most.
static size_t numRegisters(Block &program) {
  llvm::DenseMap<Value, Operation *> lastUse;
  for (Operation &lane : program)
    for (Value operand : lane.getOperands())
      lastUse[operand] = &lane;
  size_t live = program.getNumArguments();
  size_t most = live;
  for (Operation &lane : program.without_terminator()) {
    most = std::max(most, ++live);
    llvm::SmallDenseSet<Value> ended;
    for (Value operand : lane.getOperands())
      if (lastUse[operand] == &lane && !isa<BlockArgument>(operand))
        ended.insert(operand);
    live -= ended.size();
  }
  return most;
}

static size_t numInstructions(plan::KernelOp op) {
  return op.getProgram().front().getOperations().size();
}

/// The argument of a program for one of the further inputs.
static BlockArgument argumentFor(plan::KernelOp op, size_t extra) {
  Block &block = op.getProgram().front();
  size_t own = block.getNumArguments() - op.getExtras().size();
  return block.getArgument(unsigned(own + extra));
}

/// Takes a further input away, whose argument nobody uses.
static void eraseExtra(plan::KernelOp op, size_t extra) {
  Block &block = op.getProgram().front();
  block.eraseArgument(argumentFor(op, extra).getArgNumber());
  op.getExtrasMutable().erase(unsigned(extra));
}

/// The argument for an input that may be one already.
static Value addExtra(plan::KernelOp op, Value tensor, Type lane) {
  for (auto [index, extra] : llvm::enumerate(op.getExtras()))
    if (extra == tensor)
      return argumentFor(op, index);
  Value argument = op.getProgram().front().addArgument(lane, op.getLoc());
  op.getExtrasMutable().append(tensor);
  return argument;
}

/// Makes inputs that are there twice one.
static void mergeExtras(plan::KernelOp op) {
  for (size_t i = 0; i < op.getExtras().size(); ++i)
    for (size_t j = op.getExtras().size() - 1; j > i; --j)
      if (op.getExtras()[j] == op.getExtras()[i]) {
        argumentFor(op, j).replaceAllUsesWith(argumentFor(op, i));
        eraseExtra(op, j);
      }
}

/// The number that all elements of a tensor are, if it is a constant.
static std::optional<double> uniformNumber(Value tensor) {
  if (auto view = tensor.getDefiningOp<plan::ViewOp>())
    tensor = view.getSource();
  auto constant = tensor.getDefiningOp<plan::ConstantOp>();
  auto dense =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!dense || !dense.isSplat())
    return std::nullopt;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().convertToDouble();
  auto type = dyn_cast<IntegerType>(dense.getElementType());
  // A truth value is no number in a program.
  if (!type || type.getWidth() == 1 || type.getWidth() > 32)
    return std::nullopt;
  APInt value = dense.getSplatValue<APInt>();
  return type.isUnsigned() ? double(value.getZExtValue())
                           : double(value.getSExtValue());
}

static void makeImmediates(plan::KernelOp op) {
  // One input has to stay: it says which elements there are.
  for (size_t i = op.getExtras().size(); i-- > 0;) {
    if (op.isTile() && op.getExtras().size() == 1)
      return;
    std::optional<double> number = uniformNumber(op.getExtras()[i]);
    if (!number)
      continue;
    BlockArgument argument = argumentFor(op, i);
    OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
    Value immediate =
        plan::ImmediateOp::create(builder, op.getLoc(), argument.getType(),
                                  builder.getF64FloatAttr(*number));
    argument.replaceAllUsesWith(immediate);
    eraseExtra(op, i);
  }
}

//===----------------------------------------------------------------------===//
// Tiles into tiles
//===----------------------------------------------------------------------===//

bool corten::isSameLayout(plan::KernelOp a, plan::KernelOp b) {
  auto shapeOf = [](plan::KernelOp op) {
    return cast<RankedTensorType>(op.getResult(0).getType()).getShape();
  };
  return shapeOf(a) == shapeOf(b) &&
         llvm::equal(a.getSizesOf(0), b.getSizesOf(0)) &&
         a.getOrder() == b.getOrder();
}

/// Takes out what only went into what is gone; the last ones first.
static void eraseUnused(Block &block) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(block.getOperations())))
    if (isa<plan::InsertOp, plan::KernelOp, plan::ViewOp>(op) && op.use_empty())
      op.erase();
}

/// Puts the program of `producer`, whose result is the input `extra` of
/// `consumer`, into that of the consumer. False if it would become too long.
static bool absorb(plan::KernelOp consumer, size_t extra,
                   plan::KernelOp producer) {
  if (consumer.getExtras().size() + producer.getExtras().size() >
          kMaxInputs + 1 ||
      numInstructions(consumer) + numInstructions(producer) > kMaxInstructions)
    return false;
  Block &block = consumer.getProgram().front();
  Block &own = producer.getProgram().front();
  if (numRegisters(block) + numRegisters(own) >
      size_t(runtime::kMaxTileRegisters))
    return false;
  Value fused = argumentFor(consumer, extra);
  IRMapping mapping;
  for (auto [index, tensor] : llvm::enumerate(producer.getExtras())) {
    BlockArgument lane = argumentFor(producer, index);
    mapping.map(lane, addExtra(consumer, tensor, lane.getType()));
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  for (Operation &lane : own.without_terminator())
    builder.clone(lane, mapping);
  fused.replaceAllUsesWith(
      mapping.lookupOrDefault(own.getTerminator()->getOperand(0)));
  eraseExtra(consumer, extra);
  consumer->setLoc(builder.getFusedLoc({consumer.getLoc(), producer.getLoc()}));
  return true;
}

/// A tile program with one result that only `user` uses.
static plan::KernelOp fusableTile(Value tensor, plan::KernelOp user) {
  auto kernel = tensor.getDefiningOp<plan::KernelOp>();
  if (!kernel || !kernel.isTile() || kernel.getNumResults() != 1 ||
      kernel.getPrepared() || kernel->getBlock() != user->getBlock() ||
      !llvm::all_of(tensor.getUsers(),
                    [&](Operation *op) { return op == user.getOperation(); }))
    return nullptr;
  return kernel;
}

static void fuseTilesIn(Block &block) {
  SmallVector<plan::KernelOp> tiles;
  for (auto kernel : block.getOps<plan::KernelOp>())
    if (kernel.isTile() && kernel.getNumResults() == 1)
      tiles.push_back(kernel);
  // From the end: what was absorbed is never looked at.
  llvm::DenseSet<Operation *> absorbed;
  for (plan::KernelOp consumer : llvm::reverse(tiles)) {
    if (absorbed.contains(consumer))
      continue;
    mergeExtras(consumer);
    for (size_t i = 0; i < consumer.getExtras().size();) {
      plan::KernelOp producer = fusableTile(consumer.getExtras()[i], consumer);
      if (!producer || !isSameLayout(producer, consumer) ||
          !absorb(consumer, i, producer)) {
        ++i;
        continue;
      }
      absorbed.insert(producer);
      producer.erase();
      mergeExtras(consumer);
      i = 0;
    }
    makeImmediates(consumer);
  }
  eraseUnused(block);
}

static void forEachBlock(ModuleOp plans, void (*function)(Block &)) {
  plans.walk([&](Operation *op) {
    if (isa<plan::FunctionOp, plan::IfOp, plan::WhileOp>(op))
      for (Region &region : op->getRegions())
        if (!region.empty())
          function(region.front());
  });
}

void corten::fuseTiles(ModuleOp plans) { forEachBlock(plans, &fuseTilesIn); }

//===----------------------------------------------------------------------===//
// Tiles into reductions
//===----------------------------------------------------------------------===//

/// What a kernel does that reduces; nothing if it is none.
static std::optional<runtime::ReduceMode> reduceMode(StringRef kernel) {
  using runtime::ReduceMode;
  return llvm::StringSwitch<std::optional<ReduceMode>>(kernel)
      .Case("ReduceSum", ReduceMode::Sum)
      .Case("ReduceMean", ReduceMode::Mean)
      .Case("ReduceProduct", ReduceMode::Product)
      .Case("ReduceMax", ReduceMode::Max)
      .Case("ReduceMin", ReduceMode::Min)
      .Case("ReduceAll", ReduceMode::All)
      .Case("ReduceAny", ReduceMode::Any)
      .Default(std::nullopt);
}

/// Whether a reduction of these elements in lanes means the same. Whole numbers
/// of fewer bits wrap around sooner, and the mean of whole numbers is rounded
/// in another way.
static bool reducesInLanes(runtime::ReduceMode mode, Type element) {
  using runtime::ReduceMode;
  if (mode == ReduceMode::All || mode == ReduceMode::Any)
    return element.isInteger(1);
  return isa<FloatType>(element) ||
         (element.isSignedInteger(32) && mode != ReduceMode::Mean);
}

static void fuseReductionsIn(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.getOperations())) {
    auto reduction = dyn_cast<plan::KernelOp>(op);
    std::optional<runtime::ReduceMode> mode =
        reduction ? reduceMode(reduction.getKernel()) : std::nullopt;
    if (!mode || reduction.getPrepared())
      continue;
    plan::KernelOp tile = fusableTile(reduction.getInputs()[0], reduction);
    if (!tile || !reducesInLanes(
                     *mode, getElementTypeOrSelf(tile.getResult(0).getType())))
      continue;
    OpBuilder builder(reduction);
    auto fused = plan::KernelOp::create(
        builder, builder.getFusedLoc({reduction.getLoc(), tile.getLoc()}),
        reduction.getResultTypes(), builder.getStringAttr("TileReduce"),
        ValueRange(), tile.getExtras(), ValueRange(), reduction.getSizes(),
        builder.getDenseI64ArrayAttr({int64_t(*mode)}),
        reduction.getOrderAttr(), UnitAttr());
    fused.getProgram().takeBody(tile.getProgram());
    reduction.getResult(0).replaceAllUsesWith(fused.getResult(0));
    reduction.erase();
    tile.erase();
  }
}

void corten::fuseReductions(ModuleOp plans) {
  forEachBlock(plans, &fuseReductionsIn);
}

//===----------------------------------------------------------------------===//
// Tiles into products
//===----------------------------------------------------------------------===//

static bool takesProgram(plan::KernelOp op) {
  return llvm::StringSwitch<bool>(op.getKernel())
      .Cases({"MatMulPacked", "MatMulRouted", "MatMulCompressed",
              "MatMulRoutedCompressed", "MatMulSparse", "MatMulPairs",
              "MatMulQuads"},
             true)
      .Cases({"ConvolutionPacked", "ConvolutionTransposedPacked",
              "ConvolutionPairs", "ConvolutionDepthwise",
              "ConvolutionWinograd"},
             true)
      .Default(false);
}

/// The input of `tile` that `product` computes, if the tile can become a part
/// of it.
static std::optional<size_t> epilogueInput(plan::KernelOp product,
                                           plan::KernelOp tile) {
  Value result = product.getResult(0);
  Type element = getElementTypeOrSelf(result.getType());
  Type stored = getElementTypeOrSelf(tile.getResult(0).getType());
  bool canStore = element == stored ||
                  (isa<Float16Type, BFloat16Type, Float32Type>(stored) &&
                   storesAnyType(product));
  if (!canStore || !isSameLayout(product, tile) || product.getPrepared())
    return std::nullopt;
  for (auto [index, extra] : llvm::enumerate(tile.getExtras()))
    if (extra == result)
      return index;
  return std::nullopt;
}

/// Rounds what a program is given first to a type of less precision than the
/// program's own.
static void roundFirst(Block &program, Type type) {
  BlockArgument element = program.getArgument(0);
  auto builder = OpBuilder::atBlockBegin(&program);
  auto rounded = plan::LaneOp::create(
      builder, element.getLoc(), element.getType(),
      isa<BFloat16Type>(type) ? "RoundToBF16" : "RoundToF16",
      ValueRange(element));
  element.replaceAllUsesExcept(rounded.getResult(), rounded);
}

static void fuseEpiloguesIn(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.getOperations())) {
    auto tile = dyn_cast<plan::KernelOp>(op);
    if (!tile || !tile.isTile() || tile.getNumResults() != 1 ||
        tile.getPrepared())
      continue;
    for (Value extra : tile.getExtras()) {
      auto product = extra.getDefiningOp<plan::KernelOp>();
      if (!product || !takesProgram(product) || !product.getProgram().empty() ||
          !extra.hasOneUse() || product->getBlock() != &block)
        continue;
      std::optional<size_t> index = epilogueInput(product, tile);
      if (!index)
        continue;
      OpBuilder builder(tile);
      SmallVector<Value> extras(tile.getExtras());
      extras.erase(extras.begin() + *index);
      auto fused = plan::KernelOp::create(
          builder, builder.getFusedLoc({product.getLoc(), tile.getLoc()}),
          tile.getResultTypes(), product.getKernelAttr(), product.getInputs(),
          extras, product.getNumbers(), product.getSizes(),
          product.getStaticNumbersAttr(), product.getOrderAttr(), UnitAttr());
      fused.getProgram().takeBody(tile.getProgram());
      // The element of the product comes first.
      Block &program = fused.getProgram().front();
      BlockArgument element = program.getArgument(unsigned(*index));
      if (*index != 0) {
        BlockArgument first =
            program.insertArgument(0u, element.getType(), tile.getLoc());
        element.replaceAllUsesWith(first);
        program.eraseArgument(element.getArgNumber());
      }
      // The program gets the sum as it is. What is stored in the type of the
      // product is rounded to it anyway.
      Type own = getElementTypeOrSelf(product.getResult(0).getType());
      if (isa<Float16Type, BFloat16Type>(own) &&
          own != getElementTypeOrSelf(fused.getResult(0).getType()))
        roundFirst(program, own);
      tile.getResult(0).replaceAllUsesWith(fused.getResult(0));
      tile.erase();
      product.erase();
      break;
    }
  }
}

void corten::fuseEpilogues(ModuleOp plans) {
  forEachBlock(plans, &fuseEpiloguesIn);
}

//===----------------------------------------------------------------------===//
// What stays apart
//===----------------------------------------------------------------------===//

/// Whether a kernel computes element by element, and is no program because
/// there are no instructions for elements of its types.
static bool isElementwiseKernel(plan::KernelOp op) {
  StringRef name = op.getKernel();
  return name == "Cast" || name == "Where" ||
         llvm::any_of(runtime::tileOpcodes(), [&](const auto &info) {
           StringRef opcode = info.name;
           return opcode == name ||
                  (opcode.consume_front("Integer") && opcode == name);
         });
}

/// The element types that an element-by-element kernel goes from and to.
static std::string typesOf(plan::KernelOp op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Type from = getElementTypeOrSelf(op.getInputs().back().getType());
  Type to = getElementTypeOrSelf(op.getResult(0).getType());
  os << from;
  if (from != to)
    os << " to " << to;
  return text;
}

/// Why a kernel is no part of one that computes from its result, whatever the
/// two are; empty where they could be one.
static std::string whyNeverOne(plan::KernelOp producer,
                               plan::KernelOp consumer) {
  Value result = producer.getResult(0);
  if (!result.hasOneUse())
    return ("its result is used " + Twine(result.getNumUses()) + " times")
        .str();
  if (producer->getBlock() != consumer->getBlock())
    return "one of the two is in a branch or a loop";
  if (isElementwiseKernel(producer))
    return "it is no program: there is no instruction for it from " +
           typesOf(producer);
  return {};
}

static std::string whyApartFromTile(plan::KernelOp producer,
                                    plan::KernelOp tile, bool isView) {
  if (std::string why = whyNeverOne(producer, tile); !why.empty())
    return why;
  if (isView || !isSameLayout(producer, tile))
    return "it has another shape, or another order in memory";
  if (producer.isTile())
    return "the program would be too long";
  if (!producer.getProgram().empty())
    return "it has a program already";
  return "the result is of another type";
}

static std::string whyApartFromReduction(plan::KernelOp producer,
                                         plan::KernelOp reduction,
                                         bool isView) {
  if (std::string why = whyNeverOne(producer, reduction); !why.empty())
    return why;
  if (isView)
    return "it has another shape, or another order in memory";
  if (reduction.getKernel() == "TileReduce")
    return "the program would be too long, or it has another shape";
  std::string element;
  llvm::raw_string_ostream(element)
      << getElementTypeOrSelf(producer.getResult(0).getType());
  return "programs do not reduce elements of " + element + " so";
}

SmallVector<std::pair<plan::KernelOp, std::string>>
corten::whatStayedApart(plan::KernelOp consumer) {
  SmallVector<std::pair<plan::KernelOp, std::string>> result;
  bool isReduction =
      consumer.getKernel() == "TileReduce" || reduceMode(consumer.getKernel());
  if (!consumer.isTile() && !isReduction)
    return result;
  // A reduction with a program has taken in what it reduces.
  OperandRange inputs = consumer.getProgram().empty()
                            ? consumer.getInputs().take_front()
                            : consumer.getExtras();
  for (Value input : inputs) {
    auto view = input.getDefiningOp<plan::ViewOp>();
    Value base = view ? view.getSource() : input;
    auto producer = base.getDefiningOp<plan::KernelOp>();
    if (!producer || producer.getPrepared() || producer.getNumResults() != 1)
      continue;
    bool isPart = producer.isTile() || isElementwiseKernel(producer);
    if (isReduction && isPart)
      result.emplace_back(
          producer, whyApartFromReduction(producer, consumer, bool(view)));
    else if (!isReduction && (isPart || takesProgram(producer)))
      result.emplace_back(producer,
                          whyApartFromTile(producer, consumer, bool(view)));
  }
  return result;
}
