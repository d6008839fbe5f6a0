// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Memory.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace corten::check;

/// Metal's 31 arguments, and threadgroup variables.
static constexpr size_t kSlots = 96;
static constexpr size_t kPage = 1 << 16;

static constexpr uint32_t kLanes = 32;

//===----------------------------------------------------------------------===//
// Address space
//===----------------------------------------------------------------------===//

Memory::Memory() {
  // 64 GiB hold any 32-bit index of a 16-byte element. Where so much cannot be
  // reserved, an index must be less wrong to be recognized.
  for (; slotBits >= 28; slotBits -= 2) {
    void *mapped = mmap(nullptr, kSlots << slotBits, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped != MAP_FAILED) {
      arena = static_cast<char *>(mapped);
      return;
    }
  }
  std::perror("corten-metal-check: address space");
  std::exit(3);
}

Buffer &Memory::add(Buffer buffer) {
  size_t room = (buffer.bytes / kPage + 1) * kPage;
  if (buffers.size() == kSlots || room > (1ul << slotBits) / 4) {
    std::fprintf(stderr, "corten-metal-check: no room for '%s'\n",
                 buffer.name.c_str());
    std::exit(3);
  }
  char *slot = arena + (buffers.size() << slotBits);
  buffer.data = slot + (1ul << slotBits) / 2;
  if (mprotect(buffer.data, room, PROT_READ | PROT_WRITE) != 0) {
    std::perror("corten-metal-check: memory");
    std::exit(3);
  }
  buffers.push_back(new Buffer(std::move(buffer)));
  buffers.back()->reset();
  return *buffers.back();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

void Buffer::reset() {
  cells.assign((bytes + granule - 1) / granule, Cell());
  if (kind == Kind::Input) {
    for (Cell &cell : cells)
      cell.isInitialized = true;
    return;
  }
  // As floats these bytes are NaN: what is computed from them shows.
  std::memset(data, 0xff, bytes);
}

void Buffer::refine() {
  std::vector<Cell> finer(bytes);
  for (size_t i = 0; i < bytes; ++i)
    finer[i] = cells[i / granule];
  cells = std::move(finer);
  granule = 1;
}

std::string Buffer::element(ptrdiff_t offset) const {
  auto width = static_cast<ptrdiff_t>(elementBytes);
  // Rounds down, also before the beginning.
  ptrdiff_t index = (offset - (offset < 0 ? width - 1 : 0)) / width;
  std::string text = name + "[";
  if (extents.empty() || index < 0 || offset >= static_cast<ptrdiff_t>(bytes))
    return text + std::to_string(index) + "]";
  const char *separator = "";
  for (int extent : extents) {
    text += separator + std::to_string(index % extent);
    index /= extent;
    separator = ", ";
  }
  return text + "]";
}

//===----------------------------------------------------------------------===//
// The order of accesses
//===----------------------------------------------------------------------===//

static bool isSame(const Access &access, const Clock &now) {
  return access.group == now.group && access.thread == now.thread;
}

/// A barrier of the group lies between the access and now. Groups are never
/// ordered among each other.
static bool isBeforeGroup(const Access &access, const Clock &now, Space space) {
  return access.group == now.group && access.epoch < now.epoch[space];
}

static bool isBeforeSimdgroup(const Access &access, const Clock &now,
                              Space space) {
  return access.group == now.group &&
         access.thread / kLanes == now.thread / kLanes &&
         access.simdEpoch < now.simdEpoch[space];
}

static bool isBefore(const Access &access, const Clock &now, Space space) {
  return isSame(access, now) || isBeforeGroup(access, now, space) ||
         isBeforeSimdgroup(access, now, space);
}

/// Everything that has been read of the cell was read before.
static bool readsAreBefore(const Cell &cell, const Clock &now, Space space) {
  switch (cell.readers) {
  case Readers::None:
    return true;
  case Readers::One:
    return isBefore(cell.read, now, space);
  case Readers::Simdgroup:
    return isBeforeGroup(cell.read, now, space) ||
           isBeforeSimdgroup(cell.read, now, space);
  case Readers::Group:
    return isBeforeGroup(cell.read, now, space);
  case Readers::Groups:
    return false;
  }
  return false;
}

static void noteRead(Cell &cell, const Access &access, const Clock &now,
                     Space space) {
  if (cell.readers == Readers::Groups)
    return;
  if (cell.readers == Readers::None) {
    cell.readers = Readers::One;
  } else if (cell.read.group != now.group) {
    cell.readers = Readers::Groups;
  } else if (readsAreBefore(cell, now, space)) {
    cell.readers = Readers::One;
  } else if (cell.read.thread / kLanes != now.thread / kLanes) {
    cell.readers = Readers::Group;
  } else if (cell.readers == Readers::One && cell.read.thread != now.thread) {
    cell.readers = Readers::Simdgroup;
  }
  cell.read = access;
}

bool corten::check::note(Cell &cell, AccessKind kind, const Clock &now,
                         Space space, Conflict &conflict) {
  Access access{now.group, now.thread, now.epoch[space], now.simdEpoch[space]};
  bool isAtomic = kind >= AccessKind::AtomicRead;
  bool isWrite = kind == AccessKind::Write || kind >= AccessKind::AtomicWrite;

  bool conflicts = false;
  if (cell.write && !isBefore(cell.write, now, space)) {
    conflict = {cell.write, AccessKind::Write};
    conflicts = true;
  } else if (!isAtomic && cell.atomic && !isBefore(cell.atomic, now, space)) {
    conflict = {cell.atomic, AccessKind::AtomicWrite};
    conflicts = true;
  } else if (isWrite && !readsAreBefore(cell, now, space)) {
    conflict = {cell.read, AccessKind::Read};
    conflicts = true;
  }

  if (kind == AccessKind::Read)
    noteRead(cell, access, now, space);
  else if (kind == AccessKind::Write)
    cell.write = access;
  else if (isWrite)
    cell.atomic = access;
  if (isWrite)
    cell.isInitialized = true;
  return conflicts;
}
