// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Weights/PackedWeights.h"

#include "corten/Support/Bytes.h"

#include "llvm/Support/Alignment.h"

#include <algorithm>
#include <numeric>

using namespace corten;

std::pair<int64_t, int64_t> corten::limitsOf(ScalarType type) {
  bool isSigned = type == ScalarType::Int2 || type == ScalarType::Int4 ||
                  type == ScalarType::Int8;
  unsigned bits = scalarTypeBits(type);
  int64_t low = isSigned ? -(int64_t(1) << (bits - 1)) : 0;
  return {low, low + (int64_t(1) << bits) - 1};
}

/// Calls `visit` with a typed pointer to the elements, or to a copy if they lie
/// where no such pointer may point.
template <typename T, typename Visit>
static bool withElementsOf(const TensorView &view, Visit visit) {
  SharedBytes bytes{{static_cast<const char *>(view.data), view.bytes},
                    view.owner};
  if (!llvm::isAddrAligned(llvm::Align::Of<T>(), view.data))
    bytes = alignedWeight(std::move(bytes));
  visit(reinterpret_cast<const T *>(bytes.data.data()));
  return true;
}

/// Calls `visit` with the elements as a typed pointer; false for types that are
/// no integers of whole bytes.
template <typename Visit>
static bool withElements(const TensorView &view, Visit visit) {
  switch (view.dtype) {
  case ScalarType::Bool:
  case ScalarType::UInt8:
    return withElementsOf<uint8_t>(view, visit);
  case ScalarType::Int8:
    return withElementsOf<int8_t>(view, visit);
  case ScalarType::Int16:
    return withElementsOf<int16_t>(view, visit);
  case ScalarType::Int32:
    return withElementsOf<int32_t>(view, visit);
  case ScalarType::Int64:
    return withElementsOf<int64_t>(view, visit);
  default:
    return false;
  }
}

std::optional<std::pair<int64_t, int64_t>>
corten::valueRange(const TensorView &view) {
  std::optional<std::pair<int64_t, int64_t>> range;
  int64_t count = view.numElements();
  if (count == 0)
    return range;
  withElements(view, [&](const auto *data) {
    auto [low, high] = std::minmax_element(data, data + count);
    range = {static_cast<int64_t>(*low), static_cast<int64_t>(*high)};
  });
  return range;
}

llvm::SmallVector<int64_t> corten::firstElements(const TensorView &view,
                                                 int64_t count) {
  llvm::SmallVector<int64_t> elements;
  withElements(view,
               [&](const auto *data) { elements.assign(data, data + count); });
  return elements;
}

std::optional<int64_t> corten::countOnes(const TensorView &view) {
  int64_t ones = 0;
  bool isMask = withElements(view, [&](const auto *data) {
    for (int64_t i = 0, count = view.numElements(); i < count && ones >= 0; ++i)
      ones = data[i] == 0 || data[i] == 1 ? ones + (data[i] == 1) : -1;
  });
  if (!isMask || ones < 0)
    return std::nullopt;
  return ones;
}

size_t corten::packedBytes(int64_t count, unsigned bits) {
  unsigned group = std::lcm(bits, 8u);
  return (count * bits + group - 1) / group * (group / 8);
}

template <typename T>
static bool packInto(const T *data, int64_t count, ScalarType type,
                     uint8_t *bytes) {
  auto [low, high] = limitsOf(type);
  unsigned bits = scalarTypeBits(type), filled = 0;
  uint32_t mask = (1u << bits) - 1, pending = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (data[i] < low || data[i] > high)
      return false;
    pending |= (static_cast<uint32_t>(data[i]) & mask) << filled;
    filled += bits;
    for (; filled >= 8; filled -= 8, pending >>= 8)
      *bytes++ = static_cast<uint8_t>(pending);
  }
  if (filled)
    *bytes = static_cast<uint8_t>(pending);
  return true;
}

std::optional<TensorView> corten::packed(const TensorView &view,
                                         ScalarType type) {
  int64_t count = view.numElements();
  size_t size = packedBytes(count, scalarTypeBits(type));
  // Whatever reads it may ask for the alignment of a blob; the bytes behind the
  // last element are zero.
  auto bytes = std::shared_ptr<uint8_t>(
      static_cast<uint8_t *>(std::calloc(size + 1, 1)), std::free);
  bool fits = false;
  withElements(view, [&](const auto *data) {
    fits = packInto(data, count, type, bytes.get());
  });
  if (!fits)
    return std::nullopt;
  TensorView result = view;
  result.dtype = type;
  result.data = bytes.get();
  result.bytes = size;
  result.owner = bytes;
  return result;
}
