// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DirectFile.h"

#include "llvm/Support/Errno.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

using namespace corten;

/// A multiple of what any disk wants transfers to be aligned to.
static constexpr size_t kBlock = size_t(8) << 20;
static constexpr size_t kAlignment = 4096;

static std::error_code lastError() { return {errno, std::generic_category()}; }

llvm::Expected<std::unique_ptr<DirectFile>>
DirectFile::create(const std::string &path) {
  auto allocate = [] {
    return Block(static_cast<char *>(std::aligned_alloc(kAlignment, kBlock)));
  };
  Block first = allocate(), second = allocate();
  if (!first || !second)
    return llvm::createStringError(path + ": no memory to write it");
  int descriptor = llvm::sys::RetryAfterSignal(
      -1, ::open, path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return llvm::createStringError(path + ": " + lastError().message());
  return std::unique_ptr<DirectFile>(
      new DirectFile(descriptor, std::move(first), std::move(second)));
}

DirectFile::~DirectFile() {
  await();
  if (descriptor >= 0)
    ::close(descriptor);
}

/// Not every file system can: then the file is written like any other.
bool DirectFile::setDirect(bool value) {
  int flags = ::fcntl(descriptor, F_GETFL);
  flags = value ? flags | O_DIRECT : flags & ~O_DIRECT;
  if (::fcntl(descriptor, F_SETFL, flags) != 0)
    return false;
  isDirect = value;
  return true;
}

void DirectFile::writeAll(const char *data, size_t size) {
  while (size > 0 && !error) {
    ssize_t count =
        llvm::sys::RetryAfterSignal(-1, ::write, descriptor, data, size);
    if (count < 0) {
      // Some file systems only tell when they are asked to do it.
      if (errno == EINVAL && isDirect && setDirect(false))
        continue;
      error = lastError();
      return;
    }
    data += count;
    size -= count;
  }
}

void DirectFile::await() {
  if (writing.valid())
    writing.get();
}

void DirectFile::append(const char *data, size_t size) {
  while (size > 0) {
    size_t count = std::min(size, kBlock - filled);
    std::memcpy(block.get() + filled, data, count);
    filled += count;
    data += count;
    size -= count;
    if (filled < kBlock)
      return;
    await();
    filled = 0;
    if (error)
      return;
    // A file of less than a block is not worth it.
    if (!isDirect)
      (void)setDirect(true);
    std::swap(block, onItsWay);
    // Without a thread to be had this is done when it is waited for.
    writing = std::async(std::launch::async | std::launch::deferred,
                         [this] { writeAll(onItsWay.get(), kBlock); });
  }
}

std::error_code DirectFile::finish() {
  await();
  if (isDirect && !setDirect(false) && !error)
    error = lastError();
  writeAll(block.get(), std::exchange(filled, 0));
  if (!error && ::fsync(descriptor) != 0)
    error = lastError();
  if (::close(std::exchange(descriptor, -1)) != 0 && !error)
    error = lastError();
  return error;
}
