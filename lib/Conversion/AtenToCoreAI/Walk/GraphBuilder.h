// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Making `coreai.graph` ops and calls of them: the one place that knows their
// properties.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_GRAPHBUILDER_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_GRAPHBUILDER_H

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/StringSet.h"

#include <optional>
#include <string>

namespace corten {

/// The extents that an axis may have: the smallest, and the largest if there is
/// one.
struct AxisRange {
  int64_t min = 0;
  std::optional<int64_t> max;
};

struct GraphInput {
  mlir::Type type;
  /// `coreai.name`; none when empty.
  std::string name;
  /// Name of the result that carries this argument's new value; empty for an
  /// argument that is not state.
  std::string mutatedBy;
  /// `corten.shape_ranges`, of all axes; none when empty.
  llvm::SmallVector<AxisRange> ranges;
};

struct GraphSignature {
  std::string symbol;
  llvm::SmallVector<GraphInput> inputs;
};

struct GraphResult {
  mlir::Value value;
  std::string name;
};

/// `base`, or with a number behind it where that is taken.
std::string distinctName(llvm::StringRef base, llvm::StringSet<> &taken);

/// A graph with an entry block and no results yet, at the insertion point.
coreai::GraphOp createGraph(mlir::OpBuilder &builder, mlir::Location location,
                            const GraphSignature &signature);

/// Ends the body with `coreai.output` and gives the graph its result types.
void finishGraph(mlir::OpBuilder &builder, mlir::Location location,
                 coreai::GraphOp graph, llvm::ArrayRef<GraphResult> results);

mlir::ResultRange createInvoke(mlir::OpBuilder &builder,
                               mlir::Location location, coreai::GraphOp graph,
                               mlir::ValueRange operands);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_GRAPHBUILDER_H
