// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element by element: a tile program where it can compute in such lanes, which
// is fused with its neighbours later, else a kernel for the one operation.

#include "../Lowerings.h"

#include "corten/Constants/Elements.h"
#include "corten/Runtime/TileProgram.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace corten;
using namespace mlir;

/// The kernel of an operation: its name in the other spelling, mostly.
static std::string kernelName(Operation *op, StringRef name) {
  if (auto gelu = dyn_cast<coreai::GeluOp>(op)) {
    switch (gelu.getApproximate()) {
    case coreai::Approximate::None:
      return "Gelu";
    case coreai::Approximate::Tanh:
      return "GeluTanh";
    case coreai::Approximate::Sigmoid:
      return "GeluSigmoid";
    }
  }
  if (name == "and" || name == "or" || name == "xor")
    return "Bitwise" + llvm::convertToCamelFromSnakeCase(name, true);
  return llvm::convertToCamelFromSnakeCase(name, true);
}

static std::optional<runtime::TileLane> laneOf(Type type) {
  std::optional<runtime::ElementType> element = elementTypeOf(type);
  return element ? runtime::tileLane(*element) : std::nullopt;
}

/// Whether there is such an instruction.
static bool isOpcode(StringRef name) {
  return llvm::any_of(runtime::tileOpcodes(), [&](const auto &info) {
    return StringRef(info.name) == name;
  });
}

/// The instruction for a kernel on elements of a type; empty if there is none.
/// Whole numbers of fewer bits would have to wrap around sooner.
static std::string opcodeFor(StringRef kernel, Type element) {
  std::optional<runtime::TileLane> lane = laneOf(element);
  if (!lane)
    return {};
  StringRef bits = llvm::StringSwitch<StringRef>(kernel)
                       .Case("BitwiseAnd", "And")
                       .Case("BitwiseOr", "Or")
                       .Case("BitwiseXor", "Xor")
                       .Default("");
  switch (*lane) {
  case runtime::TileLane::F:
    return bits.empty() && isOpcode(kernel) ? kernel.str() : "";
  case runtime::TileLane::M:
    if (kernel == "Add" || kernel == "Maximum")
      return "Or";
    if (kernel == "Mul" || kernel == "Minimum")
      return "And";
    if (kernel == "NotEqual")
      return "Xor";
    return bits.empty() ? (kernel == "Not" ? "Not" : "") : bits.str();
  case runtime::TileLane::I: {
    if (!bits.empty())
      return bits.str();
    bool mayOverflow = !StringRef(kernel).ends_with("Equal") &&
                       kernel != "Greater" && kernel != "Maximum" &&
                       kernel != "Minimum" && kernel != "Relu";
    if (mayOverflow && element.getIntOrFloatBitWidth() != 32)
      return {};
    std::string opcode = ("Integer" + kernel).str();
    return isOpcode(opcode) ? opcode : "";
  }
  case runtime::TileLane::X:
    return {};
  }
  return {};
}

LogicalResult corten::lowerElementwise(Operation *op, Planner &planner) {
  if (lowerNormalization(op, planner) || lowerScaledConvolution(op, planner))
    return success();
  SmallVector<Form> inputs;
  for (Value operand : op->getOperands())
    inputs.push_back(planner.form(operand));
  SizeList extents = planner.broadcastExtents(inputs);
  planner.refine(extents, op->getResult(0).getType());
  for (Form &input : inputs)
    input = broadcast(planner.sizes, input, extents);
  Type element = resultElement(op);
  std::string kernel = kernelName(op, kindOf(op));
  Form result;
  if (kernel == "Where" && laneOf(element)) {
    result = planner.tile(inputs, element, [&](OpBuilder &b, ValueRange in) {
      return plan::LaneOp::create(b, op->getLoc(), in[1].getType(), "Where", in)
          .getResult();
    });
  } else if (std::string opcode = opcodeFor(kernel, inputs.front().element);
             !opcode.empty() && laneOf(element)) {
    result = planner.tile(inputs, element, [&](OpBuilder &b, ValueRange in) {
      return plan::LaneOp::create(b, op->getLoc(), laneType(element), opcode,
                                  in)
          .getResult();
    });
  } else {
    KernelCall call;
    call.kernel = kernel;
    call.inputs.assign(inputs.begin(), inputs.end());
    call.extents = extents;
    call.element = element;
    result = planner.kernel(call);
  }
  planner.setForm(op->getResult(0), result);
  return success();
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Brings what a register holds from elements of one type to those of another.
static Value castLane(OpBuilder &b, Location loc, Value lane, Type from,
                      Type to) {
  auto instruction = [&](StringRef opcode, Type type, ValueRange in) -> Value {
    return plan::LaneOp::create(b, loc, type, opcode, in);
  };
  auto immediate = [&](Type type, double value) -> Value {
    return plan::ImmediateOp::create(b, loc, type, b.getF64FloatAttr(value));
  };
  Type wanted = laneType(to);
  bool isTruth = from.isInteger(1);
  if (to.isInteger(1))
    return isTruth ? lane
                   : instruction(isa<FloatType>(from) ? "FloatToTruth"
                                                      : "IntegerToTruth",
                                 wanted, lane);
  if (isTruth)
    return instruction("Where", wanted,
                       {lane, immediate(wanted, 1), immediate(wanted, 0)});
  if (isa<FloatType>(to)) {
    if (!isa<FloatType>(from))
      lane = instruction("ToFloat", wanted, lane);
    if (to.isF16())
      return instruction("RoundToF16", wanted, lane);
    if (to.isBF16())
      return instruction("RoundToBF16", wanted, lane);
    return lane;
  }
  if (isa<FloatType>(from))
    lane = instruction("ToInteger", wanted, lane);
  auto type = cast<IntegerType>(to);
  if (type.getWidth() == 32)
    return lane;
  double low = type.isUnsigned() ? 0 : double(llvm::minIntN(type.getWidth()));
  double high = type.isUnsigned() ? double(llvm::maxUIntN(type.getWidth()))
                                  : double(llvm::maxIntN(type.getWidth()));
  lane = instruction("IntegerMaximum", wanted, {lane, immediate(wanted, low)});
  return instruction("IntegerMinimum", wanted, {lane, immediate(wanted, high)});
}

LogicalResult corten::lowerCast(coreai::CastOp op, Planner &planner) {
  const Form &input = planner.form(op.getInput());
  Type from = input.element;
  Type to = resultElement(op);
  if (from == to) {
    planner.setForm(op.getResult(), input);
    return success();
  }
  if (lowerNormalization(op, planner))
    return success();
  Form result;
  if (laneOf(from) && laneOf(to)) {
    result = planner.tile(input, to, [&](OpBuilder &b, ValueRange in) {
      return castLane(b, op.getLoc(), in.front(), from, to);
    });
  } else {
    KernelCall call;
    call.kernel = "Cast";
    call.inputs = {input};
    call.extents = input.extents;
    call.element = to;
    if (auto order = denseOrder(planner.sizes, input))
      call.order = *order;
    result = planner.kernel(call);
  }
  planner.setForm(op.getResult(), result);
  return success();
}
