// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/SizeExpression.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace corten;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
/// The call of a constructor; for a number or a name only the text.
struct Tree {
  std::string name;
  std::vector<Tree> arguments;

  bool isNumber() const { return name == "Integer" && arguments.size() == 1; }
  bool isSymbol() const { return name == "Symbol" && !arguments.empty(); }
};

/// Expressions are as deep as what the user's code computes with sizes.
constexpr unsigned kMaxDepth = 64;

class TreeParser {
public:
  explicit TreeParser(StringRef text) : rest(text) {}

  std::optional<Tree> run() {
    std::optional<Tree> tree = parse(0);
    if (!tree || !rest.empty() || tree->arguments.empty())
      return std::nullopt;
    return tree;
  }

private:
  std::optional<Tree> parse(unsigned depth) {
    if (depth == kMaxDepth)
      return std::nullopt;
    Tree tree;
    if (rest.consume_front("'")) {
      tree.name = rest.take_until([](char c) { return c == '\''; }).str();
      rest = rest.drop_front(tree.name.size());
      if (!rest.consume_front("'"))
        return std::nullopt;
      return tree;
    }
    tree.name = rest.take_while([](char c) {
                      return llvm::isAlnum(c) || StringRef("_.-").contains(c);
                    })
                    .str();
    rest = rest.drop_front(tree.name.size());
    if (tree.name.empty())
      return std::nullopt;
    // `positive=True` and the like.
    if (rest.consume_front("="))
      return parse(depth + 1) ? std::optional(Tree{"=", {}}) : std::nullopt;
    if (!rest.consume_front("("))
      return tree;
    while (!rest.consume_front(")")) {
      if (!tree.arguments.empty() && !rest.consume_front(", "))
        return std::nullopt;
      std::optional<Tree> argument = parse(depth + 1);
      if (!argument)
        return std::nullopt;
      tree.arguments.push_back(std::move(*argument));
    }
    return tree;
  }

  StringRef rest;
};
} // namespace

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// How tightly the outermost operator of a text binds.
enum class Binding : uint8_t { Sum, Product, Power, Atom };

static std::string print(const Tree &tree, Binding &binding);

/// A text that can stand under an operator that binds so tightly.
static std::string printUnder(const Tree &tree, Binding wanted) {
  Binding binding = Binding::Atom;
  std::string text = print(tree, binding);
  return binding < wanted ? "(" + text + ")" : text;
}

static std::string printSum(const Tree &tree) {
  std::string result;
  for (const Tree &argument : tree.arguments) {
    std::string term = printUnder(argument, Binding::Sum);
    if (result.empty())
      result = term;
    else if (term.front() == '-')
      result += " - " + term.substr(1);
    else
      result += " + " + term;
  }
  return result;
}

/// A factor 1/n, and the sign of a factor -1, are written in another place.
static std::string printProduct(const Tree &tree) {
  std::string result, divisor;
  for (auto [position, argument] : llvm::enumerate(tree.arguments)) {
    if (position == 0 && argument.isNumber() &&
        argument.arguments[0].name == "-1") {
      result = "-";
      continue;
    }
    if (position == 0 && argument.name == "Rational" &&
        argument.arguments.size() == 2) {
      divisor = "/" + argument.arguments[1].name;
      StringRef numerator = argument.arguments[0].name;
      result = numerator == "1"    ? ""
               : numerator == "-1" ? "-"
                                   : numerator.str();
      continue;
    }
    if (!result.empty() && result != "-")
      result += "*";
    result += printUnder(argument, Binding::Product);
  }
  return result + divisor;
}

static std::string print(const Tree &tree, Binding &binding) {
  binding = Binding::Atom;
  llvm::ArrayRef<Tree> arguments = tree.arguments;
  if (arguments.empty())
    return tree.name;
  if (tree.isNumber()) {
    if (StringRef(arguments[0].name).starts_with("-"))
      binding = Binding::Sum;
    return arguments[0].name;
  }
  if (tree.isSymbol())
    return arguments[0].name;
  if (tree.name == "Rational" && arguments.size() == 2) {
    binding = Binding::Product;
    return arguments[0].name + "/" + arguments[1].name;
  }
  if (tree.name == "Add") {
    binding = Binding::Sum;
    return printSum(tree);
  }
  if (tree.name == "Mul") {
    std::string text = printProduct(tree);
    binding =
        StringRef(text).starts_with("-") ? Binding::Sum : Binding::Product;
    return text;
  }
  if (tree.name == "Pow" && arguments.size() == 2) {
    binding = Binding::Power;
    return printUnder(arguments[0], Binding::Atom) + "**" +
           printUnder(arguments[1], Binding::Atom);
  }
  if (tree.name == "FloorDiv" && arguments.size() == 2)
    return "(" + printUnder(arguments[0], Binding::Atom) + "//" +
           printUnder(arguments[1], Binding::Atom) + ")";
  std::string text = tree.name + "(";
  for (auto [position, argument] : llvm::enumerate(arguments))
    text += (position ? ", " : "") + printUnder(argument, Binding::Sum);
  return text + ")";
}

std::string corten::shortForm(StringRef text) {
  std::optional<Tree> tree = TreeParser(text).run();
  return tree ? printUnder(*tree, Binding::Sum) : text.str();
}

//===----------------------------------------------------------------------===//
// Sums of products
//===----------------------------------------------------------------------===//

/// Products of larger sums are not expanded.
static constexpr size_t kMaxTerms = 64;
/// Nor are larger powers.
static constexpr int64_t kMaxExponent = 8;

SizeExpression::SizeExpression(int64_t value) {
  if (value != 0)
    terms[{}] = value;
}

SizeExpression SizeExpression::operator+(const SizeExpression &other) const {
  SizeExpression sum = *this;
  sum.isUnknown |= other.isUnknown;
  for (const auto &[product, factor] : other.terms) {
    auto [entry, isNew] = sum.terms.try_emplace(product, factor);
    if (isNew)
      continue;
    // Wraps around rather than overflows: only equality counts.
    entry->second = static_cast<int64_t>(static_cast<uint64_t>(entry->second) +
                                         static_cast<uint64_t>(factor));
    if (entry->second == 0)
      sum.terms.erase(entry);
  }
  return sum;
}

SizeExpression SizeExpression::operator*(const SizeExpression &other) const {
  SizeExpression result;
  result.isUnknown = isUnknown || other.isUnknown ||
                     terms.size() * other.terms.size() > kMaxTerms;
  if (result.isUnknown)
    return result;
  for (const auto &[left, leftFactor] : terms)
    for (const auto &[right, rightFactor] : other.terms) {
      SizeExpression term;
      Product product = left;
      llvm::append_range(product, right);
      llvm::sort(product);
      term.terms[product] =
          static_cast<int64_t>(static_cast<uint64_t>(leftFactor) *
                               static_cast<uint64_t>(rightFactor));
      result = result + term;
    }
  return result;
}

static SizeExpression expand(const Tree &tree,
                             SizeExpression (*symbol)(const std::string &)) {
  int64_t value = 0;
  if (tree.isNumber() && llvm::to_integer(tree.arguments[0].name, value, 10))
    return {value};
  if (tree.name == "Add" || tree.name == "Mul") {
    SizeExpression result(tree.name == "Mul");
    for (const Tree &argument : tree.arguments) {
      SizeExpression expanded = expand(argument, symbol);
      result = tree.name == "Mul" ? result * expanded : result + expanded;
    }
    return result;
  }
  if (tree.name == "Pow" && tree.arguments.size() == 2 &&
      tree.arguments[1].isNumber() &&
      llvm::to_integer(tree.arguments[1].arguments[0].name, value, 10) &&
      value >= 1 && value <= kMaxExponent) {
    SizeExpression base = expand(tree.arguments[0], symbol);
    SizeExpression result = base;
    for (int64_t i = 1; i < value; ++i)
      result = result * base;
    return result;
  }
  return symbol(printUnder(tree, Binding::Sum));
}

SizeExpression SizeExpression::parse(StringRef text) {
  auto symbol = [](const std::string &name) {
    SizeExpression result;
    result.terms[{name}] = 1;
    return result;
  };
  std::optional<Tree> tree = TreeParser(text).run();
  return tree ? expand(*tree, symbol) : symbol(text.str());
}
