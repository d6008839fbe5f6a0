// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One page that shows a program: modules, graph, weights, states, source lines.
// The page needs no network and no other file. `corten view` and
// coreai_torch.debugging.view write it.

#ifndef CORTEN_VIEW_VIEW_H
#define CORTEN_VIEW_VIEW_H

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace corten {

/// Numbers for operations, by the id that their debug locations have.
using OperationValues = std::map<uint64_t, double>;

struct ViewOptions {
  std::string title;
  /// How far results are from those of the source program; NaN where they could
  /// not be compared.
  std::optional<OperationValues> errors;
  /// Milliseconds.
  std::optional<OperationValues> times;
};

/// Reads {"title"?: text, "errors"?: {id: number}, "times"?: {id: number}} into
/// `options`. The error says what is wrong.
llvm::Error readOverlay(llvm::StringRef json, ViewOptions &options);

/// What the page shows, as the page's own program reads it.
llvm::json::Value viewData(mlir::ModuleOp module, const ViewOptions &options);

/// Writes the page.
void writeView(mlir::ModuleOp module, const ViewOptions &options,
               llvm::raw_ostream &out);

} // namespace corten

#endif // CORTEN_VIEW_VIEW_H
