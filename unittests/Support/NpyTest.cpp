// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/Npy.h"

#include "corten/Support/Zip.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

using namespace corten;
using llvm::StringRef;

namespace {

/// A file that is gone with the test.
class File {
public:
  explicit File(StringRef suffix, StringRef content) {
    int descriptor = 0;
    EXPECT_FALSE(
        llvm::sys::fs::createTemporaryFile("npy", suffix, descriptor, path));
    llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << content;
  }
  ~File() { llvm::sys::fs::remove(path); }

  llvm::SmallString<64> path;
};

std::string messageOf(StringRef path) {
  auto arrays = readNpz(path);
  return arrays ? "no error" : llvm::toString(arrays.takeError());
}

TEST(NpyTest, SeveralArraysGoBothWays) {
  float numbers[] = {1, 2, 3, 4, 5, 6};
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(numbers),
                             sizeof(numbers));
  std::string text;
  llvm::raw_string_ostream os(text);
  writeNpz(os, {{"x", "<f4", {2, 3}, bytes},
                {"a longer name", "|u1", {3}, bytes.take_front(3)},
                {"empty", "<i8", {0, 4}, {}}});
  File file("npz", text);
  auto arrays = readNpz(file.path);
  ASSERT_TRUE(bool(arrays)) << llvm::toString(arrays.takeError());
  ASSERT_EQ(arrays->size(), 3u);
  auto &[name, array] = arrays->front();
  EXPECT_EQ(name, "x");
  EXPECT_EQ(array.type, "f4");
  EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(array.elements.data, StringRef(bytes.data(), bytes.size()));
  for (auto &[entry, other] : *arrays)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(other.elements.data.data()) % 8, 0u)
        << entry;
  EXPECT_EQ((*arrays)[1].first, "a longer name");
  EXPECT_EQ((*arrays)[2].second.shape, (std::vector<int64_t>{0, 4}));
}

TEST(NpyTest, DamagedArchives) {
  std::string text;
  llvm::raw_string_ostream os(text);
  writeNpz(os, {{"x", "|u1", {3}, {'a', 'b', 'c'}}});
  EXPECT_EQ(messageOf("nowhere.npz"), "nowhere.npz: No such file or directory");
  File cut("npz", StringRef(text).drop_back(5));
  EXPECT_TRUE(StringRef(messageOf(cut.path)).contains("archive"));
  size_t at = text.find("abc");
  text[at] = 'z';
  File flipped("npz", text);
  EXPECT_TRUE(StringRef(messageOf(flipped.path)).contains("damaged"));

  std::string other;
  llvm::raw_string_ostream otherOs(other);
  ZipWriter zip(otherOs);
  zip.add("x.npy", {"no ", "array at all"});
  zip.finish();
  File noArray("npz", other);
  EXPECT_TRUE(
      StringRef(messageOf(noArray.path))
          .ends_with(": x: no array that NumPy wrote: it begins otherwise"));
}

} // namespace
