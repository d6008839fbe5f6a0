// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Archive.h"

using namespace corten;
using namespace corten::pt2;
using llvm::StringRef;

TorchArchive::TorchArchive(ZipArchive archive) : zip(std::move(archive)) {
  if (zip.entries().empty())
    return;
  StringRef first = zip.entries().front().name;
  size_t slash = first.find('/');
  // Releases before 2.8 had no folder.
  if (slash != StringRef::npos && !zip.find("serialized_exported_program.json"))
    folder = first.take_front(slash + 1).str();
}

llvm::Expected<TorchArchive> TorchArchive::open(Bytes file) {
  llvm::Expected<ZipArchive> zip = ZipArchive::open(std::move(file));
  if (!zip)
    return zip.takeError();
  TorchArchive archive(std::move(*zip));
  if (archive.has("byteorder")) {
    llvm::Expected<Bytes> order = archive.read("byteorder");
    if (!order)
      return order.takeError();
    if (order->data != "little")
      return llvm::createStringError(
          "the tensors of the archive are big-endian; save it on a machine "
          "that is little-endian");
  }
  return archive;
}

const ZipEntry *TorchArchive::find(StringRef name) const {
  return zip.find(folder + name.str());
}

llvm::Expected<Bytes> TorchArchive::read(StringRef name) const {
  if (auto known = seen.find(name); known != seen.end())
    return known->second;
  const ZipEntry *entry = find(name);
  if (!entry)
    return llvm::createStringError("the archive has no entry '" + name + "'");
  llvm::Expected<Bytes> bytes = zip.read(*entry);
  if (bytes)
    seen[name] = *bytes;
  return bytes;
}

std::vector<std::string> TorchArchive::namesBetween(StringRef prefix,
                                                    StringRef suffix) const {
  std::vector<std::string> names;
  for (const ZipEntry &entry : zip.entries()) {
    StringRef name = entry.name;
    if (name.consume_front(folder) && name.consume_front(prefix) &&
        name.consume_back(suffix) && !name.empty())
      names.push_back(name.str());
  }
  return names;
}
