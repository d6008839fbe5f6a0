// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Diagnostics as values.

#ifndef CORTEN_LIB_ASSET_ERRORCOLLECTOR_H
#define CORTEN_LIB_ASSET_ERRORCOLLECTOR_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>

namespace corten {

/// Turns the first error that is reported in a context into a value.
class ErrorCollector {
public:
  explicit ErrorCollector(mlir::MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
              message.empty())
            message = diagnostic.str();
          return mlir::success();
        }) {}

  /// The error, or `otherwise` if none was reported.
  llvm::Error take(const char *otherwise) {
    if (message.empty())
      message = otherwise;
    return llvm::createStringError(llvm::Twine(std::exchange(message, {})));
  }

private:
  std::string message;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace corten

#endif // CORTEN_LIB_ASSET_ERRORCOLLECTOR_H
