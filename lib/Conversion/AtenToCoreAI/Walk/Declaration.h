// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declarations of composites as attributes.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_DECLARATION_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_DECLARATION_H

#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.h"
#include "corten/Program/ExternalModule.h"

#include "mlir/IR/Builders.h"

namespace corten {

/// Booleans become i1, integers si64, floats f32; lists and dictionaries hold
/// such values.
mlir::Attribute attributeOf(mlir::Builder &builder,
                            const AttributeValue &value);

coreai::CompositeDeclarationAttr
attributeOf(mlir::Builder &builder, const CompositeDeclaration &declaration);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_DECLARATION_H
