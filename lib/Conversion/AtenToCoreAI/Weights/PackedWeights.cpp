// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Weights/PackedWeights.h"

#include "corten/Support/ScratchMemory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

using namespace corten;

std::pair<int64_t, int64_t> corten::limitsOf(ScalarType type) {
  bool isSigned = type == ScalarType::Int2 || type == ScalarType::Int4 ||
                  type == ScalarType::Int8;
  unsigned bits = scalarTypeBits(type);
  int64_t low = isSigned ? -(int64_t(1) << (bits - 1)) : 0;
  return {low, low + (int64_t(1) << bits) - 1};
}

/// Calls `visit` with one piece of the elements after the other, until it says
/// that it has seen enough: with a typed pointer, to a copy if they lie where
/// no such pointer may point.
template <typename T, typename Visit>
static bool visitElementsOf(const TensorView &view, ReadWindow &window,
                            Visit visit) {
  // Whole bytes of whatever they are packed to.
  constexpr int64_t kPiece = ReadWindow::kStep / sizeof(T);
  static_assert(kPiece % 8 == 0);
  const char *data = static_cast<const char *>(view.data);
  bool isAligned = llvm::isAddrAligned(llvm::Align::Of<T>(), data);
  std::vector<T> copy;
  int64_t count = view.numElements();
  bool goesOn = true;
  for (int64_t first = 0; first < count && goesOn; first += kPiece) {
    llvm::StringRef bytes(data + first * sizeof(T),
                          std::min(kPiece, count - first) * sizeof(T));
    llvm::ArrayRef<T> elements;
    if (isAligned) {
      elements = {reinterpret_cast<const T *>(bytes.data()),
                  bytes.size() / sizeof(T)};
    } else {
      copy.resize(bytes.size() / sizeof(T));
      std::memcpy(copy.data(), bytes.data(), bytes.size());
      elements = copy;
    }
    goesOn = visit(elements);
    window.passed(bytes);
  }
  return true;
}

/// Calls `visit` as visitElementsOf() does; false for types that are no
/// integers of whole bytes.
template <typename Visit>
static bool visitElements(const TensorView &view, ReadWindow &window,
                          Visit visit) {
  switch (view.dtype) {
  case ScalarType::Bool:
  case ScalarType::UInt8:
    return visitElementsOf<uint8_t>(view, window, visit);
  case ScalarType::Int8:
    return visitElementsOf<int8_t>(view, window, visit);
  case ScalarType::Int16:
    return visitElementsOf<int16_t>(view, window, visit);
  case ScalarType::Int32:
    return visitElementsOf<int32_t>(view, window, visit);
  case ScalarType::Int64:
    return visitElementsOf<int64_t>(view, window, visit);
  default:
    return false;
  }
}

std::optional<std::pair<int64_t, int64_t>>
corten::valueRange(const TensorView &view, ReadWindow &window) {
  std::optional<std::pair<int64_t, int64_t>> range;
  visitElements(view, window, [&](auto elements) {
    auto [least, greatest] =
        std::minmax_element(elements.begin(), elements.end());
    int64_t low = *least, high = *greatest;
    range = range ? std::pair(std::min(range->first, low),
                              std::max(range->second, high))
                  : std::pair(low, high);
    return true;
  });
  return range;
}

llvm::SmallVector<int64_t> corten::firstElements(const TensorView &view,
                                                 int64_t count,
                                                 ReadWindow &window) {
  llvm::SmallVector<int64_t> first;
  size_t wanted = static_cast<size_t>(count);
  visitElements(view, window, [&](auto elements) {
    llvm::append_range(first, elements.take_front(wanted - first.size()));
    return first.size() < wanted;
  });
  return first;
}

std::optional<int64_t> corten::countOnes(const TensorView &view,
                                         ReadWindow &window) {
  int64_t ones = 0;
  bool isMask = true;
  bool isInteger = visitElements(view, window, [&](auto elements) {
    for (auto element : elements) {
      isMask &= element == 0 || element == 1;
      ones += element == 1;
    }
    return isMask;
  });
  if (!isInteger || !isMask)
    return std::nullopt;
  return ones;
}

size_t corten::packedBytes(int64_t count, unsigned bits) {
  unsigned group = std::lcm(bits, 8u);
  return (count * bits + group - 1) / group * (group / 8);
}

/// Returns the end of what it wrote; null if an element is not of the type.
template <typename T>
static char *packInto(llvm::ArrayRef<T> elements, ScalarType type,
                      char *bytes) {
  auto [low, high] = limitsOf(type);
  unsigned bits = scalarTypeBits(type), filled = 0;
  uint32_t mask = (1u << bits) - 1, pending = 0;
  for (T element : elements) {
    if (element < low || element > high)
      return nullptr;
    pending |= (static_cast<uint32_t>(element) & mask) << filled;
    filled += bits;
    for (; filled >= 8; filled -= 8, pending >>= 8)
      *bytes++ = static_cast<char>(pending);
  }
  if (filled)
    *bytes++ = static_cast<char>(pending);
  return bytes;
}

std::optional<TensorView> corten::packed(const TensorView &view,
                                         ScalarType type, ReadWindow &window) {
  size_t size = packedBytes(view.numElements(), scalarTypeBits(type));
  std::shared_ptr<char> bytes = allocateScratch(size);
  if (!bytes)
    llvm::report_bad_alloc_error("no memory for a packed weight");
  char *end = bytes.get();
  bool isInteger = visitElements(view, window, [&](auto elements) {
    char *begin = std::exchange(end, packInto(elements, type, end));
    if (end)
      window.passed({begin, static_cast<size_t>(end - begin)});
    return end != nullptr;
  });
  if (!isInteger || !end)
    return std::nullopt;
  // The last group may have more bytes than elements.
  std::fill(end, bytes.get() + size, 0);
  TensorView result = view;
  result.dtype = type;
  result.data = bytes.get();
  result.bytes = size;
  result.owner = bytes;
  return result;
}
