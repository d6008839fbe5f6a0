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
  /// Whether the message begins with the line that it is about: the user's,
  /// where the program records it, or else that of the program's text.
  enum class Place { Hidden, Shown };

  explicit DiagnosticError(mlir::MLIRContext *context,
                           Place place = Place::Hidden)
      : handler(context, [this, place](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error ||
              !message.empty())
            return;
          if (place == Place::Shown)
            message = lineOf(diagnostic.getLocation());
          message += llvm::StringRef(diagnostic.str()).split('\n').first;
        }) {}

  /// The error, or `otherwise` if none was emitted.
  llvm::Error take(llvm::StringRef otherwise) {
    if (message.empty())
      message = otherwise.str();
    return llvm::createStringError(llvm::Twine(std::exchange(message, {})));
  }

private:
  /// `model.py:12: `, or nothing.
  static std::string lineOf(mlir::Location location) {
    std::string text;
    location->walk([&](mlir::Location inner) {
      auto line = llvm::dyn_cast<mlir::FileLineColRange>(inner);
      // "-" stands for no file.
      if (!line || line.getStartLine() == 0 || line.getFilename() == "-")
        return mlir::WalkResult::advance();
      text = (line.getFilename().getValue() + ":" +
              llvm::Twine(line.getStartLine()) + ": ")
                 .str();
      return mlir::WalkResult::interrupt();
    });
    return text;
  }

  std::string message;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace corten

#endif // CORTEN_SUPPORT_DIAGNOSTICERROR_H
