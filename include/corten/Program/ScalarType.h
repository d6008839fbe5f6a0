// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element types that PyTorch knows, named as in torch. The program model
// keeps torch's own types (int64 stays int64); narrowing to what Core AI can
// express is the business of the conversion.

#ifndef CORTEN_PROGRAM_SCALARTYPE_H
#define CORTEN_PROGRAM_SCALARTYPE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace corten {

enum class ScalarType : uint8_t {
#define SCALAR_TYPE(Name, Spelling, Bits, Category) Name,
#include "corten/Program/ScalarTypes.def"
};

/// The order of these categories is the order of torch's type promotion.
enum class ScalarCategory : uint8_t { Bool, Integer, Float, Complex };

/// torch's name without the `torch.` prefix, e.g. "float32".
llvm::StringRef scalarTypeName(ScalarType type);

/// The type that torch calls `name` ("float32", or "torch.float32").
std::optional<ScalarType> scalarTypeFromName(llvm::StringRef name);

ScalarCategory scalarCategory(ScalarType type);

/// Bits that one element takes in a torch storage. The sub-byte types report
/// their logical width.
unsigned scalarTypeBits(ScalarType type);

inline bool isFloat(ScalarType type) {
  return scalarCategory(type) == ScalarCategory::Float;
}
inline bool isComplex(ScalarType type) {
  return scalarCategory(type) == ScalarCategory::Complex;
}
inline bool isIntegerOrBool(ScalarType type) {
  return scalarCategory(type) <= ScalarCategory::Integer;
}

/// torch.promote_types for the types that take part in arithmetic; empty for a
/// pair that torch refuses to promote (the 8-bit floats, mixed wide unsigned).
std::optional<ScalarType> promoteTypes(ScalarType lhs, ScalarType rhs);

} // namespace corten

#endif // CORTEN_PROGRAM_SCALARTYPE_H
