// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives arbitrary bytes to the reader of `.pt2` archives. The first byte says
// what they are: an archive, or what would stand in one behind a checksum that
// no mutation gets right: the JSON of a program, or a pickle.

#include "corten/Pt2/Pt2.h"

#include "Archive.h"
#include "ArchiveBuilder.h"
#include "Json.h"
#include "Payload.h"
#include "Pickle.h"
#include "ProgramReader.h"

#include <cstdint>

using namespace corten;
using namespace corten::pt2;
using llvm::StringRef;

/// What writes is functionalized.
static bool hasLowering(const Operator &) { return true; }

static void readArchive(StringRef data) {
  Bytes bytes = ownedBytes(data);
  llvm::Expected<Pt2File> file = Pt2File::fromMemory(bytes.data, bytes.owner);
  if (!file) {
    llvm::consumeError(file.takeError());
    return;
  }
  for (const std::string &model : file->models())
    llvm::consumeError(file->read(model, hasLowering).takeError());
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
                         .read(document->root(), hasLowering)
                         .takeError());
}

static void addToProgram(const SavedTensor &tensor) {
  ProgramBuilder builder;
  llvm::consumeError(
      addWeight(builder, tensor.dtype, tensor.shape, memoryOf(tensor))
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
  for (const auto &[name, tensor] : *tensors)
    addToProgram(tensor);
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
  if (const SavedTensor *tensor = payload->find("w"))
    addToProgram(*tensor);
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
