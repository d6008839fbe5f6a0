// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Runtime/Memory.h"

#include <algorithm>
#include <cstdlib>

#include <sys/mman.h>

using namespace corten::runtime;

/// More idle pieces than that are given back.
static constexpr size_t kMaxIdle = 32;

static size_t roundUp(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Whole pages of zeros.
static char *mapPages(size_t bytes) {
  constexpr size_t kPage = 4096;
  bytes = roundUp(bytes, kPage);
  // Large pages begin at multiples of their size. More than the machine has is
  // refused here, not when it is written to.
  void *mapped = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  auto *begin = static_cast<char *>(mapped);
  auto *aligned = reinterpret_cast<char *>(
      roundUp(reinterpret_cast<size_t>(begin), kHugePage));
  if (aligned != begin)
    munmap(begin, size_t(aligned - begin));
  if (size_t rest = kHugePage - size_t(aligned - begin))
    munmap(aligned + bytes, rest);
  // A kernel without them says no, which does no harm.
  (void)madvise(aligned, bytes, MADV_HUGEPAGE);
  return aligned;
}

static char *allocate(size_t bytes) {
  return bytes < kHugePage
             ? static_cast<char *>(std::aligned_alloc(kMemoryAlignment, bytes))
             : mapPages(bytes);
}

static void deallocate(char *data, size_t bytes) {
  if (bytes < kHugePage)
    std::free(data);
  else
    munmap(data, bytes);
}

void Memory::release() {
  if (!block || block->uses.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  // The pool must outlive what it does here.
  std::shared_ptr<MemoryPool> pool = std::move(block->pool);
  pool->giveBack(std::exchange(block, nullptr));
}

void Memory::protect() const {
  if (block && block->capacity >= kHugePage)
    (void)mprotect(block->data, block->capacity, PROT_READ);
}

MemoryPool::~MemoryPool() { trim(); }

MemoryPool::Block *MemoryPool::takeIdle(size_t bytes) {
  // The smallest that does; of equal ones the last used, which is in the cache.
  auto best = idle.end();
  for (auto it = idle.begin(); it != idle.end(); ++it)
    if ((*it)->capacity >= bytes &&
        (best == idle.end() || (*it)->capacity <= (*best)->capacity))
      best = it;
  if (best == idle.end())
    return nullptr;
  Block *block = *best;
  idle.erase(best);
  idleBytes -= block->capacity;
  return block;
}

void MemoryPool::dropOldest() {
  Block *block = idle.front();
  idle.erase(idle.begin());
  idleBytes -= block->capacity;
  totalBytes -= block->capacity;
  deallocate(block->data, block->capacity);
  delete block;
}

Memory MemoryPool::take(size_t bytes) {
  std::lock_guard lock(mutex);
  // So that it cannot overflow below.
  if (bytes > limit || bytes > size_t(-1) / 4)
    return {};
  Block *block = takeIdle(std::max<size_t>(bytes, 1));
  if (!block) {
    // What grows by a little each time is not to be allocated each time.
    size_t wanted = roundUp(bytes + bytes / 8 + 1, kMemoryAlignment);
    if (wanted >= kHugePage)
      wanted = roundUp(wanted, kHugePage);
    // Memory that proved to be too small is not kept beside its successor.
    while (!idle.empty() &&
           (idleBytes > totalBytes - idleBytes || totalBytes + wanted > limit))
      dropOldest();
    if (wanted > limit - totalBytes) {
      wanted = roundUp(bytes + 1, kMemoryAlignment);
      if (wanted > limit - totalBytes)
        return {};
    }
    char *data = allocate(wanted);
    if (!data)
      return {};
    // Giving back must not allocate.
    idle.reserve(idle.capacity() < kMaxIdle + 1 ? kMaxIdle + 1 : 0);
    return makeBlock(data, wanted, false);
  }
  block->pool = shared_from_this();
  return Memory(block);
}

Memory MemoryPool::makeBlock(char *data, size_t capacity, bool isApart) {
  auto *block = new Block;
  block->data = data;
  block->capacity = capacity;
  block->isApart = isApart;
  block->pool = shared_from_this();
  totalBytes += capacity;
  return Memory(block);
}

Memory MemoryPool::takeApart(size_t bytes) {
  std::lock_guard lock(mutex);
  if (bytes > limit || bytes > size_t(-1) / 4)
    return {};
  while (!idle.empty() && bytes > limit - totalBytes)
    dropOldest();
  char *data = bytes > limit - totalBytes ? nullptr : mapPages(bytes);
  return data ? makeBlock(data, bytes, true) : Memory();
}

void MemoryPool::giveBack(Block *block) {
  std::lock_guard lock(mutex);
  if (block->isApart) {
    totalBytes -= block->capacity;
    munmap(block->data, block->capacity);
    delete block;
    return;
  }
  if (idle.size() >= kMaxIdle)
    dropOldest();
  idle.push_back(block);
  idleBytes += block->capacity;
}

void MemoryPool::trim() {
  std::lock_guard lock(mutex);
  while (!idle.empty())
    dropOldest();
}

size_t MemoryPool::held() const {
  std::lock_guard lock(mutex);
  return totalBytes;
}
