// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Constants/Elements.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Runtime/Kernel.h"
#include "corten/Support/Limits.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace corten;
using namespace mlir;
using runtime::ElementType;
using runtime::PortableKernel;
using runtime::Tensor;

static std::optional<ElementType> integerType(IntegerType type) {
  bool isSigned = type.isSigned();
  if (type.isSignless())
    return type.getWidth() == 1 ? std::optional(ElementType::Bool)
                                : std::nullopt;
  switch (type.getWidth()) {
  case 2:
    return isSigned ? ElementType::SI2 : ElementType::UI2;
  case 4:
    return isSigned ? ElementType::SI4 : ElementType::UI4;
  case 8:
    return isSigned ? ElementType::SI8 : ElementType::UI8;
  case 16:
    return isSigned ? ElementType::SI16 : ElementType::UI16;
  case 32:
    return isSigned ? ElementType::SI32 : ElementType::UI32;
  case 64:
    return isSigned ? ElementType::SI64 : ElementType::UI64;
  default:
    break;
  }
  if (isSigned)
    return std::nullopt;
  switch (type.getWidth()) {
  case 1:
    return ElementType::UI1;
  case 3:
    return ElementType::UI3;
  case 6:
    return ElementType::UI6;
  default:
    return std::nullopt;
  }
}

std::optional<ElementType> corten::elementTypeOf(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integerType(integer);
  return llvm::TypeSwitch<Type, std::optional<ElementType>>(type)
      .Case([](Float16Type) { return ElementType::F16; })
      .Case([](BFloat16Type) { return ElementType::BF16; })
      .Case([](Float32Type) { return ElementType::F32; })
      .Case([](Float64Type) { return ElementType::F64; })
      .Case([](Float8E4M3FNType) { return ElementType::F8E4M3FN; })
      .Case([](Float8E5M2Type) { return ElementType::F8E5M2; })
      .Case([](Float8E8M0FNUType) { return ElementType::F8E8M0FNU; })
      .Case([](Float4E2M1FNType) { return ElementType::F4E2M1FN; })
      .Case([](ComplexType complex) {
        return complex.getElementType().isF32()
                   ? std::optional(ElementType::C64)
                   : std::nullopt;
      })
      .Default(std::nullopt);
}

/// Whether elements of files are packed closer than bytes.
static bool isPacked(ElementType type) { return runtime::packedBits(type) < 8; }

/// Whether inline constants have eight of them in a byte.
static bool isBit(ElementType type) {
  return type == ElementType::Bool || type == ElementType::UI1;
}

//===----------------------------------------------------------------------===//
// From programs
//===----------------------------------------------------------------------===//

/// As many words as bytes need.
static std::shared_ptr<std::vector<uint64_t>> allocate(size_t bytes) {
  return std::make_shared<std::vector<uint64_t>>(
      llvm::divideCeil(bytes, sizeof(uint64_t)));
}

static char *bytesOf(std::vector<uint64_t> &words) {
  return reinterpret_cast<char *>(words.data());
}

/// Elements of less than a byte that have one each, with nothing in the other
/// bits: those of signed numbers are the sign in memory.
static void extendSigns(MutableArrayRef<char> bytes, ElementType type) {
  if (type != ElementType::SI2 && type != ElementType::SI4)
    return;
  unsigned unused = 8 - runtime::packedBits(type);
  for (char &byte : bytes)
    byte = static_cast<char>(static_cast<int8_t>(byte << unused) >> unused);
}

std::optional<Elements> Elements::of(Attribute constant) {
  auto typed = dyn_cast_or_null<TypedAttr>(constant);
  auto type =
      typed ? dyn_cast<RankedTensorType>(typed.getType()) : RankedTensorType();
  if (!type || !type.hasStaticShape() || type.getEncoding() ||
      type.getRank() > runtime::kMaxRank)
    return std::nullopt;
  std::optional<ElementType> element = elementTypeOf(type.getElementType());
  if (!element)
    return std::nullopt;
  Elements result;
  result.shaped = type;
  result.element = *element;
  size_t width = runtime::byteSize(*element);
  size_t count = type.getNumElements();
  if (auto weight = dyn_cast<DenseResourceElementsAttr>(constant)) {
    AsmResourceBlob *blob = weight.getRawHandle().getBlob();
    size_t bits = count * runtime::packedBits(*element);
    if (!blob || blob->getData().size() != llvm::divideCeil(bits, 8))
      return std::nullopt;
    result.data = blob->getData().data();
    if (isPacked(*element)) {
      result.owned = allocate(count);
      std::array<int64_t, 1> length = {
          static_cast<int64_t>(blob->getData().size())};
      Tensor packed(ElementType::UI8, const_cast<char *>(result.data), length);
      Tensor output(*element, bytesOf(*result.owned), type.getShape());
      if (call(PortableKernel::Unpack, {{&packed, 1}, {&output, 1}, {}}))
        return std::nullopt;
    }
  } else if (auto dense = dyn_cast<DenseElementsAttr>(constant)) {
    result.isUniform = dense.isSplat() && count > 0;
    result.data = dense.getRawData().data();
    size_t present = result.isUniform ? 1 : count;
    if (*element == ElementType::Bool || isPacked(*element)) {
      result.owned = allocate(present);
      char *bytes = bytesOf(*result.owned);
      if (isBit(*element))
        std::copy_n(dense.value_begin<bool>(), present, bytes);
      else
        std::copy_n(result.data, present, bytes);
      extendSigns({bytes, present}, *element);
    }
  } else {
    return std::nullopt;
  }
  if (result.owned) {
    result.data = bytesOf(*result.owned);
  } else if (reinterpret_cast<uintptr_t>(result.data) % width != 0) {
    size_t bytes = (result.isUniform ? 1 : count) * width;
    result.owned = allocate(bytes);
    std::copy_n(result.data, bytes, bytesOf(*result.owned));
    result.data = bytesOf(*result.owned);
  }
  return result;
}

std::optional<Elements> Elements::of(Value value) {
  auto constant = value.getDefiningOp<coreai::ConstantOp>();
  return constant ? of(Attribute(constant.getValueAttr())) : std::nullopt;
}

std::optional<Elements> Elements::make(RankedTensorType type, bool isSplat) {
  std::optional<ElementType> element =
      type && type.hasStaticShape() && !type.getEncoding() &&
              type.getRank() <= runtime::kMaxRank
          ? elementTypeOf(type.getElementType())
          : std::nullopt;
  if (!element)
    return std::nullopt;
  Elements result;
  result.shaped = type;
  result.element = *element;
  result.isUniform = isSplat;
  result.owned = allocate(result.bytes());
  result.data = bytesOf(*result.owned);
  return result;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

size_t Elements::bytes() const {
  return (isUniform ? 1 : size()) * runtime::byteSize(element);
}

llvm::ArrayRef<char> Elements::raw() const { return {data, bytes()}; }

Tensor Elements::tensor() const {
  Tensor tensor(element, const_cast<char *>(data), shape());
  if (isUniform)
    tensor.steps.fill(0);
  return tensor;
}

Tensor Elements::first() const { return tensor().view({}, {}); }

Tensor Elements::output() const {
  return Tensor(element, const_cast<char *>(data),
                isUniform ? ArrayRef<int64_t>() : shape());
}

std::optional<Tensor> Elements::spread(ArrayRef<int64_t> over) const {
  ArrayRef<int64_t> own = shape();
  if (own.size() > over.size())
    return std::nullopt;
  Tensor view = tensor();
  SmallVector<int64_t> strides(over.size(), 0);
  size_t offset = over.size() - own.size();
  for (auto [axis, extent] : llvm::enumerate(own)) {
    if (extent != 1 && extent != over[offset + axis])
      return std::nullopt;
    strides[offset + axis] = extent == 1 ? 0 : view.steps[axis];
  }
  return view.view(over, strides);
}

SmallVector<int64_t> Elements::indices() const {
  if (!runtime::isInteger(element) && element != ElementType::Bool)
    return {};
  SmallVector<int64_t> result(size());
  Tensor from = tensor();
  Tensor whole(ElementType::SI64, result.data(), shape());
  if (call(PortableKernel::Cast, {{&from, 1}, {&whole, 1}, {}}))
    result.clear();
  return result;
}

//===----------------------------------------------------------------------===//
// To programs
//===----------------------------------------------------------------------===//

DenseElementsAttr Elements::inlineConstant() const {
  size_t count = isUniform ? 1 : size();
  if (isBit(element))
    return DenseElementsAttr::get(
        shaped, ArrayRef(reinterpret_cast<const bool *>(data), count));
  if (!isPacked(element))
    return DenseElementsAttr::getFromRawBuffer(shaped, raw());
  // The other bits have nothing in them there.
  SmallVector<char> bytes(raw());
  for (char &byte : bytes)
    byte = static_cast<char>(byte & ((1 << runtime::packedBits(element)) - 1));
  return DenseElementsAttr::getFromRawBuffer(shaped, bytes);
}

/// Elements of less than a byte as they lie in a file.
static std::shared_ptr<std::vector<uint64_t>> packed(ArrayRef<char> bytes,
                                                     unsigned bits) {
  auto words = allocate(llvm::divideCeil(bytes.size() * bits, 8));
  for (auto [index, byte] : llvm::enumerate(bytes)) {
    uint64_t code = static_cast<uint8_t>(byte) & ((1u << bits) - 1);
    size_t place = index * bits;
    (*words)[place / 64] |= code << (place % 64);
    if (place % 64 + bits > 64)
      (*words)[place / 64 + 1] |= code >> (64 - place % 64);
  }
  return words;
}

TypedAttr Elements::constant() const {
  ArrayRef<char> bytes = raw();
  size_t width = runtime::byteSize(element);
  bool isSame = isUniform || (size() > 0 && bytes.drop_front(width) ==
                                                bytes.drop_back(width));
  if (isSame || size() < kWeightElements)
    return inlineConstant();
  std::shared_ptr<std::vector<uint64_t>> memory = owned;
  size_t length = bytes.size();
  if (isPacked(element)) {
    memory = packed(bytes, runtime::packedBits(element));
    length = llvm::divideCeil(size() * runtime::packedBits(element), 8);
  } else if (!memory) {
    memory = allocate(length);
    std::copy_n(data, length, bytesOf(*memory));
  }
  AsmResourceBlob blob(
      ArrayRef<char>(bytesOf(*memory), length), kWeightAlignment,
      [memory](void *, size_t, size_t) {}, /*dataIsMutable=*/false);
  return DenseResourceElementsAttr::get(shaped, "constant", std::move(blob));
}
