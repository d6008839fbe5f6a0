// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes of what names the axes of a tensor anew: other shapes and other
// orders.

#include "ShapeRules/CheckedCall.h"

using namespace corten;
using namespace corten::shapes;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Other shapes
//===----------------------------------------------------------------------===//

/// The result holds as many elements as the tensor.
static void checkSameElements(CheckedCall &call) {
  call.require(!call.node.results.empty() && call.node.info().isTensor(),
               "the result is no tensor");
  if (!call.hasFailed())
    checkSameCount(call, call.shape("self"), call.node.info().sizes);
}

void shapes::checkView(CheckedCall &call) {
  Shape expected = call.sizes(call.has("size") ? "size" : "shape");
  unsigned numOpen = 0;
  for (Size &size : expected) {
    if (size.isDynamic() || size.get() >= 0)
      continue;
    call.require(size.get() == -1 && ++numOpen == 1,
                 "'size' has more than one open extent");
    size = anySize();
  }
  call.checkResult(expected);
  checkSameElements(call);
}

static Size countOf(ArrayRef<Size> shape) {
  std::optional<int64_t> count = product(shape);
  return count ? Size(*count) : anySize();
}

void shapes::checkFlatten(CheckedCall &call) {
  Shape self = call.shape("self");
  std::optional<size_t> first = call.axis("start_dim", self.size());
  std::optional<size_t> last = call.axis("end_dim", self.size());
  if (!first || !last)
    return;
  call.require(*first <= *last, "'start_dim' is behind 'end_dim'");
  if (call.hasFailed())
    return;
  if (self.empty())
    return call.checkResult(Size(1));
  ArrayRef<Size> all = self;
  Shape expected(all.take_front(*first));
  expected.push_back(countOf(all.slice(*first, *last - *first + 1)));
  llvm::append_range(expected, all.drop_front(*last + 1));
  call.checkResult(expected);
}

void shapes::checkRavel(CheckedCall &call) {
  call.checkResult(countOf(call.shape("self")));
}

void shapes::checkUnflatten(CheckedCall &call) {
  Shape expected = call.shape("self"), sizes = call.sizes("sizes");
  std::optional<size_t> axis = call.axis("dim", expected.size());
  if (!axis || expected.empty())
    return call.fail("the tensor has no axis");
  for (Size &size : sizes)
    if (size == Size(-1))
      size = anySize();
  expected.erase(expected.begin() + *axis);
  expected.insert(expected.begin() + *axis, sizes.begin(), sizes.end());
  call.checkResult(expected);
  checkSameElements(call);
}

void shapes::checkShapeOfOther(CheckedCall &call) {
  call.checkResult(call.shape("other"));
  checkSameElements(call);
}

//===----------------------------------------------------------------------===//
// Other orders
//===----------------------------------------------------------------------===//

void shapes::checkPermutation(CheckedCall &call) {
  Shape self = call.shape("self"), expected;
  SmallVector<size_t> axes = call.axes("dims", self.size());
  if (axes.size() != self.size())
    return call.fail("'dims' does not name each axis once");
  for (size_t axis : axes)
    expected.push_back(self[axis]);
  call.checkResult(expected);
}

/// t and numpy_T.
void shapes::checkReversedAxes(CheckedCall &call) {
  Shape expected = call.shape("self");
  call.require(call.node.callee->name != "t.default" || expected.size() <= 2,
               "the tensor is no matrix");
  std::reverse(expected.begin(), expected.end());
  call.checkResult(expected);
}

void shapes::checkExchangedAxes(CheckedCall &call) {
  Shape expected = call.shape("self");
  bool areDims = call.has("dim0");
  std::optional<size_t> first =
      call.axis(areDims ? "dim0" : "axis0", expected.size());
  std::optional<size_t> second =
      call.axis(areDims ? "dim1" : "axis1", expected.size());
  if (first && second && !expected.empty())
    std::swap(expected[*first], expected[*second]);
  call.checkResult(expected);
}

void shapes::checkMovedAxes(CheckedCall &call) {
  Shape self = call.shape("self"), rest;
  SmallVector<size_t> from = call.axes("source", self.size());
  SmallVector<size_t> to = call.axes("destination", self.size());
  call.require(from.size() == to.size(),
               "'source' and 'destination' have different lengths");
  if (call.hasFailed())
    return;
  if (self.empty())
    return call.checkResult(self);
  for (auto [axis, extent] : llvm::enumerate(self))
    if (!llvm::is_contained(from, axis))
      rest.push_back(extent);
  Shape expected;
  const Size *next = rest.begin();
  for (size_t axis = 0; axis < self.size(); ++axis) {
    const size_t *moved = llvm::find(to, axis);
    expected.push_back(moved == to.end() ? *next++
                                         : self[from[moved - to.begin()]]);
  }
  call.checkResult(expected);
}

/// One axis for each tensor; by "xy" the first two are exchanged.
void shapes::checkMesh(CheckedCall &call) {
  Shape expected;
  for (const Shape &shape : call.shapes("tensors")) {
    call.require(shape.size() <= 1, "a tensor is no vector");
    expected.push_back(countOf(shape));
  }
  const Argument *indexing = call.node.findArgument("indexing");
  if (indexing && indexing->kind() == Argument::Kind::String &&
      indexing->asString() == "xy" && expected.size() > 1)
    std::swap(expected[0], expected[1]);
  call.require(call.node.results.size() == expected.size(),
               "there is not one result for each tensor");
  call.checkResults(expected);
}
