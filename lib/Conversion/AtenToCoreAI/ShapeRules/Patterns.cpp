// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes that a pattern describes.

#include "ShapeRules/CheckedCall.h"

#include "llvm/ADT/StringMap.h"

#include <utility>

using namespace corten;
using namespace corten::shapes;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

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

void shapes::checkPattern(CheckedCall &call, StringRef pattern) {
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
