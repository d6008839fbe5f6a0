// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Weights/EqualWeights.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cstring>

using namespace corten;
using llvm::StringRef;

/// What a look at one place of a mapped file brings into memory, at most: the
/// kernel reads what is around it as well.
static constexpr size_t kLook = size_t(128) << 10;
static constexpr size_t kPage = 4096;

static StringRef bytesOf(const TensorView &view) {
  return {static_cast<const char *>(view.data), view.bytes};
}

bool corten::isUniform(const TensorView &view, ReadWindow &window) {
  // A tenth of a second of reading at the most, and larger than any bias, norm
  // or mask that is worth it.
  constexpr size_t kLargest = size_t(16) << 20;
  int64_t count = view.numElements();
  if (count < 1 || view.bytes % count != 0)
    return false;
  size_t width = view.bytes / count;
  const char *data = static_cast<const char *>(view.data);
  auto isSameIn = [&](size_t begin, size_t size) {
    return std::memcmp(data + begin, data + begin + width, size) == 0;
  };
  size_t size = view.bytes - width, head = std::min(kPage, size);
  bool isSame = isSameIn(0, head) && isSameIn(size - head, head) &&
                view.bytes <= kLargest && isSameIn(head, size - head);
  window.passed(bytesOf(view), isSame ? view.bytes : kLook);
  return isSame;
}

/// Where the n-th piece of a weight is: the first page, one in the middle, the
/// last one, and then all of it in steps. Empty behind the last.
static StringRef pieceOf(StringRef bytes, size_t piece) {
  switch (piece) {
  case 0:
    return bytes.take_front(kPage);
  case 1:
    return bytes.substr(bytes.size() / 2, kPage);
  case 2:
    return bytes.take_back(kPage);
  default:
    return bytes.substr((piece - 3) * ReadWindow::kStep, ReadWindow::kStep);
  }
}

const EqualWeights::Hash &EqualWeights::hashOf(Entry &entry, size_t piece) {
  while (entry.hashes.size() <= piece) {
    StringRef bytes = pieceOf(entry.bytes, entry.hashes.size());
    llvm::XXH128_hash_t hash =
        llvm::xxh3_128bits(llvm::arrayRefFromStringRef(bytes));
    entry.hashes.emplace_back(hash.low64, hash.high64);
    window.passed(bytes, std::max(bytes.size(), kLook));
  }
  return entry.hashes[piece];
}

bool EqualWeights::areEqual(Entry &left, Entry &right) {
  // Of one type, so of one size.
  for (size_t piece = 0; !pieceOf(left.bytes, piece).empty(); ++piece)
    if (hashOf(left, piece) != hashOf(right, piece))
      return false;
  return true;
}

mlir::Attribute &EqualWeights::find(mlir::Type type, const TensorView &view) {
  Entry &entry = entries.emplace_back();
  entry.bytes = bytesOf(view);
  auto [first, isNew] = alone.try_emplace(type, &entry);
  if (isNew)
    return entry.attribute;
  auto add = [&](Entry &added) -> llvm::SmallVector<Entry *, 1> & {
    auto &known = byHead[{type, hashOf(added, 0)}];
    known.push_back(&added);
    return known;
  };
  // It has company now.
  if (Entry *other = std::exchange(first->second, nullptr))
    add(*other);
  auto &candidates = add(entry);
  for (Entry *candidate : llvm::ArrayRef(candidates).drop_back())
    if (areEqual(*candidate, entry)) {
      candidates.pop_back();
      entries.pop_back();
      return candidate->attribute;
    }
  return entry.attribute;
}
