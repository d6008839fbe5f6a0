// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that were cut off, damaged or made to do harm: each is refused with a
// reason, or read; none ends the process.

#include "corten/Asset/Asset.h"
#include "corten/Asset/Translation.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

#include <random>

using namespace corten;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

/// The files of the corpus that are right.
static std::vector<std::string> inputs() {
  std::vector<std::string> result;
  std::error_code code;
  for (fs::directory_iterator it(CORTEN_TEST_INPUTS, code), end;
       it != end && !code; it.increment(code))
    if (StringRef(it->path()).ends_with(".mlirb"))
      result.push_back(
          (*llvm::MemoryBuffer::getFile(it->path()))->getBuffer().str());
  return result;
}

/// Reads `bytes` all the way to a program; the message if that fails.
static std::string readAll(StringRef bytes) {
  // Weights lie at multiples of 16 from the beginning of a file.
  auto owner = std::shared_ptr<llvm::WritableMemoryBuffer>(
      llvm::WritableMemoryBuffer::getNewUninitMemBuffer(bytes.size(), "",
                                                        llvm::Align(64)));
  llvm::copy(bytes, owner->getBufferStart());
  mlir::DialectRegistry registry;
  registerAssetDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto code = readCode({owner->getBufferStart(), owner->getBufferSize()}, owner,
                       context);
  if (!code)
    return llvm::toString(code.takeError());
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          if (message.empty())
                                            message = diagnostic.str();
                                          return mlir::success();
                                        });
  bool isRead = mlir::succeeded(importProgram(**code, owner));
  EXPECT_NE(isRead, !message.empty()) << message;
  return message;
}

TEST(BadBytecodeTest, TruncatedAnywhere) {
  for (const std::string &bytes : inputs())
    for (size_t size = 0; size < bytes.size(); ++size)
      ASSERT_NE(readAll(StringRef(bytes).take_front(size)), "") << size;
}

TEST(BadBytecodeTest, TrailingBytes) {
  EXPECT_NE(readAll(inputs().front() + std::string(1, '\0')), "");
  EXPECT_NE(readAll(inputs().front() + inputs().front()), "");
}

/// Every byte once, by a change that a seed chooses.
TEST(BadBytecodeTest, DamagedAnywhere) {
  std::mt19937 random(0);
  for (std::string bytes : inputs())
    for (size_t place = 0; place < bytes.size(); ++place) {
      char before = bytes[place];
      bytes[place] ^= static_cast<char>(1 + random() % 255);
      readAll(bytes);
      bytes[place] = before;
    }
}

TEST(BadBytecodeTest, ConstantOfNoNumbers) {
  auto file =
      llvm::MemoryBuffer::getFile(CORTEN_TEST_INPUTS "/constant-of-no-numbers");
  ASSERT_TRUE(file);
  EXPECT_NE(readAll((*file)->getBuffer()).find("constant of type"),
            std::string::npos);
}

TEST(BadBytecodeTest, Versions) {
  std::string bytes = inputs().front();
  ASSERT_EQ(readAll(bytes), "");
  // The byte after the magic: 2 * version + 1.
  for (char version : {0, 7, 99}) {
    std::string other = bytes;
    other[4] = static_cast<char>(2 * version + 1);
    EXPECT_EQ(readAll(other), "bytecode version " + std::to_string(version) +
                                  " cannot be read, only 1 to 6 can");
  }
  EXPECT_EQ(readAll(""), "not MLIR bytecode");
  EXPECT_EQ(readAll("module {}"), "not MLIR bytecode");
}

/// A variable-length number in nine bytes.
static std::string large(uint64_t value) {
  std::string text(1, '\0');
  for (int i = 0; i < 8; ++i)
    text += static_cast<char>(value >> (8 * i));
  return text;
}

static std::string file(const std::string &sections) {
  return std::string("ML\xefR\x0d", 5) + std::string("x\0", 2) + sections;
}

static std::string section(int id, const std::string &bytes) {
  return std::string(1, static_cast<char>(id)) + large(bytes.size()) + bytes;
}

TEST(BadBytecodeTest, LengthsThatNothingBacks) {
  EXPECT_EQ(readAll(file(std::string(1, '\0') + large(UINT64_MAX))),
            "the file is cut off, or a section is longer than it");
  std::string rest = section(1, std::string("\x01\x01", 2)) + section(2, "") +
                     section(3, std::string("\x01\x01", 2));
  std::string none = section(0, "\x01");
  std::string empty = section(4, "\x01");
  for (uint64_t count : {uint64_t(1) << 32, UINT64_MAX, uint64_t(1) << 63}) {
    EXPECT_EQ(readAll(file(section(0, large(count)) + rest + empty)),
              "the strings do not fill their section");
    // An op with that many results, operands, successors or regions.
    for (char mask : {0x02, 0x04, 0x08, 0x10})
      EXPECT_NE(readAll(file(none + rest +
                             section(4, std::string("\x03\x01") + mask +
                                            "\x01" + large(count)))),
                "");
    // A block with that many arguments; a region with that many blocks.
    EXPECT_EQ(readAll(file(none + rest + section(4, "\x03" + large(count)))),
              "a block ends too early");
    EXPECT_EQ(readAll(file(none + rest +
                           section(4, std::string("\x05\x01\x10\x01\x05") +
                                          large(count)))),
              "a region ends too early");
    // A region with that many values.
    EXPECT_NE(readAll(file(none + rest +
                           section(4, std::string("\x05\x01\x10\x01"
                                                  "\x05\x03") +
                                          large(count) + "\x01")))
                  .find("a region with"),
              std::string::npos);
    EXPECT_EQ(readAll(file(none + section(1, large(count)) + section(2, "") +
                           section(3, std::string("\x01\x01", 2)) + empty)),
              "the section of dialects does not hold what it claims");
    EXPECT_EQ(readAll(file(none + section(1, std::string("\x01\x01", 2)) +
                           section(2, "") + section(3, large(count) + "\x01") +
                           empty)),
              "the section of attributes does not hold what it claims");
    EXPECT_EQ(readAll(file(none + rest + empty + section(8, large(count)))),
              "the section of properties does not hold what it claims");
  }
}

TEST(BadBytecodeTest, StringsOfNoBytes) {
  // Their length counts a zero at the end, so that 0 would become -1.
  std::string rest = section(1, std::string("\x01\x01", 2)) + section(2, "") +
                     section(3, std::string("\x01\x01", 2)) +
                     section(4, "\x01");
  EXPECT_EQ(readAll(file(section(0, "\x03\x01") + rest)),
            "a string of 0 bytes");
}

/// A file with `attributes`, of which each is a list, and an empty program.
static std::string lists(const std::vector<std::string> &attributes) {
  std::string offsets = large(attributes.size()) + "\x01";
  std::string bytes;
  offsets += "\x01" + large(attributes.size());
  for (const std::string &attribute : attributes) {
    // Code 5, then the indices with their number.
    std::string entry = "\x0b" + attribute;
    offsets += large(2 * entry.size() + 1);
    bytes += entry;
  }
  return file(section(0, std::string("\x03\x0f"
                                     "aicode\0",
                                     9)) +
              section(1, std::string("\x03\x01\x01", 3)) + section(2, bytes) +
              section(3, offsets) + section(4, "\x01"));
}

TEST(BadBytecodeTest, AttributesThatContainThemselves) {
  const char *message = "an attribute that contains itself";
  EXPECT_EQ(readAll(lists({"\x03" + large(0)})), message);
  EXPECT_EQ(readAll(lists({"\x03" + large(1), "\x03" + large(0)})), message);
  EXPECT_EQ(readAll(lists({"\x03" + large(1)})),
            "attribute of kind 5 with the wrong content");
}

TEST(BadBytecodeTest, AttributesWithoutEnd) {
  std::vector<std::string> chain = {"\x01"};
  for (uint64_t i = 0; i < 255; ++i)
    chain.push_back("\x03" + large(i));
  EXPECT_NE(readAll(lists(chain)).find("Properties"), std::string::npos);
  chain.push_back("\x03" + large(255));
  EXPECT_EQ(readAll(lists(chain)), "attributes nested too deeply");
  // Each holds the one before it twice.
  std::vector<std::string> doubling = {"\x01"};
  for (uint64_t i = 0; i < 64; ++i)
    doubling.push_back("\x05" + large(i) + large(i));
  EXPECT_EQ(readAll(lists(doubling)), "attributes nested too deeply");
}

TEST(BadBytecodeTest, RegionsWithoutEnd) {
  // Blocks of one op with a region of one block, a thousand deep.
  std::string body = "\x01";
  for (int i = 0; i < 1000; ++i)
    body = std::string("\x05\x01\x10\x01\x05\x03\x01") + body;
  std::string rest = section(1, std::string("\x01\x01", 2)) + section(2, "") +
                     section(3, std::string("\x01\x01", 2));
  EXPECT_EQ(readAll(file(section(0, "\x01") + rest + section(4, body))),
            "regions more than 128 deep");
}
