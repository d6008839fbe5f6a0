// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors that come from sizes and numbers alone.

#include "Emission/DerivedOps.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// One value everywhere
//===----------------------------------------------------------------------===//

/// `fill` in the shape of the result; null if something about it is symbolic.
static FailureOr<Value> constantFill(const AtenNode &node, Emitter &emit,
                                     const Argument &fill) {
  RankedTensorType type = emit.typeOf(node);
  if (!fill.isNumber())
    return Value();
  if (failed(emit.checkNumber(node, fill, type.getElementType())))
    return failure();
  return type.hasStaticShape() ? emit.splat(fill.asDouble(), type) : Value();
}

/// One element of `fill`, broadcast to the argument `size`.
static FailureOr<Value> filled(const AtenNode &node, Emitter &emit,
                               const Argument &fill) {
  FailureOr<Value> constant = constantFill(node, emit, fill);
  if (failed(constant) || *constant)
    return constant;
  RankedTensorType type = emit.typeOf(node);
  Value sizes = emit.sizes(node.list("size"), IndexKind::Unsigned);
  if (fill.isNumber()) {
    SmallVector<int64_t> ones(type.getRank(), 1);
    return emit.broadcastTo(emit.splat(fill.asDouble(), type.clone(ones)),
                            sizes, type);
  }
  FailureOr<Value> scalar = emit.operand(node, fill, type.getElementType());
  if (failed(scalar))
    return failure();
  return emit.broadcastTo(*scalar, sizes, type);
}

/// The number `fill`, broadcast to the shape of the argument `self`.
static FailureOr<Value> filledLike(const AtenNode &node, Emitter &emit,
                                   const Argument &fill) {
  FailureOr<Value> constant = constantFill(node, emit, fill);
  if (failed(constant) || *constant)
    return constant;
  RankedTensorType type = emit.typeOf(node);
  FailureOr<Value> scalar = emit.operand(node, fill, type.getElementType());
  if (failed(scalar))
    return failure();
  Value self = emit.tensor(node, "self");
  return emit.broadcastTo(*scalar, emit.shape(self, IndexKind::Unsigned), type);
}

/// full(size, fill_value, …)
static FailureOr<Value> lowerFull(const AtenNode &node, Emitter &emit) {
  return filled(node, emit, node["fill_value"]);
}

/// full_like(self, fill_value, …)
static FailureOr<Value> lowerFullLike(const AtenNode &node, Emitter &emit) {
  return filledLike(node, emit, node["fill_value"]);
}

/// zeros(size), empty(size), …: what is not written yet is zero, so that the
/// same program always gives the same result.
static FailureOr<Value> lowerZeros(const AtenNode &node, Emitter &emit) {
  return filled(node, emit, Argument::integer(0));
}

static FailureOr<Value> lowerOnes(const AtenNode &node, Emitter &emit) {
  return filled(node, emit, Argument::integer(1));
}

static FailureOr<Value> lowerZerosLike(const AtenNode &node, Emitter &emit) {
  return filledLike(node, emit, Argument::integer(0));
}

static FailureOr<Value> lowerOnesLike(const AtenNode &node, Emitter &emit) {
  return filledLike(node, emit, Argument::integer(1));
}

/// scalar_tensor(s, dtype, …)
static FailureOr<Value> lowerScalarTensor(const AtenNode &node, Emitter &emit) {
  return emit.operand(node, "s", emit.elementType(node.result().dtype));
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

static bool isIntegral(const Argument &argument) {
  if (argument.isValue())
    return argument.asNode()->info().kind == ValueInfo::Kind::SymInt;
  return argument.kind() == Argument::Kind::Int ||
         argument.kind() == Argument::Kind::Bool;
}

/// arange(start, end, step, dtype, …)
///
/// Whole numbers count in si32 and are cast, so that f16 does not lose the
/// count. Otherwise element i is start + i * step in f32: the number of
/// elements comes from the export, or from (end - start) / step where it is
/// symbolic.
static FailureOr<Value> lowerArange(const AtenNode &node, Emitter &emit) {
  const Argument &start = node["start"], &end = node["end"];
  const Argument step = node.has("step") ? node["step"] : Argument::integer(1);
  RankedTensorType type = emit.typeOf(node);
  Type element = type.getElementType();
  auto scalar = [&](const Argument &argument, Type as) {
    return emit.operand(node, argument, as);
  };
  bool countsExactly =
      isa<IntegerType>(element) ||
      (isIntegral(start) && isIntegral(end) && isIntegral(step));
  if (countsExactly) {
    FailureOr<Value> first = scalar(start, emit.si32());
    FailureOr<Value> last = scalar(end, emit.si32());
    FailureOr<Value> stride = scalar(step, emit.si32());
    if (failed(first) || failed(last) || failed(stride))
      return failure();
    return emit.cast(emit.create<coreai::RangeOp>({*first, *last, *stride}),
                     element);
  }

  FailureOr<Value> first = scalar(start, emit.f32());
  FailureOr<Value> stride = scalar(step, emit.f32());
  if (failed(first) || failed(stride))
    return failure();
  Value count;
  if (type.hasStaticShape()) {
    if (!end.isValue())
      node.number(end);
    count = emit.index(type.getDimSize(0));
  } else {
    FailureOr<Value> last = scalar(end, emit.f32());
    if (failed(last))
      return failure();
    count = emit.cast(ceil(emit, emit.divide(emit.sub(*last, *first), *stride)),
                      emit.si32());
  }
  Value steps = emit.cast(
      emit.create<coreai::RangeOp>({emit.index(0), count, emit.index(1)}),
      emit.f32());
  return emit.cast(emit.add(emit.mul(steps, *stride), *first), element);
}

/// tril_indices, triu_indices (row, col, offset): the coordinates of one
/// triangle of a matrix, row by row, as two rows of a table.
template <bool isLower>
static FailureOr<Value> lowerTriangleIndices(const AtenNode &node,
                                             Emitter &emit) {
  // Beyond these there would be too many, or no number for them.
  constexpr int64_t kMostRows = std::numeric_limits<int32_t>::max();
  constexpr size_t kMostIndices = size_t{1} << 26;
  int64_t offset = std::clamp(node.integer("offset"), -kMostRows, kMostRows);
  int64_t columns = std::min(node.integer("col"), kMostRows);
  // Rows before and after these have nothing in the triangle.
  int64_t first = isLower ? std::max<int64_t>(-offset, 0) : 0;
  int64_t last = columns > 0 ? std::min(node.integer("row"), kMostRows) : 0;
  if (!isLower)
    last = std::min(last, columns - offset);
  SmallVector<int32_t> rows, cols;
  for (int64_t row = first; row < last; ++row) {
    int64_t diagonal = row + offset;
    int64_t begin = isLower ? 0 : std::max<int64_t>(diagonal, 0);
    int64_t end = isLower ? std::min(diagonal + 1, columns) : columns;
    if (rows.size() + static_cast<size_t>(end - begin) > kMostIndices)
      return emit.error(node)
             << "the triangle has more than " << kMostIndices << " elements";
    for (int64_t col = begin; col < end; ++col) {
      rows.push_back(static_cast<int32_t>(row));
      cols.push_back(static_cast<int32_t>(col));
    }
  }
  auto type = RankedTensorType::get({2, static_cast<int64_t>(rows.size())},
                                    emit.si32());
  llvm::append_range(rows, cols);
  Value table =
      emit.constant(DenseElementsAttr::get(type, ArrayRef<int32_t>(rows)));
  return emit.cast(table, emit.elementType(node.result().dtype));
}

/// native_dropout(input, p, train): outside of training everything is kept.
static FailureOr<Results> lowerNativeDropout(const AtenNode &node,
                                             Emitter &emit) {
  if ((!node.has("train") || node.flag("train")) && node.number("p") != 0)
    return emit.error(node) << "dropout in training mode needs random numbers; "
                               "export the model in eval mode";
  Value x = emit.tensor(node, "input");
  Value kept =
      emit.broadcastTo(emit.scalar(true), emit.shape(x, IndexKind::Unsigned),
                       emit.typeOf(node, 1));
  return Results{x, kept};
}

llvm::ArrayRef<TableEntry> corten::loweringsCreation() {
#define IN_Creation ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
