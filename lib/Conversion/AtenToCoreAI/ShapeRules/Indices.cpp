// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes of what finds elements by their place.

#include "ShapeRules/CheckedCall.h"

using namespace corten;
using namespace corten::shapes;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

/// A tensor without axes is a vector here.
static size_t rankOf(ArrayRef<Size> shape) {
  return std::max<size_t>(shape.size(), 1);
}

void shapes::checkGather(CheckedCall &call) {
  Shape self = call.shape("self"), index = call.shape("index");
  call.axis("dim", self.size());
  call.require(rankOf(self) == rankOf(index),
               "the index has another rank than the tensor");
  call.checkResult(index);
}

void shapes::checkScatter(CheckedCall &call) {
  Shape self = call.shape("self");
  call.axis("dim", self.size());
  for (StringRef parameter : {"index", "src"})
    if (call.has(parameter))
      call.require(rankOf(self) == rankOf(call.shape(parameter)),
                   "'" + parameter + "' has another rank than the tensor");
  call.checkResult(self);
}

/// A sequence for all that is searched, or one for each row of it.
void shapes::checkSearch(CheckedCall &call) {
  Shape sequence = call.shape("sorted_sequence"), self = call.shape("self");
  call.require(
      sequence.size() == 1 ||
          (!sequence.empty() && sequence.size() == self.size() &&
           fits(ArrayRef(sequence).drop_back(), ArrayRef(self).drop_back())),
      "there is not one sequence for each row");
  if (call.has("sorter"))
    call.require(fits(call.shape("sorter"), sequence),
                 "'sorter' has another shape than the sequence");
  call.checkResult(self);
}

void shapes::checkIndexSelect(CheckedCall &call) {
  Shape expected = call.shape("self"), index = call.shape("index");
  std::optional<size_t> axis = call.axis("dim", expected.size());
  call.require(index.size() <= 1, "the index is no vector");
  if (!axis || call.hasFailed())
    return;
  if (!expected.empty())
    expected[*axis] = index.empty() ? Size(1) : index[0];
  call.checkResult(expected);
}

void shapes::checkIndexReduce(CheckedCall &call) {
  Shape self = call.shape("self"), source = call.shape("source");
  std::optional<size_t> axis = call.axis("dim", self.size());
  Shape index = call.shape("index");
  if (!axis || index.size() > 1 || source.size() != self.size())
    return call.fail("the index is no vector, or the ranks differ");
  Shape part = self;
  if (!part.empty())
    part[*axis] = index.empty() ? Size(1) : index[0];
  call.require(fits(source, part), "'source' does not fit the index");
  call.checkResult(self);
}

/// The shape that indices make of a tensor, or nothing. Masks stand for as many
/// axes as they have.
static std::optional<Shape> indexedShape(CheckedCall &call) {
  Shape self = call.shape("self"), joined;
  SmallVector<size_t> indexed;
  size_t axis = 0;
  for (const Argument &index : call.list("indices")) {
    if (index.isNone()) {
      ++axis;
      continue;
    }
    if (!index.isValue() || !index.asNode()->info().isTensor()) {
      call.fail("an index is no tensor");
      return std::nullopt;
    }
    const ValueInfo &info = index.asNode()->info();
    bool isMask =
        info.dtype == ScalarType::Bool || info.dtype == ScalarType::UInt8;
    size_t count = isMask ? info.sizes.size() : 1;
    if (isMask && (axis + count > self.size() ||
                   !fits(info.sizes, ArrayRef(self).slice(axis, count)))) {
      call.fail("a mask has another shape than what it selects from");
      return std::nullopt;
    }
    broadcastInto(call, joined,
                  isMask ? Shape{anySize()} : CheckedCall::shapeOf(index));
    for (size_t end = axis + count; axis < end; ++axis)
      indexed.push_back(axis);
  }
  if (axis > self.size()) {
    call.fail("there are more indices than axes");
    return std::nullopt;
  }
  // What the indices make stands in the place of the axes that they name, or in
  // front if those are not neighbours.
  bool areNeighbours =
      !indexed.empty() && indexed.back() - indexed.front() < indexed.size();
  size_t place = areNeighbours ? indexed.front() : 0;
  Shape result;
  for (auto [position, extent] : llvm::enumerate(self))
    if (!llvm::is_contained(indexed, position))
      result.push_back(extent);
  result.insert(result.begin() + place, joined.begin(), joined.end());
  return result;
}

void shapes::checkIndex(CheckedCall &call) {
  if (std::optional<Shape> expected = indexedShape(call))
    call.checkResult(*expected);
}

/// Indices and what goes there are both read in one row.
void shapes::checkPut(CheckedCall &call) {
  checkSameCount(call, call.shape("source"), call.shape("index"));
  call.checkResult(call.shape("self"));
}

void shapes::checkIndexPut(CheckedCall &call) {
  if (std::optional<Shape> part = indexedShape(call)) {
    Shape values = call.shape("values");
    call.require(
        values.size() <= part->size() &&
            llvm::all_of(llvm::zip(llvm::reverse(values), llvm::reverse(*part)),
                         [](auto pair) {
                           auto [given, wanted] = pair;
                           return given == Size(1) || fits(given, wanted);
                         }),
        "'values' does not have the shape of what it replaces");
  }
  call.checkResult(call.shape("self"));
}

//===----------------------------------------------------------------------===//
// As many as data says
//===----------------------------------------------------------------------===//

void shapes::checkMaskedSelect(CheckedCall &call) {
  Shape joined = call.shape("self");
  broadcastInto(call, joined, call.shape("mask"));
  call.checkResult(anySize());
}

/// nonzero: a row for each place. nonzero_numpy: a result for each axis.
void shapes::checkPlaces(CheckedCall &call) {
  Shape self = call.shape("self");
  if (call.node.callee->name != "nonzero_numpy.default") {
    std::optional<int64_t> count = call.integer("size");
    return call.checkResult(
        {count ? Size(*count) : anySize(), Size(self.size())});
  }
  call.require(call.node.results.size() == rankOf(self),
               "there is not one result for each axis");
  call.checkResults(anySize());
}

/// The results that are not asked for are tensors without elements.
void shapes::checkUnique(CheckedCall &call) {
  Shape self = call.shape("self"), expected = {anySize()}, places = self;
  if (call.has("dim")) {
    std::optional<size_t> axis = call.axis("dim", self.size());
    if (!axis || self.empty())
      return call.fail("the tensor has no axis");
    expected = self;
    expected[*axis] = anySize();
    places = {self[*axis]};
  }
  call.checkResult(expected);
  if (call.flag("return_inverse"))
    call.checkResult(places, 1);
  if (call.flag("return_counts"))
    call.checkResult(anySize(), 2);
}

void shapes::checkInterleavedPlaces(CheckedCall &call) {
  call.require(call.shape("repeats").size() == 1, "'repeats' is no vector");
  std::optional<int64_t> count = call.integer("output_size");
  call.checkResult(count ? Size(*count) : anySize());
}
