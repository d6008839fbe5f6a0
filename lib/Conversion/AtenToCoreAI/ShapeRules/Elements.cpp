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

/// The distances between the rows of two matrices.
void shapes::checkDistances(CheckedCall &call) {
  Shape x = call.shape("x1"), y = call.shape("x2");
  if (x.size() < 2 || y.size() < 2 || !fits(x.back(), y.back()))
    return call.fail("the operands are no matrices of rows of one length");
  Shape expected(ArrayRef(x).drop_back(2));
  broadcastInto(call, expected, ArrayRef(y).drop_back(2));
  expected.append({x[x.size() - 2], y[y.size() - 2]});
  call.checkResult(expected);
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
  Size &last = expected[axes.back()];
  if (op == "_fft_c2r.default") {
    std::optional<int64_t> length = call.integer("last_dim_size");
    last = length ? Size(*length) : anySize();
  } else if (isOneSided) {
    last = last.isDynamic() ? anySize() : Size(last.get() / 2 + 1);
  }
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
  // What falls into each bin, then where they begin and end.
  auto more = [&](int64_t count) { return bins ? *bins + count : anySize(); };
  for (size_t i = 0; i < call.node.results.size(); ++i)
    call.checkResult(i == 0 ? more(0) : more(1), i);
}

void shapes::checkHistogram(CheckedCall &call) {
  Shape self = call.shape("self");
  if (self.size() < 2)
    return call.fail("the operand has no axis of coordinates");
  call.require(fits(self.back(), Size(call.list("bins").size())),
               "there is not one number of bins for each coordinate");
  Shape counts = call.sizes("bins");
  if (call.node.callee->name == "_histogramdd_from_bin_tensors.default") {
    for (auto [count, bins] : llvm::zip_equal(counts, call.shapes("bins"))) {
      if (bins.size() != 1)
        return call.fail("bins are vectors");
      if (!bins[0].isDynamic())
        count = bins[0].get() - 1;
    }
  } else {
    call.checkRange("bins", 1, kMostBins);
  }
  if (call.hasFailed())
    return;
  if (call.node.callee->name == "_histogramdd_bin_edges.default") {
    call.require(call.node.results.size() == counts.size(),
                 "there is not one result for each coordinate");
    for (auto [i, count] : llvm::enumerate(counts))
      call.checkResult(count.isDynamic() ? anySize() : Size(count.get() + 1),
                       i);
  } else {
    call.checkResult(counts);
  }
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
  call.require(call.has("lengths") || call.has("offsets"),
               "there are no segments");
  if (!axis || call.hasFailed())
    return;
  // Where a segment begins, and behind the last where it ends.
  for (StringRef parameter : {"offsets", "lengths"}) {
    if (!call.has(parameter))
      continue;
    Shape segments = call.shape(parameter);
    if (segments.size() != *axis + 1)
      return call.fail("'" + parameter +
                       "' has another rank than its axis says");
    Size count = segments.back();
    bool isOneMore = parameter == "offsets" && !count.isDynamic();
    data[*axis] = isOneMore ? Size(count.get() - 1) : count;
  }
  call.checkResult(data);
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
