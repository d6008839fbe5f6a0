// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program's weights as constants.

#include "Walk/ProgramEmitter.h"
#include "Weights/PackedWeights.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Support/Limits.h"
#include "corten/Support/ScratchMemory.h"

#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace corten;
using namespace mlir;

/// Converts `view` element by element to a narrower type, through a window.
template <typename From, typename To, typename Convert>
static TensorView narrow(const TensorView &view, ScalarType to,
                         ReadWindow &window, Convert convert) {
  size_t count = view.numElements();
  std::shared_ptr<char> data = allocateScratch(count * sizeof(To));
  if (!data)
    llvm::report_bad_alloc_error("no memory for a narrowed weight");
  const char *source = static_cast<const char *>(view.data);
  To *target = reinterpret_cast<To *>(data.get());
  constexpr size_t kPiece = ReadWindow::kStep / sizeof(From);
  for (size_t first = 0; first < count; first += kPiece) {
    size_t end = std::min(count, first + kPiece);
    for (size_t i = first; i < end; ++i) {
      // It may lie anywhere.
      From element;
      std::memcpy(&element, source + i * sizeof(From), sizeof(From));
      target[i] = convert(element);
    }
    window.passed(
        {source + first * sizeof(From), (end - first) * sizeof(From)});
    window.passed(
        {data.get() + first * sizeof(To), (end - first) * sizeof(To)});
  }
  TensorView result = view;
  result.dtype = to;
  result.bytes = count * sizeof(To);
  result.data = target;
  result.owner = std::move(data);
  return result;
}

/// Brings a 64-bit weight to the 32-bit type that Core AI has for it. Other
/// weights are returned as they are. Numbers beyond f32 become infinite, and
/// the ends of int64, which stand for "no limit", become those of si32: both
/// are worth a warning. Any other integer would be another number, an error.
static FailureOr<TensorView> narrowed(const TensorView &view, StringRef name,
                                      Location location, ReadWindow &window) {
  size_t misfits = 0, saturated = 0;
  int64_t firstMisfit = 0;
  auto toInt32 = [&](int64_t value) -> int32_t {
    if (value >= INT32_MIN && value <= INT32_MAX)
      return static_cast<int32_t>(value);
    if (value == INT64_MIN || value == INT64_MAX)
      ++saturated;
    else if (misfits++ == 0)
      firstMisfit = value;
    return value < 0 ? INT32_MIN : INT32_MAX;
  };
  auto toFloat = [&](double value) {
    auto result = static_cast<float>(value);
    saturated += std::isfinite(value) && !std::isfinite(result);
    return result;
  };
  auto toComplex = [&](std::complex<double> value) {
    return std::complex<float>(toFloat(value.real()), toFloat(value.imag()));
  };

  TensorView result = view;
  switch (view.dtype) {
  case ScalarType::Int64:
    result = narrow<int64_t, int32_t>(view, ScalarType::Int32, window, toInt32);
    break;
  case ScalarType::Float64:
    result = narrow<double, float>(view, ScalarType::Float32, window, toFloat);
    break;
  case ScalarType::Complex128:
    result = narrow<std::complex<double>, std::complex<float>>(
        view, ScalarType::Complex64, window, toComplex);
    break;
  default:
    break;
  }
  if (misfits)
    return emitError(location)
           << "weight '" << name << "': " << misfits
           << " value(s) do not fit into 32 bits, the first is " << firstMisfit;
  if (saturated)
    emitWarning(location) << "weight '" << name << "': " << saturated
                          << " value(s) beyond 32 bits were brought to the end "
                          << "of the type";
  return result;
}

/// Every element equals the first. Ends at the first difference, so for real
/// weights it reads a few bytes. Weights of more than a few megabytes are not
/// looked through to the end: they are no constants.
static bool isUniform(const TensorView &view, ReadWindow &window) {
  // A tenth of a second of reading at the most, and larger than any bias, norm
  // or mask that is worth it.
  constexpr size_t kLargest = size_t(16) << 20;
  int64_t count = view.numElements();
  if (count < 1 || view.bytes % count != 0)
    return false;
  size_t width = view.bytes / count;
  const char *data = static_cast<const char *>(view.data);
  auto isSameIn = [&](size_t begin, size_t size) {
    return std::memcmp(data + begin, data + begin + width, size) == 0;
  };
  size_t size = view.bytes - width, head = std::min(kPageBytes, size);
  bool isSame = isSameIn(0, head) && isSameIn(size - head, head) &&
                view.bytes <= kLargest && isSameIn(head, size - head);
  window.passed({data, view.bytes}, isSame ? view.bytes : ReadWindow::kLook);
  return isSame;
}

static DenseElementsAttr inlineAttribute(const TensorView &view,
                                         RankedTensorType type, bool uniform) {
  const char *data = static_cast<const char *>(view.data);
  size_t count = uniform ? 1 : view.numElements();
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> flags;
    for (size_t i = 0; i < count; ++i)
      flags.push_back(data[i] != 0);
    return DenseElementsAttr::get(type, ArrayRef<bool>(flags));
  }
  size_t width = view.numElements() ? view.bytes / view.numElements() : 0;
  return DenseElementsAttr::getFromRawBuffer(type,
                                             ArrayRef(data, count * width));
}

/// Integers of less than a byte as an attribute: all of them, or the one that
/// they all are. None if they are not of the type.
static DenseElementsAttr narrowAttribute(const TensorView &view,
                                         RankedTensorType type,
                                         ScalarType scalar, bool uniform,
                                         ReadWindow &window) {
  std::optional<std::pair<int64_t, int64_t>> range = valueRange(view, window);
  auto [low, high] = limitsOf(scalar);
  if (!range || range->first < low || range->second > high)
    return {};
  unsigned bits = scalarTypeBits(scalar);
  auto elements = llvm::map_to_vector(
      firstElements(view, uniform ? 1 : view.numElements(), window),
      [&](int64_t value) {
        return APInt(64, static_cast<uint64_t>(value)).trunc(bits);
      });
  return DenseElementsAttr::get(type, elements);
}

/// The bytes of a weight in a form: a view where they are the same, a copy
/// where they are packed or narrowed.
static FailureOr<TensorView> formed(const TensorView &view,
                                    const WeightForm &form, StringRef name,
                                    Location location, ReadWindow &window) {
  if (form.type == view.dtype)
    return narrowed(view, name, location, window);
  // Two four-bit floats to the byte, as torch has them.
  if (form.type == ScalarType::Float4E2M1FNx2)
    return view;
  if (std::optional<TensorView> result = packed(view, form.type, window))
    return *std::move(result);
  InFlightDiagnostic message = emitError(location);
  message << "weight '" << name << "' of " << scalarTypeName(view.dtype)
          << " cannot be kept as " << scalarTypeName(form.type);
  if (auto range = valueRange(view, window))
    message << ": its values go from " << range->first << " to "
            << range->second;
  return message;
}

FailureOr<Value> ProgramEmitter::weight(const TensorView &view,
                                        const WeightForm &form,
                                        StringRef name) {
  Type element = elementType(form.type);
  if (!element)
    return emitError(location)
           << "weight '" << name << "' has the type "
           << scalarTypeName(form.type) << ", which Core AI cannot express";
  auto type = RankedTensorType::get(form.shape, element);
  Attribute &known = resourceAttributes[{view.data, type}];
  if (known && view.bytes != 0)
    return constant(cast<TypedAttr>(known));
  auto another = [&](TypedAttr attribute) {
    result.weights.insert({view.data, type});
    return constant(attribute);
  };

  // Complex numbers cannot stand inline (coreai-core ends the process when it
  // saves them), nor can data that torch has packed be read element by element.
  bool isSmall = type.getNumElements() < kWeightElements;
  if (isSubByte(form.type)) {
    bool uniform = !isSubByte(view.dtype) && isUniform(view, window);
    if (uniform || isSmall)
      if (auto inside = narrowAttribute(view, type, form.type, uniform, window))
        return another(inside);
  }
  FailureOr<TensorView> data = formed(view, form, name, location, window);
  if (mlir::failed(data))
    return failure();
  bool canStandInline = !isa<ComplexType>(element) && !isSubByte(form.type) &&
                        form.type != ScalarType::Float4E2M1FNx2;
  if (canStandInline) {
    bool uniform = isUniform(*data, window);
    if (uniform || isSmall)
      return another(inlineAttribute(*data, type, uniform));
  }
  size_t place =
      equalWeights.find(type.getAsOpaquePointer(),
                        {static_cast<const char *>(data->data), data->bytes});
  if (place < contents.size()) {
    known = contents[place];
    return constant(cast<TypedAttr>(known));
  }

  auto &manager =
      DenseResourceElementsHandle::getManagerInterface(builder.getContext());
  // Whoever receives several modules in one context tells their keys apart by
  // the numbers of operations, which go on from module to module.
  DenseResourceElementsHandle handle = manager.insert(
      "weight_" + std::to_string(options.counters.nextOperationId) + "_" +
      std::to_string(result.resources.size()));
  result.resources.push_back(
      {handle.getKey().str(), name.str(), *std::move(data)});
  auto attribute = DenseResourceElementsAttr::get(type, handle);
  known = contents.emplace_back(attribute);
  return another(attribute);
}

/// What the user calls the weight: its path, or else its node's name.
static std::string pathOf(const Program &program, const Node &node,
                          int weight) {
  for (const InputSpec &spec : program.inputs)
    if (spec.weight == weight && !spec.target.empty())
      return spec.target.str();
  return node.name.str();
}

LogicalResult ProgramEmitter::emitWeight(const Program &program,
                                         const Node &node, int weight,
                                         DenseMap<int, Value> &known) {
  const TensorView &view = program.weights[weight];
  Value &shared = known[weight];
  if (!shared) {
    std::string path = pathOf(program, node, weight);
    ArrayRef<WeightForm> wanted = forms.formsOf(weight);
    for (auto [i, form] : llvm::enumerate(wanted)) {
      FailureOr<Value> constant = this->weight(view, form, node.name);
      if (mlir::failed(constant))
        return failure();
      formedWeights[{weight, static_cast<unsigned>(i)}] = *constant;
      result.weightPaths[constant->getDefiningOp()] = path;
    }
    if (wanted.empty() || forms.isTakenAsIs(weight)) {
      FailureOr<Value> constant = this->weight(view, node.name);
      if (mlir::failed(constant))
        return failure();
      shared = *constant;
      result.weightPaths[constant->getDefiningOp()] = path;
    } else {
      // Graphs inside this one see it in the one form that they use.
      shared = formedWeights.lookup({weight, 0});
    }
  }
  setResults(node, {shared});
  return success();
}

LogicalResult
ProgramEmitter::planWeights(const Program &program, const Graph &graph,
                            ArrayRef<std::pair<const Node *, int>> weights) {
  formedWeights.clear();
  auto isOpaque = [&](const Node &node) {
    return node.origin && !userLowering(*node.callee).empty();
  };
  auto report = [&](const Node &node, const Twine &what) {
    currentNode = &node;
    error(node) << what;
  };
  return forms.plan(program, graph, weights, isOpaque, report);
}

Value ProgramEmitter::compressed(const AtenNode &node, StringRef parameter) {
  if (const WeightForms::Use *use = forms.find(node, parameter))
    return formedWeights.lookup({use->weight, use->form});
  return tensor(node, parameter);
}
