// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the one form of an error to the other.

#ifndef CORTEN_SUPPORT_DIAGNOSTICERROR_H
#define CORTEN_SUPPORT_DIAGNOSTICERROR_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

#include "llvm/Support/Error.h"

#include <string>
#include <utility>

namespace corten {

/// Turns the first error that is emitted in a context while this lives into a
/// value; nothing of what is emitted reaches anybody else.
class DiagnosticError {
public:
  /// Whether the message begins with the line of the file that it is about.
  enum class Place { Hidden, Shown };

  explicit DiagnosticError(mlir::MLIRContext *context,
                           Place place = Place::Hidden)
      : handler(context, [this, place](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error ||
              !message.empty())
            return;
          auto line =
              diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>();
          if (place == Place::Shown && line)
            message = (line.getFilename().getValue() + ":" +
                       llvm::Twine(line.getLine()) + ": ")
                          .str();
          message += llvm::StringRef(diagnostic.str()).split('\n').first;
        }) {}

  /// The error, or `otherwise` if none was emitted.
  llvm::Error take(llvm::StringRef otherwise) {
    if (message.empty())
      message = otherwise.str();
    return llvm::createStringError(llvm::Twine(std::exchange(message, {})));
  }

private:
  std::string message;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace corten

#endif // CORTEN_SUPPORT_DIAGNOSTICERROR_H
