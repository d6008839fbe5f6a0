// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolic sizes in files. torch writes them as SymPy's constructors,
//
//   Add(Mul(Integer(2), Symbol('s77', positive=True, integer=True)),
//   Integer(1))
//
// and calls them by their short form elsewhere: 2*s77 + 1.

#ifndef CORTEN_PROGRAM_SIZEEXPRESSION_H
#define CORTEN_PROGRAM_SIZEEXPRESSION_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace corten {

/// The short form of an expression. A text of another form is returned as it
/// is: before 2.5, torch wrote the short form.
std::string shortForm(llvm::StringRef text);

/// A size as a sum of products, which can be compared: what is no sum or
/// product counts as a symbol.
class SizeExpression {
public:
  SizeExpression() = default;
  SizeExpression(int64_t value);
  static SizeExpression parse(llvm::StringRef text);

  bool isOne() const { return *this == SizeExpression(1); }
  bool isZero() const { return !isUnknown && terms.empty(); }
  SizeExpression operator*(const SizeExpression &other) const;
  SizeExpression operator+(const SizeExpression &other) const;
  /// False also where that is too much to work out.
  bool operator==(const SizeExpression &other) const {
    return !isUnknown && !other.isUnknown && terms == other.terms;
  }

private:
  /// The factors of a product, sorted.
  using Product = std::vector<std::string>;
  std::map<Product, int64_t> terms;
  bool isUnknown = false;
};

} // namespace corten

#endif // CORTEN_PROGRAM_SIZEEXPRESSION_H
