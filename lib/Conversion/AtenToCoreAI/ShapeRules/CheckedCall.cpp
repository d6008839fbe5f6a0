// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ShapeRules/CheckedCall.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using namespace corten::shapes;
using llvm::ArrayRef;
using llvm::Twine;

std::string shapes::print(ArrayRef<Size> shape) {
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

std::optional<int64_t> shapes::product(ArrayRef<Size> shape) {
  int64_t result = 1;
  for (Size size : shape)
    if (size.isDynamic() || llvm::MulOverflow(result, size.get(), result))
      return std::nullopt;
  return result;
}

void shapes::checkSameCount(CheckedCall &call, ArrayRef<Size> from,
                            ArrayRef<Size> to) {
  std::optional<int64_t> before = product(from), after = product(to);
  if (before && after && *before != *after)
    call.fail("a tensor of " + Twine(*before) +
              " elements cannot have the shape " + print(to));
}

void shapes::broadcastInto(CheckedCall &call, Shape &into,
                           ArrayRef<Size> shape) {
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
