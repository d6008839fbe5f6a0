// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Payload.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace corten::pt2;
using llvm::StringRef;
using llvm::Twine;

std::optional<ScalarType> pt2::scalarTypeFromSchema(int64_t number) {
  // The numbers in between belong to quantized and sub-byte types.
  static constexpr std::pair<int64_t, ScalarType> kTypes[] = {
      {1, ScalarType::UInt8},           {2, ScalarType::Int8},
      {3, ScalarType::Int16},           {4, ScalarType::Int32},
      {5, ScalarType::Int64},           {6, ScalarType::Float16},
      {7, ScalarType::Float32},         {8, ScalarType::Float64},
      {9, ScalarType::Complex32},       {10, ScalarType::Complex64},
      {11, ScalarType::Complex128},     {12, ScalarType::Bool},
      {13, ScalarType::BFloat16},       {28, ScalarType::UInt16},
      {29, ScalarType::Float8E4M3FN},   {30, ScalarType::Float8E5M2},
      {31, ScalarType::Float8E4M3FNUZ}, {32, ScalarType::Float8E5M2FNUZ},
      {33, ScalarType::Float8E8M0FNU},  {34, ScalarType::UInt32},
      {35, ScalarType::UInt64},
  };
  for (auto [known, type] : kTypes)
    if (known == number)
      return type;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Where tensors lie
//===----------------------------------------------------------------------===//

static bool readSizes(JsonValue list, llvm::SmallVector<int64_t> &out) {
  if (!list.isArray())
    return false;
  for (JsonValue item : list.elements()) {
    std::optional<int64_t> size = item["as_int"].integer();
    if (!size)
      return false;
    out.push_back(*size);
  }
  return true;
}

llvm::Error pt2::readTensorMeta(JsonValue meta, StringRef name,
                                SavedTensor &tensor) {
  std::optional<int64_t> dtype = meta["dtype"].integer();
  std::optional<int64_t> offset = meta["storage_offset"]["as_int"].integer();
  if (!dtype || !offset || !readSizes(meta["sizes"], tensor.shape) ||
      !readSizes(meta["strides"], tensor.strides))
    return llvm::createStringError("the description of the tensor '" + name +
                                   "' is incomplete");
  std::optional<ScalarType> type = scalarTypeFromSchema(*dtype);
  if (!type)
    return llvm::createStringError("the tensor '" + name +
                                   "' has the unknown element type " +
                                   Twine(*dtype));
  tensor.dtype = *type;
  tensor.offset = *offset;
  tensor.hasData = !meta["device"]["type"].isString("meta");
  return llvm::Error::success();
}

llvm::Expected<Payload> Payload::fromConfig(const TorchArchive &archive,
                                            StringRef config,
                                            StringRef folder) {
  llvm::Expected<Bytes> bytes = archive.read(config);
  if (!bytes)
    return bytes.takeError();
  llvm::Expected<JsonDocument> document = JsonDocument::parse(bytes->data);
  if (!document)
    return llvm::joinErrors(llvm::createStringError("in '" + config + "'"),
                            document.takeError());
  JsonValue entries = document->root()["config"];
  if (!entries.isObject())
    return llvm::createStringError("'" + config + "' describes no tensors");
  Payload payload;
  for (const auto &[name, entry] : entries.members()) {
    std::optional<std::string> path = entry["path_name"].string();
    if (!path)
      return llvm::createStringError(
          "'" + config + "' does not say where the tensor '" + name + "' is");
    // Objects of other classes are pickled and have no description.
    if (entry["tensor_meta"].isNull())
      continue;
    llvm::Expected<Bytes> data = archive.read(folder.str() + *path);
    if (!data)
      return llvm::createStringError("the tensor '" + name +
                                     "': " + llvm::toString(data.takeError()));
    SavedTensor tensor;
    if (entry["use_pickle"].boolean().value_or(false)) {
      llvm::Expected<SavedTensor> saved = readSavedTensor(*data);
      if (!saved)
        return llvm::createStringError(
            "the tensor '" + name + "': " + llvm::toString(saved.takeError()));
      tensor = std::move(*saved);
    } else {
      if (llvm::Error error =
              readTensorMeta(entry["tensor_meta"], name, tensor))
        return error;
      tensor.storage = std::move(*data);
    }
    payload.add(name, std::move(tensor));
  }
  return payload;
}

llvm::Expected<Payload> Payload::fromSaved(const TorchArchive &archive,
                                           StringRef name) {
  llvm::Expected<Bytes> bytes = archive.read(name);
  if (!bytes)
    return bytes.takeError();
  llvm::Expected<SavedTensors> saved = readSavedTensors(*bytes);
  if (!saved)
    return llvm::createStringError("in '" + name +
                                   "': " + llvm::toString(saved.takeError()));
  Payload payload;
  for (auto &[key, tensor] : *saved)
    payload.add(key, std::move(tensor));
  return payload;
}

const SavedTensor *Payload::find(StringRef name) const {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

StridedMemory pt2::memoryOf(const SavedTensor &tensor) {
  return {tensor.shape, tensor.strides, tensor.offset,
          scalarTypeBits(tensor.dtype) / 8, tensor.storage};
}

llvm::Expected<Bytes> pt2::elementsOf(const SavedTensor &tensor) {
  llvm::Expected<Bytes> elements = corten::elementsOf(memoryOf(tensor));
  if (!elements)
    return elements;
  return alignedWeight(std::move(*elements));
}
