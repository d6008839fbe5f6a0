// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ShapeRules/Equation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace corten;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static constexpr int kEllipsis = 256;

static llvm::Error complain(const Twine &what) {
  return llvm::createStringError("einsum: " + what);
}

static void appendEllipsis(AxisLabels &labels, int64_t rank) {
  for (int64_t axis = rank; axis-- > 0;)
    labels.push_back(kEllipsis + static_cast<int>(axis));
}

static Expected<AxisLabels> parseTerm(StringRef term, int64_t ellipsisRank) {
  AxisLabels labels;
  while (!term.empty()) {
    if (term.consume_front("...")) {
      appendEllipsis(labels, ellipsisRank);
    } else if (llvm::isAlpha(term.front())) {
      labels.push_back(term.front());
      term = term.drop_front();
    } else {
      return complain("unexpected '" + term + "'");
    }
  }
  return labels;
}

/// Labels that appear once, in order, after the axes of the ellipsis.
static AxisLabels impliedResult(StringRef inputs, int64_t ellipsisRank) {
  AxisLabels labels;
  appendEllipsis(labels, ellipsisRank);
  for (char letter : StringRef("ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyz"))
    if (llvm::count(inputs, letter) == 1)
      labels.push_back(letter);
  return labels;
}

Expected<Equation> corten::parseEquation(StringRef text,
                                         llvm::ArrayRef<size_t> ranks) {
  std::string equation = text.str();
  llvm::erase(equation, ' ');
  auto [inputs, output] = StringRef(equation).split("->");
  bool isExplicit = StringRef(equation).contains("->");
  llvm::SmallVector<StringRef> terms;
  inputs.split(terms, ',');
  if (terms.size() != ranks.size())
    return complain(Twine(terms.size()) + " terms for " + Twine(ranks.size()) +
                    " operands");
  Equation result;
  int64_t ellipsisRank = 0;
  for (auto [term, rank] : llvm::zip_equal(terms, ranks)) {
    int64_t others =
        static_cast<int64_t>(rank) - llvm::count_if(term, llvm::isAlpha);
    if (term.contains("..."))
      ellipsisRank = std::max(ellipsisRank, others);
    Expected<AxisLabels> labels = parseTerm(term, others);
    if (!labels)
      return labels.takeError();
    if (labels->size() != rank)
      return complain("'" + term + "' for an operand of rank " + Twine(rank));
    result.operands.push_back(*std::move(labels));
  }

  Expected<AxisLabels> wanted =
      isExplicit ? parseTerm(output, ellipsisRank)
                 : Expected<AxisLabels>(impliedResult(inputs, ellipsisRank));
  if (!wanted)
    return wanted.takeError();
  result.result = *std::move(wanted);
  for (auto [place, label] : llvm::enumerate(result.result)) {
    bool isKnown = llvm::any_of(result.operands, [&](const AxisLabels &labels) {
      return llvm::is_contained(labels, label);
    });
    if (!isKnown || llvm::is_contained(
                        llvm::ArrayRef(result.result).take_front(place), label))
      return complain("the result '" + output +
                      "' has an axis twice, or one of no operand");
  }
  return result;
}
