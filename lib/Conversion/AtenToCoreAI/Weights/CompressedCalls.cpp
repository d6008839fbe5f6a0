// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Weights/CompressedCalls.h"

#include "corten/Program/Axis.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace corten;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

bool corten::isSubByte(ScalarType type) { return scalarTypeBits(type) < 8; }

SmallVector<int64_t> corten::staticShape(const ValueInfo &info) {
  return llvm::map_to_vector(info.sizes, [](Size size) {
    return size.isDynamic() ? int64_t(-1) : size.get();
  });
}

bool corten::isCompressionCall(const Node &node, StringRef name) {
  // Without its schema nothing is known of the arguments of a call.
  if (!node.callee || node.callee->parameters.empty())
    return false;
  StringRef nameSpace = node.callee->nameSpace, called = node.callee->name;
  return (nameSpace == "coreai" || nameSpace == "coreaix") &&
         called.consume_front(name) && called == ".default";
}

static bool isCall(const Node &node, StringRef nameSpace, StringRef name) {
  return node.callee && node.callee->nameSpace == nameSpace &&
         node.callee->name == name;
}

const ValueInfo *corten::infoOf(const Node &call, StringRef parameter) {
  const Argument *argument = call.findArgument(parameter);
  if (!argument || !argument->isValue() || argument->asNode()->results.empty())
    return nullptr;
  return &argument->asNode()->info();
}

std::optional<ScalarType> corten::dtypeOf(const Node &call,
                                          StringRef parameter) {
  const Argument *argument = call.findArgument(parameter);
  if (!argument || argument->kind() != Argument::Kind::DType)
    return std::nullopt;
  return argument->asDType();
}

bool corten::isResultOf(const Node &user, StringRef parameter,
                        const Node &call) {
  const Argument *argument = user.findArgument(parameter);
  return argument && argument->isValue() && argument->asNode() == &call;
}

std::optional<ScalarType> corten::paletteIndexType(const Node &lookup) {
  const ValueInfo *lut = infoOf(lookup, "lut");
  if (!lut || lut->sizes.size() < 2 ||
      lut->sizes.drop_back().back().isDynamic())
    return std::nullopt;
  switch (lut->sizes.drop_back().back().get()) {
  case 2:
    return ScalarType::UInt1;
  case 4:
    return ScalarType::UInt2;
  case 8:
    return ScalarType::UInt3;
  case 16:
    return ScalarType::UInt4;
  case 32:
  case 64:
    return ScalarType::UInt6;
  case 128:
  case 256:
    return ScalarType::UInt8;
  default:
    return std::nullopt;
  }
}

SmallVector<int64_t> corten::parameterShape(const Node &call) {
  const ValueInfo *scale = infoOf(call, "scale");
  int64_t count = 1;
  for (int64_t extent : scale ? staticShape(*scale) : SmallVector<int64_t>())
    count *= extent;
  return count == 1 ? SmallVector<int64_t>() : SmallVector<int64_t>{count};
}

ScalarType corten::narrowest(ScalarType storage, int64_t low, int64_t high) {
  if (storage == ScalarType::Int8) {
    if (low >= -2 && high <= 1)
      return ScalarType::Int2;
    return low >= -8 && high <= 7 ? ScalarType::Int4 : ScalarType::Int8;
  }
  if (storage == ScalarType::UInt8) {
    if (low >= 0 && high <= 3)
      return ScalarType::UInt2;
    return low >= 0 && high <= 15 ? ScalarType::UInt4 : ScalarType::UInt8;
  }
  return storage;
}

std::optional<ScalarType> corten::withBits(ScalarType storage, int64_t bits) {
  bool isSigned = storage == ScalarType::Int8;
  switch (bits) {
  case 2:
    return isSigned ? ScalarType::Int2 : ScalarType::UInt2;
  case 4:
    return isSigned ? ScalarType::Int4 : ScalarType::UInt4;
  case 8:
    return storage;
  default:
    return std::nullopt;
  }
}

/// One set of parameters for each element of `axis`.
static SmallVector<int64_t> alongAxis(const ValueInfo &data, int64_t axis) {
  SmallVector<int64_t> shape(data.sizes.size(), 1);
  if (std::optional<size_t> position = positionOf(axis, shape.size()))
    shape[*position] = staticShape(data)[*position];
  return shape;
}

/// The type that a range of quantized numbers, an argument of torch's own
/// operators, leaves room for.
static std::optional<ScalarType> typeOfRange(const Node &call,
                                             const ValueInfo &data) {
  const Argument *low = call.findArgument("quant_min");
  const Argument *high = call.findArgument("quant_max");
  if (!low || !high || !low->isNumber() || !high->isNumber())
    return std::nullopt;
  return narrowest(data.dtype, static_cast<int64_t>(low->asDouble()),
                   static_cast<int64_t>(high->asDouble()));
}

static BlockwiseCall asBlocks(const Node &call, const ValueInfo &data) {
  BlockwiseCall result{"input", "scale", "zero_point", "minval", {}, {}};
  const ValueInfo *scale = infoOf(call, "scale");
  result.blocks = scale ? staticShape(*scale) : SmallVector<int64_t>();
  if (result.blocks.empty())
    result.blocks.assign(data.sizes.size(), 1);
  result.declared = dtypeOf(call, "input_dtype");
  return result;
}

bool corten::isAffine(const Node &node) {
  return isCall(node, "torchao", "dequantize_affine.default");
}

ArrayRef<Argument> corten::blockSizes(const Node &call) {
  const Argument *given = call.findArgument("block_size");
  return given && given->isList() ? given->asList() : ArrayRef<Argument>();
}

int64_t corten::blockAlong(int64_t extent, const Argument &size) {
  return size.isInt() && size.asInt() > 0 ? size.asInt() : extent;
}

static BlockwiseCall asAffine(const Node &call, const ValueInfo &data) {
  BlockwiseCall result{"input", "scale", "zero_point", "", {}, {}};
  result.declared = typeOfRange(call, data);
  // WeightForms sees to it that blocks divide what they are blocks of.
  for (auto [extent, size] : llvm::zip(staticShape(data), blockSizes(call)))
    result.blocks.push_back(extent /
                            std::max<int64_t>(blockAlong(extent, size), 1));
  return result;
}

std::optional<BlockwiseCall> corten::asBlockwiseCall(const Node &node) {
  if (!node.callee || node.kind != Node::Kind::Call)
    return std::nullopt;
  const ValueInfo *data = infoOf(node, "input");
  if (!data || !data->isTensor())
    return std::nullopt;
  if (isCompressionCall(node, "constexpr_blockwise_shift_scale"))
    return asBlocks(node, *data);
  if (isAffine(node))
    return asAffine(node, *data);
  if (node.callee->nameSpace != "quantized_decomposed")
    return std::nullopt;
  StringRef name = node.callee->name;
  if (name.starts_with("dequantize_per_tensor.") &&
      name != "dequantize_per_tensor.tensor2")
    return BlockwiseCall{"input",
                         "scale",
                         "zero_point",
                         "",
                         SmallVector<int64_t>(data->sizes.size(), 1),
                         typeOfRange(node, *data)};
  if (const Argument *axis = node.findArgument("axis");
      name == "dequantize_per_channel.default" && axis && axis->isInt())
    return BlockwiseCall{"input",
                         "scales",
                         "zero_points",
                         "",
                         alongAxis(*data, axis->asInt()),
                         typeOfRange(node, *data)};
  if (name == "dequantize_per_channel_group.default") {
    const ValueInfo *scale = infoOf(node, "scales");
    return BlockwiseCall{"input",
                         "scales",
                         "zero_points",
                         "",
                         scale ? staticShape(*scale) : SmallVector<int64_t>(),
                         typeOfRange(node, *data)};
  }
  return std::nullopt;
}
