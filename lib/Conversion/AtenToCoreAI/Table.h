// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of operators: AtenTable.def is the single source of truth for
// dispatch, for the checks made when a program is added and before a call is
// lowered, and for the generated list of supported operators.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_TABLE_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_TABLE_H

#include "Emission/Emitter.h"

#include "corten/Conversion/AtenToCoreAI/Conversion.h"

namespace corten {

using LoweringFn = mlir::FailureOr<Results> (*)(const AtenNode &, Emitter &);

struct TableEntry {
  llvm::StringRef name;
  LoweringFn lower;
};

// One function per family file hands out the family's part of the table.
#define FAMILY(Name, Set, Source) llvm::ArrayRef<TableEntry> lowerings##Name();
#include "Families.def"

struct ShapeRule;

/// What the table has on an operator.
struct OperatorRow {
  LoweringFn lower = nullptr;
  OperatorSet set = OperatorSet::Decomposed;
  const ShapeRule *rule = nullptr;
};

/// The row of "add.Tensor" of "aten", "cond" of "higher_order", …; null if
/// there is none.
const OperatorRow *findRow(llvm::StringRef nameSpace, llvm::StringRef name);

/// Its lowering; null if there is none.
LoweringFn findLowering(llvm::StringRef nameSpace, llvm::StringRef name);

/// Ops that only check or print something at run time and produce no value;
/// they are dropped, together with what only they need.
bool isAssertion(llvm::StringRef name);

/// Brings the return types that lowerings may have to the table's one: a value,
/// a value or failure, several values or failure.
template <auto Lower>
mlir::FailureOr<Results> lowerWith(const AtenNode &node, Emitter &emit) {
  using Return = decltype(Lower(node, emit));
  if constexpr (std::is_same_v<Return, mlir::Value>) {
    return Results{Lower(node, emit)};
  } else if constexpr (std::is_same_v<Return, mlir::FailureOr<mlir::Value>>) {
    mlir::FailureOr<mlir::Value> result = Lower(node, emit);
    if (mlir::failed(result))
      return mlir::failure();
    return Results{*result};
  } else {
    return Lower(node, emit);
  }
}

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_TABLE_H
