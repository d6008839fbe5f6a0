// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory that a kernel sees, and who touched it last. Every tensor and
// every threadgroup variable lies in a stretch of address space of its own, so
// that an address says which one was meant even when it is far outside of it.

#ifndef CORTEN_TOOLS_METALCHECK_MEMORY_H
#define CORTEN_TOOLS_METALCHECK_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace corten::check {

/// Memory that barriers order separately.
enum Space { kDevice = 0, kThreadgroup = 1 };

/// The thread that runs, as far as the order of accesses goes. Epochs count
/// barriers that order a space: those of the group, and those of the simdgroup.
struct Clock {
  /// From 1; 0 is nobody.
  uint32_t group = 0;
  uint32_t thread = 0;
  uint32_t epoch[2] = {};
  uint32_t simdEpoch[2] = {};
};

/// One access to one granule.
struct Access {
  uint32_t group = 0;
  uint32_t thread = 0;
  uint32_t epoch = 0;
  uint32_t simdEpoch = 0;

  explicit operator bool() const { return group != 0; }
};

/// Who has read a granule since the epoch of the last read began.
enum class Readers : uint8_t { None, One, Simdgroup, Group, Groups };

/// The last accesses to one granule. A plain and an atomic write are kept
/// apart: an atomic one must not hide a plain one before it.
struct Cell {
  Access write, atomic, read;
  Readers readers = Readers::None;
  bool isInitialized = false;
};

enum class AccessKind : uint8_t {
  Read,
  Write,
  AtomicRead,
  AtomicWrite,
  AtomicModify
};

/// Two accesses that nothing orders.
struct Conflict {
  Access other;
  AccessKind otherKind = AccessKind::Write;
};

/// A tensor, or a variable that the threads of a group share.
struct Buffer {
  enum class Kind : uint8_t { Input, Result, Threadgroup };

  std::string name;
  Kind kind = Kind::Input;
  char *data = nullptr;
  size_t bytes = 0;
  size_t elementBytes = 1;
  /// Innermost first; empty for a variable.
  std::vector<int> extents;
  /// For a variable, what declares it.
  const void *declaration = nullptr;
  /// Bytes that one cell stands for.
  size_t granule = 1;
  std::vector<Cell> cells;

  Space space() const {
    return kind == Kind::Threadgroup ? kThreadgroup : kDevice;
  }
  /// The element at a byte, as the kernel would write it: "o[3, 0]".
  std::string element(ptrdiff_t offset) const;
  /// Forgets all accesses and makes the contents junk (or, for an input,
  /// leaves them).
  void reset();
  /// One cell for each byte from now on.
  void refine();
};

/// All buffers of a run.
class Memory {
public:
  /// Reserves address space. Ends the process if there is none.
  Memory();

  /// Puts a buffer into the next free stretch.
  Buffer &add(Buffer buffer);

  /// The buffer that an address belongs to, inside of it or around it; null
  /// for memory of other kinds.
  Buffer *find(const void *address) {
    size_t slot = (static_cast<const char *>(address) - arena) >> slotBits;
    return slot < buffers.size() ? buffers[slot] : nullptr;
  }
  const std::vector<Buffer *> &all() const { return buffers; }

private:
  char *arena = nullptr;
  unsigned slotBits = 36;
  std::vector<Buffer *> buffers;
};

/// Notes an access and says whether it conflicts with an earlier one.
bool note(Cell &cell, AccessKind kind, const Clock &now, Space space,
          Conflict &conflict);

} // namespace corten::check

#endif // CORTEN_TOOLS_METALCHECK_MEMORY_H
