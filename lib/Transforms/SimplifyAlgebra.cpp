// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only what changes no bit, for any number. So x - 0 is x, but x + 0 is not: it
// makes 0 of -0; x + -0 is x. Floats are not reassociated, integers, which wrap
// around, are. A NaN stays a NaN, whatever its bits.

#include "Rewriting.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Transforms/Passes.h"
#include "mlir/IR/TypeUtilities.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace corten;
using namespace mlir;
using namespace corten::coreai;

namespace corten {
#define GEN_PASS_DEF_SIMPLIFYALGEBRA
#include "corten/Transforms/Passes.h.inc"
} // namespace corten

namespace {
struct SimplifyAlgebra : corten::impl::SimplifyAlgebraBase<SimplifyAlgebra> {
  void runOnOperation() override { rewrite(getOperation(), {simplifyAlgebra}); }
};
} // namespace

static Type elementOf(Value value) { return getElementTypeOrSelf(value); }
static bool isBoolean(Value value) {
  return elementOf(value).isSignlessInteger(1);
}
/// An integer or boolean.
static bool isWhole(Value value) { return isa<IntegerType>(elementOf(value)); }

/// `value`, if it has the type of the result and nothing that it is combined
/// with gives that another shape.
static Value only(Operation &op, Value value) {
  if (!value || value.getType() != op.getResult(0).getType())
    return {};
  // Without broadcasting all have one shape.
  if (op.hasTrait<OpTrait::Elementwise>() || isa<WhereOp>(op))
    return value;
  for (Value other : op.getOperands())
    if (other != value && !fitsInto(other.getType(), value.getType()))
      return {};
  return value;
}

/// An operand of two that is left if the other one satisfies `isNeutral`.
static Value besides(Operation &op, llvm::function_ref<bool(Value)> isNeutral) {
  if (isNeutral(op.getOperand(1)))
    return only(op, op.getOperand(0));
  if (isNeutral(op.getOperand(0)))
    return only(op, op.getOperand(1));
  return {};
}

//===----------------------------------------------------------------------===//
// Negation
//===----------------------------------------------------------------------===//

/// What is negated if `value` is a negation, in one of the forms that floats
/// have without changing zeros, or integers.
static Value negated(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  Value inner;
  if (isa<MulOp, BroadcastingMulOp>(op))
    inner = besides(*op, [](Value other) { return isAll(other, -1); });
  else if (isa<DivideOp, BroadcastingDivideOp>(op) && !isWhole(value))
    inner = isAll(op->getOperand(1), -1) ? op->getOperand(0) : Value();
  else if (isa<SubOp, BroadcastingSubOp>(op) &&
           isAll(op->getOperand(0), isWhole(value) ? 0.0 : -0.0))
    inner = op->getOperand(1);
  return inner ? only(*op, inner) : Value();
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

/// `(x ∘ c1) ∘ c2` of integers as `x ∘ (c1 ∘ c2)`; ∘ is associative modulo a
/// power of two.
template <typename Op>
static Value reassociate(Operation &op, OpBuilder &builder,
                         APInt (*combine)(const APInt &, const APInt &)) {
  auto outer = dyn_cast<Op>(op);
  auto inner = outer ? op.getOperand(0).getDefiningOp<Op>() : Op();
  if (!inner || !isa<IntegerType>(elementOf(op.getResult(0))) ||
      isBoolean(op.getResult(0)))
    return {};
  Value first = inner->getOperand(1), second = op.getOperand(1);
  DenseElementsAttr lhs = splatOf(first), rhs = splatOf(second);
  if (!lhs || !rhs || first.getType() != second.getType())
    return {};
  auto elements = DenseElementsAttr::get(
      lhs.getType(),
      combine(lhs.getSplatValue<APInt>(), rhs.getSplatValue<APInt>()));
  Location place = placeOf(op, op.getOperand(0));
  Value constant = ConstantOp::create(builder, place, elements);
  return Op::create(builder, place, op.getResult(0).getType(),
                    inner->getOperand(0), constant);
}

static Value simplifySum(Operation &op, OpBuilder &builder) {
  // Of booleans a sum is `or`.
  double neutral = isWhole(op.getResult(0)) ? 0.0 : -0.0;
  if (Value x = besides(op, [&](Value c) { return isAll(c, neutral); }))
    return x;
  auto add = [](const APInt &a, const APInt &b) { return a + b; };
  if (Value x = reassociate<AddOp>(op, builder, add))
    return x;
  return reassociate<BroadcastingAddOp>(op, builder, add);
}

static Value simplifyProduct(Operation &op, OpBuilder &builder) {
  if (Value x = besides(op, [](Value c) { return isAll(c, 1); }))
    return x;
  if (isWhole(op.getResult(0)))
    for (Value operand : op.getOperands())
      if (isAll(operand, 0))
        if (Value zero = only(op, operand))
          return zero;
  auto multiply = [](const APInt &a, const APInt &b) { return a * b; };
  if (Value x = reassociate<MulOp>(op, builder, multiply))
    return x;
  if (Value x = reassociate<BroadcastingMulOp>(op, builder, multiply))
    return x;
  Value inner = negated(op.getResult(0));
  return inner ? negated(inner) : Value();
}

static Value simplifyDifference(Operation &op) {
  if (isAll(op.getOperand(1), 0.0))
    return only(op, op.getOperand(0));
  Value inner = negated(op.getResult(0));
  return inner ? negated(inner) : Value();
}

static Value simplifyQuotient(Operation &op) {
  bool isFloor = isa<FloorDivideOp, BroadcastingFloorDivideOp>(op);
  if (isAll(op.getOperand(1), 1) && (!isFloor || isWhole(op.getResult(0))))
    return only(op, op.getOperand(0));
  Value inner = negated(op.getResult(0));
  return inner ? negated(inner) : Value();
}

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

/// The negation of a boolean of the type of the result.
static Value negate(Operation &op, OpBuilder &builder, Value value) {
  return value ? Value(NotOp::create(builder, op.getLoc(), value)) : value;
}

static Value simplifyAnd(Operation &op) {
  if (op.getOperand(0) == op.getOperand(1))
    return only(op, op.getOperand(0));
  if (Value x = besides(op, isAllOnes))
    return x;
  for (Value operand : op.getOperands())
    if (isAll(operand, 0))
      if (Value zero = only(op, operand))
        return zero;
  return {};
}

static Value simplifyOr(Operation &op) {
  if (op.getOperand(0) == op.getOperand(1))
    return only(op, op.getOperand(0));
  if (Value x = besides(op, [](Value c) { return isAll(c, 0); }))
    return x;
  for (Value operand : op.getOperands())
    if (isAllOnes(operand))
      if (Value ones = only(op, operand))
        return ones;
  return {};
}

static Value simplifyXor(Operation &op, OpBuilder &builder) {
  if (Value x = besides(op, [](Value c) { return isAll(c, 0); }))
    return x;
  if (!isBoolean(op.getResult(0)))
    return {};
  return negate(op, builder, besides(op, isAllOnes));
}

static Value simplifyNot(NotOp op, OpBuilder &builder) {
  Operation *inner = op.getX().getDefiningOp();
  if (!inner)
    return {};
  Location place = placeOf(*op, op.getX());
  auto opposite = [&](auto comparison, auto *type) -> Value {
    using Opposite = std::remove_pointer_t<decltype(type)>;
    return Opposite::create(builder, place, op.getType(), comparison.getInput(),
                            comparison.getOther());
  };
  // True for NaN is what "not equal" is; "not greater" is no op.
  return llvm::TypeSwitch<Operation *, Value>(inner)
      .Case([](NotOp same) { return same.getX(); })
      .Case([&](EqualOp c) { return opposite(c, (NotEqualOp *)nullptr); })
      .Case([&](NotEqualOp c) { return opposite(c, (EqualOp *)nullptr); })
      .Case([&](BroadcastingEqualOp c) {
        return opposite(c, (BroadcastingNotEqualOp *)nullptr);
      })
      .Case([&](BroadcastingNotEqualOp c) {
        return opposite(c, (BroadcastingEqualOp *)nullptr);
      })
      .Default(Value());
}

/// Booleans that are compared with one of the two that there are.
static Value simplifyComparison(Operation &op, OpBuilder &builder,
                                bool isEqual) {
  if (!isBoolean(op.getOperand(0)))
    return {};
  auto isSame = [&](Value c) { return isAll(c, isEqual ? 1 : 0); };
  auto isOther = [&](Value c) { return isAll(c, isEqual ? 0 : 1); };
  if (Value x = besides(op, isSame))
    return x;
  return negate(op, builder, besides(op, isOther));
}

template <typename Op> static Value simplifyWhere(Op op, OpBuilder &builder) {
  if (op.getA() == op.getB())
    return only(*op, op.getA());
  if (isAllOnes(op.getCondition()))
    return only(*op, op.getA());
  if (isAll(op.getCondition(), 0))
    return only(*op, op.getB());
  auto flipped = op.getCondition().template getDefiningOp<NotOp>();
  if (!flipped)
    return {};
  return Op::create(builder, placeOf(*op, op.getCondition()), op.getType(),
                    flipped.getX(), op.getB(), op.getA());
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

static Value simplifyUnary(Operation &op, OpBuilder &builder) {
  Value x = op.getOperand(0);
  Operation *inner = x.getDefiningOp();
  if (isa<RoundOp>(op) && isWhole(x))
    return only(op, x);
  if (!inner)
    return {};
  // What changes nothing the second time.
  if (isa<AbsOp, ReluOp, RoundOp>(op) && inner->getName() == op.getName())
    return only(op, x);
  if (isa<ReluOp>(op) && isa<AbsOp>(inner) && isa<FloatType>(elementOf(x)))
    return only(op, x);
  if (!isa<AbsOp>(op) || isWhole(x))
    return {};
  Value positive = negated(x);
  if (!positive || positive.getType() != x.getType())
    return {};
  return AbsOp::create(builder, placeOf(op, x), op.getResult(0).getType(),
                       positive);
}

static Value simplifyComplex(Operation &op) {
  if (auto made = dyn_cast<CreateComplexOp>(op)) {
    auto real = made.getReal().getDefiningOp<RealPartOp>();
    auto imaginary = made.getImaginary().getDefiningOp<ImaginaryPartOp>();
    bool isSame = real && imaginary &&
                  real.getInput() == imaginary.getInput() &&
                  real.getInput().getType() == op.getResult(0).getType();
    return isSame ? Value(real.getInput()) : Value();
  }
  auto made = op.getOperand(0).getDefiningOp<CreateComplexOp>();
  if (!made)
    return {};
  Value part = isa<RealPartOp>(op) ? made.getReal() : made.getImaginary();
  return part.getType() == op.getResult(0).getType() ? part : Value();
}

Value corten::simplifyAlgebra(Operation &op, OpBuilder &builder) {
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case<AddOp, BroadcastingAddOp>(
          [&](auto) { return simplifySum(op, builder); })
      .Case<MulOp, BroadcastingMulOp>(
          [&](auto) { return simplifyProduct(op, builder); })
      .Case<SubOp, BroadcastingSubOp>(
          [&](auto) { return simplifyDifference(op); })
      .Case<DivideOp, BroadcastingDivideOp, FloorDivideOp,
            BroadcastingFloorDivideOp>(
          [&](auto) { return simplifyQuotient(op); })
      .Case<PowOp, BroadcastingPowOp>([&](auto) {
        return isAll(op.getOperand(1), 1) ? only(op, op.getOperand(0))
                                          : Value();
      })
      .Case<MaximumOp, MinimumOp, BroadcastingMaximumOp, BroadcastingMinimumOp>(
          [&](auto) {
            return op.getOperand(0) == op.getOperand(1)
                       ? only(op, op.getOperand(0))
                       : Value();
          })
      .Case<AndOp, BroadcastingAndOp, BitwiseAndOp, BroadcastingBitwiseAndOp>(
          [&](auto) { return simplifyAnd(op); })
      .Case<OrOp, BroadcastingOrOp, BitwiseOrOp, BroadcastingBitwiseOrOp>(
          [&](auto) { return simplifyOr(op); })
      .Case<XorOp, BroadcastingXorOp, BitwiseXorOp, BroadcastingBitwiseXorOp>(
          [&](auto) { return simplifyXor(op, builder); })
      .Case<EqualOp, BroadcastingEqualOp>(
          [&](auto) { return simplifyComparison(op, builder, true); })
      .Case<NotEqualOp, BroadcastingNotEqualOp>(
          [&](auto) { return simplifyComparison(op, builder, false); })
      .Case<WhereOp, BroadcastingWhereOp>(
          [&](auto where) { return simplifyWhere(where, builder); })
      .Case([&](NotOp negation) { return simplifyNot(negation, builder); })
      .Case<AbsOp, ReluOp, RoundOp>(
          [&](auto) { return simplifyUnary(op, builder); })
      .Case<CreateComplexOp, RealPartOp, ImaginaryPartOp>(
          [&](auto) { return simplifyComplex(op); })
      .Default(Value());
}
