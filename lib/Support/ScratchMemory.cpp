// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/ScratchMemory.h"

#include "corten/Support/Bytes.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace corten;
namespace fs = llvm::sys::fs;

/// Not /tmp, which is memory on many machines.
static llvm::SmallString<128> scratchFolder() {
  llvm::SmallString<128> folder;
  if (const char *chosen = std::getenv("TMPDIR"); chosen && *chosen)
    folder = chosen;
  else
    llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/false, folder);
  return folder;
}

/// A file that goes when nobody has it open or mapped; negative if there cannot
/// be one.
static int openUnnamed() {
  llvm::SmallString<128> folder = scratchFolder();
  int file = llvm::sys::RetryAfterSignal(-1, ::open, folder.c_str(),
                                         O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0)
    return file;
  // Not every file system has files that never had a name.
  llvm::SmallString<128> path;
  if (fs::createUniqueFile(folder + "/corten-%%%%%%%%%%%%", file, path,
                           fs::OF_None, fs::owner_read | fs::owner_write))
    return -1;
  ::unlink(path.c_str());
  return file;
}

static std::shared_ptr<char> mapUnnamed(size_t size) {
  int file = openUnnamed();
  if (file < 0)
    return nullptr;
  // A page for which the disk turns out to have no room ends the process when
  // it is written to: the room is taken now.
  void *memory = MAP_FAILED;
  if (::posix_fallocate(file, 0, static_cast<off_t>(size)) == 0)
    memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED)
    return nullptr;
  return {static_cast<char *>(memory),
          [size](char *held) { ::munmap(held, size); }};
}

std::shared_ptr<char> corten::allocateScratch(size_t size) {
  if (size >= kLeastScratch)
    if (std::shared_ptr<char> memory = mapUnnamed(size))
      return memory;
  return allocateElements(size);
}
