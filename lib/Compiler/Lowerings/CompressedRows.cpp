// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a constant that is decompressed, as those of an embedding: compressed
// rows are taken from it, and only these are decompressed. The constant itself
// stays in the mapped asset.

#include "../Decompression.h"
#include "../Lowerings.h"

#include "corten/Constants/Elements.h"

using namespace corten;
using namespace mlir;

namespace {
class RowGatherer {
public:
  RowGatherer(Planner &planner, const Form &indices)
      : planner(planner), sizes(planner.sizes), indices(indices),
        places(ArrayRef(indices.extents).drop_back()) {}

  /// Of `table` [rows, ...]; nothing if what it is made of cannot be taken
  /// apart.
  std::optional<Form> gather(const Form &table) {
    plan::KernelOp kernel = preparedKernel(table);
    // All of what the kernel makes.
    if (!kernel || !isKnown(table.offset, 0) || !isRowMajor(sizes, table) ||
        sizes.product(table.extents) != numElements(kernel))
      return gatherElements(table);
    if (kernel.getKernel() == "Unpack")
      return gatherPacked(kernel, table);
    if (kernel.getKernel() == "Dequantize")
      return gatherScaled(kernel, table);
    if (kernel.getKernel() == "LutToDense")
      return gatherLookedUp(kernel, table);
    if (kernel.getKernel() == "SparseToDense")
      return gatherSparse(kernel, table);
    if (Value operand = maskedOperand(kernel))
      return gatherMasked(operand, table);
    if (Value operand = castOperand(kernel))
      return gatherCast(operand, table);
    return gatherElements(table);
  }

private:
  Size numElements(plan::KernelOp kernel) {
    return sizes.number(
        cast<RankedTensorType>(kernel.getResult(0).getType()).getNumElements());
  }

  SizeList withPlaces(ArrayRef<Size> rest) const {
    SizeList result(places);
    result.append(rest.begin(), rest.end());
    return result;
  }

  std::optional<Form> gatherElements(const Form &table) {
    KernelCall call;
    call.kernel = "GatherNd";
    call.inputs = {table, indices};
    call.extents = withPlaces(ArrayRef(table.extents).drop_front());
    call.element = table.element;
    return planner.kernel(call);
  }

  /// Whole bytes, if rows are some of them.
  std::optional<Form> gatherPacked(plan::KernelOp kernel, const Form &table) {
    Size row = sizes.product(ArrayRef(table.extents).drop_front());
    int64_t bits =
        *known(row) * runtime::packedBits(*elementTypeOf(table.element));
    if (bits % 8 != 0)
      return gatherElements(table);
    Form bytes;
    bytes.base = kernel.getInputs().front();
    bytes.element = IntegerType::get(planner.builder.getContext(), 8,
                                     IntegerType::Unsigned);
    bytes.extents = {table.extents.front(), sizes.number(bits / 8)};
    bytes.strides = rowMajor(sizes, bytes.extents);
    bytes.offset = sizes.number(0);
    KernelCall call;
    call.kernel = "Unpack";
    call.inputs = {gatherElements(bytes)};
    call.extents = withPlaces(ArrayRef(table.extents).drop_front());
    call.element = table.element;
    return planner.kernel(call);
  }

  /// The first axes of a form, whose extents come to `rows`, as one.
  std::optional<Form> withRows(const Form &form, Size rows, size_t count) {
    Form result = form;
    result.extents.assign({rows});
    result.strides.assign({sizes.number(0)});
    // The innermost that is there counts; the others have to follow from it.
    std::optional<int64_t> next;
    for (size_t axis = count; axis-- > 0;) {
      if (isKnown(form.extents[axis], 1))
        continue;
      int64_t stride = *known(form.strides[axis]);
      if (!next)
        result.strides[0] = form.strides[axis];
      else if (stride != *next)
        return std::nullopt;
      next = stride * *known(form.extents[axis]);
    }
    result.extents.append(form.extents.begin() + count, form.extents.end());
    result.strides.append(form.strides.begin() + count, form.strides.end());
    return result;
  }

  /// A parameter of each element: rows of it, if they differ.
  std::optional<Form> gatherParameter(const Form &form,
                                      ArrayRef<Size> extents) {
    if (isKnown(form.strides[0], 0)) {
      Form row = withoutAxes(form, {0});
      return broadcast(sizes, row, extents);
    }
    // What repeats within a row is taken once.
    Form once = form;
    for (unsigned axis = 1; axis != form.rank(); ++axis)
      if (isKnown(form.strides[axis], 0))
        once.extents[axis] = sizes.number(1);
    return broadcast(sizes, *gatherElements(once), extents);
  }

  std::optional<Form> gatherScaled(plan::KernelOp kernel, const Form &table) {
    std::optional<Form> whole = operandForm(planner, kernel.getResult(0));
    // The first axes of the blocks are those of the rows.
    size_t count = 0;
    Size rows = sizes.number(1);
    while (whole && count != whole->rank() &&
           (rows != table.extents.front() || isKnown(whole->extents[count], 1)))
      rows = sizes.mul(rows, whole->extents[count++]);
    if (rows != table.extents.front())
      return std::nullopt;
    KernelCall call;
    call.kernel = "Dequantize";
    call.element = table.element;
    call.extents = withPlaces(ArrayRef(whole->extents).drop_front(count));
    for (Value operand : kernel.getInputs()) {
      std::optional<Form> form = operandForm(planner, operand);
      if (form)
        form = withRows(*form, rows, count);
      if (form)
        form = call.inputs.empty() ? gather(*form)
                                   : gatherParameter(*form, call.extents);
      if (!form)
        return std::nullopt;
      call.inputs.push_back(form);
    }
    return planner.reshaped(planner.kernel(call),
                            withPlaces(ArrayRef(table.extents).drop_front()));
  }

  /// One table for all rows.
  std::optional<Form> gatherLookedUp(plan::KernelOp kernel, const Form &table) {
    std::optional<Form> codes = operandForm(planner, kernel.getInputs()[0]);
    std::optional<Form> lut = operandForm(planner, kernel.getInputs()[1]);
    int64_t axis = kernel.getStaticNumbers().front();
    // Along which axis single numbers lie does not matter.
    if (lut && codes && isKnown(lut->extents.back(), 1))
      axis = int64_t(codes->rank()) - 1;
    if (!codes || !lut || axis == 0 || !isKnown(lut->extents[0], 1) ||
        codes->extents.front() != table.extents.front())
      return std::nullopt;
    std::optional<Form> own = gather(*codes);
    if (!own)
      return std::nullopt;
    auto more = int64_t(places.size()) - 1;
    KernelCall call;
    call.kernel = "LutToDense";
    call.inputs = {own, withMoreAxes(*lut, more)};
    call.numbers = {sizes.number(axis + more)};
    call.extents = own->extents;
    call.extents[axis + more] =
        sizes.mul(call.extents[axis + more], lut->extents.back());
    call.element = table.element;
    return planner.reshaped(planner.kernel(call),
                            withPlaces(ArrayRef(table.extents).drop_front()));
  }

  /// With axes of extent 1 in front, or one less.
  Form withMoreAxes(Form form, int64_t count) {
    if (count < 0)
      return withoutAxes(form, {0});
    for (int64_t i = 0; i != count; ++i)
      form = withUnitAxes(sizes, form, 0);
    return form;
  }

  /// Values in the order of a mask: those of rows, of which it is known how
  /// many values come before each.
  std::optional<Form> gatherSparse(plan::KernelOp kernel, const Form &table) {
    std::optional<Form> values = operandForm(planner, kernel.getInputs()[0]);
    if (!values)
      return gatherElements(table);
    plan::KernelOp inner = preparedKernel(*values);
    std::optional<Form> bytes = packedBytes(planner, *values);
    if (!inner || bytes) {
      std::optional<Form> rows =
          gatherByMask(kernel, table, bytes ? bytes : values);
      return rows ? rows : gatherElements(table);
    }
    // Indices of values in one table.
    if (inner.getKernel() != "LutToDense")
      return gatherElements(table);
    std::optional<Form> indices = operandForm(planner, inner.getInputs()[0]);
    std::optional<Form> lut = operandForm(planner, inner.getInputs()[1]);
    if (!indices || !lut || indices->rank() != 1 ||
        !isKnown(lut->extents[0], 1) || !isKnown(lut->extents[2], 1))
      return gatherElements(table);
    Form seen = table;
    seen.element = indices->element;
    bytes = packedBytes(planner, *indices);
    std::optional<Form> codes =
        gatherByMask(kernel, seen, bytes ? bytes : indices);
    if (!codes)
      return gatherElements(table);
    SizeList shape(codes->rank(), sizes.number(1));
    shape.append({lut->extents[1], sizes.number(1)});
    KernelCall call;
    call.kernel = "LutToDense";
    call.inputs = {codes, planner.reshaped(*lut, shape)};
    call.numbers = {sizes.number(int64_t(codes->rank()) - 1)};
    call.extents = codes->extents;
    call.element = table.element;
    return masked(kernel, table, planner.kernel(call));
  }

  /// What was looked up for indices of a sparse tensor; zeros elsewhere.
  std::optional<Form> gatherMasked(Value operand, const Form &table) {
    std::optional<Form> dense = operandForm(planner, operand);
    plan::KernelOp lookup = dense ? preparedKernel(*dense) : nullptr;
    if (!lookup || lookup.getKernel() != "LutToDense")
      return gatherElements(table);
    std::optional<Form> codes = operandForm(planner, lookup.getInputs()[0]);
    plan::KernelOp sparse = codes ? preparedKernel(*codes) : nullptr;
    std::optional<Form> seen = corten::reshaped(sizes, *dense, table.extents);
    if (!sparse || sparse.getKernel() != "SparseToDense" || !seen)
      return gatherElements(table);
    std::optional<Form> rows = gather(*seen);
    if (rows)
      rows = masked(sparse, table, *rows);
    return rows ? rows : gatherElements(table);
  }

  /// Rows with zeros where the mask of a sparse tensor has none.
  std::optional<Form> masked(plan::KernelOp sparse, const Form &table,
                             const Form &rows) {
    Form truths = table;
    truths.element = IntegerType::get(planner.builder.getContext(), 1);
    std::optional<Form> isSet = gatherByMask(sparse, truths, std::nullopt);
    if (!isSet)
      return std::nullopt;
    return planner.elementwise(
        "Where", {*isSet, rows, planner.scalarOf(rows.element, 0)},
        rows.element);
  }

  /// `table` says the shape and the element type of what rows are taken from.
  /// Without values these are ones. Nothing if the mask is not in a file.
  std::optional<Form> gatherByMask(plan::KernelOp kernel, const Form &table,
                                   const std::optional<Form> &values) {
    std::optional<Form> mask = operandForm(planner, kernel.getInputs()[1]);
    if (mask)
      mask = packedBytes(planner, *mask);
    if (!mask)
      return std::nullopt;
    KernelCall count;
    count.kernel = "CountPlaces";
    count.inputs = {mask};
    count.numbers = {sizes.product(ArrayRef(table.extents).drop_front())};
    count.extents = {table.extents.front()};
    count.element =
        IntegerType::get(planner.builder.getContext(), 64, IntegerType::Signed);
    KernelCall call;
    call.kernel = "GatherSparse";
    call.inputs = {values, mask, planner.kernel(count), indices};
    call.extents = withPlaces(ArrayRef(table.extents).drop_front());
    call.element = table.element;
    return planner.kernel(call);
  }

  std::optional<Form> gatherCast(Value operand, const Form &table) {
    std::optional<Form> form = operandForm(planner, operand);
    if (form)
      form = corten::reshaped(sizes, *form, table.extents);
    if (form)
      form = gather(*form);
    if (!form)
      return std::nullopt;
    return planner.elementwise("Cast", *form, table.element);
  }

  Planner &planner;
  Sizes &sizes;
  const Form &indices;
  SizeList places;
};
} // namespace

/// Whether something is decompressed, maybe before a cast.
static bool isDecompressed(Planner &planner, const Form &form) {
  plan::KernelOp kernel = preparedKernel(form);
  if (!kernel)
    return false;
  if (Value operand = castOperand(kernel)) {
    std::optional<Form> inner = operandForm(planner, operand);
    return inner && isDecompressed(planner, *inner);
  }
  return kernel.getKernel() == "Dequantize" ||
         kernel.getKernel() == "LutToDense" ||
         kernel.getKernel() == "SparseToDense" || maskedOperand(kernel);
}

std::optional<Form> corten::decompressedRows(Planner &planner,
                                             const Form &table,
                                             const Form &indices) {
  if (table.rank() < 2 || !planner.isConstant(table) ||
      planner.isConstant(indices) || !isDecompressed(planner, table))
    return std::nullopt;
  return RowGatherer(planner, indices).gather(table);
}
