// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes of what works on each element or reduces them.

#include "ShapeRules/CheckedCall.h"

using namespace corten;
using namespace corten::shapes;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

void shapes::checkBroadcast(CheckedCall &call) {
  Shape expected;
  for (const Argument &argument : call.node.arguments)
    broadcastInto(call, expected, CheckedCall::shapeOf(argument));
  call.checkResults(expected);
}

/// Python's functions compute one number.
void shapes::checkNumber(CheckedCall &call) {
  call.require(call.node.results.size() == 1 &&
                   !call.node.results[0].isTensor(),
               "the result is no number");
}

/// Without an axis all are reduced; where there is a default, it is the last.
void shapes::checkReduction(CheckedCall &call) {
  Shape self = call.shape("self"), expected;
  bool keepsAxes = call.flag("keepdim");
  SmallVector<size_t> axes = call.axes("dim", self.size());
  for (auto [axis, extent] : llvm::enumerate(self)) {
    bool isReduced = axes.empty() || llvm::is_contained(axes, axis);
    if (!isReduced)
      expected.push_back(extent);
    else if (keepsAxes)
      expected.push_back(1);
  }
  call.checkResults(expected);
}

void shapes::checkPolygamma(CheckedCall &call) {
  // The series has as many terms; no float holds its factorial.
  constexpr int64_t kMost = 1000;
  std::optional<int64_t> n = call.integer("n");
  call.require(n && *n >= 0 && *n <= kMost, "'n' is negative, or too large");
  call.checkResult(call.shape("self"));
}

void shapes::checkMaskedScatter(CheckedCall &call) {
  Shape expected = call.shape("self");
  broadcastInto(call, expected, call.shape("mask"));
  call.shape("source");
  call.checkResult(expected);
}

void shapes::checkDistance(CheckedCall &call) {
  Shape joined = call.shape("self");
  broadcastInto(call, joined, call.shape("other"));
  call.checkResult({});
}

/// The distances between the rows of a matrix.
void shapes::checkPairs(CheckedCall &call) {
  Shape self = call.shape("self");
  if (self.size() != 2)
    return call.fail("the operand is no matrix");
  // The pairs are listed.
  constexpr int64_t kMostRows = 1 << 13;
  Size rows = self[0];
  call.require(rows.isDynamic() || rows.get() <= kMostRows, "too many rows");
  call.checkResult(rows.isDynamic() ? anySize()
                                    : Size(rows.get() * (rows.get() - 1) / 2));
}

void shapes::checkFourier(CheckedCall &call) {
  Shape expected = call.shape("self");
  SmallVector<size_t> axes = call.axes("dim", expected.size());
  if (axes.empty() || expected.empty())
    return call.fail("there is no axis to transform");
  StringRef op = call.node.callee->name;
  bool isOneSided = op == "_fft_r2c.default" && call.flag("onesided");
  if (op == "_fft_c2r.default" || isOneSided)
    expected[axes.back()] = anySize();
  call.checkResult(expected);
}

/// Edges of bins are listed.
static constexpr int64_t kMostBins = int64_t{1} << 24;

void shapes::checkBins(CheckedCall &call) {
  std::optional<int64_t> bins = call.integer("bins");
  call.require(!bins || (*bins > 0 && *bins <= kMostBins),
               "'bins' is not positive, or too large");
  if (call.has("range"))
    call.require(call.list("range").size() == 2, "'range' is no pair");
  if (call.has("weight"))
    call.require(fits(call.shape("weight"), call.shape("self")),
                 "there is not one weight for each element");
  for (size_t i = 0; i < call.node.results.size(); ++i)
    call.checkResult(anySize(), i);
}

void shapes::checkHistogram(CheckedCall &call) {
  Shape self = call.shape("self");
  if (self.size() < 2)
    return call.fail("the operand has no axis of coordinates");
  call.require(fits(self.back(), Size(call.list("bins").size())),
               "there is not one number of bins for each coordinate");
  if (call.node.callee->name == "_histogramdd_from_bin_tensors.default")
    for (const Shape &bins : call.shapes("bins"))
      call.require(bins.size() == 1, "bins are vectors");
  call.checkRange("bins", 1, kMostBins);
  if (call.has("range"))
    call.require(call.list("range").size() == 2 * call.list("bins").size(),
                 "there is not one range for each coordinate");
  if (call.has("weight"))
    call.require(fits(call.shape("weight"), ArrayRef(self).drop_back()),
                 "there is not one weight for each point");
}

void shapes::checkSegments(CheckedCall &call) {
  Shape data = call.shape("data");
  std::optional<size_t> axis = call.axis("axis", data.size());
  call.require(!data.empty(), "'data' has no axis");
  for (StringRef parameter : {"lengths", "offsets"})
    if (axis && call.has(parameter))
      call.require(call.shape(parameter).size() == *axis + 1,
                   "'" + parameter + "' has another rank than its axis says");
  call.require(call.has("lengths") || call.has("offsets"),
               "there are no segments");
  call.require(!call.node.results.empty() && call.node.info().isTensor() &&
                   call.node.info().sizes.size() == data.size(),
               "the result has another rank than the data");
}

void shapes::checkTopK(CheckedCall &call) {
  Shape expected = call.shape("self");
  std::optional<size_t> axis = call.axis("dim", expected.size());
  std::optional<int64_t> k = call.integer("k");
  if (!axis)
    return;
  if (k && !expected.empty()) {
    Size extent = expected[*axis];
    call.require(*k >= 0 && (extent.isDynamic() || *k <= extent.get()),
                 "'k' is larger than the axis");
  }
  if (!expected.empty())
    expected[*axis] = k ? Size(*k) : anySize();
  call.checkResults(expected);
}
