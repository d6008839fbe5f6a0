// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HashedFile.h"

#include "corten/Support/Limits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

using namespace corten;

/// A multiple of what any disk wants transfers to be aligned to.
static constexpr size_t kAlignment = kPageBytes;
static constexpr size_t kBlock = size_t(2) << 20;
/// Two transfers on their way keep the disk busy.
static constexpr unsigned kWriters = 2;
/// Room is set aside in steps of this size: transfers that make the file grow
/// exclude one another.
static constexpr uint64_t kRoom = uint64_t(128) << 20;

static std::error_code lastError() { return {errno, std::generic_category()}; }

HashedFile::Memory HashedFile::allocateBlock() {
  return Memory(static_cast<char *>(std::aligned_alloc(kAlignment, kBlock)));
}

llvm::Expected<std::unique_ptr<HashedFile>>
HashedFile::create(const std::string &path, Hash hash) {
  Memory first = allocateBlock(), second = allocateBlock();
  if (!first || !second)
    return llvm::createStringError(path + ": no memory to write it");
  int descriptor = llvm::sys::RetryAfterSignal(
      -1, ::open, path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return llvm::createStringError(path + ": " + lastError().message());
  return std::unique_ptr<HashedFile>(new HashedFile(
      path, descriptor, hash, std::move(first), std::move(second)));
}

HashedFile::HashedFile(std::string path, int descriptor, Hash hash,
                       Memory first, Memory second)
    : path(std::move(path)), descriptor(descriptor),
      hash(hash == Hash::Sha256 ? std::make_unique<Sha256>() : nullptr),
      block(std::move(first)), onItsWay(std::move(second)) {
  // The blocks are the buffer.
  SetUnbuffered();
}

HashedFile::~HashedFile() {
  stopWriters();
  if (descriptor >= 0)
    ::close(descriptor);
}

//===----------------------------------------------------------------------===//
// The stream
//===----------------------------------------------------------------------===//

void HashedFile::write_impl(const char *data, size_t size) {
  constexpr size_t kLarge = kBlock / 2;
  if (size >= kLarge)
    return writeLarge(data, size);
  size_t count = std::min(size, kBlock - filled);
  gather(data, count);
  if (filled == kBlock)
    flushGathered();
  gather(data + count, size - count);
  // Many small weights make a large model too.
  if (size >= kAlignment)
    window.passed({data, size});
}

void HashedFile::pwrite_impl(const char *data, size_t size, uint64_t offset) {
  llvm_unreachable("bytes that were hashed are not written again");
}

void HashedFile::update(const char *data, size_t size) {
  if (hash)
    hash->update({data, size});
}

void HashedFile::report(uint64_t bytes) const {
  if (progress)
    progress(bytes);
}

void HashedFile::gather(const char *data, size_t size) {
  std::memcpy(block.get() + filled, data, size);
  filled += size;
}

/// The other block is free again when this returns, and is the one to fill.
void HashedFile::flushGathered() {
  await();
  post({block.get(), filled, offset});
  update(block.get(), filled);
  offset += filled;
  report(offset);
  filled = 0;
  std::swap(block, onItsWay);
}

/// Hashes and writes at the same time, from where the bytes lie.
void HashedFile::writeLarge(const char *data, size_t size) {
  size_t head = llvm::offsetToAlignment(filled, llvm::Align(kAlignment));
  gather(data, head);
  flushGathered();
  data += head;
  size -= head;
  size_t tail = size % kAlignment;
  size_t middle = size - tail;
  constexpr size_t kStep = ReadWindow::kStep;
  size_t step = 0;
  for (size_t at = 0; at < middle; at += step) {
    // The one before may leave when it has been both hashed and written.
    size_t before = std::exchange(step, std::min(kStep, middle - at));
    // The disk goes on while this step is hashed.
    size_t next = at + step;
    ReadWindow::announce({data + next, std::min(kStep, middle - next)});
    for (size_t block = at; block < at + step; block += kBlock)
      post({data + block, std::min(kBlock, at + step - block), offset + block});
    update(data + at, step);
    await(offset + at);
    window.passed({data + at - before, before});
    report(offset + at + step);
  }
  offset += middle;
  // The caller may do what it likes with its bytes afterwards.
  await();
  window.passed({data + middle - step, step});
  gather(data + middle, tail);
}

llvm::Expected<std::optional<Digest>> HashedFile::finish() {
  await();
  stopWriters();
  // Direct transfers are whole; what is too much is cut off again.
  uint64_t size = offset + filled;
  size_t whole = llvm::alignTo(filled, kAlignment);
  std::memset(block.get() + filled, 0, whole - filled);
  update(block.get(), filled);
  if (!error)
    error = perform({block.get(), whole, offset}, /*bounce=*/nullptr);
  if (!error && ::ftruncate(descriptor, size) != 0)
    error = lastError();
  if (!error && ::fsync(descriptor) != 0)
    error = lastError();
  if (::close(std::exchange(descriptor, -1)) != 0 && !error)
    error = lastError();
  if (error)
    return llvm::createStringError(path + ": " + error.message());
  return hash ? std::optional(hash->finish()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// The disk
//===----------------------------------------------------------------------===//

/// Not every file system can: then the file is written like any other.
void HashedFile::setDirect(bool value) {
  int flags = ::fcntl(descriptor, F_GETFL);
  flags = value ? flags | O_DIRECT : flags & ~O_DIRECT;
  (void)::fcntl(descriptor, F_SETFL, flags);
}

/// A wish: what is not granted shows when the bytes are written.
void HashedFile::makeRoom(uint64_t end) {
  while (room < end && ::fallocate(descriptor, 0, room, kRoom) == 0)
    room += kRoom;
}

std::error_code HashedFile::perform(Transfer transfer, char *bounce) {
  auto [data, size, offset] = transfer;
  if (bounce && !llvm::isAddrAligned(llvm::Align(kAlignment), data)) {
    std::memcpy(bounce, data, size);
    data = bounce;
  }
  while (size > 0) {
    ssize_t count = llvm::sys::RetryAfterSignal(-1, ::pwrite, descriptor, data,
                                                size, offset);
    if (count < 0) {
      // Some file systems only tell when they are asked to do it.
      if (errno == EINVAL && (::fcntl(descriptor, F_GETFL) & O_DIRECT)) {
        setDirect(false);
        continue;
      }
      return lastError();
    }
    data += count;
    size -= count;
    offset += count;
  }
  return {};
}

void HashedFile::serveTransfers(Memory bounce) {
  std::unique_lock lock(mutex);
  while (true) {
    posted.wait(lock, [&] { return isClosing || !transfers.empty(); });
    if (transfers.empty())
      return;
    Transfer transfer = transfers.front();
    transfers.pop_front();
    underWay.push_back(transfer);
    lock.unlock();
    std::error_code failure = perform(transfer, bounce.get());
    lock.lock();
    llvm::erase_if(underWay, [&](const Transfer &other) {
      return other.offset == transfer.offset;
    });
    if (failure && !error)
      error = failure;
    if (error)
      transfers.clear();
    performed.notify_one();
  }
}

/// A file of less than a block is not worth it. One of them is enough.
void HashedFile::startWriters() {
  setDirect(true);
  std::error_code failure = std::make_error_code(std::errc::not_enough_memory);
  try {
    while (writers.size() < kWriters)
      if (Memory bounce = allocateBlock())
        writers.emplace_back(&HashedFile::serveTransfers, this,
                             std::move(bounce));
      else
        break;
  } catch (const std::system_error &exception) {
    failure = exception.code();
  }
  if (writers.empty())
    error = failure;
}

void HashedFile::stopWriters() {
  {
    std::scoped_lock lock(mutex);
    isClosing = true;
    transfers.clear();
  }
  posted.notify_all();
  for (std::thread &writer : writers)
    writer.join();
  writers.clear();
}

void HashedFile::post(Transfer transfer) {
  makeRoom(transfer.offset + transfer.size);
  if (writers.empty())
    startWriters();
  {
    std::scoped_lock lock(mutex);
    if (error)
      return;
    transfers.push_back(transfer);
  }
  posted.notify_one();
}

/// Returns when nothing is left to be written in front of this place.
void HashedFile::await(uint64_t end) {
  std::unique_lock lock(mutex);
  auto isInFront = [&](const Transfer &transfer) {
    return transfer.offset < end;
  };
  performed.wait(lock, [&] {
    return llvm::none_of(transfers, isInFront) &&
           llvm::none_of(underWay, isInFront);
  });
}
