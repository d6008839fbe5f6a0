// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file is the length of a header in eight bytes, the header, which is JSON,
// and the data:
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}

#include "corten/Pt2/Safetensors.h"

#include "Json.h"

#include "corten/Program/StridedMemory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace corten;
using namespace corten::pt2;
using llvm::StringRef;
using llvm::Twine;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// What the format allows a header.
static constexpr uint64_t kLongestHeader = 100'000'000;
static constexpr StringRef kIndex = "model.safetensors.index.json";

static std::optional<ScalarType> typeOf(StringRef name) {
  static constexpr std::pair<StringRef, ScalarType> kTypes[] = {
      {"BOOL", ScalarType::Bool},
      {"U8", ScalarType::UInt8},
      {"I8", ScalarType::Int8},
      {"U16", ScalarType::UInt16},
      {"I16", ScalarType::Int16},
      {"U32", ScalarType::UInt32},
      {"I32", ScalarType::Int32},
      {"U64", ScalarType::UInt64},
      {"I64", ScalarType::Int64},
      {"F16", ScalarType::Float16},
      {"BF16", ScalarType::BFloat16},
      {"F32", ScalarType::Float32},
      {"F64", ScalarType::Float64},
      {"C64", ScalarType::Complex64},
      {"F8_E4M3", ScalarType::Float8E4M3FN},
      {"F8_E5M2", ScalarType::Float8E5M2},
      {"F8_E4M3FNUZ", ScalarType::Float8E4M3FNUZ},
      {"F8_E5M2FNUZ", ScalarType::Float8E5M2FNUZ},
      {"F8_E8M0", ScalarType::Float8E8M0FNU},
  };
  for (auto [known, type] : kTypes)
    if (known == name)
      return type;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// The header's text; the rest of the file is the data.
static llvm::Expected<StringRef> splitHeader(StringRef &file) {
  constexpr size_t kLength = sizeof(uint64_t);
  if (file.starts_with("PK\3\4"))
    return llvm::createStringError(
        "an archive, as torch.save writes it, and no safetensors file.\nFix: "
        "save its tensors with safetensors.torch.save_file(torch.load(...), "
        "'model.safetensors').");
  if (file.size() < kLength)
    return llvm::createStringError("the file ends within the header");
  uint64_t length = llvm::support::endian::read64le(file.data());
  file = file.drop_front(kLength);
  if (length > kLongestHeader)
    return llvm::createStringError("no safetensors file: a header of " +
                                   Twine(length) + " bytes");
  if (length > file.size())
    return llvm::createStringError("the file ends within the header");
  StringRef header = file.take_front(length);
  file = file.drop_front(length);
  if (!header.starts_with("{"))
    return llvm::createStringError("no safetensors file: no header");
  return header;
}

/// How many bytes the elements take; none for a shape that is none.
static std::optional<int64_t> sizeOf(const TensorFolder::Tensor &tensor) {
  int64_t size = scalarTypeBits(tensor.dtype) / 8;
  for (int64_t extent : tensor.shape)
    if (extent < 0 || llvm::MulOverflow(size, extent, size))
      return std::nullopt;
  return size;
}

/// Reads a tensor's entry; its bytes are a part of `data`.
static llvm::Error readEntry(JsonValue entry, const SharedBytes &data,
                             TensorFolder::Tensor &tensor) {
  std::string type = entry["dtype"].string().value_or("");
  std::optional<ScalarType> dtype = typeOf(type);
  if (!dtype)
    return llvm::createStringError("has the unknown type '" + type + "'");
  tensor.dtype = *dtype;
  if (!entry["shape"].isArray() || entry["data_offsets"].size() != 2)
    return llvm::createStringError("has no shape or no data");
  for (JsonValue extent : entry["shape"].elements())
    tensor.shape.push_back(extent.integer().value_or(-1));
  llvm::SmallVector<uint64_t, 2> offsets;
  for (JsonValue offset : entry["data_offsets"].elements())
    offsets.push_back(
        static_cast<uint64_t>(offset.integer().value_or(INT64_MAX)));
  if (offsets[0] > offsets[1] || offsets[1] > data.data.size())
    return llvm::createStringError("reaches beyond the end of the file");
  if (sizeOf(tensor) != static_cast<int64_t>(offsets[1] - offsets[0]))
    return llvm::createStringError("has other bytes than its shape takes");
  tensor.bytes = {data.data.slice(offsets[0], offsets[1]), data.owner};
  return llvm::Error::success();
}

/// Tensors that share bytes are how a small file is made to hold a huge amount
/// of data.
static llvm::Error
checkOverlaps(llvm::ArrayRef<std::pair<StringRef, std::string>> tensors) {
  auto byPlace = llvm::to_vector(llvm::make_pointer_range(tensors));
  llvm::sort(byPlace, [](const auto *lhs, const auto *rhs) {
    return std::pair(lhs->first.begin(), lhs->first.end()) <
           std::pair(rhs->first.begin(), rhs->first.end());
  });
  for (auto [entry, next] :
       llvm::zip(byPlace, llvm::ArrayRef(byPlace).drop_front(!byPlace.empty())))
    if (entry->first.end() > next->first.begin())
      return llvm::createStringError("the tensors '" + entry->second +
                                     "' and '" + next->second + "' overlap");
  return llvm::Error::success();
}

/// Reads the header of a file. Of what is in several, `index` says which file
/// has it, by name; without one that is an error.
static llvm::Error readFile(TensorFolder &folder, StringRef file,
                            const llvm::StringMap<std::string> *index) {
  llvm::SmallString<256> where(folder.path());
  path::append(where, file);
  auto failed = [&](llvm::Error error) {
    return llvm::createStringError("'" + where +
                                   "': " + llvm::toString(std::move(error)));
  };
  llvm::Expected<SharedBytes> data = mapFile(where);
  if (!data)
    return failed(data.takeError());
  const char *begin = data->data.data();
  llvm::Expected<StringRef> header = splitHeader(data->data);
  if (!header)
    return failed(header.takeError());
  llvm::Expected<JsonDocument> document = JsonDocument::parse(*header);
  if (!document)
    return failed(document.takeError());
  std::vector<std::pair<StringRef, std::string>> places;
  for (const auto &[name, entry] : document->root().members()) {
    if (name == "__metadata__")
      continue;
    TensorFolder::Tensor tensor;
    tensor.file = file.str();
    if (llvm::Error error = readEntry(entry, *data, tensor))
      return failed(llvm::createStringError("the tensor '" + name + "' " +
                                            llvm::toString(std::move(error))));
    tensor.offset = tensor.bytes.data.data() - begin;
    places.emplace_back(tensor.bytes.data, name);
    if (index) {
      // Another file may have it as well; the index decides.
      auto found = index->find(name);
      if (found == index->end() || found->second != file)
        continue;
    }
    if (const TensorFolder::Tensor *known = folder.add(name, std::move(tensor)))
      return failed(llvm::createStringError(
          "the tensor '" + name + "' is also in '" + known->file + "'"));
  }
  if (llvm::Error error = checkOverlaps(places))
    return failed(std::move(error));
  return llvm::Error::success();
}

static llvm::Error readIndex(TensorFolder &folder, StringRef file) {
  llvm::Expected<SharedBytes> text = mapFile(file);
  if (!text)
    return llvm::createStringError("cannot read '" + file +
                                   "': " + llvm::toString(text.takeError()));
  llvm::Expected<JsonDocument> document = JsonDocument::parse(text->data);
  if (!document)
    return llvm::createStringError(
        "'" + file + "': " + llvm::toString(document.takeError()));
  llvm::StringMap<std::string> index;
  std::vector<std::string> files;
  for (const auto &[name, value] : document->root()["weight_map"].members()) {
    std::string part = value.string().value_or("");
    // A file beside the index, and no other.
    if (part.empty() || part != path::filename(part) || part == "..")
      return llvm::createStringError("'" + file + "': the tensor '" + name +
                                     "' is in '" + part +
                                     "', which is no file of the folder");
    index[name] = part;
    files.push_back(part);
  }
  if (files.empty())
    return llvm::createStringError("'" + file + "' lists no tensors");
  llvm::sort(files);
  files.erase(llvm::unique(files), files.end());
  for (const std::string &part : files)
    if (llvm::Error error = readFile(folder, part, &index))
      return error;
  for (const auto &entry : index)
    if (!folder.find(entry.getKey()))
      return llvm::createStringError("'" + file + "': the tensor '" +
                                     entry.getKey() + "' is not in '" +
                                     entry.getValue() + "'");
  return llvm::Error::success();
}

/// The files of a folder without an index.
static llvm::Expected<std::vector<std::string>> listFiles(StringRef given) {
  std::vector<std::string> files;
  std::error_code code;
  for (fs::directory_iterator entry(given, code), end; !code && entry != end;
       entry.increment(code))
    if (path::extension(entry->path()) == ".safetensors")
      files.push_back(path::filename(entry->path()).str());
  if (code)
    return llvm::createStringError("cannot read '" + given +
                                   "': " + code.message());
  if (files.empty())
    return llvm::createStringError("'" + given + "' has no .safetensors files");
  llvm::sort(files);
  return files;
}

llvm::Expected<std::shared_ptr<const TensorFolder>>
corten::openSafetensors(StringRef given) {
  if (fs::is_regular_file(given)) {
    StringRef parent = path::parent_path(given);
    auto folder =
        std::make_shared<TensorFolder>(parent.empty() ? "." : parent.str());
    if (llvm::Error error = readFile(*folder, path::filename(given), nullptr))
      return error;
    return folder;
  }
  auto folder = std::make_shared<TensorFolder>(given.str());
  llvm::SmallString<256> index(given);
  path::append(index, kIndex);
  if (fs::exists(index)) {
    if (llvm::Error error = readIndex(*folder, index))
      return error;
    return folder;
  }
  llvm::Expected<std::vector<std::string>> files = listFiles(given);
  if (!files)
    return files.takeError();
  for (const std::string &file : *files)
    if (llvm::Error error = readFile(*folder, file, nullptr))
      return error;
  return folder;
}

llvm::Expected<std::optional<NamedWeights>>
corten::openWeights(const WeightSource &source) {
  if (source.folder.empty()) {
    if (!source.tied.empty())
      return llvm::createStringError(
          "weights are tied to those of a folder, and there is none.\n"
          "Fix: name the folder: --weights FOLDER, or weights= in Python.");
    return std::nullopt;
  }
  auto folder = openSafetensors(source.folder);
  if (!folder)
    return folder.takeError();
  NamedWeights named(std::move(*folder));
  for (const TiedWeight &weight : source.tied)
    named.tie(weight.name, weight.stored);
  return named;
}
