// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/ReadWindow.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"

#include <algorithm>
#include <sys/mman.h>

using namespace corten;
using llvm::StringRef;

namespace {
/// A piece of memory whose pages come from a file.
struct FileMapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool isShared = false;
};
} // namespace

/// A line of /proc/self/maps: "BEGIN-END rw-p OFFSET DEVICE INODE   PATH".
static bool readMapping(StringRef line, FileMapping &mapping) {
  StringRef mode, inode;
  if (line.consumeInteger(16, mapping.begin) || !line.consume_front("-") ||
      line.consumeInteger(16, mapping.end))
    return false;
  std::tie(mode, line) = line.ltrim().split(' ');
  for (int field = 0; field < 2; ++field)
    line = line.ltrim().split(' ').second;
  std::tie(inode, line) = line.ltrim().split(' ');
  mapping.isShared = mode.ends_with("s");
  // Memory of devices is none of ours.
  return inode != "0" && line.ltrim().starts_with("/") &&
         !line.ltrim().starts_with("/dev/");
}

/// In the order of their addresses. Mappings come and go in other threads, so
/// nothing of this is kept; those that hold a weight stay as long as it does.
static llvm::SmallVector<FileMapping> fileMappings() {
  llvm::SmallVector<FileMapping> mappings;
  auto text = llvm::MemoryBuffer::getFileAsStream("/proc/self/maps");
  if (!text)
    return mappings;
  StringRef rest = (*text)->getBuffer();
  while (!rest.empty()) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    FileMapping mapping;
    if (readMapping(line, mapping))
      mappings.push_back(mapping);
  }
  return mappings;
}

/// Pages of a shared mapping can go: the file has what was written to them. In
/// a private one some may have been written to and be nowhere else. The kernel
/// tells them apart when it is asked to make room, and drops the others.
static void giveBackPages(uint64_t begin, uint64_t end, bool isShared) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives addresses.
  (void)::madvise(reinterpret_cast<void *>(begin), end - begin,
                  isShared ? MADV_DONTNEED : MADV_PAGEOUT);
}

void ReadWindow::announce(StringRef bytes) {
  if (bytes.empty())
    return;
  uint64_t begin = llvm::alignDown(reinterpret_cast<uintptr_t>(bytes.begin()),
                                   llvm::sys::Process::getPageSizeEstimate());
  uint64_t end = reinterpret_cast<uintptr_t>(bytes.end());
  // A wish, and none for memory that is in no file.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives addresses.
  (void)::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_WILLNEED);
}

void ReadWindow::giveBack() {
  if (pending.empty())
    return;
  llvm::SmallVector<FileMapping> mappings = fileMappings();
  uint64_t page = llvm::sys::Process::getPageSizeEstimate();
  for (StringRef bytes : pending) {
    uint64_t begin =
        llvm::alignDown(reinterpret_cast<uintptr_t>(bytes.begin()), page);
    uint64_t end =
        llvm::alignTo(reinterpret_cast<uintptr_t>(bytes.end()), page);
    auto *mapping = llvm::partition_point(
        mappings, [&](const FileMapping &entry) { return entry.end <= begin; });
    for (; mapping != mappings.end() && mapping->begin < end; ++mapping)
      giveBackPages(std::max(begin, mapping->begin),
                    std::min(end, mapping->end), mapping->isShared);
  }
  pending.clear();
  size = 0;
  isLarge = true;
}

ReadWindow::~ReadWindow() {
  if (isLarge)
    giveBack();
}

void ReadWindow::passed(StringRef bytes, size_t resident) {
  if (bytes.empty())
    return;
  if (!pending.empty() && pending.back().end() == bytes.begin())
    pending.back() =
        StringRef(pending.back().begin(), pending.back().size() + bytes.size());
  else
    pending.push_back(bytes);
  size += resident;
  // With the step that follows, no more than a window.
  if (size + kStep > kSize)
    giveBack();
}
