// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Unfinished.h"

#include "corten/Asset/Asset.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace corten;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

/// A handler can neither lock nor allocate: this is all that it reads.
static std::array<std::atomic<const char *>, 8> unfinished;

UnfinishedFolder::UnfinishedFolder(std::string path) : folder(std::move(path)) {
  for (; slot < unfinished.size(); ++slot) {
    const char *none = nullptr;
    if (unfinished[slot].compare_exchange_strong(none, folder.c_str()))
      return;
  }
}

UnfinishedFolder::~UnfinishedFolder() {
  if (slot < unfinished.size())
    unfinished[slot] = nullptr;
  if (descriptor >= 0)
    ::close(descriptor);
}

//===----------------------------------------------------------------------===//
// Writers that are gone
//===----------------------------------------------------------------------===//

/// How many digits tell folders of one target apart.
static constexpr size_t kDigits = 8;

std::string corten::unfinishedPattern(StringRef target) {
  llvm::SmallString<256> path(llvm::sys::path::parent_path(target));
  llvm::sys::path::append(path, "." + llvm::sys::path::filename(target) + "." +
                                    std::string(kDigits, '%'));
  return path.str().str();
}

std::string corten::asideOf(StringRef folder) {
  return (folder + ".old").str();
}

/// A lock goes when its process does, whatever ended that. False if another
/// has it; where the file system has no locks, nobody has.
static bool tryLock(int descriptor) {
  return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

bool UnfinishedFolder::lock() {
  descriptor =
      ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat locked = {}, named = {};
  return descriptor >= 0 && tryLock(descriptor) &&
         ::fstat(descriptor, &locked) == 0 &&
         ::stat(folder.c_str(), &named) == 0 && locked.st_ino == named.st_ino;
}

/// Removes a folder or a file, unless somebody is writing it. Where it cannot
/// be known, it stays.
static void removeUnlocked(const std::string &path) {
  int descriptor =
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0)
    return;
  // Failures change nothing for whoever saves something else.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    (void)fs::remove_directories(path);
    (void)fs::remove(path);
  }
  ::close(descriptor);
}

void corten::removeAbandoned(StringRef target) {
  StringRef parent = llvm::sys::path::parent_path(target);
  std::string prefix = ("." + llvm::sys::path::filename(target) + ".").str();
  std::error_code code;
  for (fs::directory_iterator entry(parent.empty() ? "." : parent, code), end;
       !code && entry != end; entry.increment(code)) {
    StringRef name = llvm::sys::path::filename(entry->path());
    if (!name.consume_front(prefix))
      continue;
    // Without a target this may be all that is left of it.
    bool isAside = name.consume_back(asideOf(""));
    if (name.size() == kDigits && llvm::all_of(name, llvm::isHexDigit) &&
        (!isAside || fs::exists(target)))
      removeUnlocked(entry->path());
  }
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// Removes a file of an asset, in the steps that a handler may take.
static void removeFile(const char *folder, std::string_view name) {
  std::array<char, PATH_MAX> path = {};
  size_t length = std::strlen(folder);
  if (length + name.size() >= path.size())
    return;
  std::memcpy(path.data(), folder, length);
  std::memcpy(path.data() + length, name.data(), name.size());
  ::unlink(path.data());
}

/// Other threads go on meanwhile, and may make another of the files.
static void removeFolder(const char *path) {
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    for (std::string_view name :
         {"/main.mlirb", "/metadata.json", "/main.hash"})
      removeFile(path, name);
    if (::rmdir(path) == 0 || errno != ENOTEMPTY)
      return;
  }
}

static void removeAndDie(int signal) {
  for (std::atomic<const char *> &folder : unfinished)
    if (const char *path = folder.exchange(nullptr))
      removeFolder(path);
  // As if nobody had handled it: whoever waits sees which signal it was.
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void corten::removeUnfinishedAssetsOnSignals() {
  for (int signal : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction action = {};
    // One that is ignored stays so, as under nohup.
    if (::sigaction(signal, nullptr, &action) != 0 ||
        action.sa_handler != SIG_DFL)
      continue;
    action.sa_handler = removeAndDie;
    ::sigaction(signal, &action, nullptr);
  }
}
