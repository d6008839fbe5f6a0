// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folders: what is read from them, and that writing one is all or nothing.

#include "corten/Asset/Asset.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <random>

using namespace corten;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

namespace {

class AssetTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(fs::createUniqueDirectory("corten-asset", root));
  }
  void TearDown() override { EXPECT_FALSE(fs::remove_directories(root)); }

  std::string path(StringRef name) const { return (root + "/" + name).str(); }

  static std::string read(const std::string &path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "(none)";
  }
  static void write(const std::string &path, StringRef bytes) {
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << bytes;
    ASSERT_FALSE(code);
  }
  static std::string input(StringRef name) {
    return read((CORTEN_TEST_INPUTS "/" + name + ".mlirb").str());
  }

  /// Writes an asset whose program is `bytes`; the message if that fails.
  std::string save(StringRef bytes, StringRef name,
                   const AssetMetadata &metadata = {},
                   SaveOptions options = {}) const {
    return llvm::toString(writeAsset(
        [&](llvm::raw_ostream &stream) {
          stream << bytes;
          return llvm::Error::success();
        },
        metadata, path(name), options));
  }

  /// The names in the folder, hidden ones included.
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    std::error_code code;
    for (fs::directory_iterator it(root, code), end; it != end && !code;
         it.increment(code))
      names.push_back(llvm::sys::path::filename(it->path()).str());
    llvm::sort(names);
    return names;
  }

  std::string openError(StringRef name) const {
    llvm::Expected<Asset> asset = Asset::open(path(name));
    return asset ? "" : llvm::toString(asset.takeError());
  }

  llvm::SmallString<128> root;
};

TEST_F(AssetTest, WhatWasReadIsWrittenByteForByte) {
  std::error_code code;
  int files = 0;
  for (fs::directory_iterator it(CORTEN_TEST_INPUTS, code), end;
       it != end && !code; it.increment(code)) {
    // What was found by fuzzing is no asset.
    if (!llvm::StringRef(it->path()).ends_with(".mlirb"))
      continue;
    ++files;
    std::string bytes = read(it->path());
    ASSERT_EQ(save(bytes, "in.aimodel"), "");
    llvm::Expected<Asset> asset = Asset::open(path("in.aimodel/"));
    ASSERT_TRUE(static_cast<bool>(asset));
    EXPECT_EQ(asset->checkHash(), Asset::HashState::Right);
    mlir::MLIRContext context;
    auto program = asset->code(context);
    ASSERT_TRUE(static_cast<bool>(program))
        << it->path() << llvm::toString(program.takeError());
    AssetMetadata metadata;
    metadata.author = "Ada";
    ASSERT_EQ(
        llvm::toString(writeAsset(**program, metadata, path("out.aimodel"))),
        "");
    EXPECT_EQ(read(path("out.aimodel/main.mlirb")), bytes) << it->path();
    EXPECT_EQ(read(path("out.aimodel/main.hash")),
              read(path("in.aimodel/main.hash")));
    llvm::Expected<Asset> again = Asset::open(path("out.aimodel"));
    ASSERT_TRUE(static_cast<bool>(again));
    EXPECT_EQ(again->metadata().author, "Ada");

    mlir::MLIRContext other;
    auto module = asset->program(other);
    EXPECT_TRUE(static_cast<bool>(module))
        << it->path() << llvm::toString(module.takeError());
  }
  EXPECT_GT(files, 10);
}

/// A program that was read outlives the asset and even its folder.
TEST_F(AssetTest, WeightsLieInTheMappedFile) {
  ASSERT_EQ(save(input("state"), "a.aimodel"), "");
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  StringRef mapped;
  {
    llvm::Expected<Asset> asset = Asset::open(path("a.aimodel"));
    ASSERT_TRUE(static_cast<bool>(asset));
    mapped = asset->bytecode();
    auto read = asset->program(context);
    ASSERT_TRUE(static_cast<bool>(read));
    module = std::move(*read);
  }
  ASSERT_FALSE(fs::remove_directories(path("a.aimodel")));
  int weights = 0;
  module->walk([&](mlir::Operation *op) {
    auto value = op->getAttrOfType<mlir::DenseResourceElementsAttr>("value");
    if (!value)
      return;
    ++weights;
    mlir::ArrayRef<char> data = value.getRawHandle().getBlob()->getData();
    EXPECT_GE(data.data(), mapped.begin());
    EXPECT_LE(data.end(), mapped.end());
    EXPECT_EQ(data.size(), 17u * 16u * 4u);
    EXPECT_NE(data[0], 0);
  });
  EXPECT_EQ(weights, 1);
}

TEST_F(AssetTest, HashIsThatOfTheStandard) {
  ASSERT_EQ(save("abc", "a.aimodel"), "");
  EXPECT_EQ(llvm::toHex(read(path("a.aimodel/main.hash")), /*LowerCase=*/true),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // Large enough to be hashed beside the writing.
  std::string large(5 << 20, 'a');
  ASSERT_EQ(save(large, "a.aimodel"), "");
  EXPECT_EQ(read(path("a.aimodel/main.mlirb")), large);
  EXPECT_EQ(Asset::open(path("a.aimodel"))->checkHash(),
            Asset::HashState::Right);
  write(path("a.aimodel/main.hash"), "short");
  EXPECT_EQ(Asset::open(path("a.aimodel"))->checkHash(),
            Asset::HashState::Wrong);
  ASSERT_FALSE(fs::remove(path("a.aimodel/main.hash")));
  EXPECT_EQ(Asset::open(path("a.aimodel"))->checkHash(),
            Asset::HashState::Missing);
}

/// Small pieces are gathered, large ones go out from where they lie, and what
/// does not fill a page waits for the next.
TEST_F(AssetTest, PiecesOfAnySize) {
  std::string bytes(11 << 20, '\0');
  std::mt19937 random(0);
  std::ranges::generate(bytes, [&] { return static_cast<char>(random()); });
  constexpr size_t kSizes[] = {1,       4095,          4096,    3 << 20,
                               1 << 20, (1 << 20) - 1, 2 << 20, (2 << 20) + 17,
                               0,       4097};
  llvm::Error error = writeAsset(
      [&](llvm::raw_ostream &stream) {
        StringRef rest = bytes;
        for (size_t index = 0; !rest.empty(); ++index) {
          StringRef piece = rest.take_front(kSizes[index % std::size(kSizes)]);
          // What is written may be changed as soon as the call is back.
          std::string passing = piece.str();
          stream << passing;
          passing.assign(passing.size(), '!');
          rest = rest.drop_front(piece.size());
          EXPECT_EQ(stream.tell(), bytes.size() - rest.size());
        }
        return llvm::Error::success();
      },
      {}, path("a.aimodel"));
  ASSERT_EQ(llvm::toString(std::move(error)), "");
  EXPECT_EQ(llvm::MD5::hash(llvm::arrayRefFromStringRef(
                read(path("a.aimodel/main.mlirb")))),
            llvm::MD5::hash(llvm::arrayRefFromStringRef(bytes)));
  EXPECT_EQ(Asset::open(path("a.aimodel"))->checkHash(),
            Asset::HashState::Right);
}

TEST_F(AssetTest, SaysHowMuchIsWritten) {
  // Several steps of a large piece.
  constexpr size_t kSize = size_t(40) << 20;
  std::vector<uint64_t> said;
  SaveOptions options;
  options.hash = false;
  options.progress = [&](uint64_t bytes) { said.push_back(bytes); };
  ASSERT_EQ(save(std::string(kSize, 'x'), "a.aimodel", {}, options), "");
  EXPECT_TRUE(std::ranges::is_sorted(said));
  ASSERT_GE(said.size(), 3u);
  EXPECT_LT(said.front(), kSize / 2);
  EXPECT_EQ(said.back(), kSize);
}

TEST_F(AssetTest, ReplacesWhatIsThere) {
  ASSERT_EQ(save("one", "a.aimodel"), "");
  write(path("a.aimodel/main-x.odix"), "stale");
  ASSERT_EQ(save("two", "a.aimodel"), "");
  EXPECT_EQ(read(path("a.aimodel/main.mlirb")), "two");
  EXPECT_EQ(read(path("a.aimodel/main-x.odix")), "(none)");
  // What is no asset only by force.
  write(path("b.aimodel"), "a plain file");
  EXPECT_NE(save("three", "b.aimodel"), "");
  EXPECT_EQ(read(path("b.aimodel")), "a plain file");
  ASSERT_EQ(save("three", "b.aimodel", {}, {.hash = true, .force = true}), "");
  EXPECT_EQ(read(path("b.aimodel/main.mlirb")), "three");
  EXPECT_EQ(entries(), (std::vector<std::string>{"a.aimodel", "b.aimodel"}));
}

TEST_F(AssetTest, NewFoldersHaveTheUsualPermissions) {
  mode_t mask = ::umask(022);
  ASSERT_EQ(save("one", "a.aimodel"), "");
  ::umask(mask);
  struct stat status;
  ASSERT_EQ(::stat(path("a.aimodel").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0755u);
  ASSERT_EQ(::stat(path("a.aimodel/main.mlirb").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

TEST_F(AssetTest, AFailureLeavesWhatWasThere) {
  ASSERT_EQ(save("one", "a.aimodel"), "");
  for (StringRef name : {"a.aimodel", "b.aimodel"}) {
    llvm::Error error = writeAsset(
        [&](llvm::raw_ostream &stream) {
          stream << std::string(3 << 20, 'x');
          return llvm::createStringError("no such program");
        },
        {}, path(name));
    EXPECT_EQ(llvm::toString(std::move(error)), "no such program");
  }
  EXPECT_EQ(read(path("a.aimodel/main.mlirb")), "one");
  EXPECT_EQ(entries(), std::vector<std::string>{"a.aimodel"});
}

/// A limit on the size of files stands in for a full disk.
TEST_F(AssetTest, AFullDiskLeavesWhatWasThere) {
  ASSERT_EQ(save("one", "a.aimodel"), "");
  struct rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit small = before;
  small.rlim_cur = 1 << 16;
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string message = save(std::string(3 << 20, 'x'), "a.aimodel");
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("main.mlirb: File too large"), std::string::npos)
      << message;
  EXPECT_EQ(read(path("a.aimodel/main.mlirb")), "one");
  EXPECT_EQ(entries(), std::vector<std::string>{"a.aimodel"});
}

TEST_F(AssetTest, RefusesOtherNames) {
  EXPECT_NE(save("one", "a.model").find("ends in .aimodel"), std::string::npos);
  EXPECT_NE(save("one", "nowhere/a.aimodel").find("No such file"),
            std::string::npos);
  EXPECT_TRUE(entries().empty());
}

TEST_F(AssetTest, SaysWhyAFolderIsNoAsset) {
  EXPECT_EQ(openError("a.aimodel"),
            path("a.aimodel") + ": No such file or directory");
  write(path("file.aimodel"), "");
  EXPECT_EQ(openError("file.aimodel"),
            path("file.aimodel") + ": not an asset, which is a folder");
  ASSERT_FALSE(fs::create_directory(path("a.aimodel")));
  EXPECT_EQ(openError("a.aimodel"),
            path("a.aimodel/main.mlirb") + ": No such file or directory");
  write(path("a.aimodel/main.mlirb"), "");
  EXPECT_EQ(openError("a.aimodel"), "");
  EXPECT_EQ(Asset::open(path("a.aimodel"))->metadata().assetVersion, "");
  write(path("a.aimodel/metadata.json"), "{}");
  EXPECT_EQ(openError("a.aimodel"),
            path("a.aimodel") +
                ": metadata.json: the key assetVersion is missing");
  ASSERT_FALSE(fs::remove(path("a.aimodel/main.mlirb")));
  ASSERT_EQ(::mkfifo(path("a.aimodel/main.mlirb").c_str(), 0600), 0);
  // Opening a pipe for reading waits for a writer.
  int writer = ::open(path("a.aimodel/main.mlirb").c_str(), O_RDWR);
  EXPECT_NE(openError("a.aimodel"), "");
  ::close(writer);
}

} // namespace
