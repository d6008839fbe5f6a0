// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CallShapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>
#include <optional>

using namespace corten;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

using Shape = SmallVector<Size, 6>;

/// An extent that may be any.
static Size anySize() {
  return Size::symbolic(std::numeric_limits<unsigned>::max());
}

/// Extents of which one is symbolic may turn out to be equal.
static bool fits(Size x, Size y) {
  return x.isDynamic() || y.isDynamic() || x.get() == y.get();
}

static bool fits(ArrayRef<Size> x, ArrayRef<Size> y) {
  return x.size() == y.size() &&
         llvm::all_of(llvm::zip_equal(x, y), [](auto pair) {
           return fits(std::get<0>(pair), std::get<1>(pair));
         });
}

static std::string print(ArrayRef<Size> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "[";
  llvm::interleaveComma(shape, stream, [&](Size size) {
    if (size.isDynamic())
      stream << "?";
    else
      stream << size.get();
  });
  stream << "]";
  return text;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {
/// A call that is being checked. The first thing that is wrong is kept.
class Call {
public:
  explicit Call(const Node &node) : node(node) {}

  bool hasFailed() const { return !problem.empty(); }
  void fail(const Twine &what) {
    if (!hasFailed())
      problem = (node.callee->printedName() + ": " + what).str();
  }
  void require(bool condition, const Twine &what) {
    if (!condition)
      fail(what);
  }

  bool has(StringRef parameter) const {
    const Argument *argument = node.findArgument(parameter);
    return argument && !argument->isNone();
  }
  /// A literal integer; nothing for an absent or symbolic one.
  std::optional<int64_t> integer(StringRef parameter) const {
    const Argument *argument = node.findArgument(parameter);
    return argument ? literal(*argument) : std::nullopt;
  }
  /// torch takes a bool for a number.
  static std::optional<int64_t> literal(const Argument &argument) {
    if (argument.isInt() || argument.kind() == Argument::Kind::Bool)
      return argument.asInt();
    return std::nullopt;
  }
  bool flag(StringRef parameter) const {
    const Argument *argument = node.findArgument(parameter);
    return argument && argument->kind() == Argument::Kind::Bool &&
           argument->asBool();
  }
  /// The elements of a list; none for an absent one.
  ArrayRef<Argument> list(StringRef parameter) const {
    const Argument *argument = node.findArgument(parameter);
    return argument && argument->isList() ? argument->asList()
                                          : ArrayRef<Argument>();
  }
  /// A list of sizes, of which some may be symbolic.
  Shape sizes(StringRef parameter) const {
    Shape result;
    for (const Argument &element : list(parameter)) {
      std::optional<int64_t> size = literal(element);
      result.push_back(size ? Size(*size) : anySize());
    }
    return result;
  }
  /// The literal entries of a list lie between two numbers.
  void checkRange(StringRef parameter, int64_t least, int64_t most) {
    for (Size size : sizes(parameter))
      require(size.isDynamic() || (size.get() >= least && size.get() <= most),
              "an entry of '" + parameter + "' is out of range");
  }

  /// Extents of a tensor; numbers have none.
  static Shape shapeOf(const Argument &argument) {
    if (!argument.isValue() || argument.asNode()->results.empty() ||
        !argument.asNode()->info().isTensor())
      return {};
    return Shape(argument.asNode()->info().sizes);
  }
  /// The same for operands that numbers cannot take the place of.
  Shape tensorShape(const Argument &argument, StringRef parameter) {
    require(argument.isValue() && !argument.asNode()->results.empty() &&
                argument.asNode()->info().isTensor(),
            "'" + parameter + "' is no tensor");
    return shapeOf(argument);
  }
  Shape shape(StringRef parameter) {
    const Argument *argument = node.findArgument(parameter);
    return argument ? tensorShape(*argument, parameter) : Shape();
  }
  SmallVector<Shape> shapes(StringRef parameter) {
    SmallVector<Shape> result;
    for (const Argument &element : list(parameter))
      result.push_back(tensorShape(element, parameter));
    return result;
  }

  /// The axis that an argument means; nothing, and a failure, for what is none.
  /// A tensor without axes has one for this purpose.
  std::optional<size_t> axis(int64_t dim, size_t rank, StringRef parameter) {
    auto count = static_cast<int64_t>(std::max<size_t>(rank, 1));
    if (dim >= -count && dim < count)
      return dim < 0 ? dim + count : dim;
    fail("'" + parameter + "' is no axis of a tensor of rank " + Twine(rank));
    return std::nullopt;
  }
  std::optional<size_t> axis(StringRef parameter, size_t rank) {
    std::optional<int64_t> dim = integer(parameter);
    if (!dim) {
      fail("'" + parameter + "' is no number");
      return std::nullopt;
    }
    return axis(*dim, rank, parameter);
  }
  /// The axes that a number or a list of them means, all of them distinct.
  SmallVector<size_t> axes(StringRef parameter, size_t rank) {
    SmallVector<size_t> result;
    SmallVector<Argument> dims(list(parameter));
    if (std::optional<int64_t> dim = integer(parameter))
      dims.push_back(Argument::integer(*dim));
    for (const Argument &dim : dims) {
      if (!literal(dim)) {
        fail("an entry of '" + parameter + "' is no number");
        return {};
      }
      std::optional<size_t> found = axis(*literal(dim), rank, parameter);
      if (!found)
        return {};
      require(!llvm::is_contained(result, *found),
              "'" + parameter + "' has an axis twice");
      result.push_back(*found);
    }
    return result;
  }

  /// A result has a shape.
  void checkResult(ArrayRef<Size> expected, size_t result = 0) {
    if (result >= node.results.size() || !node.results[result].isTensor())
      return fail("result " + Twine(result) + " is no tensor");
    if (!fits(expected, node.results[result].sizes))
      fail("the result has the shape " + print(node.results[result].sizes) +
           " instead of " + print(expected));
  }
  /// All results have one shape.
  void checkResults(ArrayRef<Size> expected) {
    require(!node.results.empty(), "there is no result");
    for (size_t i = 0; i < node.results.size(); ++i)
      checkResult(expected, i);
  }

  const Node &node;
  std::string problem;
};
} // namespace

/// Product of extents; nothing if one is symbolic, or for what no memory holds.
static std::optional<int64_t> product(ArrayRef<Size> shape) {
  int64_t result = 1;
  for (Size size : shape)
    if (size.isDynamic() || llvm::MulOverflow(result, size.get(), result))
      return std::nullopt;
  return result;
}

static void checkSameCount(Call &call, ArrayRef<Size> from, ArrayRef<Size> to) {
  std::optional<int64_t> before = product(from), after = product(to);
  if (before && after && *before != *after)
    call.fail("a tensor of " + Twine(*before) +
              " elements cannot have the shape " + print(to));
}

/// Joins a shape into another by NumPy's rule.
static void broadcastInto(Call &call, Shape &into, ArrayRef<Size> shape) {
  if (shape.size() > into.size())
    into.insert(into.begin(), shape.size() - into.size(), Size(1));
  for (auto [extent, other] :
       llvm::zip(llvm::reverse(into), llvm::reverse(shape))) {
    if (other == Size(1) || extent == other)
      continue;
    if (extent == Size(1))
      extent = other;
    else if (extent.isDynamic())
      extent = other.isDynamic() ? anySize() : other;
    else if (!other.isDynamic())
      call.fail("the shape " + print(shape) + " does not fit those of the " +
                "other operands");
  }
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
/// What the names in a pattern stand for.
struct Bindings {
  llvm::StringMap<Size> extents;
  llvm::StringMap<Shape> sequences;
};
} // namespace

/// Matches one extent.
static bool matchExtent(StringRef name, Size extent, Bindings &bound) {
  int64_t number = 0;
  if (name == "_")
    return true;
  if (!name.getAsInteger(10, number))
    return fits(extent, Size(number));
  auto [known, isNew] = bound.extents.try_emplace(name, extent);
  if (!fits(known->second, extent))
    return false;
  if (known->second.isDynamic())
    known->second = extent;
  return true;
}

/// Matches a sequence: "b", "b[1-2]", "_".
static bool matchSequence(StringRef text, ArrayRef<Size> extents,
                          Bindings &bound) {
  auto [name, limits] = text.split('[');
  if (!limits.empty()) {
    size_t least = limits[0] - '0', most = limits[2] - '0';
    if (extents.size() < least || (extents.size() > most && most != 9))
      return false;
  }
  if (name == "_")
    return true;
  auto [known, isNew] = bound.sequences.try_emplace(name, Shape(extents));
  return isNew || fits(known->second, extents);
}

static bool matchShape(StringRef pattern, ArrayRef<Size> shape,
                       Bindings &bound) {
  SmallVector<StringRef> parts;
  pattern.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  // A sequence that is known takes as much as it has, the open one the rest.
  auto known = [&](StringRef part) {
    return bound.sequences.find(part.drop_front().split('[').first);
  };
  size_t taken = 0, numOpen = 0;
  for (StringRef part : parts) {
    if (!part.starts_with("*"))
      ++taken;
    else if (auto found = known(part); found != bound.sequences.end())
      taken += found->second.size();
    else
      ++numOpen;
  }
  if (taken > shape.size() || (numOpen == 0 && taken != shape.size()))
    return false;
  size_t rest = shape.size() - taken;
  for (StringRef part : parts) {
    size_t count = 1;
    if (part.starts_with("*")) {
      auto found = known(part);
      count = found == bound.sequences.end() ? std::exchange(rest, 0)
                                             : found->second.size();
      if (count > shape.size() ||
          !matchSequence(part.drop_front(), shape.take_front(count), bound))
        return false;
    } else if (shape.empty() || !matchExtent(part, shape.front(), bound)) {
      return false;
    }
    shape = shape.drop_front(count);
  }
  return shape.empty();
}

static void checkPattern(Call &call, StringRef pattern) {
  auto [operands, results] = pattern.split("->");
  Bindings bound;
  SmallVector<StringRef> clauses;
  operands.split(clauses, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef clause : clauses) {
    auto [parameter, extents] = clause.split(':');
    if (!call.has(parameter))
      continue;
    const Argument *argument = call.node.findArgument(parameter);
    SmallVector<Shape> shapes = call.shapes(parameter);
    if (!argument->isList())
      shapes.push_back(call.shape(parameter));
    for (const Shape &shape : shapes)
      call.require(matchShape(extents, shape, bound),
                   "'" + parameter + "' has the shape " + print(shape) +
                       ", where it takes (" + extents + ")");
  }
  if (results.data() == nullptr || !pattern.contains("->"))
    return;
  SmallVector<StringRef> expected;
  results.split(expected, ';');
  for (auto [i, extents] : llvm::enumerate(expected)) {
    if (i >= call.node.results.size() || !call.node.results[i].isTensor())
      return call.fail("result " + Twine(i) + " is no tensor");
    ArrayRef<Size> shape = call.node.results[i].sizes;
    call.require(matchShape(extents.trim(), shape, bound),
                 "the result has the shape " + print(shape) +
                     ", where the operator makes (" + extents.trim() + ")");
  }
}

//===----------------------------------------------------------------------===//
// Shapes that are computed: elements and reductions
//===----------------------------------------------------------------------===//

static void checkBroadcast(Call &call) {
  Shape expected;
  for (const Argument &argument : call.node.arguments)
    broadcastInto(call, expected, Call::shapeOf(argument));
  call.checkResults(expected);
}

/// Without an axis all are reduced; where there is a default, it is the last.
static void checkReduction(Call &call) {
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

static void checkPolygamma(Call &call) {
  // The series has as many terms; no float holds its factorial.
  constexpr int64_t kMost = 1000;
  std::optional<int64_t> n = call.integer("n");
  call.require(n && *n >= 0 && *n <= kMost, "'n' is negative, or too large");
  call.checkResult(call.shape("self"));
}

static void checkMaskedScatter(Call &call) {
  Shape expected = call.shape("self");
  broadcastInto(call, expected, call.shape("mask"));
  call.shape("source");
  call.checkResult(expected);
}

static void checkDistance(Call &call) {
  Shape joined = call.shape("self");
  broadcastInto(call, joined, call.shape("other"));
  call.checkResult({});
}

/// The distances between the rows of a matrix.
static void checkPairs(Call &call) {
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

static void checkFourier(Call &call) {
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

static void checkBins(Call &call) {
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

static void checkHistogram(Call &call) {
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

static void checkSegments(Call &call) {
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

static void checkTopK(Call &call) {
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

//===----------------------------------------------------------------------===//
// Creation and movement
//===----------------------------------------------------------------------===//

static void checkCreation(Call &call) { call.checkResult(call.sizes("size")); }

static void checkSameElements(Call &call) {
  call.require(!call.node.results.empty() && call.node.info().isTensor(),
               "the result is no tensor");
  if (!call.hasFailed())
    checkSameCount(call, call.shape("self"), call.node.info().sizes);
}

static void checkView(Call &call) {
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

static void checkStrided(Call &call) {
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

static void checkExpansion(Call &call) {
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

static void checkPermutation(Call &call) {
  Shape self = call.shape("self"), expected;
  SmallVector<size_t> axes = call.axes("dims", self.size());
  if (axes.size() != self.size())
    return call.fail("'dims' does not name each axis once");
  for (size_t axis : axes)
    expected.push_back(self[axis]);
  call.checkResult(expected);
}

static void checkMovedAxes(Call &call) {
  Shape self = call.shape("self");
  for (StringRef parameter :
       {"dim0", "dim1", "axis0", "axis1", "source", "destination"})
    if (call.has(parameter))
      call.axes(parameter, self.size());
  call.require(call.list("source").size() == call.list("destination").size(),
               "'source' and 'destination' have different lengths");
  call.checkResult(Shape(self.size(), anySize()));
}

static void checkDistinctAxes(Call &call) {
  Shape self = call.shape("self");
  call.axes("dims", self.size());
  call.checkResult(self);
}

static void checkRoll(Call &call) {
  Shape self = call.shape("self");
  size_t numAxes = call.axes("dims", self.size()).size();
  size_t numShifts = call.list("shifts").size();
  call.require(numShifts == std::max<size_t>(numAxes, 1),
               "there is not one shift for each axis");
  call.checkResult(self);
}

static void checkConcatenation(Call &call) {
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
  if (isFirst)
    return call.require(!call.list("tensors").empty(), "there is no tensor");
  call.checkResult(expected);
}

static void checkDifference(Call &call) {
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

static void checkStack(Call &call) {
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

static void checkSelection(Call &call) {
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
static Size sliceLength(Call &call, Size extent) {
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

static std::optional<Shape> slicedShape(Call &call) {
  Shape expected = call.shape("self");
  std::optional<size_t> axis = call.axis("dim", expected.size());
  if (!axis || expected.empty()) {
    call.fail("the tensor has no axis");
    return std::nullopt;
  }
  expected[*axis] = sliceLength(call, expected[*axis]);
  return expected;
}

static void checkSlice(Call &call) {
  if (std::optional<Shape> expected = slicedShape(call))
    call.checkResult(*expected);
}

static void checkSliceScatter(Call &call) {
  Shape self = call.shape("self");
  if (std::optional<Shape> part = slicedShape(call))
    call.require(fits(call.shape("src"), *part),
                 "'src' has another shape than the slice");
  call.checkResult(self);
}

static void checkSelectScatter(Call &call) {
  Shape self = call.shape("self"), part = self;
  std::optional<size_t> axis = call.axis("dim", self.size());
  if (!axis || self.empty())
    return call.fail("the tensor has no axis");
  part.erase(part.begin() + *axis);
  call.require(fits(call.shape("src"), part),
               "'src' has another shape than what it replaces");
  call.checkResult(self);
}

static void checkSplit(Call &call) {
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

static void checkUnbind(Call &call) {
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

static void checkSqueeze(Call &call) {
  Shape self = call.shape("self"), expected;
  bool isAll = !call.has("dim");
  SmallVector<size_t> axes = call.axes("dim", self.size());
  for (auto [axis, extent] : llvm::enumerate(self))
    if (extent != Size(1) || !(isAll || llvm::is_contained(axes, axis)))
      expected.push_back(extent);
  call.checkResult(expected);
}

static void checkUnsqueeze(Call &call) {
  Shape expected = call.shape("self");
  if (std::optional<size_t> axis = call.axis("dim", expected.size() + 1)) {
    expected.insert(expected.begin() + *axis, Size(1));
    call.checkResult(expected);
  }
}

static void checkRepetition(Call &call) {
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

static void checkUnfold(Call &call) {
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

static void checkPadding(Call &call) {
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

static void checkInterleaving(Call &call) {
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
static void checkJoin(Call &call) {
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

static void checkGatedUnit(Call &call) {
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
static void checkReinterpretation(Call &call) {
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

static void checkPixelShuffle(Call &call) {
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

static void checkDiagonal(Call &call) {
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

//===----------------------------------------------------------------------===//
// Matrices and layers
//===----------------------------------------------------------------------===//

/// addmm and the like: a product, and something that is broadcast to it.
static void checkMatrixSum(Call &call) {
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

static void checkMatmul(Call &call) {
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

static void checkSolution(Call &call) {
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

static void checkTrilinear(Call &call) {
  std::optional<size_t> rank;
  for (auto [operand, expand] :
       {std::pair("i1", "expand1"), std::pair("i2", "expand2"),
        std::pair("i3", "expand3")}) {
    size_t extended = call.shape(operand).size() + call.list(expand).size();
    call.require(!rank || *rank == extended, "the operands differ in rank");
    rank = extended;
    call.axes(expand, extended);
  }
  call.axes("sumdim", *rank);
}

static void checkConvolution(Call &call) {
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
  call.checkResult(isBatched ? ArrayRef(expected)
                             : ArrayRef(expected).drop_front());
}

/// The extent that pooling makes of that of spatial axis `place`.
static Size pooledExtent(Call &call, Size extent, size_t place) {
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
  call.require(room >= 0 && 2 * padding.get() <= kernel.get(),
               "the window is larger than the tensor, or the padding too wide");
  if (!call.flag("ceil_mode"))
    return room / stride.get() + 1;
  // A window that begins in the padding behind the tensor is none.
  int64_t count = llvm::divideCeil(std::max<int64_t>(room, 0),
                                   static_cast<uint64_t>(stride.get())) +
                  1;
  return (count - 1) * stride.get() >= extent.get() + padding.get() ? count - 1
                                                                    : count;
}

static void checkPooling(Call &call) {
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
  std::optional<int64_t> divisor = call.integer("divisor_override");
  call.require(!divisor || *divisor != 0, "the divisor is zero");
  for (size_t i = 0; i < numAxes && !call.hasFailed(); ++i) {
    Size &extent = expected[expected.size() - numAxes + i];
    extent = pooledExtent(call, extent, i);
  }
  call.checkResults(expected);
}

static void checkGroupNorm(Call &call) {
  checkPattern(call, "input:n,c,*s weight:c bias:c -> n,c,*s");
  StringRef name = call.has("group") ? "group" : "num_groups";
  std::optional<int64_t> groups = call.integer(name);
  if (call.hasFailed() || !groups)
    return;
  Size channels = call.shape("input")[1];
  call.require(*groups > 0 &&
                   (channels.isDynamic() || channels.get() % *groups == 0),
               "the channels cannot be put into groups");
}

static void checkLayerNorm(Call &call) {
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

static void checkAttention(Call &call) {
  Shape query = call.shape("query"), key = call.shape("key"),
        value = call.shape("value");
  if (query.size() < 2 || key.size() != query.size() ||
      value.size() != query.size())
    return call.fail("the operands have different ranks");
  size_t last = query.size() - 1;
  call.require(fits(query[last], key[last]) &&
                   fits(key[last - 1], value[last - 1]),
               "the operands do not fit each other");
  if (call.has("attn_mask"))
    call.require(call.shape("attn_mask").size() <= query.size(),
                 "the mask has more axes than the operands");
  query[last] = value[last];
  for (size_t axis = 0; axis + 2 < query.size(); ++axis)
    query[axis] = anySize();
  call.checkResult(query);
}

static void checkResize(Call &call) {
  checkPattern(call, call.has("self") ? "self:n,c,_,_ -> n,c,_,_"
                                      : "input:n,c,_,_ -> n,c,_,_");
  call.require(call.has("output_size") || call.has("scale_factors"),
               "there is no size");
  for (StringRef parameter : {"output_size", "scale_factors"})
    call.require(!call.has(parameter) || call.list(parameter).size() == 2,
                 "'" + parameter + "' does not have two entries");
  if (call.hasFailed())
    return;
  // Weights of the elements are computed here.
  constexpr int64_t kMostWeights = int64_t{1} << 28;
  Shape before = call.shape(call.has("self") ? "self" : "input");
  for (size_t axis : {2, 3}) {
    Size after = call.node.info().sizes[axis];
    std::optional<int64_t> count = product({before[axis], after});
    call.require(!count || *count <= kMostWeights, "the image is too large");
    call.require(after.isDynamic() || after.get() <= kMostWeights,
                 "the image is too large");
  }
}

//===----------------------------------------------------------------------===//
// Elements by their place
//===----------------------------------------------------------------------===//

/// A tensor without axes is a vector here.
static size_t rankOf(ArrayRef<Size> shape) {
  return std::max<size_t>(shape.size(), 1);
}

static void checkGather(Call &call) {
  Shape self = call.shape("self"), index = call.shape("index");
  call.axis("dim", self.size());
  call.require(rankOf(self) == rankOf(index),
               "the index has another rank than the tensor");
  call.checkResult(index);
}

static void checkScatter(Call &call) {
  Shape self = call.shape("self");
  call.axis("dim", self.size());
  for (StringRef parameter : {"index", "src"})
    if (call.has(parameter))
      call.require(rankOf(self) == rankOf(call.shape(parameter)),
                   "'" + parameter + "' has another rank than the tensor");
  call.checkResult(self);
}

/// A sequence for all that is searched, or one for each row of it.
static void checkSearch(Call &call) {
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

static void checkIndexSelect(Call &call) {
  Shape expected = call.shape("self"), index = call.shape("index");
  std::optional<size_t> axis = call.axis("dim", expected.size());
  call.require(index.size() <= 1, "the index is no vector");
  if (!axis || call.hasFailed())
    return;
  if (!expected.empty())
    expected[*axis] = index.empty() ? Size(1) : index[0];
  call.checkResult(expected);
}

static void checkIndexReduce(Call &call) {
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
static std::optional<Shape> indexedShape(Call &call) {
  Shape self = call.shape("self"), joined;
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
    if (!isMask) {
      broadcastInto(call, joined, Call::shapeOf(index));
      ++axis;
      continue;
    }
    if (axis + info.sizes.size() > self.size() ||
        !fits(info.sizes, ArrayRef(self).slice(axis, info.sizes.size()))) {
      call.fail("a mask has another shape than what it selects from");
      return std::nullopt;
    }
    axis += info.sizes.size();
    broadcastInto(call, joined, Shape{anySize()});
  }
  if (axis > self.size()) {
    call.fail("there are more indices than axes");
    return std::nullopt;
  }
  size_t numIndexed =
      axis - llvm::count_if(call.list("indices"), [](const Argument &index) {
        return index.isNone();
      });
  return Shape(self.size() - numIndexed + joined.size(), anySize());
}

static void checkIndex(Call &call) {
  if (std::optional<Shape> expected = indexedShape(call))
    call.checkResult(*expected);
}

static void checkIndexPut(Call &call) {
  if (std::optional<Shape> part = indexedShape(call))
    call.require(call.shape("values").size() <= part->size(),
                 "'values' has more axes than what it replaces");
  call.checkResult(call.shape("self"));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
struct Rule {
  StringRef pattern;
  void (*check)(Call &) = nullptr;
};
} // namespace

static const Rule *findRule(const Operator &op) {
  static const llvm::StringMap<Rule> rules = [] {
    llvm::StringMap<Rule> table;
#define SHAPES(key, pattern) table[key] = {pattern, nullptr};
#define COMPUTED(key, function) table[key] = {"", function};
#include "CallShapes.def"
    return table;
  }();
  auto found = op.nameSpace == "aten"
                   ? rules.find(op.name)
                   : rules.find((op.nameSpace + "::" + op.name).str());
  return found == rules.end() ? nullptr : &found->second;
}

/// Numbers that lowerings compute with themselves are literals.
static void checkNumbers(Call &call) {
  constexpr StringRef kLiterals[] = {
      "correction", "eps",       "initial", "input_scale",    "lambd",
      "lower",      "max_val",   "min_val", "negative_slope", "ord",
      "p",          "threshold", "upper"};
  auto [op, overload] = call.node.callee->name.split('.');
  SmallVector<StringRef> names;
  llvm::append_range(names, kLiterals);
  if (op == "elu" || op == "celu" || op == "softplus")
    names.append({"alpha", "beta", "scale"});
  else if (op == "addcmul" || op == "addcdiv")
    names.append({"value"});
  else if (op == "histc")
    names.append({"min", "max"});
  for (StringRef name : names)
    call.require(!call.has(name) || call.node.argument(name).isNumber(),
                 "'" + name + "' is no number");
}

/// A call computes something; Python's operators compute one number.
static void checkResultKinds(Call &call) {
  using Kind = ValueInfo::Kind;
  ArrayRef<ValueInfo> results = call.node.results;
  StringRef nameSpace = call.node.callee->nameSpace;
  if (nameSpace == "_operator")
    call.require(results.size() == 1 && !results[0].isTensor(),
                 "the result is no number");
  if (nameSpace != "higher_order")
    call.require(!results.empty() && results[0].kind != Kind::None &&
                     results[0].kind != Kind::Other,
                 "there is no result");
}

std::string corten::findContradiction(const Node &node, bool isElementwise) {
  Call call(node);
  checkResultKinds(call);
  // The arguments of operators without a schema have no names.
  if (call.hasFailed() || node.callee->parameters.empty())
    return call.problem;
  checkNumbers(call);
  if (const Rule *rule = findRule(*node.callee)) {
    if (rule->check)
      rule->check(call);
    else
      checkPattern(call, rule->pattern);
  } else if (isElementwise) {
    checkBroadcast(call);
  }
  return call.problem;
}
