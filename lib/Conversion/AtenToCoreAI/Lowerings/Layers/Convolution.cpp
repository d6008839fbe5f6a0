// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect has 2-D and 3-D convolutions. A 1-D one gets a unit axis: in
// front of the length for the forward form, behind it for the transposed one.
// The bias is added behind it, or while that axis is still there where
// coreai-core's optimizer would move the reshape across the sum: it does not
// ask which axes then meet.

#include "Emission/Broadcast.h"
#include "Table.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

namespace {
/// A convolution with two or three spatial axes.
struct Geometry {
  SmallVector<Argument> stride, padding, dilation, outputPadding;
  int64_t groups;
  /// Position of the unit axis of a 1-D convolution.
  std::optional<int64_t> unitAxis;
};
} // namespace

/// One entry per spatial axis; a single entry stands for all.
static SmallVector<Argument> perAxis(const AtenNode &node, StringRef parameter,
                                     int64_t spatial) {
  ArrayRef<Argument> given = node.list(parameter);
  if (given.size() == 1)
    return SmallVector<Argument>(spatial, given.front());
  return SmallVector<Argument>(given);
}

static Geometry geometryOf(const AtenNode &node, int64_t spatial) {
  Geometry geometry{perAxis(node, "stride", spatial),
                    perAxis(node, "padding", spatial),
                    perAxis(node, "dilation", spatial),
                    perAxis(node, "output_padding", spatial),
                    node.integer("groups"),
                    {}};
  if (spatial > 1)
    return geometry;
  bool atEnd = node.flag("transposed");
  geometry.unitAxis = atEnd ? 3 : 2;
  auto insert = [&](SmallVector<Argument> &list, int64_t value) {
    list.insert(atEnd ? list.end() : list.begin(), Argument::integer(value));
  };
  insert(geometry.stride, 1);
  insert(geometry.padding, 0);
  insert(geometry.dilation, 1);
  insert(geometry.outputPadding, 0);
  return geometry;
}

static bool isZero(const Argument &argument) {
  return argument.isInt() && argument.asInt() == 0;
}

/// Zeros on both sides of every spatial axis.
static Value padSpatial(Emitter &emit, Value x, ArrayRef<Argument> padding) {
  if (llvm::all_of(padding, isZero))
    return x;
  SmallVector<Argument> amounts(4, Argument::integer(0));
  for (const Argument &amount : padding)
    amounts.append(2, amount);
  Value zero = emit.scalar(0.0, getElementTypeOrSelf(x));
  return emit.pad(x, emit.sizes(amounts, IndexKind::Unsigned), zero);
}

static Value forward(Emitter &emit, const Geometry &geometry, Value x,
                     Value weight) {
  Value operands[] = {padSpatial(emit, x, geometry.padding), weight,
                      emit.sizes(geometry.stride, IndexKind::Unsigned),
                      emit.sizes(geometry.dilation, IndexKind::Unsigned),
                      emit.scalar(geometry.groups, emit.ui32())};
  return emit.type(x).getRank() == 4 ? emit.create<coreai::Conv2dOp>(operands)
                                     : emit.create<coreai::Conv3dOp>(operands);
}

/// The runtime takes the declared extents of the result as the true ones, so
/// they come from the exported program.
static Value transposed(Emitter &emit, const Geometry &geometry, Value x,
                        Value weight, RankedTensorType type) {
  Value operands[] = {x,
                      weight,
                      emit.sizes(geometry.stride, IndexKind::Unsigned),
                      emit.sizes(geometry.padding, IndexKind::Unsigned),
                      emit.sizes(geometry.dilation, IndexKind::Unsigned),
                      emit.sizes(geometry.outputPadding, IndexKind::Unsigned),
                      emit.scalar(geometry.groups, emit.ui32())};
  if (geometry.unitAxis) {
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin() + *geometry.unitAxis, 1);
    type = RankedTensorType::get(shape, type.getElementType());
  }
  return emit.type(x).getRank() == 4
             ? emit.createTyped<coreai::ConvTranspose2dOp>(type, operands)
             : emit.createTyped<coreai::ConvTranspose3dOp>(type, operands);
}

/// convolution(input, weight, bias, stride, padding, dilation, transposed,
///             output_padding, groups)
///
/// Weight and bias take the input's type. The bias is [1, C, 1, …].
static FailureOr<Value> lowerConvolution(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "input");
  Type element = getElementTypeOrSelf(x);
  int64_t spatial = emit.type(x).getRank() - 2;
  if (spatial < 1 || spatial > 3)
    return emit.error(node)
           << "Only conv1d, conv2d and conv3d are supported, "
           << "but the input has " << emit.type(x).getRank() << " axes";
  if (!isa<FloatType, ComplexType>(element))
    return emit.error(node)
           << "convolution of " << element << "; Core AI convolves floats only";
  if (!node["groups"].isInt())
    return emit.error(node) << "the number of groups is not a constant";
  bool isTransposed = node.flag("transposed");
  Geometry geometry = geometryOf(node, spatial);
  if (!isTransposed && !llvm::all_of(geometry.outputPadding, isZero))
    return emit.error(node)
           << "output padding on a convolution that is not transposed";

  Value weight = emit.cast(emit.tensor(node, "weight"), element);
  if (geometry.unitAxis) {
    x = emit.expandDims(x, {*geometry.unitAxis});
    weight = emit.expandDims(weight, {*geometry.unitAxis});
  }
  Value result = isTransposed
                     ? transposed(emit, geometry, x, weight, emit.typeOf(node))
                     : forward(emit, geometry, x, weight);
  auto dropUnitAxis = [&] {
    result = emit.shrinkDims(result, {*geometry.unitAxis});
    geometry.unitAxis = std::nullopt;
  };
  if (Value bias = emit.optionalTensor(node, "bias")) {
    SmallVector<int64_t> shape(spatial + 2, 1);
    shape[1] = -1;
    if (auto type = emit.type(bias); type.hasStaticShape())
      shape[1] = type.getDimSize(0);
    if (geometry.unitAxis &&
        isSumMisread(emit.type(result).getShape(), emit.typeOf(node).getShape(),
                     shape)) {
      emit.depart(Departure::ConvolutionBias);
      shape.push_back(1);
    } else if (geometry.unitAxis) {
      dropUnitAxis();
    }
    result = emit.add(result, emit.reshape(emit.cast(bias, element), shape));
  }
  if (geometry.unitAxis)
    dropUnitAxis();
  return result;
}

llvm::ArrayRef<TableEntry> corten::loweringsConvolution() {
#define IN_Convolution ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
