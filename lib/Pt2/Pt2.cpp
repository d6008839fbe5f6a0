// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Pt2/Pt2.h"

#include "Archive.h"
#include "Payload.h"
#include "ProgramReader.h"

using namespace corten;
using namespace corten::pt2;
using llvm::StringRef;

/// What a program of torch before 2.8 is called: an archive held only one.
static constexpr StringRef kOnlyModel = "model";
static constexpr StringRef kOldProgram = "serialized_exported_program.json";

Pt2File::Pt2File(TorchArchive opened)
    : archive(std::make_unique<TorchArchive>(std::move(opened))),
      modelNames(archive->namesBetween("models/", ".json")) {
  if (archive->has(kOldProgram))
    modelNames.push_back(kOnlyModel.str());
}
Pt2File::Pt2File(Pt2File &&) noexcept = default;
Pt2File &Pt2File::operator=(Pt2File &&) noexcept = default;
Pt2File::~Pt2File() = default;

llvm::Expected<Pt2File> Pt2File::open(StringRef path) {
  llvm::Expected<Bytes> bytes = mapFile(path);
  if (!bytes)
    return bytes.takeError();
  llvm::Expected<Pt2File> file = fromMemory(bytes->data, bytes->owner);
  if (!file)
    return llvm::createStringError("'" + path +
                                   "': " + llvm::toString(file.takeError()));
  return file;
}

/// Of the archive itself, not of the programs in it.
static llvm::Error checkVersion(const TorchArchive &archive) {
  if (archive.has(kOldProgram))
    return llvm::Error::success();
  if (!archive.has("archive_format"))
    return llvm::createStringError(
        "no archive of torch.export.save: it does not say that it is one");
  llvm::Expected<Bytes> format = archive.read("archive_format");
  if (!format)
    return format.takeError();
  if (format->data != "pt2")
    return llvm::createStringError("an archive of the unknown format '" +
                                   format->data.take_front(32) + "'");
  llvm::Expected<Bytes> version = archive.read("archive_version");
  if (!version)
    return version.takeError();
  if (version->data != "0")
    return llvm::createStringError("an archive of version " +
                                   version->data.take_front(32) +
                                   "; this reads version 0");
  return llvm::Error::success();
}

llvm::Expected<Pt2File> Pt2File::fromMemory(StringRef bytes,
                                            std::shared_ptr<const void> owner) {
  llvm::Expected<TorchArchive> archive =
      TorchArchive::open({bytes, std::move(owner)});
  if (!archive)
    return archive.takeError();
  if (llvm::Error error = checkVersion(*archive))
    return error;
  Pt2File file(std::move(*archive));
  if (file.modelNames.empty())
    return llvm::createStringError("the archive has no program");
  return file;
}

/// Weights or constants, wherever they are.
static llvm::Expected<Payload> readPayload(const TorchArchive &archive,
                                           StringRef model, StringRef kind,
                                           StringRef oldName) {
  if (archive.has(oldName))
    return Payload::fromSaved(archive, oldName);
  std::string folder = ("data/" + kind + "/").str();
  std::string saved = (folder + model + ".pt").str();
  if (archive.has(saved))
    return Payload::fromSaved(archive, saved);
  return Payload::fromConfig(
      archive, (folder + model + "_" + kind + "_config.json").str(), folder);
}

llvm::Expected<std::unique_ptr<Program>>
Pt2File::read(StringRef model,
              llvm::function_ref<bool(const Operator &)> isFunctional) const {
  bool isOld = archive->has(kOldProgram);
  llvm::Expected<Bytes> text = archive->read(
      isOld ? kOldProgram.str() : ("models/" + model + ".json").str());
  if (!text)
    return text.takeError();
  llvm::Expected<JsonDocument> document = JsonDocument::parse(text->data);
  if (!document)
    return document.takeError();
  llvm::Expected<Payload> weights =
      readPayload(*archive, model, "weights", "serialized_state_dict.pt");
  if (!weights)
    return weights.takeError();
  llvm::Expected<Payload> constants =
      readPayload(*archive, model, "constants", "serialized_constants.pt");
  if (!constants)
    return constants.takeError();
  return ProgramReader(*weights, *constants)
      .read(document->root(), isFunctional);
}
