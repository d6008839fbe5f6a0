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
static std::optional<int64_t> sizeOf(const SafetensorsFolder::Tensor &tensor) {
  int64_t size = scalarTypeBits(tensor.dtype) / 8;
  for (int64_t extent : tensor.shape)
    if (extent < 0 || llvm::MulOverflow(size, extent, size))
      return std::nullopt;
  return size;
}

/// Reads a tensor's entry; its bytes are a part of `data`.
static llvm::Error readEntry(JsonValue entry, const SharedBytes &data,
                             SafetensorsFolder::Tensor &tensor) {
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

llvm::Error
SafetensorsFolder::readFile(StringRef file,
                            const llvm::StringMap<std::string> *index) {
  llvm::SmallString<256> where(folder);
  path::append(where, file);
  auto failed = [&](llvm::Error error) {
    return llvm::createStringError("'" + where +
                                   "': " + llvm::toString(std::move(error)));
  };
  llvm::Expected<SharedBytes> data = mapFile(where);
  if (!data)
    return failed(data.takeError());
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
    Tensor tensor;
    tensor.file = file.str();
    if (llvm::Error error = readEntry(entry, *data, tensor))
      return failed(llvm::createStringError("the tensor '" + name + "' " +
                                            llvm::toString(std::move(error))));
    places.emplace_back(tensor.bytes.data, name);
    if (index) {
      // Another file may have it as well; the index decides.
      auto found = index->find(name);
      if (found == index->end() || found->second != file)
        continue;
    }
    auto [known, isNew] = tensors.try_emplace(name, std::move(tensor));
    if (!isNew)
      return failed(llvm::createStringError(
          "the tensor '" + name + "' is also in '" + known->second.file + "'"));
  }
  if (llvm::Error error = checkOverlaps(places))
    return failed(std::move(error));
  return llvm::Error::success();
}

llvm::Error SafetensorsFolder::readIndex(StringRef file) {
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
    if (llvm::Error error = readFile(part, &index))
      return error;
  for (const auto &entry : index)
    if (!find(entry.getKey()))
      return llvm::createStringError("'" + file + "': the tensor '" +
                                     entry.getKey() + "' is not in '" +
                                     entry.getValue() + "'");
  return llvm::Error::success();
}

llvm::Expected<std::shared_ptr<const SafetensorsFolder>>
SafetensorsFolder::open(StringRef given) {
  auto result = std::make_shared<SafetensorsFolder>();
  result->folder = given.str();
  auto finish = [&](llvm::Error error)
      -> llvm::Expected<std::shared_ptr<const SafetensorsFolder>> {
    if (error)
      return std::move(error);
    return std::move(result);
  };
  if (fs::is_regular_file(given)) {
    StringRef parent = path::parent_path(given);
    result->folder = parent.empty() ? "." : parent.str();
    return finish(result->readFile(path::filename(given), nullptr));
  }
  llvm::SmallString<256> index(given);
  path::append(index, kIndex);
  if (fs::exists(index))
    return finish(result->readIndex(index));
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
  for (const std::string &file : files)
    if (llvm::Error error = result->readFile(file, nullptr))
      return finish(std::move(error));
  return finish(llvm::Error::success());
}

const SafetensorsFolder::Tensor *SafetensorsFolder::find(StringRef name) const {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

std::vector<StringRef> SafetensorsFolder::names() const {
  auto names = llvm::to_vector(tensors.keys());
  llvm::sort(names);
  return {names.begin(), names.end()};
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static std::string describe(ScalarType dtype, llvm::ArrayRef<int64_t> shape) {
  std::string text = scalarTypeName(dtype).str() + "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os);
  return text + "]";
}

llvm::Expected<std::optional<NamedWeights>>
NamedWeights::open(const WeightSource &source) {
  if (source.folder.empty()) {
    if (!source.tied.empty())
      return llvm::createStringError(
          "weights are tied to those of a folder, and there is none");
    return std::nullopt;
  }
  auto folder = SafetensorsFolder::open(source.folder);
  if (!folder)
    return folder.takeError();
  NamedWeights named(std::move(*folder));
  named.takesTies = true;
  for (const TiedWeight &weight : source.tied)
    named.tie(weight.name, weight.stored);
  return named;
}

const SafetensorsFolder::Tensor *NamedWeights::find(StringRef name) const {
  if (const SafetensorsFolder::Tensor *own = folder->find(name))
    return own;
  auto found = tied.find(name);
  return found == tied.end() ? nullptr : folder->find(found->second);
}

/// What is not there may be tied to something of its type and shape that is.
void NamedWeights::noteMissing(StringRef name, ScalarType dtype,
                               llvm::ArrayRef<int64_t> shape) {
  missing.push_back(name.str());
  std::vector<StringRef> alike;
  for (StringRef other : folder->names()) {
    const SafetensorsFolder::Tensor &tensor = *folder->find(other);
    if (tensor.dtype == dtype && llvm::ArrayRef(tensor.shape) == shape)
      alike.push_back(other);
  }
  if (!alike.empty())
    possibleTies.push_back(
        (name + "=" + (alike.size() == 1 ? alike.front() : "OTHER")).str());
}

int NamedWeights::add(ProgramBuilder &builder, StringRef name, ScalarType dtype,
                      llvm::ArrayRef<int64_t> shape, bool isState) {
  know(name);
  const SafetensorsFolder::Tensor *tensor = find(name);
  if (!tensor) {
    if (isState)
      noteMissing(name, dtype, shape);
    else
      missingConstants.push_back(name.str());
    return -1;
  }
  if (auto tie = tied.find(name); tie != tied.end())
    know(tie->second);
  if (tensor->dtype != dtype || llvm::ArrayRef(tensor->shape) != shape) {
    misshapen.push_back(
        (name + " is " + describe(tensor->dtype, tensor->shape) + " in " +
         tensor->file + ", and " + describe(dtype, shape) + " in the program")
            .str());
    return -1;
  }
  llvm::SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (auto [extent, step] : llvm::reverse(llvm::zip_equal(shape, strides))) {
    step = stride;
    stride *= extent;
  }
  StridedMemory memory{shape, strides, 0, scalarTypeBits(dtype) / 8,
                       tensor->bytes};
  llvm::Expected<AddedWeight> added = addWeight(builder, dtype, shape, memory);
  if (added)
    return added->index;
  misshapen.push_back((name + " " + llvm::toString(added.takeError())).str());
  return -1;
}

/// "  missing (2): a, b", and no more than a screen of them.
static void list(llvm::raw_ostream &os, StringRef what,
                 llvm::ArrayRef<std::string> items, StringRef separator) {
  constexpr size_t kShown = 12;
  if (items.empty())
    return;
  os << "\n  " << what << " (" << items.size() << "): ";
  llvm::interleave(items.take_front(kShown), os, separator);
  if (items.size() > kShown)
    os << separator << "...";
}

llvm::Error NamedWeights::check() const {
  if (missing.empty() && missingConstants.empty() && misshapen.empty())
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "the weights in '" << folder->path() << "' are not the program's";
  list(os, "missing", missing, ", ");
  list(os, "of another type or shape", misshapen, "\n    ");
  list(os, "in no checkpoint, and without data in the program",
       missingConstants, ", ");
  if (takesTies && !possibleTies.empty())
    os << "\n  Fix: if the model ties weights, say which ones, as in --tied "
       << possibleTies.front() << ", or tied= in Python";
  if (!missingConstants.empty())
    os << "\n  Fix: give the program their values after the export, "
          "exported_program.constants[name] = value";
  return llvm::createStringError(text);
}

llvm::Error NamedWeights::checkAllKnown() const {
  for (StringRef name : tied.keys())
    if (!known.contains(name))
      return llvm::createStringError("no program has the weight '" + name +
                                     "', which is said to be tied to '" +
                                     tied.lookup(name) + "'");
  std::vector<std::string> extra;
  for (StringRef name : folder->names())
    if (!known.contains(name))
      extra.push_back(name.str());
  if (extra.empty())
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "'" << folder->path() << "' has weights that the program lacks";
  list(os, "extra", extra, ", ");
  return llvm::createStringError(text);
}
