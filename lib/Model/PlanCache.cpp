// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PlanCache.h"

#include "corten/Runtime/PlanFile.h"
#include "corten/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdlib>
#include <map>

#include <dlfcn.h>

using namespace corten;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Smaller ones are compiled in no time.
static constexpr uint64_t kSmallestAsset = uint64_t(1) << 22;
/// 8 GiB.
static constexpr uint64_t kLimit = uint64_t(1) << 33;

/// Empty if there is none.
static std::string cacheFolder() {
  if (const char *chosen = std::getenv("CORTEN_CACHE"))
    return llvm::StringRef(chosen) == "0" ? std::string() : chosen;
  llvm::SmallString<128> folder;
  if (!path::cache_directory(folder))
    return {};
  path::append(folder, "corten");
  return std::string(folder);
}

static uint64_t cacheLimit() {
  const char *chosen = std::getenv("CORTEN_CACHE_LIMIT");
  uint64_t mebibytes = 0;
  if (!chosen || llvm::StringRef(chosen).getAsInteger(10, mebibytes))
    return kLimit;
  return mebibytes << 20;
}

/// What tells a file from one that was there before it.
static std::optional<std::string> markOf(llvm::StringRef file) {
  fs::file_status status;
  if (fs::status(file, status) || status.type() != fs::file_type::regular_file)
    return std::nullopt;
  return std::to_string(status.getSize()) + " " +
         std::to_string(
             status.getLastModificationTime().time_since_epoch().count()) +
         " " + std::to_string(status.getUniqueID().getFile());
}

/// Of the file that this code is in: another compiler makes other plans.
static std::string ownMark() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void *>(&ownMark), &info) ||
      !info.dli_fname)
    return {};
  // A program is called what it was called by: that need not be a path.
  bool isPath = path::is_absolute(info.dli_fname);
  return markOf(isPath ? info.dli_fname : "/proc/self/exe").value_or("");
}

std::optional<CachedPlan> CachedPlan::of(llvm::StringRef asset,
                                         llvm::StringRef precision) {
  std::string folder = cacheFolder();
  if (folder.empty() || !fs::is_directory(asset))
    return std::nullopt;
  llvm::SmallString<256> program(asset);
  path::append(program, "main.mlirb");
  (void)fs::make_absolute(program);
  uint64_t size = 0;
  std::optional<std::string> mark = markOf(program);
  if (!mark || fs::file_size(program, size) || size < kSmallestAsset)
    return std::nullopt;
  std::string key = "corten " CORTEN_VERSION_STRING " " + ownMark() + "\n" +
                    std::string(program) + "\n" + *mark;
  if (!precision.empty())
    key += "\n" + precision.str();
  CachedPlan plan;
  plan.folder = folder;
  llvm::SmallString<256> stem(folder);
  path::append(stem, runtime::digestOf(std::as_bytes(std::span(key))));
  plan.stem = std::string(stem);
  return plan;
}

/// Files that are used last are kept longest.
static void touch(const std::string &file) {
  int descriptor = 0;
  if (fs::openFileForReadWrite(file, descriptor, fs::CD_OpenExisting,
                               fs::OF_None))
    return;
  (void)fs::setLastAccessAndModificationTime(descriptor,
                                             std::chrono::system_clock::now());
  fs::file_t handle = fs::convertFDToNativeFile(descriptor);
  (void)fs::closeFile(handle);
}

std::shared_ptr<runtime::Model>
CachedPlan::load(const runtime::LoadOptions &options) {
  if (!fs::exists(planPath()))
    return nullptr;
  auto model = runtime::Model::load(planPath(), options);
  if (!model) {
    // Of another machine, damaged, or out of memory: compiling tells.
    (void)model.takeError();
    return nullptr;
  }
  touch(planPath());
  return std::move(*model);
}

void CachedPlan::store(llvm::StringRef plan) {
  if (fs::create_directories(folder))
    return;
  auto write = [&](llvm::raw_ostream &out) {
    out << plan;
    return llvm::Error::success();
  };
  llvm::consumeError(llvm::writeToOutput(planPath(), write));
}

void CachedPlan::finish() {
  /// By when they were used: what belongs to one plan goes together.
  struct Entry {
    llvm::sys::TimePoint<> used;
    uint64_t bytes = 0;
    std::vector<std::string> files;
  };
  std::map<std::string, Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error)) {
    fs::file_status status;
    auto [digest, kind] = path::filename(it->path()).split('.');
    // The folder may have files of others.
    bool isOwn = digest.size() == 32 &&
                 llvm::all_of(digest, llvm::isHexDigit) &&
                 (kind.starts_with("cplan") || kind.starts_with("weights"));
    if (!isOwn || fs::status(it->path(), status))
      continue;
    Entry &entry = entries[digest.str()];
    entry.bytes += status.getSize();
    entry.used = std::max(entry.used, status.getLastModificationTime());
    entry.files.push_back(it->path());
    total += status.getSize();
  }
  auto oldest = llvm::to_vector(llvm::make_second_range(entries));
  llvm::sort(oldest,
             [](const Entry &a, const Entry &b) { return a.used < b.used; });
  uint64_t limit = cacheLimit();
  for (const Entry &entry : oldest) {
    if (total <= limit)
      return;
    for (const std::string &file : entry.files)
      (void)fs::remove(file);
    total -= entry.bytes;
  }
}
