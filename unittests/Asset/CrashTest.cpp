// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writers that are ended in the middle: what was at the place of the asset, and
// nothing else, is there afterwards.

#include "corten/Asset/Asset.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

using namespace corten;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

namespace {

class CrashTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(fs::createUniqueDirectory("corten-crash", root));
    target = (root + "/a.aimodel").str();
  }
  void TearDown() override { ASSERT_FALSE(fs::remove_directories(root)); }

  llvm::Error save(llvm::function_ref<void(llvm::raw_ostream &)> write) const {
    return writeAsset(
        [&](llvm::raw_ostream &stream) {
          write(stream);
          return llvm::Error::success();
        },
        {}, target);
  }

  /// Runs `work` in a process of its own, which it is not to outlive.
  static pid_t start(llvm::function_ref<void()> work) {
    pid_t child = ::fork();
    if (child == 0) {
      work();
      std::_Exit(0);
    }
    return child;
  }
  /// The signal that ended the process; 0 if none did.
  static int wait(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

  /// What the program of the asset consists of, if it is whole.
  std::string content() const {
    llvm::Expected<Asset> asset = Asset::open(target);
    if (!asset)
      return llvm::toString(asset.takeError());
    if (asset->checkHash() != Asset::HashState::Right)
      return "a hash that is not that of the program";
    StringRef bytes = asset->bytecode();
    return bytes.size() == kSize &&
                   bytes.find_first_not_of(bytes.front()) == StringRef::npos
               ? bytes.take_front().str()
               : "a part of a program";
  }

  /// In the folder of the target.
  int countEntries() const {
    std::error_code code;
    int count = 0;
    for (fs::directory_iterator it(root, code), end; it != end && !code;
         it.increment(code))
      ++count;
    return count;
  }

  static constexpr size_t kSize = size_t(5) << 20;
  llvm::SmallString<128> root;
  std::string target;
};

TEST_F(CrashTest, KilledWhileItWrites) {
  ASSERT_FALSE(
      save([](llvm::raw_ostream &s) { s << std::string(kSize, 'a'); }));
  for (size_t written : {size_t(0), size_t(1), kSize / 2, kSize}) {
    pid_t child = start([&] {
      llvm::consumeError(save([&](llvm::raw_ostream &stream) {
        stream << std::string(written, 'b');
        stream.flush();
        ::raise(SIGKILL);
      }));
    });
    ASSERT_EQ(wait(child), SIGKILL);
    EXPECT_EQ(content(), "a") << "after " << written << " bytes";
  }
  // The next one that is not killed removes what they have left.
  EXPECT_GT(countEntries(), 1);
  ASSERT_FALSE(
      save([](llvm::raw_ostream &s) { s << std::string(kSize, 'c'); }));
  EXPECT_EQ(countEntries(), 1);
}

TEST_F(CrashTest, NothingIsThereIfNothingWas) {
  pid_t child = start([&] {
    llvm::consumeError(save([](llvm::raw_ostream &stream) {
      stream << std::string(kSize, 'b');
      ::raise(SIGKILL);
    }));
  });
  ASSERT_EQ(wait(child), SIGKILL);
  EXPECT_FALSE(fs::exists(target));
}

/// Whenever it comes, also when folders change places.
TEST_F(CrashTest, KilledAtSomeTime) {
  ASSERT_FALSE(
      save([](llvm::raw_ostream &s) { s << std::string(kSize, 'a'); }));
  for (int attempt = 0; attempt < 20; ++attempt) {
    pid_t child = start([&] {
      for (char letter = 'b';; letter = letter == 'z' ? 'a' : letter + 1)
        llvm::consumeError(save([&](llvm::raw_ostream &stream) {
          stream << std::string(kSize, letter);
        }));
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(7 * attempt));
    ::kill(child, SIGKILL);
    ASSERT_EQ(wait(child), SIGKILL);
    ASSERT_EQ(content().size(), 1u) << content();
  }
}

/// Where nobody can make a folder, not even the superuser.
TEST_F(CrashTest, AFolderThatTakesNothing) {
  target = "/proc/a.aimodel";
  std::string message =
      llvm::toString(save([](llvm::raw_ostream &stream) { stream << "a"; }));
  EXPECT_NE(message.find("/proc"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(target));
}

} // namespace
