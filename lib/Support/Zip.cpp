// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/Zip.h"

#include "corten/Support/Checksum.h"
#include "corten/Support/ScratchMemory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Endian.h"

#include <zlib.h>

#include <limits>
#include <new>
#include <optional>

using namespace corten;
using llvm::StringRef;
using llvm::Twine;

static llvm::Error damaged(const Twine &what) {
  return llvm::createStringError("damaged archive: " + what);
}

template <typename T> static T readAt(StringRef bytes, size_t offset) {
  return llvm::support::endian::read<T, llvm::endianness::little>(bytes.data() +
                                                                  offset);
}

//===----------------------------------------------------------------------===//
// The directory
//===----------------------------------------------------------------------===//

namespace {
constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr size_t kLocalHeaderSize = 30;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr size_t kDirectoryEntrySize = 46;
constexpr uint32_t kEnd = 0x06054b50;
constexpr size_t kEndSize = 22;
constexpr uint32_t kEnd64 = 0x06064b50;
constexpr size_t kEnd64Size = 56;
constexpr uint32_t kEnd64Locator = 0x07064b50;
constexpr size_t kEnd64LocatorSize = 20;
/// The largest comment behind the end record.
constexpr size_t kMaxComment = 0xffff;

/// Bit of an entry's flags.
constexpr uint16_t kEncrypted = 1;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
/// Deflate cannot do better than this.
constexpr uint64_t kMaxRatio = 1032;

struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t numEntries = 0;
};
} // namespace

/// Where the end record begins.
static std::optional<size_t> findEnd(StringRef archive) {
  if (archive.size() < kEndSize)
    return std::nullopt;
  size_t last = archive.size() - kEndSize;
  size_t first = last > kMaxComment ? last - kMaxComment : 0;
  for (size_t at = last + 1; at-- > first;)
    if (readAt<uint32_t>(archive, at) == kEnd &&
        at + kEndSize + readAt<uint16_t>(archive, at + 20) == archive.size())
      return at;
  return std::nullopt;
}

static llvm::Expected<Directory> findDirectory(StringRef archive) {
  std::optional<size_t> end = findEnd(archive);
  if (!end)
    return llvm::createStringError(
        "not a ZIP archive, or one that was cut off: it has no directory");
  Directory directory;
  directory.numEntries = readAt<uint16_t>(archive, *end + 10);
  directory.size = readAt<uint32_t>(archive, *end + 12);
  directory.offset = readAt<uint32_t>(archive, *end + 16);
  // Behind the record of an archive with large entries is a second, larger one.
  if (*end >= kEnd64LocatorSize &&
      readAt<uint32_t>(archive, *end - kEnd64LocatorSize) == kEnd64Locator) {
    uint64_t at = readAt<uint64_t>(archive, *end - kEnd64LocatorSize + 8);
    if (at > archive.size() || archive.size() - at < kEnd64Size ||
        readAt<uint32_t>(archive, at) != kEnd64)
      return damaged("the record of the 64-bit directory is elsewhere");
    directory.numEntries = readAt<uint64_t>(archive, at + 32);
    directory.size = readAt<uint64_t>(archive, at + 40);
    directory.offset = readAt<uint64_t>(archive, at + 48);
  }
  if (directory.offset > archive.size() ||
      directory.size > archive.size() - directory.offset)
    return damaged("its directory lies outside of it");
  return directory;
}

/// The 64-bit numbers of an entry, which stand in for those that are all ones.
static llvm::Error readLargeFields(StringRef extra, StringRef name,
                                   llvm::ArrayRef<uint64_t *> fields) {
  constexpr uint16_t kLargeFields = 1;
  constexpr uint64_t kMissing = std::numeric_limits<uint32_t>::max();
  while (extra.size() >= 4) {
    uint16_t id = readAt<uint16_t>(extra, 0);
    size_t size = readAt<uint16_t>(extra, 2);
    if (size > extra.size() - 4)
      break;
    StringRef data = extra.substr(4, size);
    extra = extra.drop_front(4 + size);
    if (id != kLargeFields)
      continue;
    for (uint64_t *field : fields) {
      if (*field != kMissing)
        continue;
      if (data.size() < 8)
        return damaged("the entry '" + name + "' lacks its 64-bit sizes");
      *field = readAt<uint64_t>(data, 0);
      data = data.drop_front(8);
    }
    return llvm::Error::success();
  }
  return llvm::Error::success();
}

llvm::Error ZipArchive::readEntry(StringRef &directory) {
  if (directory.size() < kDirectoryEntrySize ||
      readAt<uint32_t>(directory, 0) != kDirectoryEntry)
    return damaged("its directory is cut off");
  uint16_t flags = readAt<uint16_t>(directory, 8);
  uint16_t method = readAt<uint16_t>(directory, 10);
  uint64_t compressed = readAt<uint32_t>(directory, 20);
  uint64_t size = readAt<uint32_t>(directory, 24);
  size_t nameLength = readAt<uint16_t>(directory, 28);
  size_t extraLength = readAt<uint16_t>(directory, 30);
  size_t commentLength = readAt<uint16_t>(directory, 32);
  uint64_t header = readAt<uint32_t>(directory, 42);

  ZipEntry entry;
  entry.checksum = readAt<uint32_t>(directory, 16);
  directory = directory.drop_front(kDirectoryEntrySize);
  if (directory.size() < nameLength + extraLength + commentLength)
    return damaged("its directory is cut off");
  entry.name = directory.take_front(nameLength);
  if (llvm::Error error =
          readLargeFields(directory.substr(nameLength, extraLength), entry.name,
                          {&size, &compressed, &header}))
    return error;
  directory = directory.drop_front(nameLength + extraLength + commentLength);

  if (flags & kEncrypted)
    return llvm::createStringError("the entry '" + entry.name +
                                   "' is encrypted");
  if (method != kStored && method != kDeflated)
    return llvm::createStringError("the entry '" + entry.name +
                                   "' is compressed by method " +
                                   Twine(method) + ", which is not known");
  StringRef whole = archive.data;
  if (header > whole.size() || whole.size() - header < kLocalHeaderSize ||
      readAt<uint32_t>(whole, header) != kLocalHeader)
    return damaged("the entry '" + entry.name + "' points to no entry");
  // The header has an extra field of its own: torch aligns the data with it.
  uint64_t begin = header + kLocalHeaderSize +
                   readAt<uint16_t>(whole, header + 26) +
                   readAt<uint16_t>(whole, header + 28);
  if (begin > whole.size() || compressed > whole.size() - begin)
    return damaged("the entry '" + entry.name + "' reaches beyond the end");
  entry.stored = whole.substr(begin, compressed);
  entry.size = size;
  entry.isDeflated = method == kDeflated;
  if (!entry.isDeflated && size != compressed)
    return damaged("the entry '" + entry.name + "' has two sizes");
  if (entry.isDeflated && size / kMaxRatio > compressed)
    return damaged("the entry '" + entry.name + "' cannot hold " + Twine(size) +
                   " bytes");
  if (!byName.try_emplace(entry.name, list.size()).second)
    return damaged("there are two entries '" + entry.name + "'");
  list.push_back(entry);
  return llvm::Error::success();
}

/// Entries that share bytes are how a small file is made to hold a huge amount
/// of data.
llvm::Error ZipArchive::checkOverlaps() const {
  auto byPlace = llvm::to_vector(llvm::make_pointer_range(list));
  llvm::sort(byPlace, [](const ZipEntry *lhs, const ZipEntry *rhs) {
    return std::pair(lhs->stored.begin(), lhs->stored.size()) <
           std::pair(rhs->stored.begin(), rhs->stored.size());
  });
  for (auto [entry, next] :
       llvm::zip(byPlace, llvm::ArrayRef(byPlace).drop_front(!byPlace.empty())))
    if (entry->stored.end() > next->stored.begin())
      return damaged("the entries '" + entry->name + "' and '" + next->name +
                     "' overlap");
  return llvm::Error::success();
}

llvm::Expected<ZipArchive> ZipArchive::open(SharedBytes archive) {
  llvm::Expected<Directory> directory = findDirectory(archive.data);
  if (!directory)
    return directory.takeError();
  ZipArchive result;
  result.archive = std::move(archive);
  StringRef rest =
      result.archive.data.substr(directory->offset, directory->size);
  for (uint64_t i = 0; i < directory->numEntries; ++i)
    if (llvm::Error error = result.readEntry(rest))
      return error;
  if (llvm::Error error = result.checkOverlaps())
    return error;
  return result;
}

const ZipEntry *ZipArchive::find(StringRef name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &list[found->second];
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static llvm::Expected<SharedBytes> inflateEntry(const ZipEntry &entry,
                                                ReadWindow &window) {
  // For whatever tensor this may be.
  std::shared_ptr<char> memory = allocateScratch(entry.size);
  if (!memory)
    return llvm::createStringError("no memory for the " + Twine(entry.size) +
                                   " bytes of the entry '" + entry.name + "'");
  z_stream stream = {};
  // Negative: the data has no header of its own.
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return llvm::createStringError("zlib does not start");
  auto *input = reinterpret_cast<const Bytef *>(entry.stored.data());
  size_t inputLeft = entry.stored.size(), outputLeft = entry.size;
  stream.next_in = const_cast<Bytef *>(input);
  stream.next_out = reinterpret_cast<Bytef *>(memory.get());
  int status = Z_OK;
  while (status == Z_OK) {
    uInt in = std::min(inputLeft, ReadWindow::kStep);
    uInt out = std::min(outputLeft, ReadWindow::kStep);
    stream.avail_in = in;
    stream.avail_out = out;
    const char *made = reinterpret_cast<const char *>(stream.next_out);
    status = inflate(&stream, Z_NO_FLUSH);
    inputLeft -= in - stream.avail_in;
    outputLeft -= out - stream.avail_out;
    window.passed({made, out - stream.avail_out});
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || outputLeft != 0)
    return damaged("the entry '" + entry.name + "' cannot be inflated");
  StringRef data(memory.get(), entry.size);
  return SharedBytes{data, std::move(memory)};
}

bool ZipArchive::isIntact(StringRef data, uint32_t expected) const {
  uint32_t sum = 0;
  while (!data.empty()) {
    StringRef step = data.take_front(ReadWindow::kStep);
    sum = checksum(step, sum);
    window->passed(step);
    data = data.drop_front(step.size());
  }
  return sum == expected;
}

llvm::Expected<SharedBytes> ZipArchive::read(const ZipEntry &entry) const {
  SharedBytes result{entry.stored, archive.owner};
  if (entry.isDeflated) {
    llvm::Expected<SharedBytes> inflated = inflateEntry(entry, *window);
    if (!inflated)
      return inflated.takeError();
    result = std::move(*inflated);
  }
  if (!isIntact(result.data, entry.checksum))
    return damaged("the checksum of '" + entry.name + "' is wrong");
  return result;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
/// Numbers of the format, one after the other.
class Record {
public:
  template <typename T> Record &add(T number) {
    char buffer[sizeof(T)];
    llvm::support::endian::write<T, llvm::endianness::little>(buffer, number);
    bytes.append(buffer, sizeof(T));
    return *this;
  }
  Record &add(StringRef text) {
    bytes += text;
    return *this;
  }

  std::string bytes;
};

/// That a number stands elsewhere, in 64 bits.
constexpr uint32_t kElsewhere = 0xffffffff;
constexpr uint16_t kZip64Extra = 1;
constexpr uint16_t kZip64Version = 45;
/// Names are UTF-8.
constexpr uint16_t kUtf8 = 1 << 11;
/// 1 January 1980: the same content gives the same bytes.
constexpr uint16_t kFirstDay = 1 << 5 | 1;
} // namespace

/// What the headers of an entry have in common.
static void addEntry(Record &record, uint32_t crc, StringRef name,
                     uint16_t extraBytes) {
  record.add(kZip64Version).add(kUtf8).add(kStored).add(uint16_t(0));
  record.add(kFirstDay).add(crc).add(kElsewhere).add(kElsewhere);
  record.add(uint16_t(name.size())).add(extraBytes);
}

void ZipWriter::add(StringRef name, llvm::ArrayRef<StringRef> parts) {
  uint32_t crc = 0;
  uint64_t size = 0;
  for (StringRef part : parts) {
    crc = checksum(part, crc);
    size += part.size();
  }
  Record header;
  header.add(kLocalHeader);
  addEntry(header, crc, name, 20);
  header.add(name).add(kZip64Extra).add(uint16_t(16)).add(size).add(size);
  os << header.bytes;
  for (StringRef part : parts)
    os << part;
  Record entry;
  entry.add(kDirectoryEntry).add(kZip64Version);
  addEntry(entry, crc, name, 28);
  entry.add(uint16_t(0)).add(uint16_t(0)).add(uint16_t(0)).add(uint32_t(0));
  entry.add(kElsewhere).add(name);
  entry.add(kZip64Extra).add(uint16_t(24)).add(size).add(size).add(written);
  directory += entry.bytes;
  written += header.bytes.size() + size;
  ++numEntries;
}

void ZipWriter::finish() {
  Record end;
  end.add(kEnd64).add(uint64_t(kEnd64Size - 12)).add(kZip64Version);
  end.add(kZip64Version).add(uint32_t(0)).add(uint32_t(0)).add(numEntries);
  end.add(numEntries).add(uint64_t(directory.size())).add(written);
  end.add(kEnd64Locator).add(uint32_t(0));
  end.add(uint64_t(written + directory.size())).add(uint32_t(1));
  end.add(kEnd).add(uint16_t(0)).add(uint16_t(0));
  end.add(uint16_t(0xffff)).add(uint16_t(0xffff)).add(kElsewhere);
  end.add(kElsewhere).add(uint16_t(0));
  os << directory << end.bytes;
}
