// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Unfinished.h"

#include "corten/Asset/Asset.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <string_view>
#include <unistd.h>
#include <utility>

using namespace corten;

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
}

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
