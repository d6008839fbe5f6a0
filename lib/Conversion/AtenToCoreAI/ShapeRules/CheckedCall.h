// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call whose shapes are being checked, and what the checks of all families
// share.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_SHAPERULES_CHECKEDCALL_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_SHAPERULES_CHECKEDCALL_H

#include "corten/Program/Arguments.h"
#include "corten/Program/Axis.h"
#include "corten/Program/Program.h"
#include "corten/Support/FirstError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <limits>
#include <optional>
#include <string>

namespace corten::shapes {

using Shape = llvm::SmallVector<Size, 6>;

/// An extent that may be any.
inline Size anySize() {
  return Size::symbolic(std::numeric_limits<unsigned>::max());
}

/// Extents of which one is symbolic may turn out to be equal.
inline bool fits(Size x, Size y) {
  return x.isDynamic() || y.isDynamic() || x.get() == y.get();
}

inline bool fits(llvm::ArrayRef<Size> x, llvm::ArrayRef<Size> y) {
  return x.size() == y.size() &&
         llvm::all_of(llvm::zip_equal(x, y), [](auto pair) {
           return fits(std::get<0>(pair), std::get<1>(pair));
         });
}

std::string print(llvm::ArrayRef<Size> shape);

/// A call that is being checked. The first thing that is wrong is kept.
class CheckedCall {
public:
  explicit CheckedCall(const Node &node) : node(node) {}

  bool hasFailed() const { return problem.hasFailed(); }
  void fail(const llvm::Twine &what) {
    problem.fail(node.callee->printedName() + ": " + what);
  }
  void require(bool condition, const llvm::Twine &what) {
    if (!condition)
      fail(what);
  }

  bool has(llvm::StringRef parameter) const {
    const Argument *argument = node.findArgument(parameter);
    return argument && !argument->isNone();
  }
  /// A literal integer; nothing for an absent or symbolic one.
  std::optional<int64_t> integer(llvm::StringRef parameter) const {
    const Argument *argument = node.findArgument(parameter);
    return argument ? literal(*argument) : std::nullopt;
  }
  /// torch takes a bool for a number.
  static std::optional<int64_t> literal(const Argument &argument) {
    if (argument.isInt() || argument.kind() == Argument::Kind::Bool)
      return argument.asInt();
    return std::nullopt;
  }
  bool flag(llvm::StringRef parameter) const {
    const Argument *argument = node.findArgument(parameter);
    return argument && argument->kind() == Argument::Kind::Bool &&
           argument->asBool();
  }
  /// The elements of a list; none for an absent one.
  llvm::ArrayRef<Argument> list(llvm::StringRef parameter) const {
    const Argument *argument = node.findArgument(parameter);
    return argument && argument->isList() ? argument->asList()
                                          : llvm::ArrayRef<Argument>();
  }
  /// A list of sizes, of which some may be symbolic.
  Shape sizes(llvm::StringRef parameter) const {
    Shape result;
    for (const Argument &element : list(parameter)) {
      std::optional<int64_t> size = literal(element);
      result.push_back(size ? Size(*size) : anySize());
    }
    return result;
  }
  /// The literal entries of a list lie between two numbers.
  void checkRange(llvm::StringRef parameter, int64_t least, int64_t most) {
    for (Size size : sizes(parameter))
      require(size.isDynamic() || (size.get() >= least && size.get() <= most),
              "an entry of '" + parameter + "' is out of range");
  }

  /// Extents of a tensor; numbers have none.
  static Shape shapeOf(const Argument &argument) {
    if (!isTensor(argument))
      return {};
    return Shape(argument.asNode()->info().sizes);
  }
  /// The same for operands that numbers cannot take the place of.
  Shape tensorShape(const Argument &argument, llvm::StringRef parameter) {
    require(isTensor(argument), "'" + parameter + "' is no tensor");
    return shapeOf(argument);
  }
  Shape shape(llvm::StringRef parameter) {
    const Argument *argument = node.findArgument(parameter);
    return argument ? tensorShape(*argument, parameter) : Shape();
  }
  llvm::SmallVector<Shape> shapes(llvm::StringRef parameter) {
    llvm::SmallVector<Shape> result;
    for (const Argument &element : list(parameter))
      result.push_back(tensorShape(element, parameter));
    return result;
  }

  /// The axis that an argument means; nothing, and a failure, for what is none.
  /// A tensor without axes has one for this purpose.
  std::optional<size_t> axis(int64_t dim, size_t rank,
                             llvm::StringRef parameter) {
    if (std::optional<size_t> axis = axisOf(dim, rank))
      return axis;
    fail("'" + parameter + "' is no axis of a tensor of rank " +
         llvm::Twine(rank));
    return std::nullopt;
  }
  std::optional<size_t> axis(llvm::StringRef parameter, size_t rank) {
    std::optional<int64_t> dim = integer(parameter);
    if (!dim) {
      fail("'" + parameter + "' is no number");
      return std::nullopt;
    }
    return axis(*dim, rank, parameter);
  }
  /// The axes that a number or a list of them means, all of them distinct.
  llvm::SmallVector<size_t> axes(llvm::StringRef parameter, size_t rank) {
    llvm::SmallVector<size_t> result;
    llvm::SmallVector<Argument> dims(list(parameter));
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
  void checkResult(llvm::ArrayRef<Size> expected, size_t result = 0) {
    if (result >= node.results.size() || !node.results[result].isTensor())
      return fail("result " + llvm::Twine(result) + " is no tensor");
    if (!fits(expected, node.results[result].sizes))
      fail("the result has the shape " + print(node.results[result].sizes) +
           " instead of " + print(expected));
  }
  /// All results have one shape.
  void checkResults(llvm::ArrayRef<Size> expected) {
    require(!node.results.empty(), "there is no result");
    for (size_t i = 0; i < node.results.size(); ++i)
      checkResult(expected, i);
  }

  llvm::Error takeError() { return problem.take(); }

  const Node &node;

private:
  FirstError problem;
};

/// Product of extents; nothing if one is symbolic, or for what no memory holds.
std::optional<int64_t> product(llvm::ArrayRef<Size> shape);

void checkSameCount(CheckedCall &call, llvm::ArrayRef<Size> from,
                    llvm::ArrayRef<Size> to);

/// Joins a shape into another by NumPy's rule.
void broadcastInto(CheckedCall &call, Shape &into, llvm::ArrayRef<Size> shape);

/// Holds a call against a pattern of AtenTable.def.
void checkPattern(CheckedCall &call, llvm::StringRef pattern);

// What AtenTable.def leaves to functions.
#define DECLARE_SHAPES(pattern)
#define DECLARE_COMPUTED(function) void function(CheckedCall &call);
#define DECLARE_BROADCAST DECLARE_COMPUTED(checkBroadcast)
#define ATEN(family, key, lowering, rule) DECLARE_##rule
#include "AtenTable.def"
#undef DECLARE_SHAPES
#undef DECLARE_COMPUTED
#undef DECLARE_BROADCAST

} // namespace corten::shapes

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_SHAPERULES_CHECKEDCALL_H
