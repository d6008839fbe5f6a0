// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives arbitrary bytes to the reader of `.pt2` archives. The first byte says
// what they are: an archive, or what would stand in one behind a checksum that
// no mutation gets right: the JSON of a program, or a pickle.

#include "corten/Pt2/Pt2.h"

#include "Archive.h"
#include "Json.h"
#include "Payload.h"
#include "Pickle.h"
#include "ProgramReader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"

#include <cstdint>
#include <memory>
#include <string>

using namespace corten;
using namespace corten::pt2;
using llvm::StringRef;

/// Operators whose names end in an underscore write.
static bool isFunctional(const Operator &op) { return !op.mutates; }

/// Bytes in memory of their own, so that reading past their end is noticed.
static Bytes ownedBytes(StringRef data) {
  auto copy = std::make_shared<std::vector<char>>(data.begin(), data.end());
  StringRef view(copy->data(), copy->size());
  return {view, std::move(copy)};
}

/// A ZIP archive of stored entries.
static std::string
zipOf(llvm::ArrayRef<std::pair<StringRef, StringRef>> entries) {
  std::string archive, directory;
  auto put = [](std::string &out, auto value) {
    char bytes[sizeof(value)];
    llvm::support::endian::write<decltype(value), llvm::endianness::little>(
        bytes, value);
    out.append(bytes, sizeof(value));
  };
  for (auto [name, data] : entries) {
    uint32_t header = archive.size();
    std::string common;
    put(common, uint32_t{0}); // Version, flags.
    put(common, uint16_t{0}); // Stored.
    put(common, uint32_t{0}); // Time.
    put(common, llvm::crc32(llvm::arrayRefFromStringRef(data)));
    put(common, static_cast<uint32_t>(data.size()));
    put(common, static_cast<uint32_t>(data.size()));
    put(common, static_cast<uint16_t>(name.size()));
    put(common, uint16_t{0}); // Extra field.
    put(archive, uint32_t{0x04034b50});
    archive += common;
    archive += name;
    archive += data;
    put(directory, uint32_t{0x02014b50});
    put(directory, uint16_t{0});
    directory += common;
    directory.append(10, '\0');
    put(directory, header);
    directory += name;
  }
  uint32_t begin = archive.size();
  archive += directory;
  put(archive, uint32_t{0x06054b50});
  put(archive, uint32_t{0});
  put(archive, static_cast<uint16_t>(entries.size()));
  put(archive, static_cast<uint16_t>(entries.size()));
  put(archive, static_cast<uint32_t>(directory.size()));
  put(archive, begin);
  put(archive, uint16_t{0});
  return archive;
}

static void readArchive(StringRef data) {
  Bytes bytes = ownedBytes(data);
  llvm::Expected<Pt2File> file = Pt2File::fromMemory(bytes.data, bytes.owner);
  if (!file) {
    llvm::consumeError(file.takeError());
    return;
  }
  for (const std::string &model : file->models())
    llvm::consumeError(file->read(model, isFunctional).takeError());
}

static void readProgram(StringRef data) {
  Bytes bytes = ownedBytes(data);
  llvm::Expected<JsonDocument> document = JsonDocument::parse(bytes.data);
  if (!document) {
    llvm::consumeError(document.takeError());
    return;
  }
  // A tensor for every name, so that the reader gets past the signature.
  constexpr StringRef kConfig = R"({"config": {"w": {"path_name": "w",
      "tensor_meta": {"dtype": 7, "sizes": [{"as_int": 2}],
      "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}}}}})";
  llvm::Expected<TorchArchive> archive = TorchArchive::open(
      ownedBytes(zipOf({{"a/config", kConfig}, {"a/w", "12345678"}})));
  llvm::Expected<Payload> payload =
      Payload::fromConfig(llvm::cantFail(std::move(archive)), "config", "");
  Payload tensors = llvm::cantFail(std::move(payload));
  llvm::consumeError(ProgramReader(tensors, tensors)
                         .read(document->root(), isFunctional)
                         .takeError());
}

static void readPickle(StringRef data) {
  Bytes bytes = ownedBytes(
      zipOf({{"a/data.pkl", data}, {"a/data/0", "1234567890abcdef"}}));
  llvm::Expected<SavedTensors> tensors = readSavedTensors(bytes);
  if (!tensors) {
    llvm::consumeError(tensors.takeError());
    return;
  }
  ProgramBuilder builder;
  for (const auto &[name, tensor] : *tensors)
    llvm::consumeError(addWeight(builder, tensor).takeError());
}

static void readConfig(StringRef data) {
  llvm::Expected<TorchArchive> archive = TorchArchive::open(
      ownedBytes(zipOf({{"a/config", data}, {"a/w", "12345678"}})));
  llvm::Expected<Payload> payload =
      Payload::fromConfig(llvm::cantFail(std::move(archive)), "config", "");
  if (!payload) {
    llvm::consumeError(payload.takeError());
    return;
  }
  ProgramBuilder builder;
  if (const SavedTensor *tensor = payload->find("w"))
    llvm::consumeError(addWeight(builder, *tensor).takeError());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size == 0)
    return 0;
  StringRef data(reinterpret_cast<const char *>(bytes) + 1, size - 1);
  switch (bytes[0]) {
  case 'p':
    readProgram(data);
    break;
  case 'k':
    readPickle(data);
    break;
  case 'c':
    readConfig(data);
    break;
  default:
    readArchive(data);
  }
  return 0;
}
