// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What small tensors of whole numbers hold, where that follows from the sizes
// of inputs: programs compute shapes with the same operations as everything
// else.

#include "Planner.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace corten;
using namespace mlir;

/// More than any shape has, and any arithmetic on shapes.
static constexpr int64_t kMaxNumbers = 64;

/// How many numbers a value holds, if it is a small tensor of them.
static std::optional<int64_t> numNumbers(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() ||
      !isa<IntegerType>(type.getElementType()) ||
      type.getNumElements() > kMaxNumbers)
    return std::nullopt;
  return type.getNumElements();
}

namespace {
/// Computes what an operation gives from what its operands hold.
class NumberEvaluator {
public:
  explicit NumberEvaluator(Planner &planner)
      : planner(planner), sizes(planner.sizes) {}

  std::optional<SizeList> evaluate(Operation *op, unsigned result);

private:
  std::optional<SizeList> operand(Value value) {
    return planner.knownNumbers(value);
  }
  std::optional<SizeList> binary(Operation *op,
                                 llvm::function_ref<Size(Size, Size)> compute);
  std::optional<SizeList> elementwise(Operation *op, StringRef name);
  std::optional<SizeList> cast(coreai::CastOp op);
  std::optional<SizeList> concat(coreai::ConcatOp op);
  std::optional<SizeList> slice(coreai::SliceOp op);
  std::optional<SizeList> split(coreai::SplitOp op, unsigned result);
  std::optional<SizeList> gather(Value input, Value indices);
  std::optional<SizeList> reduce(Operation *op,
                                 llvm::function_ref<Size(Size, Size)> combine);

  Planner &planner;
  Sizes &sizes;
};
} // namespace

/// The numbers of a constant that lies in the program.
static std::optional<SizeList> constantNumbers(Value value, Sizes &sizes) {
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return std::nullopt;
  bool isUnsigned = elements.getElementType().isUnsignedInteger() ||
                    elements.getElementType().isInteger(1);
  SizeList result;
  for (const APInt &element : elements.getValues<APInt>())
    result.push_back(sizes.number(isUnsigned ? int64_t(element.getZExtValue())
                                             : element.getSExtValue()));
  return result;
}

std::optional<SizeList>
NumberEvaluator::binary(Operation *op,
                        llvm::function_ref<Size(Size, Size)> compute) {
  std::optional<SizeList> a = operand(op->getOperand(0));
  std::optional<SizeList> b = operand(op->getOperand(1));
  if (!a || !b || a->empty() || b->empty() ||
      (a->size() != b->size() && a->size() != 1 && b->size() != 1))
    return std::nullopt;
  auto rank = [](Value value) {
    return mlir::cast<RankedTensorType>(value.getType()).getRank();
  };
  if (rank(op->getOperand(0)) > 1 || rank(op->getOperand(1)) > 1)
    return std::nullopt;
  SizeList result;
  for (size_t i = 0, count = std::max(a->size(), b->size()); i != count; ++i)
    result.push_back(
        compute((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]));
  return result;
}

std::optional<SizeList> NumberEvaluator::elementwise(Operation *op,
                                                     StringRef name) {
  auto truth = [&](Size size) {
    return sizes.select(size, sizes.number(1), sizes.number(0));
  };
  if (name == "add")
    return binary(op, [&](Size a, Size b) { return sizes.add(a, b); });
  if (name == "sub")
    return binary(op, [&](Size a, Size b) { return sizes.sub(a, b); });
  if (name == "mul" || name == "and")
    return binary(op, [&](Size a, Size b) { return sizes.mul(a, b); });
  if (name == "or")
    return binary(op, [&](Size a, Size b) { return truth(sizes.add(a, b)); });
  if (name == "maximum")
    return binary(op, [&](Size a, Size b) { return sizes.max(a, b); });
  if (name == "minimum")
    return binary(op, [&](Size a, Size b) { return sizes.min(a, b); });
  if (name == "equal")
    return binary(op, [&](Size a, Size b) { return sizes.equal(a, b); });
  if (name == "not_equal")
    return binary(op, [&](Size a, Size b) {
      return sizes.sub(sizes.number(1), sizes.equal(a, b));
    });
  if (name == "greater")
    return binary(op, [&](Size a, Size b) { return sizes.less(b, a); });
  // A divisor that may be zero is an error of the kernel's, not of the frame's.
  if (name == "floor_divide" || name == "divide" || name == "modulo") {
    std::optional<SizeList> by = operand(op->getOperand(1));
    std::optional<SizeList> of = operand(op->getOperand(0));
    bool isSafe = by && of && llvm::all_of(*by, [](Size size) {
                    return known(size) && *known(size) > 0;
                  });
    // Both round down where nothing is negative.
    if (!isSafe ||
        (name != "floor_divide" && !llvm::all_of(*of, [&](Size size) {
           return sizes.isNonNegative(size);
         })))
      return std::nullopt;
    if (name == "modulo")
      return binary(op, [&](Size a, Size b) {
        return sizes.sub(a, sizes.mul(sizes.divide(a, b), b));
      });
    return binary(op, [&](Size a, Size b) { return sizes.divide(a, b); });
  }
  return std::nullopt;
}

// Casts saturate.
std::optional<SizeList> NumberEvaluator::cast(coreai::CastOp op) {
  std::optional<SizeList> numbers = operand(op.getInput());
  if (!numbers)
    return std::nullopt;
  auto type = mlir::cast<IntegerType>(
      mlir::cast<RankedTensorType>(op.getType()).getElementType());
  for (Size &number : *numbers) {
    if (type.getWidth() == 1) {
      number = sizes.select(number, sizes.number(1), sizes.number(0));
      continue;
    }
    if (type.isUnsigned())
      number = sizes.max(number, sizes.number(0));
    if (type.getWidth() < 32 || known(number)) {
      int64_t high = type.isUnsigned()
                         ? llvm::maxUIntN(std::min(63u, type.getWidth()))
                         : llvm::maxIntN(type.getWidth());
      number = sizes.min(number, sizes.number(high));
      if (!type.isUnsigned())
        number =
            sizes.max(number, sizes.number(llvm::minIntN(type.getWidth())));
    }
  }
  return numbers;
}

std::optional<SizeList> NumberEvaluator::concat(coreai::ConcatOp op) {
  SizeList result;
  for (Value input : op.getInputs()) {
    std::optional<SizeList> numbers = operand(input);
    if (!numbers || mlir::cast<RankedTensorType>(input.getType()).getRank() > 1)
      return std::nullopt;
    result.append(numbers->begin(), numbers->end());
  }
  return result;
}

std::optional<SizeList> NumberEvaluator::slice(coreai::SliceOp op) {
  std::optional<SizeList> numbers = operand(op.getInput());
  std::optional<SizeList> starts = operand(op.getStartIndices());
  std::optional<SizeList> ends = operand(op.getEndIndices());
  std::optional<SizeList> strides = operand(op.getStrides());
  if (!numbers || !starts || !ends || !strides || starts->size() != 1 ||
      ends->size() != 1 || strides->size() != 1)
    return std::nullopt;
  std::optional<int64_t> start = known(starts->front());
  std::optional<int64_t> end = known(ends->front());
  std::optional<int64_t> stride = known(strides->front());
  if (!start || !end || !stride || *stride <= 0)
    return std::nullopt;
  auto count = int64_t(numbers->size());
  auto place = [&](int64_t index) {
    return std::clamp<int64_t>(index < 0 ? index + count : index, 0, count);
  };
  SizeList result;
  for (int64_t i = place(*start); i < place(*end); i += *stride)
    result.push_back((*numbers)[i]);
  return result;
}

std::optional<SizeList> NumberEvaluator::split(coreai::SplitOp op,
                                               unsigned result) {
  std::optional<SizeList> numbers = operand(op.getInput());
  if (!numbers ||
      mlir::cast<RankedTensorType>(op.getInput().getType()).getRank() != 1)
    return std::nullopt;
  int64_t first = 0;
  for (unsigned before = 0; before != result; ++before)
    first += mlir::cast<RankedTensorType>(op.getResult(before).getType())
                 .getDimSize(0);
  int64_t count = *numNumbers(op.getResult(result));
  if (first < 0 || first + count > int64_t(numbers->size()))
    return std::nullopt;
  return SizeList(ArrayRef(*numbers).slice(first, count));
}

std::optional<SizeList> NumberEvaluator::gather(Value input, Value indices) {
  std::optional<SizeList> numbers = operand(input);
  std::optional<SizeList> at = operand(indices);
  if (!numbers || !at ||
      mlir::cast<RankedTensorType>(input.getType()).getRank() != 1)
    return std::nullopt;
  SizeList result;
  for (Size index : *at) {
    std::optional<int64_t> place = known(index);
    if (place && *place < 0)
      *place += int64_t(numbers->size());
    if (!place || *place < 0 || *place >= int64_t(numbers->size()))
      return std::nullopt;
    result.push_back((*numbers)[*place]);
  }
  return result;
}

std::optional<SizeList>
NumberEvaluator::reduce(Operation *op,
                        llvm::function_ref<Size(Size, Size)> combine) {
  std::optional<SizeList> numbers = operand(op->getOperand(0));
  if (!numbers || numbers->empty() || numNumbers(op->getResult(0)) != 1)
    return std::nullopt;
  Size result = numbers->front();
  for (Size number : ArrayRef(*numbers).drop_front())
    result = combine(result, number);
  return SizeList{result};
}

std::optional<SizeList> NumberEvaluator::evaluate(Operation *op,
                                                  unsigned result) {
  using namespace coreai;
  if (auto shape = dyn_cast<GetShapeOp>(op))
    return planner.form(shape.getInput()).extents;
  if (auto split = dyn_cast<SplitOp>(op))
    return this->split(split, result);
  if (isa<ReshapeOp, ExpandDimsOp, ShrinkDimsOp>(op))
    return operand(op->getOperand(0));
  if (auto casted = dyn_cast<CastOp>(op))
    return cast(casted);
  if (auto joined = dyn_cast<ConcatOp>(op))
    return concat(joined);
  if (auto part = dyn_cast<SliceOp>(op))
    return slice(part);
  if (auto taken = dyn_cast<GatherNdOp>(op))
    return gather(taken.getInput(), taken.getIndices());
  if (auto taken = dyn_cast<GatherAlongAxisOp>(op))
    return gather(taken.getInput(), taken.getIndices());
  if (isa<ReduceProductOp>(op))
    return reduce(op, [&](Size a, Size b) { return sizes.mul(a, b); });
  if (isa<ReduceSumOp>(op))
    return reduce(op, [&](Size a, Size b) { return sizes.add(a, b); });
  if (isa<ReduceMaxOp>(op))
    return reduce(op, [&](Size a, Size b) { return sizes.max(a, b); });
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front("coreai."))
    return std::nullopt;
  name.consume_front("decomposable.broadcasting_");
  if (name == "where") {
    std::optional<SizeList> flags = operand(op->getOperand(0));
    std::optional<SizeList> a = operand(op->getOperand(1));
    std::optional<SizeList> b = operand(op->getOperand(2));
    if (!flags || !a || !b || flags->size() != 1 || a->size() != 1 ||
        b->size() != 1)
      return std::nullopt;
    return SizeList{sizes.select(flags->front(), a->front(), b->front())};
  }
  if (name == "not") {
    std::optional<SizeList> flags = operand(op->getOperand(0));
    if (flags)
      for (Size &flag : *flags)
        flag = sizes.sub(sizes.number(1), flag);
    return flags;
  }
  if (op->getNumOperands() == 2)
    return elementwise(op, name);
  return std::nullopt;
}

std::optional<SizeList> Planner::computeNumbers(Value value) {
  std::optional<int64_t> count = numNumbers(value);
  Operation *op = value.getDefiningOp();
  if (!count || !op)
    return std::nullopt;
  if (auto numbers = constantNumbers(value, sizes))
    return numbers;
  auto numbers = NumberEvaluator(*this).evaluate(
      op, mlir::cast<OpResult>(value).getResultNumber());
  if (numbers && int64_t(numbers->size()) != *count)
    return std::nullopt;
  return numbers;
}

std::optional<SizeList> Planner::knownNumbers(Value value) {
  auto found = contents.find(value);
  if (found != contents.end())
    return found->second;
  std::optional<SizeList> result = computeNumbers(value);
  contents[value] = result;
  return result;
}

SizeList Planner::numbers(Value value) {
  if (auto result = knownNumbers(value))
    return *result;
  // Read from memory without gaps.
  Form dense = rowMajored(form(value));
  if (!isa_and_present<plan::KernelOp>(dense.base.getDefiningOp()))
    dense = copied(dense);
  Value tensor = this->value(dense);
  SizeList result;
  // The type may know less than was found out on the way.
  int64_t count = 1;
  for (Size extent : dense.extents)
    count *= known(extent).value_or(0);
  for (int64_t i = 0; i != count; ++i)
    result.push_back(plan::ElementOp::create(builder, location,
                                             builder.getIndexType(), tensor,
                                             builder.getI64IntegerAttr(i))
                         .getResult());
  return result;
}

std::optional<SmallVector<int64_t>> Planner::axes(Value value, unsigned rank) {
  std::optional<SizeList> numbers = knownNumbers(value);
  if (!numbers)
    return std::nullopt;
  SmallVector<int64_t> result;
  for (Size number : *numbers) {
    std::optional<int64_t> axis = known(number);
    if (!axis || *axis < -int64_t(rank) || *axis >= int64_t(rank))
      return std::nullopt;
    result.push_back(*axis < 0 ? *axis + int64_t(rank) : *axis);
  }
  return result;
}

std::optional<int64_t> Planner::axis(Value value, unsigned rank) {
  auto all = axes(value, rank);
  if (!all || all->size() != 1)
    return std::nullopt;
  return all->front();
}
