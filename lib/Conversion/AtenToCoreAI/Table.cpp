// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Table.h"

#include "Emission/KernelNamespace.h"
#include "ShapeRules/CallShapes.h"
#include "ShapeRules/CheckedCall.h"

#include "corten/Program/Functionalize.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <array>
#include <string_view>

using namespace corten;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// The rows
//===----------------------------------------------------------------------===//

namespace {
enum class Family {
#define FAMILY(Name, Set, Source) Name,
#include "Families.def"
};

struct Row {
  std::string_view key;
  Family family;
  ShapeRule rule;
};
} // namespace

static constexpr OperatorSet setOf(Family family) {
  switch (family) {
#define FAMILY(Name, Set, Source)                                              \
  case Family::Name:                                                           \
    return OperatorSet::Set;
#include "Families.def"
  }
  return OperatorSet::All;
}

#define SHAPES(pattern) {pattern, nullptr}
#define COMPUTED(function) {{}, shapes::function}
#define BROADCAST COMPUTED(checkBroadcast)
#define ATEN(family, key, lowering, rule) Row{key, Family::family, rule},
static constexpr auto kRows = std::to_array<Row>({
#include "AtenTable.def"
});

static constexpr bool hasDuplicates() {
  std::array<std::string_view, kRows.size()> keys;
  for (size_t i = 0; i < kRows.size(); ++i)
    keys[i] = kRows[i].key;
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

const OperatorRow *corten::findRow(StringRef nameSpace, StringRef name) {
  static const llvm::StringMap<OperatorRow> table = [] {
    llvm::StringMap<OperatorRow> result(kRows.size());
    for (const Row &row : kRows)
      result[row.key] = {nullptr, setOf(row.family), &row.rule};
#define FAMILY(Name, Set, Source)                                              \
  for (const TableEntry &entry : lowerings##Name())                            \
    result[entry.name].lower = entry.lower;
#include "Families.def"
    return result;
  }();
  auto found = isBare(nameSpace) ? table.find(name)
                                 : table.find((nameSpace + "::" + name).str());
  return found == table.end() ? nullptr : &found->second;
}

LoweringFn corten::findLowering(StringRef nameSpace, StringRef name) {
  const OperatorRow *row = findRow(nameSpace, name);
  return row ? row->lower : nullptr;
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
#define FAMILY(Name, Set, Source)                                              \
  if (OperatorSet::Set <= set)                                                 \
    for (const TableEntry &entry : lowerings##Name())                          \
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
  const OperatorRow *row = findRow(nameSpace, name);
  return row && row->set <= set;
}

bool corten::takesAsItIs(StringRef nameSpace, StringRef name, bool mutates,
                         bool isComposite) {
  bool isAten = nameSpace == "aten";
  if (mutates) {
    // What writes in no known way, functionalize() says something of.
    std::optional<std::string> functional =
        isAten ? functionalName(name) : std::nullopt;
    return !functional || writesNothing(name) ||
           hasLowering(nameSpace, *functional, OperatorSet::All);
  }
  return hasLowering(nameSpace, name, OperatorSet::All) ||
         (!isAten && nameSpace != "prims" && !isComposite);
}
