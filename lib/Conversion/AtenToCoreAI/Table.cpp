// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Table.h"

#include "Lowerings/Control/MetalKernel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <array>
#include <string_view>

using namespace corten;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// No operator may stand in the table twice
//===----------------------------------------------------------------------===//

#define FAMILY(Name, Macro)
#define ROW(key, lowering) std::string_view(key),
#define ELEMENTWISE ROW
#define ARITHMETIC ROW
#define COMPLEX ROW
#define FOURIER ROW
#define ERROR_FUNCTION ROW
#define GAMMA ROW
#define BESSEL ROW
#define ORTHOGONAL_POLYNOMIALS ROW
#define COMPARISON ROW
#define ACTIVATION ROW
#define REDUCTION ROW
#define BINNING ROW
#define SORTING ROW
#define LINEAR_ALGEBRA ROW
#define MATRIX_FUNCTIONS ROW
#define CONVOLUTION ROW
#define POOLING ROW
#define NORMALIZATION ROW
#define ATTENTION ROW
#define CONTROL_FLOW ROW
#define SHAPE ROW
#define PADDING ROW
#define INDEXING ROW
#define SCATTER ROW
#define RESIZE ROW
#define CREATION ROW
#define SYMBOLIC ROW
#define COMPRESSED ROW
#define QUANTIZED ROW
#define UNDECOMPOSED_SHAPE ROW
#define UNDECOMPOSED_ELEMENTWISE ROW
#define UNDECOMPOSED_REDUCTION ROW
#define UNDECOMPOSED_CREATION ROW
#define UNDECOMPOSED_LINEAR_ALGEBRA ROW
#define UNDECOMPOSED_LAYERS ROW
#define UNDECOMPOSED_SCATTER ROW
static constexpr auto kKeys = std::to_array<std::string_view>({
#include "AtenTable.def"
#include "Undecomposed/Table.def"
});
#undef ROW
#undef FAMILY

static constexpr bool hasDuplicates() {
  auto keys = kKeys;
  // NOLINTBEGIN(llvm-use-ranges): those of LLVM cannot run here.
  std::sort(keys.begin(), keys.end());
  return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
  // NOLINTEND(llvm-use-ranges)
}
static_assert(!hasDuplicates(), "an operator is in AtenTable.def twice");

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

/// Namespaces whose operators stand in the table without it; their names do not
/// clash.
static bool isBare(StringRef nameSpace) {
  return nameSpace == "aten" || nameSpace == "_operator" ||
         nameSpace == "higher_order";
}

namespace {
struct Lowering {
  LoweringFn lower = nullptr;
  OperatorSet set = OperatorSet::Decomposed;
  /// Operands are broadcast, and the result has one element for each.
  bool isElementwise = false;
};
} // namespace

static bool isElementwiseFamily(StringRef family) {
  constexpr StringRef kFamilies[] = {"Activation",
                                     "Arithmetic",
                                     "Bessel",
                                     "Comparison",
                                     "Elementwise",
                                     "ErrorFunction",
                                     "Gamma",
                                     "OrthogonalPolynomials",
                                     "UndecomposedElementwise"};
  return llvm::is_contained(kFamilies, family);
}

static Lowering lookUp(StringRef nameSpace, StringRef name) {
  static const llvm::StringMap<Lowering> table = [] {
    llvm::StringMap<Lowering> result(kKeys.size());
    auto add = [&](llvm::ArrayRef<TableEntry> entries, OperatorSet set,
                   bool isElementwise) {
      for (const TableEntry &entry : entries)
        result.insert({entry.name, {entry.lower, set, isElementwise}});
    };
#define FAMILY(Name, Macro)                                                    \
  add(lowerings##Name(), OperatorSet::Decomposed, isElementwiseFamily(#Name));
#include "Families.def"
#define FAMILY(Name)                                                           \
  add(lowerings##Name(), OperatorSet::All, isElementwiseFamily(#Name));
#include "Undecomposed/Families.def"
    return result;
  }();
  if (isBare(nameSpace))
    return table.lookup(name);
  return table.lookup((nameSpace + "::" + name).str());
}

LoweringFn corten::findLowering(StringRef nameSpace, StringRef name) {
  return lookUp(nameSpace, name).lower;
}

bool corten::isElementwise(StringRef nameSpace, StringRef name) {
  return lookUp(nameSpace, name).isElementwise;
}

// Checks and prints have no counterpart in a program.
static constexpr StringRef kAssertions[] = {
    "_assert_async.default",
    "_assert_async.msg",
    "_assert_scalar.default",
    "_assert_tensor_metadata.default",
    "_linalg_check_errors.default",
    "_print.default",
    "print",
    "sym_constrain_range.default",
    "sym_constrain_range_for_size.default",
};

bool corten::isAssertion(StringRef name) {
  return llvm::is_contained(kAssertions, name);
}

std::vector<SupportedOperator> corten::supportedOperators(OperatorSet set) {
  std::vector<SupportedOperator> result;
#define FAMILY(Name)                                                           \
  if (set == OperatorSet::All)                                                 \
    for (const TableEntry &entry : lowerings##Name())                          \
      result.push_back({entry.name, #Name});
#include "Undecomposed/Families.def"
#define FAMILY(Name, Macro)                                                    \
  for (const TableEntry &entry : lowerings##Name())                            \
    result.push_back({entry.name, #Name});
#include "Families.def"
  for (StringRef name : kAssertions)
    result.push_back({name, "Dropped"});
  llvm::sort(result, [](const auto &lhs, const auto &rhs) {
    return std::tie(lhs.family, lhs.name) < std::tie(rhs.family, rhs.name);
  });
  return result;
}

bool corten::hasLowering(StringRef nameSpace, StringRef name, OperatorSet set) {
  if (nameSpace == kKernelSizesNamespace)
    return name == "sizes.default";
  if (isBare(nameSpace) && (name == "getitem" || isAssertion(name)))
    return true;
  Lowering found = lookUp(nameSpace, name);
  return found.lower && found.set <= set;
}
