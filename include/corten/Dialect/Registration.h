// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call that makes every dialect of a Core AI program known to a context.
// Tools and the converter use it; it loads nothing by itself.

#ifndef CORTEN_DIALECT_REGISTRATION_H
#define CORTEN_DIALECT_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace corten {

/// Adds coreai, coreaix, debuginfo, param and udml to `registry`.
void registerAllDialects(mlir::DialectRegistry &registry);

} // namespace corten

#endif // CORTEN_DIALECT_REGISTRATION_H
