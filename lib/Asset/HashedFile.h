// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A new file that is written from front to back, is hashed on the way if
// that is wanted, and is on the disk when it is finished.
//
// An asset is as large as its weights, so this is what saving one takes. The
// hash is the slowest part and cannot be divided: the thread that writes to
// this stream does little else. Others hand the bytes to the disk meanwhile,
// past the page cache where the file system can do that (filling the cache
// first costs several times as much as the transfer).

#ifndef CORTEN_LIB_ASSET_HASHEDFILE_H
#define CORTEN_LIB_ASSET_HASHEDFILE_H

#include "corten/Support/Digest.h"
#include "corten/Support/ReadWindow.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace corten {

class HashedFile : public llvm::raw_pwrite_stream {
public:
  enum class Hash { None, Sha256 };

  /// Fails if there is something at `path`.
  static llvm::Expected<std::unique_ptr<HashedFile>>
  create(const std::string &path, Hash hash);
  ~HashedFile() override;

  /// Is told of every few megabytes how many there are so far.
  void setProgress(std::function<void(uint64_t)> callback) {
    progress = std::move(callback);
  }

  /// Everything is on the disk when this succeeds. Nothing may follow.
  llvm::Expected<std::optional<Digest>> finish();

private:
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };

  using Memory = std::unique_ptr<char, Free>;

  /// Bytes for a place in the file. They stay where they are until it is done.
  struct Transfer {
    const char *data;
    size_t size;
    uint64_t offset;
  };

  HashedFile(std::string path, int descriptor, Hash hash, Memory first,
             Memory second);

  static Memory allocateBlock();

  void write_impl(const char *data, size_t size) override;
  void pwrite_impl(const char *data, size_t size, uint64_t offset) override;
  uint64_t current_pos() const override { return offset + filled; }

  void update(const char *data, size_t size);
  void report(uint64_t bytes) const;
  void gather(const char *data, size_t size);
  void flushGathered();
  void writeLarge(const char *data, size_t size);

  void post(Transfer transfer);
  void await(uint64_t end = UINT64_MAX);
  void startWriters();
  void stopWriters();
  void serveTransfers(Memory bounce);
  std::error_code perform(Transfer transfer, char *bounce);

  void makeRoom(uint64_t end);
  void setDirect(bool value);

  std::string path;
  int descriptor;
  std::function<void(uint64_t)> progress;
  /// Null if there is to be none.
  std::unique_ptr<Sha256> hash;
  /// What was written from where it lies.
  ReadWindow window;
  /// Small pieces are gathered in one block while the other is written.
  Memory block, onItsWay;
  /// How many bytes lie in the block, and where in the file it begins.
  size_t filled = 0;
  uint64_t offset = 0;
  /// Up to where the file system has set room aside.
  uint64_t room = 0;
  std::vector<std::thread> writers;

  /// Guards what follows.
  std::mutex mutex;
  std::condition_variable posted, performed;
  std::deque<Transfer> transfers;
  llvm::SmallVector<Transfer, 2> underWay;
  bool isClosing = false;
  /// The first failure; what comes after it is dropped.
  std::error_code error;
};

} // namespace corten

#endif // CORTEN_LIB_ASSET_HASHEDFILE_H
