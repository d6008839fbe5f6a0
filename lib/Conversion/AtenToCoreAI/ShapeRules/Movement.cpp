// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes of what makes tensors and moves elements.

#include "ShapeRules/CheckedCall.h"

#include "llvm/Support/MathExtras.h"

using namespace corten;
using namespace corten::shapes;
using llvm::SmallVector;
using llvm::StringRef;

void shapes::checkCreation(CheckedCall &call) {
  call.checkResult(call.sizes("size"));
}

/// eye: as many columns as rows, unless told.
void shapes::checkIdentity(CheckedCall &call) {
  auto extent = [&](StringRef parameter) {
    std::optional<int64_t> size = call.integer(parameter);
    return size ? Size(*size) : anySize();
  };
  call.checkResult({extent("n"), extent(call.has("m") ? "m" : "n")});
}

void shapes::checkOneHot(CheckedCall &call) {
  Shape expected = call.shape("self");
  std::optional<int64_t> count = call.integer("num_classes");
  // Without a number of classes, data says how many there are.
  expected.push_back(count && *count >= 0 ? Size(*count) : anySize());
  call.checkResult(expected);
}

void shapes::checkStrided(CheckedCall &call) {
  bool isScatter = call.has("src");
  Shape size = call.sizes("size"), strides = call.sizes("stride");
  if (size.size() != strides.size())
    return call.fail("'size' and 'stride' have different lengths");
  call.checkRange("size", 0, std::numeric_limits<int32_t>::max());
  call.checkRange("stride", 0, std::numeric_limits<int32_t>::max());
  int64_t last = call.integer("storage_offset").value_or(0);
  call.require(last >= 0, "'storage_offset' is negative");
  // Without literals nothing is known, and the lowering says so.
  bool isEmpty = false, isLiteral = true;
  for (auto [extent, stride] : llvm::zip_equal(size, strides)) {
    if (extent.isDynamic() || stride.isDynamic()) {
      isLiteral = false;
      continue;
    }
    isEmpty |= extent.get() == 0;
    int64_t reach = 0;
    if (llvm::MulOverflow(extent.get() - 1, stride.get(), reach) ||
        llvm::AddOverflow(last, reach, last))
      return call.fail("the view is larger than any memory");
  }
  std::optional<int64_t> count = product(call.shape("self"));
  if (count && isLiteral && !isEmpty && last >= *count)
    call.fail("the view reaches beyond the tensor");
  if (isScatter)
    call.require(fits(call.shape("src"), size),
                 "'src' has another shape than the view");
  call.checkResult(isScatter ? call.shape("self") : size);
}

void shapes::checkExpansion(CheckedCall &call) {
  Shape self = call.shape("self"), size = call.sizes("size");
  if (size.size() < self.size())
    return call.fail("the tensor has more axes than 'size' has entries");
  size_t missing = size.size() - self.size();
  for (auto [axis, extent] : llvm::enumerate(size)) {
    Size before = axis < missing ? Size(1) : self[axis - missing];
    if (extent == Size(-1)) {
      call.require(axis >= missing, "a new axis has no size");
      extent = before;
    }
    call.require(before == Size(1) || fits(before, extent),
                 "the tensor does not have the shape to be expanded so");
  }
  call.checkResult(size);
}

void shapes::checkDistinctAxes(CheckedCall &call) {
  Shape self = call.shape("self");
  call.axes("dims", self.size());
  call.checkResult(self);
}

void shapes::checkRoll(CheckedCall &call) {
  Shape self = call.shape("self");
  size_t numAxes = call.axes("dims", self.size()).size();
  size_t numShifts = call.list("shifts").size();
  call.require(numShifts == std::max<size_t>(numAxes, 1),
               "there is not one shift for each axis");
  call.checkResult(self);
}

void shapes::checkConcatenation(CheckedCall &call) {
  Shape expected;
  bool isFirst = true;
  for (Shape &shape : call.shapes("tensors")) {
    // Vectors without elements may stand among tensors of any shape.
    if (shape.size() == 1 && shape[0] == Size(0))
      continue;
    if (std::exchange(isFirst, false))
      expected = shape;
    std::optional<size_t> axis = call.axis("dim", shape.size());
    if (!axis || shape.empty() || shape.size() != expected.size())
      return call.fail("the tensors have different ranks, or no axis");
    expected[*axis] = shape[*axis] = anySize();
    call.require(fits(shape, expected),
                 "the tensors have different extents off their common axis");
  }
  if (isFirst) {
    if (call.list("tensors").empty() || !call.axis("dim", 1))
      return call.fail("there is no tensor, or it has no such axis");
    expected = {Size(0)};
  }
  call.checkResult(expected);
}

void shapes::checkDifference(CheckedCall &call) {
  Shape self = call.shape("self");
  std::optional<size_t> axis = call.axis("dim", self.size());
  // Each time is an operation.
  constexpr int64_t kMost = 1000;
  std::optional<int64_t> times = call.integer("n");
  call.require(times && *times >= 0 && *times <= kMost,
               "'n' is negative, or too large");
  if (!axis || self.empty())
    return call.fail("the tensor has no axis");
  self[*axis] = anySize();
  for (StringRef parameter : {"prepend", "append"})
    if (call.has(parameter))
      call.require(fits(call.shape(parameter), self),
                   "'" + parameter + "' does not fit the tensor");
  call.checkResult(self);
}

void shapes::checkStack(CheckedCall &call) {
  SmallVector<Shape> shapes = call.shapes("tensors");
  if (shapes.empty())
    return call.fail("there is no tensor");
  Shape expected = shapes.front();
  for (const Shape &shape : shapes)
    call.require(fits(shape, expected), "the tensors have different shapes");
  if (std::optional<size_t> axis = call.axis("dim", expected.size() + 1)) {
    expected.insert(expected.begin() + *axis, Size(shapes.size()));
    call.checkResult(expected);
  }
}

void shapes::checkSelection(CheckedCall &call) {
  Shape expected = call.shape("self");
  std::optional<size_t> axis = call.axis("dim", expected.size());
  if (!axis || expected.empty())
    return call.fail("the tensor has no axis");
  Size extent = expected[*axis];
  if (std::optional<int64_t> index = call.integer("index");
      index && !extent.isDynamic())
    call.require(*index >= -extent.get() && *index < extent.get(),
                 "'index' lies outside of the axis");
  expected.erase(expected.begin() + *axis);
  call.checkResult(expected);
}

/// How many entries of an axis a slice takes.
static Size sliceLength(CheckedCall &call, Size extent) {
  std::optional<int64_t> step = call.integer("step");
  if (call.has("step"))
    call.require(!step || (*step > 0 && llvm::isInt<32>(*step)),
                 "'step' is no positive number");
  if (call.has("length"))
    return call.integer("length") ? Size(*call.integer("length")) : anySize();
  auto bound = [&](StringRef parameter,
                   int64_t otherwise) -> std::optional<int64_t> {
    if (!call.has(parameter))
      return otherwise;
    std::optional<int64_t> place = call.integer(parameter);
    if (!place)
      return std::nullopt;
    return std::clamp<int64_t>(*place < 0 ? *place + extent.get() : *place, 0,
                               extent.get());
  };
  if (extent.isDynamic() || call.hasFailed() || (call.has("step") && !step))
    return anySize();
  std::optional<int64_t> start = bound("start", 0);
  std::optional<int64_t> end = bound("end", extent.get());
  if (!start || !end)
    return anySize();
  return llvm::divideCeil(std::max<int64_t>(*end - *start, 0),
                          static_cast<uint64_t>(step.value_or(1)));
}

static std::optional<Shape> slicedShape(CheckedCall &call) {
  Shape expected = call.shape("self");
  std::optional<size_t> axis = call.axis("dim", expected.size());
  if (!axis || expected.empty()) {
    call.fail("the tensor has no axis");
    return std::nullopt;
  }
  expected[*axis] = sliceLength(call, expected[*axis]);
  return expected;
}

void shapes::checkSlice(CheckedCall &call) {
  if (std::optional<Shape> expected = slicedShape(call))
    call.checkResult(*expected);
}

void shapes::checkSliceScatter(CheckedCall &call) {
  Shape self = call.shape("self");
  if (std::optional<Shape> part = slicedShape(call))
    call.require(fits(call.shape("src"), *part),
                 "'src' has another shape than the slice");
  call.checkResult(self);
}

void shapes::checkSelectScatter(CheckedCall &call) {
  Shape self = call.shape("self"), part = self;
  std::optional<size_t> axis = call.axis("dim", self.size());
  if (!axis || self.empty())
    return call.fail("the tensor has no axis");
  part.erase(part.begin() + *axis);
  call.require(fits(call.shape("src"), part),
               "'src' has another shape than what it replaces");
  call.checkResult(self);
}

void shapes::checkSplit(CheckedCall &call) {
  Shape self = call.shape("self");
  std::optional<size_t> axis = call.axis("dim", self.size());
  if (!axis || self.empty())
    return call.fail("the tensor has no axis");
  for (StringRef parameter : {"split_size", "chunks", "sections"})
    if (std::optional<int64_t> count = call.integer(parameter))
      call.require(*count > 0 || (parameter == "split_size" && *count == 0),
                   "'" + parameter + "' is not positive");
  StringRef sizes = call.has("split_sizes") ? "split_sizes" : "split_size";
  SmallVector<Size> wanted(call.sizes(sizes));
  call.checkRange(sizes, 0, std::numeric_limits<int32_t>::max());
  call.require(wanted.empty() || wanted.size() == call.node.results.size(),
               "there is not one result for each size");
  Size whole = self[*axis];
  int64_t sum = 0;
  bool isStatic = !whole.isDynamic();
  for (size_t i = 0; i < call.node.results.size() && !call.hasFailed(); ++i) {
    self[*axis] = i < wanted.size() ? wanted[i] : anySize();
    call.checkResult(self, i);
    if (call.hasFailed())
      return;
    Size part = call.node.results[i].sizes[*axis];
    if (part.isDynamic())
      isStatic = false;
    else
      sum += std::min<int64_t>(part.get(), std::numeric_limits<int32_t>::max());
  }
  if (isStatic)
    call.require(sum == whole.get(), "the parts are not the whole");
}

void shapes::checkUnbind(CheckedCall &call) {
  Shape self = call.shape("self");
  std::optional<size_t> axis = call.axis("dim", self.size());
  if (!axis || self.empty())
    return call.fail("the tensor has no axis");
  call.require(fits(self[*axis], Size(call.node.results.size())),
               "there is not one result for each entry of the axis");
  self.erase(self.begin() + *axis);
  for (size_t i = 0; i < call.node.results.size(); ++i)
    call.checkResult(self, i);
}

void shapes::checkSqueeze(CheckedCall &call) {
  Shape self = call.shape("self"), expected;
  bool isAll = !call.has("dim");
  SmallVector<size_t> axes = call.axes("dim", self.size());
  for (auto [axis, extent] : llvm::enumerate(self))
    if (extent != Size(1) || !(isAll || llvm::is_contained(axes, axis)))
      expected.push_back(extent);
  call.checkResult(expected);
}

void shapes::checkUnsqueeze(CheckedCall &call) {
  Shape expected = call.shape("self");
  if (std::optional<size_t> axis = call.axis("dim", expected.size() + 1)) {
    expected.insert(expected.begin() + *axis, Size(1));
    call.checkResult(expected);
  }
}

void shapes::checkRepetition(CheckedCall &call) {
  Shape self = call.shape("self");
  Shape repeats = call.sizes(call.has("repeats") ? "repeats" : "dims");
  if (call.has("dims") && repeats.size() < self.size())
    repeats.insert(repeats.begin(), self.size() - repeats.size(), Size(1));
  if (repeats.size() < self.size())
    return call.fail("there are fewer repetitions than axes");
  self.insert(self.begin(), repeats.size() - self.size(), Size(1));
  for (auto [extent, count] : llvm::zip_equal(self, repeats)) {
    call.require(count.isDynamic() || count.get() >= 0,
                 "a negative number of repetitions");
    int64_t whole = 0;
    if (extent.isDynamic() || count.isDynamic())
      extent = anySize();
    else if (llvm::MulOverflow(extent.get(), count.get(), whole))
      return call.fail("more repetitions than any memory holds");
    else
      extent = whole;
  }
  call.checkResult(self);
}

void shapes::checkUnfold(CheckedCall &call) {
  Shape expected = call.shape("self");
  std::optional<size_t> axis = call.axis("dimension", expected.size());
  std::optional<int64_t> size = call.integer("size");
  std::optional<int64_t> step = call.integer("step");
  if (!axis)
    return;
  call.require(!step || *step > 0, "'step' is not positive");
  if (!expected.empty()) {
    Size &extent = expected[*axis];
    if (size && step && *step > 0 && !extent.isDynamic()) {
      if (*size < 0 || *size > extent.get())
        return call.fail("'size' is larger than the axis");
      extent = (extent.get() - *size) / *step + 1;
    } else {
      extent = anySize();
    }
  }
  expected.push_back(size ? Size(*size) : anySize());
  call.checkResult(expected);
}

void shapes::checkPadding(CheckedCall &call) {
  StringRef name = call.has("padding") ? "padding" : "pad";
  Shape expected = call.shape("self"), padding = call.sizes(name);
  StringRef op = call.node.callee->name;
  if (padding.size() % 2 != 0 || padding.size() > 2 * expected.size())
    return call.fail("there is no axis for each pair of '" + name + "'");
  for (size_t numAxes : {1, 2, 3})
    if (op.contains("pad" + std::to_string(numAxes) + "d"))
      call.require(padding.size() == 2 * numAxes &&
                       (expected.size() == numAxes + 1 ||
                        expected.size() == numAxes + 2),
                   "the tensor has another number of axes");
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  call.checkRange(name, -kMost, kMost);
  for (size_t i = 0; i < padding.size() && !call.hasFailed(); i += 2) {
    Size &extent = expected[expected.size() - 1 - i / 2];
    if (extent.isDynamic() || padding[i].isDynamic() ||
        padding[i + 1].isDynamic())
      extent = anySize();
    else
      extent = extent.get() + padding[i].get() + padding[i + 1].get();
  }
  call.checkResult(expected);
}

void shapes::checkInterleaving(CheckedCall &call) {
  Shape expected = call.shape("self");
  std::optional<int64_t> repeats = call.integer("repeats");
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  call.require(!repeats || (*repeats >= 0 && *repeats <= kMost),
               "'repeats' is negative, or too large");
  size_t axis = 0;
  if (call.has("dim") && !expected.empty()) {
    axis = call.axis("dim", expected.size()).value_or(0);
  } else {
    std::optional<int64_t> count = product(expected);
    expected.assign(1, count ? Size(*count) : anySize());
  }
  int64_t whole = 0;
  if (!repeats || expected[axis].isDynamic())
    expected[axis] = anySize();
  else if (llvm::MulOverflow(*repeats, expected[axis].get(), whole))
    return call.fail("'repeats' is too large");
  else
    expected[axis] = whole;
  call.checkResult(expected);
}

/// hstack and vstack: tensors get axes in front until they have enough.
void shapes::checkJoin(CheckedCall &call) {
  bool isVertical = call.node.callee->name == "vstack.default";
  Shape expected;
  for (Shape &shape : call.shapes("tensors")) {
    size_t least = isVertical ? 2 : 1;
    if (shape.size() < least)
      shape.insert(shape.begin(), least - shape.size(), Size(1));
    shape[isVertical || shape.size() == 1 ? 0 : 1] = anySize();
    if (expected.empty())
      expected = shape;
    call.require(fits(shape, expected), "the tensors do not fit each other");
  }
  call.require(!expected.empty(), "there is no tensor");
  call.checkResult(expected);
}

void shapes::checkGatedUnit(CheckedCall &call) {
  Shape expected = call.shape("self");
  std::optional<size_t> axis = call.axis("dim", expected.size());
  if (!axis || expected.empty())
    return call.fail("the tensor has no axis");
  Size &extent = expected[*axis];
  call.require(extent.isDynamic() || extent.get() % 2 == 0,
               "the axis has no two halves");
  extent = extent.isDynamic() ? anySize() : Size(extent.get() / 2);
  call.checkResult(expected);
}

/// The bits of a tensor as elements of another type.
void shapes::checkReinterpretation(CheckedCall &call) {
  Shape expected = call.shape("self");
  if (call.hasFailed() || call.node.results.empty())
    return call.fail("there is no result");
  int64_t from =
      scalarTypeBits(call.node.argument("self").asNode()->info().dtype);
  int64_t to = scalarTypeBits(call.node.info().dtype);
  if (from != to) {
    if (expected.empty())
      return call.fail("the tensor has no axis to change");
    Size &last = expected.back();
    call.require(last.isDynamic() || last.get() * from % to == 0,
                 "the last axis has no whole number of elements");
    last = last.isDynamic() ? anySize() : Size(last.get() * from / to);
  }
  call.checkResult(expected);
}

void shapes::checkPixelShuffle(CheckedCall &call) {
  Shape expected = call.shape("self");
  int64_t factor = call.integer("upscale_factor").value_or(0);
  constexpr int64_t kMost = 1 << 15;
  if (expected.size() < 3 || factor < 1 || factor > kMost)
    return call.fail("the tensor or the factor is too small or too large");
  size_t channels = expected.size() - 3;
  auto scale = [&](size_t axis, auto change) {
    if (!expected[axis].isDynamic())
      expected[axis] = change(expected[axis].get());
  };
  Size before = expected[channels];
  call.require(before.isDynamic() || before.get() % (factor * factor) == 0,
               "the channels cannot be divided");
  scale(channels, [&](int64_t size) { return size / (factor * factor); });
  scale(channels + 1, [&](int64_t size) { return size * factor; });
  scale(channels + 2, [&](int64_t size) { return size * factor; });
  call.checkResult(expected);
}

void shapes::checkDiagonal(CheckedCall &call) {
  Shape self = call.shape("self");
  std::optional<size_t> first = call.axis("dim1", self.size());
  std::optional<size_t> second = call.axis("dim2", self.size());
  if (self.size() < 2 || !first || !second || *first == *second)
    return call.fail("a diagonal has two axes");
  std::optional<int64_t> offset = call.integer("offset");
  call.require(!offset || llvm::isInt<32>(*offset), "'offset' is too large");
  Shape diagonal;
  for (auto [axis, extent] : llvm::enumerate(self))
    if (axis != *first && axis != *second)
      diagonal.push_back(extent);
  Size rows = self[*first], columns = self[*second], length = anySize();
  if (offset && !rows.isDynamic() && !columns.isDynamic())
    length = std::max<int64_t>(
        std::min(rows.get() + std::min<int64_t>(*offset, 0),
                 columns.get() - std::max<int64_t>(*offset, 0)),
        0);
  diagonal.push_back(length);
  if (!call.has("src"))
    return call.checkResult(diagonal);
  call.require(fits(call.shape("src"), diagonal),
               "'src' has another shape than the diagonal");
  call.checkResult(self);
}
