// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Archives in memory, for what stands in one behind a checksum.

#ifndef CORTEN_FUZZ_ARCHIVEBUILDER_H
#define CORTEN_FUZZ_ARCHIVEBUILDER_H

#include "corten/Support/Zip.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace corten::pt2 {

using Bytes = SharedBytes;

/// Bytes in memory of their own, so that reading past their end is noticed.
inline Bytes ownedBytes(llvm::StringRef data) {
  auto copy = std::make_shared<std::vector<char>>(data.begin(), data.end());
  llvm::StringRef view(copy->data(), copy->size());
  return {view, std::move(copy)};
}

/// A ZIP archive of stored entries.
inline std::string
zipOf(llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> entries) {
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

} // namespace corten::pt2

#endif // CORTEN_FUZZ_ARCHIVEBUILDER_H
