// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/ScalarType.h"

#include "llvm/ADT/StringSwitch.h"

#include <algorithm>

using namespace corten;

llvm::StringRef corten::scalarTypeName(ScalarType type) {
  switch (type) {
#define SCALAR_TYPE(Name, Spelling, Bits, Category)                            \
  case ScalarType::Name:                                                       \
    return Spelling;
#include "corten/Program/ScalarTypes.def"
  }
  return {};
}

std::optional<ScalarType> corten::scalarTypeFromName(llvm::StringRef name) {
  name.consume_front("torch.");
  return llvm::StringSwitch<std::optional<ScalarType>>(name)
#define SCALAR_TYPE(Name, Spelling, Bits, Category)                            \
  .Case(Spelling, ScalarType::Name)
#include "corten/Program/ScalarTypes.def"
      .Default(std::nullopt);
}

ScalarCategory corten::scalarCategory(ScalarType type) {
  switch (type) {
#define SCALAR_TYPE(Name, Spelling, Bits, Category)                            \
  case ScalarType::Name:                                                       \
    return ScalarCategory::Category;
#include "corten/Program/ScalarTypes.def"
  }
  return ScalarCategory::Float;
}

unsigned corten::scalarTypeBits(ScalarType type) {
  switch (type) {
#define SCALAR_TYPE(Name, Spelling, Bits, Category)                            \
  case ScalarType::Name:                                                       \
    return Bits;
#include "corten/Program/ScalarTypes.def"
  }
  return 0;
}

static bool isSigned(ScalarType type) {
  switch (type) {
  case ScalarType::Int8:
  case ScalarType::Int16:
  case ScalarType::Int32:
  case ScalarType::Int64:
    return true;
  default:
    return false;
  }
}

/// torch's rule: signed types take the wider; uint8 with a signed type takes
/// the signed one, or int16 with int8; the wider unsigned types do not mix with
/// anything.
static std::optional<ScalarType> promoteIntegers(ScalarType lhs,
                                                 ScalarType rhs) {
  if (isSigned(lhs) && isSigned(rhs))
    return scalarTypeBits(lhs) >= scalarTypeBits(rhs) ? lhs : rhs;
  ScalarType withoutSign = isSigned(lhs) ? rhs : lhs;
  ScalarType withSign = isSigned(lhs) ? lhs : rhs;
  if (withoutSign != ScalarType::UInt8 || !isSigned(withSign))
    return std::nullopt;
  return withSign == ScalarType::Int8 ? ScalarType::Int16 : withSign;
}

static std::optional<ScalarType> promoteFloats(ScalarType lhs, ScalarType rhs) {
  unsigned bits = std::max(scalarTypeBits(lhs), scalarTypeBits(rhs));
  if (std::min(scalarTypeBits(lhs), scalarTypeBits(rhs)) < 16)
    return std::nullopt;
  if (bits == 16)
    return ScalarType::Float32; // float16 with bfloat16
  return bits == 32 ? ScalarType::Float32 : ScalarType::Float64;
}

static ScalarType promoteComplex(ScalarType lhs, ScalarType rhs) {
  // A real type takes part with the width of the complex type built from it.
  auto complexBits = [](ScalarType type) -> unsigned {
    if (isComplex(type))
      return scalarTypeBits(type);
    return isFloat(type) ? 2 * scalarTypeBits(type) : 0;
  };
  switch (std::max(complexBits(lhs), complexBits(rhs))) {
  case 32:
    // bfloat16 has no complex counterpart of its own width.
    return lhs == ScalarType::BFloat16 || rhs == ScalarType::BFloat16
               ? ScalarType::Complex64
               : ScalarType::Complex32;
  case 64:
    return ScalarType::Complex64;
  default:
    return ScalarType::Complex128;
  }
}

std::optional<ScalarType> corten::promoteTypes(ScalarType lhs, ScalarType rhs) {
  if (lhs == rhs)
    return lhs;
  ScalarCategory category = std::max(scalarCategory(lhs), scalarCategory(rhs));
  if (category == ScalarCategory::Complex)
    return promoteComplex(lhs, rhs);
  if (scalarCategory(lhs) != scalarCategory(rhs))
    return scalarCategory(lhs) == category ? lhs : rhs;
  return category == ScalarCategory::Float ? promoteFloats(lhs, rhs)
                                           : promoteIntegers(lhs, rhs);
}
