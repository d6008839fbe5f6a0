// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Runtime/ElementType.h"

using namespace corten::runtime;

std::string_view corten::runtime::spelling(ElementType type) {
  switch (type) {
#define ELEMENT(NAME, SPELLING, BITS, TYPE)                                    \
  case ElementType::NAME:                                                      \
    return SPELLING;
#include "corten/Runtime/ElementTypes.def"
  }
  __builtin_unreachable();
}

std::optional<ElementType>
corten::runtime::elementType(std::string_view spelling) {
#define ELEMENT(NAME, SPELLING, BITS, TYPE)                                    \
  if (spelling == (SPELLING))                                                  \
    return ElementType::NAME;
#include "corten/Runtime/ElementTypes.def"
  return std::nullopt;
}

unsigned corten::runtime::packedBits(ElementType type) {
  switch (type) {
#define ELEMENT(NAME, SPELLING, BITS, TYPE)                                    \
  case ElementType::NAME:                                                      \
    return BITS;
#include "corten/Runtime/ElementTypes.def"
  }
  __builtin_unreachable();
}

size_t corten::runtime::byteSize(ElementType type) {
  return withType(type, []<typename T>() { return sizeof(T); });
}

bool corten::runtime::isInteger(ElementType type) {
  return withType(type, []<typename T>() { return IntegerElement<T>; });
}

bool corten::runtime::isFloat(ElementType type) {
  return withType(type, []<typename T>() { return FloatElement<T>; });
}
