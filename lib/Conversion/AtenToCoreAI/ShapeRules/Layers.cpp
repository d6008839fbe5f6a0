// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes of products of matrices and of layers.

#include "ShapeRules/CheckedCall.h"
#include "ShapeRules/Equation.h"

#include "llvm/ADT/DenseMap.h"

using namespace corten;
using namespace corten::shapes;
using llvm::ArrayRef;
using llvm::StringRef;

/// addmm and the like: a product, and something that is broadcast to it.
void shapes::checkMatrixSum(CheckedCall &call) {
  StringRef op = call.node.callee->name;
  StringRef pattern = op == "addmm.default"   ? "mat1:m,k mat2:k,n -> m,n"
                      : op == "addmv.default" ? "mat:m,k vec:k -> m"
                      : op == "addbmm.default"
                          ? "batch1:b,m,k batch2:b,k,n -> m,n"
                          : "batch1:b,m,k batch2:b,k,n -> b,m,n";
  checkPattern(call, pattern);
  if (call.hasFailed())
    return;
  Shape joined(call.node.info().sizes);
  broadcastInto(call, joined, call.shape("self"));
  call.checkResult(joined);
}

void shapes::checkMatmul(CheckedCall &call) {
  Shape x = call.shape("self"), y = call.shape("other");
  if (x.empty() || y.empty())
    return call.fail("an operand is no vector or matrix");
  bool isRow = x.size() == 1, isColumn = y.size() == 1;
  if (isRow)
    x.insert(x.begin(), Size(1));
  if (isColumn)
    y.push_back(1);
  call.require(fits(x.back(), y[y.size() - 2]),
               "the matrices do not fit each other");
  Shape expected(ArrayRef(x).drop_back(2));
  broadcastInto(call, expected, ArrayRef(y).drop_back(2));
  if (!isRow)
    expected.push_back(x[x.size() - 2]);
  if (!isColumn)
    expected.push_back(y.back());
  call.checkResult(expected);
}

/// Axes of one label have one extent, or are stretched to it.
void shapes::checkEinsum(CheckedCall &call) {
  const Argument *text = call.node.findArgument("equation");
  if (!text || text->kind() != Argument::Kind::String)
    return call.fail("'equation' is no text");
  llvm::SmallVector<Shape> operands = call.shapes("tensors");
  llvm::SmallVector<size_t> ranks;
  for (const Shape &operand : operands)
    ranks.push_back(operand.size());
  llvm::Expected<Equation> equation = parseEquation(text->asString(), ranks);
  if (!equation)
    return call.fail(llvm::toString(equation.takeError()));
  llvm::DenseMap<int, Shape> extents;
  for (auto [labels, shape] : llvm::zip_equal(equation->operands, operands))
    for (auto [label, extent] : llvm::zip_equal(labels, shape))
      broadcastInto(call, extents[label], extent);
  Shape expected;
  for (int label : equation->result)
    llvm::append_range(expected, extents[label]);
  call.checkResult(expected);
}

void shapes::checkSolution(CheckedCall &call) {
  Shape a = call.shape("A"), b = call.shape("B");
  if (a.size() < 2 || b.empty() || !fits(a[a.size() - 1], a[a.size() - 2]))
    return call.fail("'A' is no square matrix, or 'B' has no axis");
  Size order = a.back();
  Shape batches(ArrayRef(a).drop_back(2));
  // torch's rule: one axis only, or the batches and rows of A.
  bool isVector = b.size() == 1 || (b.size() == a.size() - 1 &&
                                    fits(b, ArrayRef(a).drop_back()));
  Size rows = isVector || !call.flag("left") ? b.back() : b[b.size() - 2];
  call.require(fits(rows, order), "'B' does not have the rows of 'A'");
  Shape expected = batches;
  if (!isVector)
    broadcastInto(call, expected, ArrayRef(b).drop_back(2));
  llvm::append_range(expected, ArrayRef(b).take_back(isVector ? 1 : 2));
  call.checkResult(expected);
}

void shapes::checkTrilinear(CheckedCall &call) {
  std::optional<size_t> rank;
  Shape joined;
  for (auto [operand, expand] :
       {std::pair("i1", "expand1"), std::pair("i2", "expand2"),
        std::pair("i3", "expand3")}) {
    size_t extended = call.shape(operand).size() + call.list(expand).size();
    call.require(!rank || *rank == extended, "the operands differ in rank");
    rank = extended;
    llvm::SmallVector<size_t> added = call.axes(expand, extended);
    if (call.hasFailed())
      return;
    Shape shape = call.shape(operand);
    llvm::sort(added);
    for (size_t axis : added)
      shape.insert(shape.begin() + axis, Size(1));
    broadcastInto(call, joined, shape);
  }
  if (call.hasFailed())
    return;
  llvm::SmallVector<bool> isSummed(*rank);
  for (size_t axis : call.axes("sumdim", *rank))
    isSummed[axis] = true;
  Shape expected;
  for (auto [axis, extent] : llvm::enumerate(joined))
    if (!isSummed[axis])
      expected.push_back(extent);
  call.checkResult(expected);
}

/// linear: a bias of any shape that is broadcast to the result's.
void shapes::checkLinear(CheckedCall &call) {
  checkPattern(call, "input:*b,k weight:*n[0-1],k -> *b,*n");
  if (call.hasFailed() || !call.has("bias"))
    return;
  Shape joined(call.node.info().sizes);
  broadcastInto(call, joined, call.shape("bias"));
  call.checkResult(joined);
}

/// One slope, or one for each channel.
void shapes::checkSlopes(CheckedCall &call) {
  Shape self = call.shape("self"), weight = call.shape("weight");
  Size channels = self.size() < 2 ? Size(1) : self[1];
  call.require(weight.size() <= 1 && (weight.empty() || weight[0] == Size(1) ||
                                      fits(weight[0], channels)),
               "there is not one slope for each channel");
  call.checkResult(self);
}

/// _grouped_mm: products of matrices of which each is a part of an operand.
/// Those that lie one after the other in a matrix have no axis of their own.
void shapes::checkGroupedProduct(CheckedCall &call) {
  Shape x = call.shape("self"), y = call.shape("mat2");
  if (x.size() < 2 || x.size() > 3 || y.size() < 2 || y.size() > 3)
    return call.fail("an operand is no matrix and no batch of them");
  call.require(fits(x.back(), y[y.size() - 2]),
               "the matrices do not fit each other");
  bool areBatches = x.size() == 3 && y.size() == 3;
  call.require(areBatches || call.has("offs"),
               "nothing says what the parts are");
  Shape expected = {x[x.size() - 2], y.back()};
  Size groups = x.size() == 3 ? x[0] : y.size() == 3 ? y[0] : anySize();
  if (areBatches)
    call.require(fits(x[0], y[0]), "there is not one matrix for each other");
  if (call.has("offs")) {
    Shape parts = call.shape("offs");
    call.require(fits(parts, groups), "there is not one part for each matrix");
    groups = parts.empty() ? groups : parts[0];
  }
  if (x.size() == y.size())
    expected.insert(expected.begin(), groups);
  call.checkResult(expected);
}

/// The extent that a convolution makes of that of spatial axis `place`.
static Size convolvedExtent(CheckedCall &call, Size extent, Size kernel,
                            size_t place, bool isTransposed) {
  auto entry = [&](StringRef parameter, int64_t otherwise) {
    Shape entries = call.sizes(parameter);
    return entries.empty() ? Size(otherwise)
                           : entries[std::min(place, entries.size() - 1)];
  };
  const Argument *named = call.node.findArgument("padding");
  if (named && named->kind() == Argument::Kind::String &&
      named->asString() == "same")
    return extent;
  Size stride = entry("stride", 1), padding = entry("padding", 0),
       dilation = entry("dilation", 1), extra = entry("output_padding", 0);
  for (Size size : {extent, kernel, stride, padding, dilation, extra})
    if (size.isDynamic())
      return anySize();
  int64_t reach = dilation.get() * (kernel.get() - 1) + 1;
  int64_t around = 2 * padding.get();
  if (isTransposed)
    return (extent.get() - 1) * stride.get() - around + reach + extra.get();
  int64_t room = extent.get() + around - reach;
  call.require(room >= 0, "the kernel is larger than the padded input");
  return room / stride.get() + 1;
}

void shapes::checkConvolution(CheckedCall &call) {
  Shape input = call.shape("input"), weight = call.shape("weight");
  StringRef op = call.node.callee->name;
  // The forms with a number of axes in their name take single inputs too.
  bool isBatched = op == "convolution.default" || input.size() == weight.size();
  if (!isBatched)
    input.insert(input.begin(), Size(1));
  if (weight.size() < 3 || weight.size() > 5 || input.size() != weight.size())
    return call.fail("the input and the weight have different ranks");
  size_t numAxes = weight.size() - 2;
  for (unsigned named : {1, 2, 3})
    if (op.contains(std::to_string(named) + "d."))
      call.require(numAxes == named, "the weight has another rank");
  for (StringRef parameter :
       {"stride", "padding", "dilation", "output_padding"}) {
    const Argument *argument = call.node.findArgument(parameter);
    if (!argument || argument->kind() == Argument::Kind::String)
      continue;
    size_t length = call.list(parameter).size();
    call.require(length == numAxes || length == 1,
                 "'" + parameter + "' has another number of entries");
    bool mayBeZero = parameter.ends_with("padding");
    call.checkRange(parameter, mayBeZero ? 0 : 1,
                    std::numeric_limits<int16_t>::max());
  }
  bool isTransposed = call.flag("transposed") || op.contains("transpose");
  int64_t groups = call.integer("groups").value_or(0);
  if (groups < 1 || groups > std::numeric_limits<int32_t>::max())
    return call.fail("'groups' is not positive");
  auto times = [&](Size extent) {
    return extent.isDynamic() ? anySize() : Size(extent.get() * groups);
  };
  Size outputs = isTransposed ? times(weight[1]) : weight[0];
  call.require(fits(input[1], isTransposed ? weight[0] : times(weight[1])),
               "the input does not have the channels of the weight");
  call.require(weight[0].isDynamic() || weight[0].get() % groups == 0,
               "the channels cannot be put into groups");
  if (call.has("bias"))
    call.require(fits(call.shape("bias"), Shape{outputs}),
                 "'bias' does not have one entry for each channel");
  Shape expected(input.size(), anySize());
  expected[0] = input[0];
  expected[1] = outputs;
  for (size_t i = 0; i < numAxes && !call.hasFailed(); ++i)
    expected[i + 2] =
        convolvedExtent(call, input[i + 2], weight[i + 2], i, isTransposed);
  call.checkResult(isBatched ? ArrayRef(expected)
                             : ArrayRef(expected).drop_front());
}

/// The extent that pooling makes of that of spatial axis `place`.
static Size pooledExtent(CheckedCall &call, Size extent, size_t place) {
  auto entry = [&](StringRef parameter, Size otherwise) {
    Shape entries = call.sizes(parameter);
    return entries.empty() ? otherwise
                           : entries[std::min(place, entries.size() - 1)];
  };
  if (call.has("output_size"))
    return entry("output_size", extent);
  Size kernel = entry("kernel_size", 1), stride = entry("stride", kernel),
       padding = entry("padding", 0), dilation = entry("dilation", 1);
  for (Size size : {extent, kernel, stride, padding, dilation})
    if (size.isDynamic())
      return anySize();
  int64_t room = extent.get() + 2 * padding.get() -
                 dilation.get() * (kernel.get() - 1) - 1;
  // A window that begins in the tensor may end beyond it.
  if (call.flag("ceil_mode"))
    room += stride.get() - 1;
  call.require(room >= 0 && 2 * padding.get() <= kernel.get(),
               "the window is larger than the tensor, or the padding too wide");
  int64_t count = room / stride.get() + 1;
  if (!call.flag("ceil_mode"))
    return count;
  // One that begins in the padding behind the tensor is none.
  return (count - 1) * stride.get() >= extent.get() + padding.get() ? count - 1
                                                                    : count;
}

void shapes::checkPooling(CheckedCall &call) {
  StringRef op = call.node.callee->name;
  size_t numAxes = op.contains("1d") ? 1 : op.contains("2d") ? 2 : 3;
  Shape expected = call.shape("self");
  if (expected.size() != numAxes + 1 && expected.size() != numAxes + 2)
    return call.fail("the tensor has another number of axes");
  for (StringRef parameter :
       {"kernel_size", "stride", "padding", "dilation", "output_size"}) {
    if (!call.has(parameter))
      continue;
    size_t length = call.list(parameter).size();
    call.require(length == numAxes || length == 1 ||
                     (length == 0 && parameter == "stride"),
                 "'" + parameter + "' has another number of entries");
    bool mayBeZero = parameter == "padding" || parameter == "output_size";
    call.checkRange(parameter, mayBeZero ? 0 : 1,
                    std::numeric_limits<int16_t>::max());
  }
  const Node &self = *call.node.argument("self").asNode();
  call.require(scalarCategory(self.info().dtype) != ScalarCategory::Complex,
               "complex numbers cannot be pooled");
  std::optional<int64_t> divisor = call.integer("divisor_override");
  call.require(!divisor || *divisor != 0, "the divisor is zero");
  for (size_t i = 0; i < numAxes && !call.hasFailed(); ++i) {
    Size &extent = expected[expected.size() - numAxes + i];
    extent = pooledExtent(call, extent, i);
  }
  call.checkResults(expected);
}

void shapes::checkGroupNorm(CheckedCall &call) {
  checkPattern(call, "input:n,c,*s weight:c bias:c -> n,c,*s");
  StringRef name = call.has("group") ? "group" : "num_groups";
  std::optional<int64_t> groups = call.integer(name);
  if (call.hasFailed() || !groups)
    return;
  Shape input = call.shape("input");
  if (call.hasFailed())
    return;
  Size channels = input[1];
  call.require(*groups > 0 &&
                   (channels.isDynamic() || channels.get() % *groups == 0),
               "the channels cannot be put into groups");
}

void shapes::checkLayerNorm(CheckedCall &call) {
  Shape input = call.shape("input"), inner = call.sizes("normalized_shape");
  if (inner.size() > input.size() || inner.empty() ||
      !fits(ArrayRef(input).take_back(inner.size()), inner))
    return call.fail("the tensor does not end in 'normalized_shape'");
  for (StringRef parameter : {"weight", "bias"})
    if (call.has(parameter))
      call.require(fits(call.shape(parameter), inner),
                   "'" + parameter + "' does not have 'normalized_shape'");
  call.checkResult(input);
}

void shapes::checkAttention(CheckedCall &call) {
  Shape query = call.shape("query"), key = call.shape("key"),
        value = call.shape("value");
  if (query.size() < 2 || key.size() < 2 || value.size() < 2)
    return call.fail("an operand is no matrix");
  call.require(fits(query.back(), key.back()) &&
                   fits(key[key.size() - 2], value[value.size() - 2]),
               "the operands do not fit each other");
  // Several heads of the query may share one of the others.
  bool areShared = call.flag("enable_gqa");
  Shape expected;
  for (ArrayRef<Size> shape : {query, key, value}) {
    Shape batches(shape.drop_back(2));
    if (areShared && !batches.empty())
      batches.back() = anySize();
    broadcastInto(call, expected, batches);
  }
  if (areShared && query.size() > 2)
    expected.back() = query[query.size() - 3];
  if (call.has("attn_mask")) {
    Shape scores = expected;
    scores.append({query[query.size() - 2], key[key.size() - 2]});
    Shape masked = scores;
    broadcastInto(call, masked, call.shape("attn_mask"));
    call.require(fits(masked, scores), "the mask does not fit the operands");
  }
  expected.append({query[query.size() - 2], value.back()});
  call.checkResult(expected);
}

/// One number for each index along an axis, in whatever shape.
void shapes::checkChannels(CheckedCall &call) {
  Shape input = call.shape("input");
  std::optional<size_t> axis = call.axis("axis", input.size());
  if (!axis || input.empty())
    return call.fail("the tensor has no such axis");
  for (StringRef parameter : {"scales", "zero_points"})
    if (call.has(parameter))
      checkSameCount(call, call.shape(parameter), input[*axis]);
  call.checkResult(input);
}

void shapes::checkResize(CheckedCall &call) {
  bool isSelf = call.node.findArgument("self") != nullptr;
  checkPattern(call,
               isSelf ? "self:n,c,_,_ -> n,c,_,_" : "input:n,c,_,_ -> n,c,_,_");
  call.require(call.has("output_size") || call.has("scale_factors"),
               "there is no size");
  for (StringRef parameter : {"output_size", "scale_factors"})
    call.require(!call.has(parameter) || call.list(parameter).size() == 2,
                 "'" + parameter + "' does not have two entries");
  if (!call.has("output_size"))
    for (const Argument &factor : call.list("scale_factors"))
      call.require(!factor.isNumber() || factor.asDouble() > 0,
                   "an entry of 'scale_factors' is not positive");
  if (call.hasFailed())
    return;
  // Weights of the elements are computed here.
  constexpr int64_t kMostWeights = int64_t{1} << 28;
  Shape before = call.shape(isSelf ? "self" : "input");
  if (call.hasFailed())
    return;
  for (size_t axis : {2, 3}) {
    Size after = call.node.info().sizes[axis];
    std::optional<int64_t> count = product({before[axis], after});
    call.require(!count || *count <= kMostWeights, "the image is too large");
    call.require(after.isDynamic() || after.get() <= kMostWeights,
                 "the image is too large");
  }
}
