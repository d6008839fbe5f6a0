// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/EqualBytes.h"

#include "corten/Support/Limits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>

using namespace corten;
using llvm::StringRef;

/// Where the n-th part of a piece is: the first page, one in the middle, the
/// last one, and then all of it in steps. Empty behind the last.
static StringRef partOf(StringRef bytes, size_t part) {
  switch (part) {
  case 0:
    return bytes.take_front(kPageBytes);
  case 1:
    return bytes.substr(bytes.size() / 2, kPageBytes);
  case 2:
    return bytes.take_back(kPageBytes);
  default:
    return bytes.substr((part - 3) * ReadWindow::kStep, ReadWindow::kStep);
  }
}

const EqualBytes::Hash &EqualBytes::hashOf(Entry &entry, size_t part) {
  while (entry.hashes.size() <= part) {
    StringRef bytes = partOf(entry.bytes, entry.hashes.size());
    llvm::XXH128_hash_t hash =
        llvm::xxh3_128bits(llvm::arrayRefFromStringRef(bytes));
    entry.hashes.emplace_back(hash.low64, hash.high64);
    window.passed(bytes, std::max(bytes.size(), ReadWindow::kLook));
  }
  return entry.hashes[part];
}

bool EqualBytes::areEqual(Entry &left, Entry &right) {
  if (left.bytes.data() == right.bytes.data())
    return true;
  for (size_t part = 0; !partOf(left.bytes, part).empty(); ++part)
    if (hashOf(left, part) != hashOf(right, part))
      return false;
  return true;
}

size_t EqualBytes::find(const void *kind, StringRef bytes) {
  size_t number = entries.size();
  entries.push_back({bytes, {}});
  Group group(kind, bytes.size());
  auto [first, isNew] = alone.try_emplace(group, number);
  if (isNew)
    return number;
  auto add = [&](size_t added) -> llvm::SmallVector<size_t, 1> & {
    auto &known = byHead[{group, hashOf(entries[added], 0)}];
    known.push_back(added);
    return known;
  };
  // It has company now.
  if (std::optional<size_t> other = std::exchange(first->second, std::nullopt))
    add(*other);
  auto &candidates = add(number);
  for (size_t candidate : llvm::ArrayRef(candidates).drop_back())
    if (areEqual(entries[candidate], entries[number])) {
      candidates.pop_back();
      entries.pop_back();
      return candidate;
    }
  return number;
}
