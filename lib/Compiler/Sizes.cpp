// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sizes.h"

#include "corten/Dialect/Plan/IR/PlanDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace corten;
using namespace mlir;

enum class Sizes::Kind : unsigned {
  Constant,
  Add,
  Sub,
  Mul,
  Divide,
  Max,
  Min,
  Equal,
  Less,
  Select
};

std::optional<int64_t> corten::known(Size size) {
  if (auto attribute = dyn_cast_if_present<Attribute>(size))
    return cast<IntegerAttr>(attribute).getInt();
  IntegerAttr constant;
  if (matchPattern(cast<Value>(size), m_Constant(&constant)))
    return constant.getInt();
  return std::nullopt;
}

Size Sizes::number(int64_t value) { return builder.getIndexAttr(value); }

/// The value that `make` makes of these, unless it was made before.
template <typename Make>
Size Sizes::expression(Kind kind, Size a, Size b, Size c, Make &&make) {
  Value x = value(a);
  Value y = value(b);
  Value z = c ? value(c) : Value();
  Key key(unsigned(kind), x.getAsOpaquePointer(), y.getAsOpaquePointer(),
          z.getAsOpaquePointer());
  if (Value before = table.lookup(key))
    return before;
  Value made = make(x, y, z);
  table.insert(key, made);
  return made;
}

Value Sizes::value(Size size) {
  if (auto made = dyn_cast_if_present<Value>(size))
    return made;
  int64_t number = *known(size);
  Key key(unsigned(Kind::Constant), reinterpret_cast<void *>(number), nullptr,
          nullptr);
  if (Value before = table.lookup(key))
    return before;
  Value made =
      arith::ConstantIndexOp::create(builder, builder.getUnknownLoc(), number);
  table.insert(key, made);
  return made;
}

template <typename Op> static auto makes(OpBuilder &builder) {
  return [&builder](Value a, Value b, Value) -> Value {
    return Op::create(builder, builder.getUnknownLoc(), a, b);
  };
}

Size Sizes::add(Size a, Size b) {
  if (known(a) && known(b))
    return number(*known(a) + *known(b));
  if (isKnown(a, 0))
    return b;
  if (isKnown(b, 0))
    return a;
  // Numbers last, and of two numbers one.
  if (known(a))
    std::swap(a, b);
  if (auto inner = cast<Value>(a).getDefiningOp<arith::AddIOp>())
    if (known(b) && known(inner.getRhs()))
      return add(inner.getLhs(), number(*known(b) + *known(inner.getRhs())));
  return expression(Kind::Add, a, b, {}, makes<arith::AddIOp>(builder));
}

Size Sizes::sub(Size a, Size b) {
  if (a == b)
    return number(0);
  if (known(b))
    return add(a, number(-*known(b)));
  // What was added is taken away again.
  if (auto inner = isa<Value>(a) ? cast<Value>(a).getDefiningOp<arith::AddIOp>()
                                 : arith::AddIOp()) {
    if (Size(inner.getLhs()) == b)
      return inner.getRhs();
    if (Size(inner.getRhs()) == b)
      return inner.getLhs();
  }
  return expression(Kind::Sub, a, b, {}, makes<arith::SubIOp>(builder));
}

Size Sizes::mul(Size a, Size b) {
  if (known(a) && known(b))
    return number(*known(a) * *known(b));
  if (isKnown(a, 0) || isKnown(b, 0))
    return number(0);
  if (isKnown(a, 1))
    return b;
  if (isKnown(b, 1))
    return a;
  if (known(a))
    std::swap(a, b);
  if (auto inner = cast<Value>(a).getDefiningOp<arith::MulIOp>())
    if (known(b) && known(inner.getRhs()))
      return mul(inner.getLhs(), number(*known(b) * *known(inner.getRhs())));
  // In one order, so that equal products are found.
  if (!known(b) &&
      cast<Value>(a).getAsOpaquePointer() > cast<Value>(b).getAsOpaquePointer())
    std::swap(a, b);
  return expression(Kind::Mul, a, b, {}, makes<arith::MulIOp>(builder));
}

Size Sizes::divide(Size a, Size b) {
  if (isKnown(b, 1))
    return a;
  if (a == b)
    return number(1);
  if (known(a) && known(b) && *known(b) != 0)
    return number(llvm::divideFloorSigned(*known(a), *known(b)));
  // A factor goes out again.
  if (auto inner = isa<Value>(a) ? cast<Value>(a).getDefiningOp<arith::MulIOp>()
                                 : arith::MulIOp()) {
    if (Size(inner.getLhs()) == b)
      return inner.getRhs();
    if (Size(inner.getRhs()) == b)
      return inner.getLhs();
    if (known(b) && *known(b) != 0 && known(inner.getRhs()) &&
        *known(inner.getRhs()) % *known(b) == 0)
      return mul(inner.getLhs(), number(*known(inner.getRhs()) / *known(b)));
  }
  return expression(Kind::Divide, a, b, {},
                    makes<arith::FloorDivSIOp>(builder));
}

Size Sizes::divideUp(Size a, Size b) {
  if (isKnown(b, 1))
    return a;
  return divide(add(a, sub(b, number(1))), b);
}

Size Sizes::max(Size a, Size b) {
  if (a == b)
    return a;
  if (known(a) && known(b))
    return number(std::max(*known(a), *known(b)));
  if (known(a))
    std::swap(a, b);
  if (known(b) && *known(b) <= 0 && isNonNegative(a))
    return a;
  return expression(Kind::Max, a, b, {}, makes<arith::MaxSIOp>(builder));
}

Size Sizes::min(Size a, Size b) {
  if (a == b)
    return a;
  if (known(a) && known(b))
    return number(std::min(*known(a), *known(b)));
  if (known(a))
    std::swap(a, b);
  if (known(b) && *known(b) <= 0 && isNonNegative(a))
    return b;
  return expression(Kind::Min, a, b, {}, makes<arith::MinSIOp>(builder));
}

/// A comparison as 1 or 0.
static Value compare(OpBuilder &builder, arith::CmpIPredicate predicate,
                     Value a, Value b) {
  Location loc = builder.getUnknownLoc();
  Value flag = arith::CmpIOp::create(builder, loc, predicate, a, b);
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      flag);
}

Size Sizes::equal(Size a, Size b) {
  if (a == b)
    return number(1);
  if (known(a) && known(b))
    return number(*known(a) == *known(b));
  return expression(Kind::Equal, a, b, {}, [&](Value x, Value y, Value) {
    return compare(builder, arith::CmpIPredicate::eq, x, y);
  });
}

Size Sizes::less(Size a, Size b) {
  if (a == b)
    return number(0);
  if (known(a) && known(b))
    return number(*known(a) < *known(b));
  if (known(b) && *known(b) <= 0 && isNonNegative(a))
    return number(0);
  return expression(Kind::Less, a, b, {}, [&](Value x, Value y, Value) {
    return compare(builder, arith::CmpIPredicate::slt, x, y);
  });
}

Size Sizes::select(Size condition, Size then, Size otherwise) {
  if (known(condition))
    return *known(condition) ? then : otherwise;
  if (then == otherwise)
    return then;
  return expression(Kind::Select, condition, then, otherwise,
                    [&](Value flag, Value a, Value b) -> Value {
                      Location loc = builder.getUnknownLoc();
                      Value isSet = arith::CmpIOp::create(
                          builder, loc, arith::CmpIPredicate::ne, flag,
                          value(number(0)));
                      return arith::SelectOp::create(builder, loc, isSet, a, b);
                    });
}

Size Sizes::product(ArrayRef<Size> sizes) {
  Size result = number(1);
  for (Size size : sizes)
    result = mul(result, size);
  return result;
}

/// Whether what an operation computes cannot be negative, if `isNonNegative`
/// says it of its operands.
static bool keepsSign(Operation *op,
                      llvm::function_ref<bool(Size)> isNonNegative) {
  if (!op)
    return false;
  if (isa<plan::ExtentOp, arith::IndexCastUIOp>(op))
    return true;
  if (isa<arith::AddIOp, arith::MulIOp, arith::FloorDivSIOp, arith::MinSIOp>(
          op))
    return isNonNegative(op->getOperand(0)) && isNonNegative(op->getOperand(1));
  if (isa<arith::MaxSIOp>(op))
    return isNonNegative(op->getOperand(0)) || isNonNegative(op->getOperand(1));
  if (isa<arith::SelectOp>(op))
    return isNonNegative(op->getOperand(1)) && isNonNegative(op->getOperand(2));
  return false;
}

bool Sizes::isNonNegative(Size size) {
  if (std::optional<int64_t> value = known(size))
    return *value >= 0;
  Value value = cast<Value>(size);
  if (auto found = nonNegative.find(value); found != nonNegative.end())
    return found->second;
  bool result = keepsSign(value.getDefiningOp(),
                          [&](Size operand) { return isNonNegative(operand); });
  return nonNegative[value] = result;
}
