// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Weights.h"

#include "corten/Program/Finish.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using llvm::ArrayRef;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

const TensorFolder::Tensor *TensorFolder::find(StringRef name) const {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

std::vector<StringRef> TensorFolder::names() const {
  auto names = llvm::to_vector(tensors.keys());
  llvm::sort(names);
  return {names.begin(), names.end()};
}

const TensorFolder::Tensor *TensorFolder::add(StringRef name, Tensor tensor) {
  auto [known, isNew] = tensors.try_emplace(name, std::move(tensor));
  return isNew ? nullptr : &known->second;
}

/// "  missing (2): a, b", and no more than a screen of them.
static void list(llvm::raw_ostream &os, StringRef what,
                 ArrayRef<std::string> items, StringRef separator) {
  constexpr size_t kShown = 12;
  if (items.empty())
    return;
  os << "\n  " << what << " (" << items.size() << "): ";
  llvm::interleave(items.take_front(kShown), os, separator);
  if (items.size() > kShown)
    os << separator << "...";
}

void NamedWeights::know(StringRef name) {
  known.insert(name);
  if (auto tie = tied.find(name); tie != tied.end())
    known.insert(tie->second);
}

void NamedWeights::add(const NamedWeights &others) {
  for (StringRef name : others.known.keys())
    known.insert(name);
  for (const auto &[name, stored] : others.tied)
    tied.try_emplace(name, stored);
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

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void ProgramWeights::know(StringRef name, TensorIdentity identity) {
  if (!named)
    return;
  named->know(name);
  identities[name] = std::move(identity);
}

/// What the folder has as a weight: by its name, by that of a weight that it is
/// said to be tied to, or by the first of those that are the same tensor.
const TensorFolder::Tensor *ProgramWeights::find(StringRef name) const {
  const TensorFolder &folder = *named->folder;
  if (const TensorFolder::Tensor *own = folder.find(name))
    return own;
  if (auto tie = named->tied.find(name); tie != named->tied.end())
    if (const TensorFolder::Tensor *stored = folder.find(tie->second))
      return stored;
  auto self = identities.find(name);
  if (self == identities.end() || !self->second.storage)
    return nullptr;
  std::optional<StringRef> first;
  for (const auto &[other, identity] : identities)
    if (identity == self->second && (!first || other < *first) &&
        folder.find(other))
      first = other;
  return first ? folder.find(*first) : nullptr;
}

bool ProgramWeights::isFromFolder(StringRef name, bool isState,
                                  bool hasData) const {
  return named && (isState || !hasData || find(name));
}

/// What is not there may be tied to something of its type and shape that is.
void ProgramWeights::noteMissing(StringRef name, ScalarType dtype,
                                 ArrayRef<int64_t> shape) {
  missing.push_back(name.str());
  std::vector<StringRef> alike;
  for (StringRef other : named->folder->names()) {
    const TensorFolder::Tensor &tensor = *named->folder->find(other);
    if (tensor.dtype == dtype && ArrayRef(tensor.shape) == shape)
      alike.push_back(other);
  }
  if (!alike.empty())
    possibleTies.push_back(
        (name + "=" + (alike.size() == 1 ? alike.front() : "OTHER")).str());
}

static std::string describe(ScalarType dtype, ArrayRef<int64_t> shape) {
  std::string text = scalarTypeName(dtype).str() + "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os);
  return text + "]";
}

const TensorFolder::Tensor *ProgramWeights::take(StringRef name,
                                                 ScalarType dtype,
                                                 ArrayRef<int64_t> shape,
                                                 bool isState) {
  named->know(name);
  const TensorFolder::Tensor *tensor = find(name);
  if (!tensor) {
    if (isState)
      noteMissing(name, dtype, shape);
    else
      missingConstants.push_back(name.str());
    return nullptr;
  }
  if (tensor->dtype == dtype && ArrayRef(tensor->shape) == shape)
    return tensor;
  misshapen.push_back((name + " is " + describe(tensor->dtype, tensor->shape) +
                       " in " + tensor->file + ", and " +
                       describe(dtype, shape) + " in the program")
                          .str());
  return nullptr;
}

llvm::Error ProgramWeights::check() const {
  if (missing.empty() && missingConstants.empty() && misshapen.empty())
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "the weights in '" << named->folder->path()
     << "' are not the program's";
  list(os, "missing", missing, ", ");
  list(os, "of another type or shape", misshapen, "\n    ");
  list(os, "in no checkpoint, and without data in the program",
       missingConstants, ", ");
  if (!possibleTies.empty())
    os << "\n  Fix: if the model ties weights, say which ones, as in --tied "
       << possibleTies.front() << ", or tied= in Python";
  if (!missingConstants.empty())
    os << "\n  Fix: give the program their values after the export, "
          "exported_program.constants[name] = value";
  return llvm::createStringError(text);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// The shape that the graph gives a weight; nothing if it does not know it.
static std::optional<llvm::SmallVector<int64_t>>
shapeOf(const ValueInfo &info) {
  if (!info.isTensor() ||
      llvm::any_of(info.sizes, [](Size size) { return size.isDynamic(); }))
    return std::nullopt;
  return llvm::map_to_vector(info.sizes, [](Size size) { return size.get(); });
}

llvm::Expected<AddedWeight>
ProgramWeights::addFromFolder(ProgramBuilder &builder, StringRef name,
                              const ValueInfo &info, bool isState) {
  std::optional<llvm::SmallVector<int64_t>> shape = shapeOf(info);
  if (!shape)
    return llvm::createStringError("'" + name +
                                   "' is no weight: its shape is not known");
  const TensorFolder::Tensor *tensor = take(name, info.dtype, *shape, isState);
  if (!tensor)
    return AddedWeight();
  llvm::SmallVector<int64_t> strides(shape->size());
  int64_t stride = 1;
  for (auto [extent, step] : llvm::reverse(llvm::zip_equal(*shape, strides))) {
    step = stride;
    stride *= extent;
  }
  StridedMemory memory{*shape, strides, 0, scalarTypeBits(info.dtype) / 8,
                       tensor->bytes};
  llvm::Expected<AddedWeight> added =
      addWeight(builder, info.dtype, *shape, memory);
  if (added)
    return added;
  misshapen.push_back((name + " " + llvm::toString(added.takeError())).str());
  return AddedWeight();
}

std::string corten::withoutData(StringRef name) {
  auto [module, own] = name.rsplit('.');
  return ("the weight '" + name + "' has no data: it is on the meta device" +
          (own.empty() ? "" : ", in the module '" + module + "'") +
          ".\nFix: name the folder of safetensors that has the weights: "
          "--weights FOLDER, or weights= in Python; or load them before "
          "exporting, for example model.to_empty(device='cpu') and "
          "model.load_state_dict(...).")
      .str();
}

llvm::Expected<AddedWeight>
ProgramWeights::addOwn(ProgramBuilder &builder, StringRef name,
                       const ProgramTensor &tensor) const {
  if (!tensor.hasData) {
    if (!needsData)
      return AddedWeight();
    return llvm::createStringError(withoutData(name));
  }
  llvm::Expected<StridedMemory> memory = tensor.memory();
  if (!memory)
    return memory.takeError();
  llvm::Expected<AddedWeight> added =
      addWeight(builder, tensor.dtype, tensor.shape, *memory);
  if (!added)
    return llvm::createStringError("the tensor '" + name + "' " +
                                   llvm::toString(added.takeError()));
  return added;
}

/// Whether a tensor is what the graph says: it may have been exchanged after
/// the export. Packed ones, of elements of less than a byte, stand for a type
/// that torch can compute with.
static llvm::Error checkExported(StringRef name, const ProgramTensor &tensor,
                                 const ValueInfo &info) {
  bool isPacked = scalarTypeBits(tensor.dtype) < 8 ||
                  tensor.dtype == ScalarType::Float4E2M1FNx2;
  std::optional<llvm::SmallVector<int64_t>> shape = shapeOf(info);
  if (!shape)
    return llvm::createStringError("'" + name +
                                   "' is no weight: its shape is not known");
  if (ArrayRef(*shape) == tensor.shape &&
      (tensor.dtype == info.dtype || isPacked))
    return llvm::Error::success();
  return llvm::createStringError(
      "the weight '" + name + "' is " + describe(tensor.dtype, tensor.shape) +
      ", but was exported as " + describe(info.dtype, *shape) +
      ".\nFix: export the model with the weights that it is to have.");
}

llvm::Expected<AddedWeight> ProgramWeights::add(ProgramBuilder &builder,
                                                StringRef name,
                                                const Node &placeholder,
                                                bool isState,
                                                const ProgramTensor *tensor) {
  const ValueInfo &info = placeholder.info();
  // Strides are products of extents.
  if (llvm::Error error = checkExtents(placeholder))
    return error;
  if (isFromFolder(name, isState, tensor && tensor->hasData))
    return addFromFolder(builder, name, info, isState);
  if (!tensor)
    return llvm::createStringError("the program has no tensor '" + name + "'");
  if (tensor->hasData)
    if (llvm::Error error = checkExported(name, *tensor, info))
      return error;
  return addOwn(builder, name, *tensor);
}
