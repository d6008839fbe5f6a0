// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with constants that are decompressed: they take the codes, packed
// once, with what makes numbers of them (Codes.h of the runtime). A constant
// may be transposed and reshaped on the way, as long as k and n stay apart.

#include "../Decompression.h"
#include "../Lowerings.h"

#include "corten/Constants/Elements.h"
#include "corten/Runtime/Codes.h"

using namespace corten;
using namespace mlir;
using runtime::CodeKind;

namespace {
/// Which axes of what a kernel computes k and n of a matrix go along, the outer
/// one first. Those of extent 1 are left out.
struct MatrixAxes {
  SmallVector<int64_t> k;
  SmallVector<int64_t> n;
};

/// A constant in codes.
struct Codes {
  CodeKind kind = CodeKind::Table;
  int bits = 0;
  /// [k, n]
  Form data;
  /// Along k.
  int64_t blocks = 1;
  /// scale, zero, offset: [blocks, n]
  std::array<std::optional<Form>, 3> parameters;
  /// [groups of k, groups of n, entries]
  std::optional<Form> table;
  /// Of a sparse constant: where it has values, [k, n], how many these are, and
  /// whether others are zeros rather than what code 0 stands for.
  std::optional<Form> mask;
  int64_t count = 0;
  bool isAbsentZero = false;
};
} // namespace

/// The axes of a base, in row-major order, that an axis of a view goes along.
static bool collectAxes(ArrayRef<int64_t> shape, int64_t stride, int64_t extent,
                        SmallVector<int64_t> &axes,
                        SmallVector<bool> &isTaken) {
  int64_t next = 1;
  for (int64_t axis = int64_t(shape.size()) - 1; axis >= 0; --axis) {
    if (extent == 1)
      return true;
    if (shape[axis] != 1 && next == stride) {
      if (extent % shape[axis] != 0 || isTaken[axis])
        return false;
      isTaken[axis] = true;
      axes.insert(axes.begin(), axis);
      extent /= shape[axis];
      stride *= shape[axis];
    }
    next *= shape[axis];
  }
  return extent == 1;
}

static std::optional<MatrixAxes> axesOf(const Form &matrix,
                                        ArrayRef<int64_t> shape) {
  if (!isKnown(matrix.offset, 0))
    return std::nullopt;
  MatrixAxes result;
  SmallVector<bool> isTaken(shape.size());
  for (unsigned axis = 0; axis != matrix.rank(); ++axis) {
    SmallVector<int64_t> own;
    if (!collectAxes(shape, *known(matrix.strides[axis]),
                     *known(matrix.extents[axis]), own, isTaken))
      return std::nullopt;
    (axis == 0 ? result.k : result.n).append(own);
  }
  for (auto [extent, taken] : llvm::zip_equal(shape, isTaken))
    if (extent != 1 && !taken)
      return std::nullopt;
  return result;
}

/// Some axes of a form; the others are of extent 1, or repeat it.
static Form picked(const Form &form, ArrayRef<int64_t> axes) {
  Form result = form;
  result.extents.clear();
  result.strides.clear();
  for (int64_t axis : axes) {
    result.extents.push_back(form.extents[axis]);
    result.strides.push_back(form.strides[axis]);
  }
  return result;
}

static SmallVector<int64_t> allOf(const MatrixAxes &axes) {
  return llvm::to_vector(llvm::concat<const int64_t>(axes.k, axes.n));
}

static Form asType(Planner &planner, const Form &form, Type element) {
  return form.element == element ? form
                                 : planner.elementwise("Cast", form, element);
}

static bool isParameterType(Type element) {
  return element.isF32() || element.isF16() || element.isBF16();
}

namespace {
class Matcher {
public:
  /// [k, n], or several of them as [k, matrices, n], which are then one matrix
  /// with the columns of all.
  Matcher(Planner &planner, const Form &matrix)
      : planner(planner), sizes(planner.sizes), matrix(matrix),
        columns(*known(
            planner.sizes.product(ArrayRef(matrix.extents).drop_front()))) {}

  /// False if it cannot be held; `why` says why.
  bool match() {
    while (plan::KernelOp kernel = preparedKernel(matrix)) {
      bool isFirst = !isDecompression;
      if (Value operand = isFirst ? castOperand(kernel) : Value()) {
        if (!follow(kernel, operand))
          return false;
      } else if (isFirst && kernel.getKernel() == "Dequantize") {
        isDecompression = true;
        if (!takeParameters(kernel))
          return false;
      } else if (Value operand = maskedOperand(kernel)) {
        isDecompression = codes.isAbsentZero = true;
        if (!follow(kernel, operand))
          return false;
      } else if (kernel.getKernel() == "LutToDense") {
        isDecompression = true;
        if (!takeTable(kernel))
          return false;
        break;
      } else {
        break;
      }
    }
    plan::KernelOp kernel = preparedKernel(matrix);
    if (kernel && kernel.getKernel() == "SparseToDense" && !takeSparse(kernel))
      return false;
    return isDecompression && takeCodes();
  }

  Codes codes;
  /// Empty if nothing is decompressed.
  StringRef why;

private:
  bool fail(StringRef reason) {
    if (isDecompression)
      why = reason;
    return false;
  }

  static ArrayRef<int64_t> shapeOf(plan::KernelOp kernel) {
    return cast<RankedTensorType>(kernel.getResult(0).getType()).getShape();
  }

  /// Looks at an operand, of the shape of the result, instead of a kernel.
  bool follow(plan::KernelOp kernel, Value operand) {
    std::optional<Form> seen = seenAs(kernel, operandForm(planner, operand));
    if (seen)
      matrix = *seen;
    return seen.has_value();
  }

  /// Something of the shape of the result of a kernel, as the matrix is of
  /// that.
  std::optional<Form> seenAs(plan::KernelOp kernel,
                             const std::optional<Form> &form) {
    std::optional<MatrixAxes> axes = axesOf(matrix, shapeOf(kernel));
    if (!form || !axes) {
      fail("the matrix is only a part of it, or mixes k and n");
      return std::nullopt;
    }
    std::optional<Form> seen =
        reshaped(sizes, picked(*form, allOf(*axes)), matrix.extents);
    if (!seen)
      fail("its elements are not in one order");
    return seen;
  }

  /// A mask, and values that are floats or codes, or were looked up.
  bool takeSparse(plan::KernelOp kernel) {
    isDecompression = true;
    std::optional<Form> values = operandForm(planner, kernel.getInputs()[0]);
    std::optional<Form> own = operandForm(planner, kernel.getInputs()[1]);
    std::optional<Form> mask = seenAs(kernel, own);
    if (!values || !mask)
      return fail("the matrix is only a part of it, or mixes k and n");
    codes.count = *known(values->extents.front());
    if (std::optional<Form> indices = takeTableOfValues(*values)) {
      KernelCall call;
      call.kernel = "SparseToDense";
      call.inputs = {indices, own};
      call.extents = own->extents;
      call.element = indices->element;
      std::optional<Form> seen = seenAs(kernel, planner.kernel(call));
      if (!seen)
        return false;
      matrix = *seen;
      codes.isAbsentZero = true;
    }
    // A bit for each place has to pay, and twice where all codes could be kept
    // as well, which are multiplied in half the time.
    std::optional<runtime::ElementType> type = elementTypeOf(matrix.element);
    int64_t places = *known(matrix.extents[0]) * columns;
    int64_t bits = type ? runtime::packedBits(*type) : 0;
    bool canBeDense = bits <= 8 && !codes.isAbsentZero;
    if (places + codes.count * bits < places * bits / (canBeDense ? 2 : 1))
      codes.mask = mask;
    else if (!canBeDense)
      return fail("hardly any of its elements are zeros");
    return true;
  }

  /// The indices of values that were looked up in one table.
  std::optional<Form> takeTableOfValues(const Form &values) {
    plan::KernelOp lookup = preparedKernel(values);
    if (codes.table || !lookup || lookup.getKernel() != "LutToDense")
      return std::nullopt;
    std::optional<Form> indices = operandForm(planner, lookup.getInputs()[0]);
    std::optional<Form> table = operandForm(planner, lookup.getInputs()[1]);
    if (!indices || !table || indices->rank() != 1 ||
        !isKnown(table->extents[0], 1) || !isKnown(table->extents[2], 1))
      return std::nullopt;
    Size one = sizes.number(1);
    codes.table = planner.rowMajored(
        asType(planner, planner.reshaped(*table, {one, one, table->extents[1]}),
               planner.builder.getF32Type()));
    return indices;
  }

  bool takeParameters(plan::KernelOp kernel) {
    std::optional<MatrixAxes> axes = axesOf(matrix, shapeOf(kernel));
    if (!axes)
      return fail("the matrix is only a part of it, or mixes k and n");
    // Blocks are what the inner axes of k go over: no parameter changes along
    // these.
    SmallVector<std::optional<Form>> forms;
    size_t outer = 0;
    for (unsigned i : {1, 2, 3}) {
      std::optional<Form> form = operandForm(planner, kernel.getInputs()[i]);
      if (!form)
        return fail("its parameters are not known");
      if (i != 1 && isZero(*form)) {
        forms.push_back(std::nullopt);
        continue;
      }
      for (auto [place, axis] : llvm::enumerate(axes->k))
        if (!isKnown(form->strides[axis], 0))
          outer = std::max(outer, place + 1);
      forms.push_back(form);
    }
    MatrixAxes blockAxes{
        SmallVector<int64_t>(ArrayRef(axes->k).take_front(outer)), axes->n};
    for (int64_t axis : blockAxes.k)
      codes.blocks *= shapeOf(kernel)[axis];
    for (auto [form, parameter] : llvm::zip_equal(forms, codes.parameters))
      if (form)
        parameter = planner.reshaped(
            picked(*form, allOf(blockAxes)),
            {sizes.number(codes.blocks), sizes.number(columns)});
    return follow(kernel, kernel.getInputs()[0]);
  }

  /// How many tables there are along axes; nothing if not along the first.
  static std::optional<int64_t> groupsOf(const Form &table,
                                         ArrayRef<int64_t> axes) {
    for (int64_t axis : axes.drop_front(axes.empty() ? 0 : 1))
      if (!isKnown(table.extents[axis], 1))
        return std::nullopt;
    return axes.empty() ? 1 : *known(table.extents[axes.front()]);
  }

  bool takeTable(plan::KernelOp kernel) {
    std::optional<Form> table = operandForm(planner, kernel.getInputs()[1]);
    if (!table || !isKnown(table->extents.back(), 1))
      return fail("entries of its table are vectors");
    std::optional<MatrixAxes> axes = axesOf(matrix, shapeOf(kernel));
    std::optional<Form> indices = operandForm(planner, kernel.getInputs()[0]);
    if (!axes || !indices)
      return fail("the matrix is only a part of it, or mixes k and n");
    std::optional<int64_t> ofDepth = groupsOf(*table, axes->k);
    std::optional<int64_t> ofColumns = groupsOf(*table, axes->n);
    if (!ofDepth || !ofColumns)
      return fail("its tables go along several axes");
    if (codes.blocks % *ofDepth != 0) {
      if (*ofDepth % codes.blocks != 0)
        return fail("its tables and its scales have different blocks");
      refineBlocks(*ofDepth);
    }
    SmallVector<int64_t> order;
    if (!axes->k.empty())
      order.push_back(axes->k.front());
    if (!axes->n.empty())
      order.push_back(axes->n.front());
    order.push_back(int64_t(table->rank()) - 2);
    Form numbers =
        planner.reshaped(picked(*table, order),
                         {sizes.number(*ofDepth), sizes.number(*ofColumns),
                          table->extents[table->rank() - 2]});
    codes.table = planner.rowMajored(
        asType(planner, numbers, planner.builder.getF32Type()));
    return follow(kernel, kernel.getInputs()[0]);
  }

  /// Repeats parameters for more blocks.
  void refineBlocks(int64_t blocks) {
    Size coarse = sizes.number(codes.blocks);
    Size repeats = sizes.number(blocks / codes.blocks);
    Size n = sizes.number(columns);
    for (std::optional<Form> &form : codes.parameters)
      if (form)
        form = planner.reshaped(broadcast(sizes, withUnitAxes(sizes, *form, 1),
                                          {coarse, repeats, n}),
                                {sizes.number(blocks), n});
    codes.blocks = blocks;
  }

  /// The data itself, and what its codes stand for.
  bool takeCodes() {
    using runtime::ElementType;
    codes.data =
        planner.reshaped(matrix, {matrix.extents[0], sizes.number(columns)});
    std::optional<ElementType> type = elementTypeOf(matrix.element);
    if (codes.mask && isParameterType(matrix.element)) {
      codes.kind = CodeKind::Float;
      codes.bits = int(runtime::packedBits(*type));
      return true;
    }
    if (!type || *type == ElementType::Bool || runtime::byteSize(*type) != 1)
      return fail("its elements have more than 8 bits");
    codes.bits = int(runtime::packedBits(*type));
    if (codes.table) {
      if (!isKnown(codes.table->extents.back(), int64_t(1) << codes.bits))
        return fail("its table has not an entry for each index");
      return true;
    }
    switch (*type) {
    case ElementType::SI8:
    case ElementType::SI4:
    case ElementType::SI2:
      codes.kind = CodeKind::Signed;
      return true;
    case ElementType::F8E4M3FN:
      codes.kind = CodeKind::F8E4M3FN;
      return true;
    case ElementType::F8E5M2:
      codes.kind = CodeKind::F8E5M2;
      return true;
    case ElementType::F4E2M1FN:
      codes.table = smallFloats();
      return true;
    default:
      codes.kind = CodeKind::Unsigned;
      return runtime::isInteger(*type) ||
             fail("its elements are of a type without codes");
    }
  }

  /// What the codes of floats of 4 bits stand for.
  Form smallFloats() {
    SmallVector<float> numbers;
    for (uint8_t code = 0; code != 16; ++code)
      numbers.push_back(runtime::Float4E2M1FN::fromBits(code));
    auto shape =
        RankedTensorType::get({1, 1, 16}, planner.builder.getF32Type());
    return planner.constant(DenseElementsAttr::get(shape, ArrayRef(numbers)));
  }

  Planner &planner;
  Sizes &sizes;
  Form matrix;
  int64_t columns;
  bool isDecompression = false;
};
} // namespace

/// A parameter in panels, of a type that products take: zeros are small whole
/// numbers, or floats of 8 bits at most, which are all there in f16.
static Form packedParameter(Planner &planner, const Form &form, bool isZeros) {
  OpBuilder &builder = planner.builder;
  if (isParameterType(form.element))
    return packedMatrix(planner, form);
  return packedMatrix(planner, asType(planner, form,
                                      isZeros ? Type(builder.getF16Type())
                                              : Type(builder.getF32Type())));
}

/// Values of a sparse constant, and where they are.
static KernelCall sparseProduct(Planner &planner, const Form &left,
                                const Codes &codes) {
  Sizes &sizes = planner.sizes;
  int64_t panels = runtime::panelCount(*known(codes.data.extents[1]));
  MLIRContext *context = planner.builder.getContext();
  KernelCall places;
  places.kernel = "PackPlaces";
  places.inputs = {codes.mask};
  places.extents = {
      sizes.number(panels),
      sizes.number(runtime::kPlacesHeader + *known(codes.data.extents[0]))};
  places.element = IntegerType::get(context, 32, IntegerType::Unsigned);
  KernelCall call;
  call.kernel = "MatMulSparse";
  call.inputs = {left, planner.kernel(places)};
  KernelCall values;
  values.kernel = "PackValues";
  values.inputs = {codes.data, call.inputs[1]};
  values.numbers = {sizes.number(codes.bits)};
  values.extents = {sizes.number(runtime::valueElements(
      codes.count + panels * (runtime::kValueGroup - 1), codes.bits))};
  values.element = codes.kind == CodeKind::Float
                       ? codes.data.element
                       : IntegerType::get(context, 8, IntegerType::Unsigned);
  call.inputs.push_back(planner.kernel(values));
  call.numbers = {sizes.number(int64_t(codes.kind)), sizes.number(codes.bits),
                  sizes.number(codes.blocks), sizes.number(codes.isAbsentZero)};
  return call;
}

/// All codes of a constant.
static Form packedCodes(Planner &planner, const Codes &codes) {
  Sizes &sizes = planner.sizes;
  int64_t depth = *known(codes.data.extents[0]);
  KernelCall pack;
  pack.kernel = "PackCodes";
  pack.inputs = {codes.data};
  pack.numbers = {sizes.number(codes.bits)};
  pack.extents = {
      sizes.number(runtime::panelCount(*known(codes.data.extents[1]))),
      sizes.number(codes.blocks),
      sizes.number(runtime::codeBytes(depth / codes.blocks, codes.bits))};
  pack.element =
      IntegerType::get(planner.builder.getContext(), 8, IntegerType::Unsigned);
  return planner.kernel(pack);
}

static KernelCall denseProduct(Planner &planner, const Form &left,
                               const Codes &codes, bool roundsRows) {
  Sizes &sizes = planner.sizes;
  KernelCall call;
  call.kernel = "MatMulCompressed";
  call.inputs = {left, packedCodes(planner, codes)};
  call.numbers = {sizes.number(int64_t(codes.kind)), sizes.number(codes.bits),
                  sizes.number(roundsRows ? 8 : 0)};
  return call;
}

/// Scales, zeros, offsets and tables, which come after codes.
static void addMeaning(Planner &planner, const Codes &codes, KernelCall &call) {
  for (auto [place, form] : llvm::enumerate(codes.parameters))
    call.inputs.push_back(
        form ? std::optional(packedParameter(planner, *form, place == 1))
             : std::nullopt);
  call.inputs.push_back(codes.table);
}

std::optional<KernelCall> corten::routedCompressedProduct(Planner &planner,
                                                          const Form &left,
                                                          const Form &table,
                                                          const Form &indices) {
  if (!planner.isConstant(table) ||
      *known(table.extents[2]) % runtime::kPanelWidth != 0)
    return std::nullopt;
  Matcher matcher(planner, transposed(table, {1, 0, 2}));
  if (!matcher.match() || matcher.codes.mask)
    return std::nullopt;
  Sizes &sizes = planner.sizes;
  const Codes &codes = matcher.codes;
  KernelCall call;
  call.kernel = "MatMulRoutedCompressed";
  call.inputs = {left, packedCodes(planner, codes)};
  call.numbers = {sizes.number(int64_t(codes.kind)), sizes.number(codes.bits)};
  addMeaning(planner, codes, call);
  call.inputs.push_back(indices);
  return call;
}

CompressedProduct corten::compressedProduct(Planner &planner, const Form &left,
                                            const Form &matrix,
                                            ArrayRef<Size> extents,
                                            ArrayRef<int64_t> order) {
  Matcher matcher(planner, matrix);
  if (!matcher.match())
    return {std::nullopt, matcher.why};
  const Codes &codes = matcher.codes;
  bool roundsRows =
      planner.precision.factors == Factors::Int8 && order.empty() &&
      runtime::hasByteProducts(codes.kind, codes.bits,
                               *known(matrix.extents[0]) / codes.blocks);
  KernelCall call = codes.mask && !roundsRows
                        ? sparseProduct(planner, left, codes)
                        : denseProduct(planner, left, codes, roundsRows);
  addMeaning(planner, codes, call);
  call.extents.assign(extents.begin(), extents.end());
  call.order.assign(order.begin(), order.end());
  call.element = left.element;
  return {planner.kernel(call), {}};
}
