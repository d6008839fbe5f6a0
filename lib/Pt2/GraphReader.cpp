// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GraphReader.h"

#include "Json.h"
#include "Payload.h"
#include "ProgramReader.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace corten;
using namespace corten::pt2;
using llvm::StringRef;

/// A complex number of two doubles, in bytes.
static constexpr size_t kWidestElement = 16;

/// The bits of a small number in an element type.
static uint64_t bitsOf(ScalarType type, unsigned number) {
  auto as = [&](const llvm::fltSemantics &semantics) {
    llvm::APFloat value(static_cast<float>(number));
    bool losesInfo = false;
    value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return value.bitcastToAPInt().getZExtValue();
  };
  switch (type) {
  case ScalarType::Float16:
    return as(llvm::APFloat::IEEEhalf());
  case ScalarType::BFloat16:
    return as(llvm::APFloat::BFloat());
  case ScalarType::Float32:
  case ScalarType::Complex64:
    return as(llvm::APFloat::IEEEsingle());
  case ScalarType::Float64:
    return as(llvm::APFloat::IEEEdouble());
  default:
    return number;
  }
}

/// 0, 1, 2, 3 and again, so that no two neighbours are equal; a complex number
/// has no imaginary part.
static Bytes makeUpElements(ScalarType type, size_t numElements) {
  size_t width = std::max(1u, scalarTypeBits(type) / 8);
  auto bytes = std::make_shared<std::vector<char>>(numElements * width);
  for (size_t index = 0; index < numElements; ++index) {
    uint64_t bits =
        bitsOf(type, type == ScalarType::Bool ? index % 2 : index % 4);
    std::memcpy(bytes->data() + index * width, &bits,
                std::min(width, sizeof(bits)));
  }
  StringRef view(bytes->data(), bytes->size());
  return {view, std::move(bytes)};
}

/// How many elements a storage has to have for a tensor; nothing if that is no
/// number, or if the tensor repeats them without bounds.
static std::optional<int64_t> reachOf(const SavedTensor &tensor,
                                      int64_t maxElements) {
  int64_t reach = tensor.offset, count = 1;
  if (tensor.shape.size() != tensor.strides.size() || reach < 0)
    return std::nullopt;
  for (auto [extent, stride] : llvm::zip_equal(tensor.shape, tensor.strides)) {
    int64_t step = 0;
    if (extent < 0 || stride < 0 || llvm::MulOverflow(count, extent, count) ||
        count > maxElements ||
        (extent > 0 && (llvm::MulOverflow(extent - 1, stride, step) ||
                        llvm::AddOverflow(reach, step, reach))))
      return std::nullopt;
  }
  int64_t end = 0;
  return llvm::AddOverflow<int64_t>(reach, 1, end) || end > maxElements
             ? std::nullopt
             : std::optional(end);
}

/// One tensor for each that the signature has, of the type and shape that the
/// graph gives it.
static Payload makeUpWeights(JsonValue program, size_t maxBytes) {
  Payload weights;
  JsonValue module = program["graph_module"];
  JsonValue tensors = module["graph"]["tensor_values"];
  for (JsonValue spec : module["signature"]["input_specs"].elements()) {
    JsonValue input = alternativeOf(spec).second;
    JsonValue meta = tensors[input["arg"]["name"].string().value_or("")];
    for (StringRef member :
         {"parameter_name", "buffer_name", "tensor_constant_name"}) {
      std::optional<std::string> name = input[member].string();
      if (!name)
        continue;
      SavedTensor tensor;
      if (llvm::Error error = readTensorMeta(meta, *name, tensor)) {
        // The reader will find that the tensor is missing.
        llvm::consumeError(std::move(error));
        continue;
      }
      std::optional<int64_t> reach =
          reachOf(tensor, static_cast<int64_t>(maxBytes / kWidestElement));
      if (!reach)
        continue;
      tensor.storage = makeUpElements(tensor.dtype, *reach);
      weights.add(*name, std::move(tensor));
    }
  }
  return weights;
}

llvm::Expected<std::unique_ptr<Program>>
pt2::readGraph(StringRef json, size_t maxWeightBytes,
               llvm::function_ref<bool(const Operator &)> hasLowering) {
  llvm::Expected<JsonDocument> document = JsonDocument::parse(json);
  if (!document)
    return document.takeError();
  Payload weights = makeUpWeights(document->root(), maxWeightBytes);
  return ProgramReader(weights, weights).read(document->root(), hasLowering);
}
