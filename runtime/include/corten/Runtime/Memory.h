// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that several hold on to, and that is used again: a call that is made
// for the second time takes what the first one gave back.

#ifndef CORTEN_RUNTIME_MEMORY_H
#define CORTEN_RUNTIME_MEMORY_H

#include "corten/Runtime/Mutex.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace corten::runtime {

class MemoryPool;

/// What all memory of tensors is aligned to.
inline constexpr size_t kMemoryAlignment = 64;
/// From here on memory comes from the system by itself, in large pages.
inline constexpr size_t kHugePage = size_t(2) << 20;

/// Holds on to a piece of memory. The last one that lets go gives it back to
/// its pool, which lives as long.
class Memory {
public:
  Memory() = default;
  Memory(const Memory &other) : block(other.block) { retain(); }
  Memory(Memory &&other) noexcept
      : block(std::exchange(other.block, nullptr)) {}
  Memory &operator=(Memory other) noexcept {
    std::swap(block, other.block);
    return *this;
  }
  ~Memory() { release(); }

  explicit operator bool() const { return block != nullptr; }
  char *data() const { return block ? block->data : nullptr; }
  /// At least as many bytes as were asked for.
  size_t capacity() const { return block ? block->capacity : 0; }
  /// Whether it has whole pages that are not used again, as `takeApart` gives.
  bool isApart() const { return block && block->isApart; }
  void reset() { Memory().swap(*this); }
  /// From now on it can only be read, if it has whole pages. It must not be
  /// given back before its pool goes.
  void protect() const;
  void swap(Memory &other) noexcept { std::swap(block, other.block); }

private:
  friend class MemoryPool;
  struct Block {
    char *data = nullptr;
    size_t capacity = 0;
    bool isApart = false;
    std::atomic<int> uses = 0;
    /// Set while it is in use: keeps the pool.
    std::shared_ptr<MemoryPool> pool;
  };
  explicit Memory(Block *block) : block(block) { retain(); }
  void retain() {
    if (block)
      block->uses.fetch_add(1, std::memory_order_relaxed);
  }
  void release();

  Block *block = nullptr;
};

/// Pieces of memory that are idle, and the limit on all of them.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
public:
  /// Which may have `limit` bytes at once, those that are idle with them.
  explicit MemoryPool(size_t limit = size_t(-1)) : limit(limit) {}
  ~MemoryPool();
  MemoryPool(const MemoryPool &) = delete;
  MemoryPool &operator=(const MemoryPool &) = delete;

  /// At least `bytes`, aligned; what is in them is undefined. Nothing if there
  /// is no more memory, or the limit is reached.
  Memory take(size_t bytes);
  /// Whole pages of zeros, which go back to the system as soon as nobody holds
  /// them: others may be mapped in their place.
  Memory takeApart(size_t bytes);
  /// Gives everything that is idle back to the system.
  void trim();
  /// Bytes in use and idle.
  size_t held() const;

private:
  friend class Memory;
  using Block = Memory::Block;
  void giveBack(Block *block);
  /// Under the lock.
  Block *takeIdle(size_t bytes);
  void dropOldest();
  Memory makeBlock(char *data, size_t capacity, bool isApart);

  const size_t limit;
  mutable Mutex mutex;
  /// Those that were given back last come last.
  std::vector<Block *> idle;
  size_t idleBytes = 0;
  size_t totalBytes = 0;
};

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_MEMORY_H
