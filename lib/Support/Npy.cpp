// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/Npy.h"

#include "corten/Support/Zip.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace corten;
using llvm::StringRef;

static constexpr StringRef kMagic("\x93NUMPY", 6);

static llvm::Error wrong(const llvm::Twine &what) {
  return llvm::createStringError("no array that NumPy wrote: " + what);
}

/// The value of a key of the header, which is a dictionary as Python writes it.
static StringRef valueOf(StringRef header, StringRef key) {
  size_t at = header.find(("'" + key + "':").str());
  return at == StringRef::npos ? StringRef()
                               : header.substr(at + key.size() + 3).ltrim();
}

static llvm::Error parseHeader(StringRef header, NpyArray &array) {
  StringRef type = valueOf(header, "descr");
  if (!type.consume_front("'"))
    return wrong("its elements are no numbers");
  type = type.take_until([](char c) { return c == '\''; });
  if (type.starts_with(">"))
    return wrong("its bytes are in the other order");
  array.type = type.drop_while([](char c) { return !llvm::isAlpha(c); }).str();
  array.isFortranOrder = valueOf(header, "fortran_order").starts_with("True");
  StringRef shape = valueOf(header, "shape");
  if (!shape.consume_front("("))
    return wrong("it has no shape");
  shape = shape.take_until([](char c) { return c == ')'; });
  llvm::SmallVector<StringRef> extents;
  shape.split(extents, ',', -1, /*KeepEmpty=*/false);
  for (StringRef extent : extents) {
    int64_t number;
    if (extent.trim().empty())
      continue;
    if (extent.trim().getAsInteger(10, number) || number < 0)
      return wrong("its shape has " + extent);
    array.shape.push_back(number);
  }
  return llvm::Error::success();
}

/// The array that these bytes are.
static llvm::Expected<NpyArray> parseNpy(const SharedBytes &file) {
  StringRef data = file.data;
  if (!data.starts_with(kMagic) || data.size() < 12)
    return wrong("it begins otherwise");
  // Version 1 has two bytes for the length of the header, later ones four.
  size_t lengthBytes = data[6] == 1 ? 2 : 4;
  size_t length = lengthBytes == 2
                      ? llvm::support::endian::read16le(data.data() + 8)
                      : llvm::support::endian::read32le(data.data() + 8);
  size_t start = 8 + lengthBytes;
  if (data.size() < start + length)
    return wrong("it ends in its header");
  NpyArray array;
  if (llvm::Error error = parseHeader(data.substr(start, length), array))
    return error;
  // Entries of archives begin anywhere.
  array.elements = alignedWeight({data.substr(start + length), file.owner});
  return array;
}

static llvm::Error inFile(StringRef path, llvm::Error error) {
  return llvm::createStringError(path + ": " +
                                 llvm::toString(std::move(error)));
}

llvm::Expected<NpyArray> corten::readNpy(StringRef path) {
  llvm::Expected<SharedBytes> file = mapFile(path);
  if (!file)
    return inFile(path, file.takeError());
  llvm::Expected<NpyArray> array = parseNpy(*file);
  if (!array)
    return inFile(path, array.takeError());
  return array;
}

llvm::Expected<std::vector<std::pair<std::string, NpyArray>>>
corten::readNpz(StringRef path) {
  llvm::Expected<SharedBytes> file = mapFile(path);
  if (!file)
    return inFile(path, file.takeError());
  llvm::Expected<ZipArchive> zip = ZipArchive::open(std::move(*file));
  if (!zip)
    return inFile(path, zip.takeError());
  std::vector<std::pair<std::string, NpyArray>> arrays;
  for (const ZipEntry &entry : zip->entries()) {
    llvm::Expected<SharedBytes> bytes = zip->read(entry);
    if (!bytes)
      return inFile(path, bytes.takeError());
    StringRef name = entry.name;
    name.consume_back(".npy");
    llvm::Expected<NpyArray> array = parseNpy(*bytes);
    if (!array)
      return inFile((path + ": " + name).str(), array.takeError());
    arrays.emplace_back(name.str(), std::move(*array));
  }
  return arrays;
}

/// What stands before the elements.
static std::string headerOf(StringRef type, llvm::ArrayRef<int64_t> shape) {
  std::string header =
      ("{'descr': '" + type + "', 'fortran_order': False, 'shape': (").str();
  for (int64_t extent : shape)
    header += std::to_string(extent) + ",";
  header += "), }";
  // Elements begin at a multiple of 64.
  size_t length = llvm::alignTo(10 + header.size() + 1, 64) - 10;
  header.resize(length - 1, ' ');
  header += '\n';
  std::string result = kMagic.str();
  result += {'\x01', '\0', char(length & 0xff), char(length >> 8)};
  return result + header;
}

static StringRef textOf(llvm::ArrayRef<char> bytes) {
  return {bytes.data(), bytes.size()};
}

void corten::writeNpy(llvm::raw_ostream &os, StringRef type,
                      llvm::ArrayRef<int64_t> shape,
                      llvm::ArrayRef<char> elements) {
  os << headerOf(type, shape) << textOf(elements);
}

void corten::writeNpz(llvm::raw_ostream &os,
                      llvm::ArrayRef<NpyContent> arrays) {
  ZipWriter zip(os);
  for (const NpyContent &array : arrays)
    zip.add(array.name + ".npy",
            {headerOf(array.type, array.shape), textOf(array.elements)});
  zip.finish();
}
