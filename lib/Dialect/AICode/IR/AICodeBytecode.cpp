// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The encoding of the `aicode` dialect in bytecode, and its resources.

#include "corten/Dialect/AICode/IR/AICodeDialect.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

#include <optional>

using namespace mlir;

namespace corten::aicode {

/// The layout of types and attributes that this file writes and reads. Older
/// ones, 0 and 1, were never seen; newer ones do not exist.
static constexpr uint64_t kEncodingVersion = 2;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

// Wider numbers exist in no program; refusing them bounds what a hostile file
// can make us allocate.
static LogicalResult readBits(DialectBytecodeReader &reader, uint64_t width,
                              uint64_t &bits) {
  if (width == 0 || width > 64)
    return reader.emitError() << "a number of " << width << " bits";
  FailureOr<APInt> value = reader.readAPIntWithKnownWidth(width);
  if (failed(value))
    return failure();
  bits = value->getZExtValue();
  if (width < 64 && bits >> width != 0)
    return reader.emitError() << "a number of more than " << width << " bits";
  return success();
}

static void writeBits(DialectBytecodeWriter &writer, uint64_t width,
                      uint64_t bits) {
  writer.writeAPIntWithKnownWidth(APInt(width, bits));
}

/// Like the reader's own, but sets nothing aside for elements that the file
/// only claims to have.
template <typename T, typename ReadT>
static LogicalResult readList(DialectBytecodeReader &reader,
                              SmallVectorImpl<T> &values, ReadT &&read) {
  uint64_t size = 0;
  if (failed(reader.readVarInt(size)))
    return failure();
  for (uint64_t i = 0; i < size; ++i) {
    T value = {};
    if (failed(read(value)))
      return failure();
    values.push_back(value);
  }
  return success();
}

static LogicalResult readSignedList(DialectBytecodeReader &reader,
                                    SmallVectorImpl<int64_t> &values) {
  return readList(reader, values, [&](int64_t &value) {
    return reader.readSignedVarInt(value);
  });
}

static void writeSignedList(DialectBytecodeWriter &writer,
                            ArrayRef<int64_t> values) {
  writer.writeList(values,
                   [&](int64_t value) { writer.writeSignedVarInt(value); });
}

static LogicalResult readUnsignedList(DialectBytecodeReader &reader,
                                      SmallVectorImpl<uint64_t> &values) {
  return readList(reader, values,
                  [&](uint64_t &value) { return reader.readVarInt(value); });
}

static void writeUnsignedList(DialectBytecodeWriter &writer,
                              ArrayRef<uint64_t> values) {
  writer.writeList(values, [&](uint64_t value) { writer.writeVarInt(value); });
}

static LogicalResult readStringList(DialectBytecodeReader &reader,
                                    SmallVectorImpl<StringAttr> &values) {
  return readList(reader, values, [&](StringAttr &value) {
    StringRef text;
    if (failed(reader.readString(text)))
      return failure();
    value = StringAttr::get(reader.getContext(), text);
    return success();
  });
}

static void writeStringList(DialectBytecodeWriter &writer,
                            ArrayRef<StringAttr> values) {
  writer.writeList(values, [&](StringAttr value) {
    writer.writeOwnedString(value.getValue());
  });
}

static LogicalResult readAttributeList(DialectBytecodeReader &reader,
                                       SmallVectorImpl<Attribute> &values) {
  return readList(reader, values, [&](Attribute &value) {
    return reader.readAttribute(value);
  });
}

static void writeAttributeList(DialectBytecodeWriter &writer,
                               ArrayRef<Attribute> values) {
  writer.writeAttributes(values);
}

static LogicalResult readTypeList(DialectBytecodeReader &reader,
                                  SmallVectorImpl<Type> &values) {
  return readList(reader, values,
                  [&](Type &value) { return reader.readType(value); });
}

static void writeTypeList(DialectBytecodeWriter &writer,
                          ArrayRef<Type> values) {
  writer.writeTypes(values);
}

static LogicalResult readOptionalNumber(DialectBytecodeReader &reader,
                                        std::optional<uint64_t> &value) {
  bool isPresent = false;
  if (failed(reader.readBool(isPresent)))
    return failure();
  if (!isPresent)
    return success();
  return reader.readVarInt(value.emplace());
}

static void writeOptionalNumber(DialectBytecodeWriter &writer,
                                std::optional<uint64_t> value) {
  writer.writeOwnedBool(value.has_value());
  if (value)
    writer.writeVarInt(*value);
}

static LogicalResult readHandle(DialectBytecodeReader &reader,
                                std::optional<ResourceHandle> &handle) {
  FailureOr<ResourceHandle> read = reader.readResourceHandle<ResourceHandle>();
  if (failed(read))
    return failure();
  handle = *read;
  return success();
}

static void writeHandle(DialectBytecodeWriter &writer,
                        const ResourceHandle &handle) {
  writer.writeResourceHandle(handle);
}

#include "corten/Dialect/AICode/IR/AICodeBytecode.cpp.inc"

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

namespace {
struct Version : public DialectVersion {
  explicit Version(uint64_t encoding) : encoding(encoding) {}
  uint64_t encoding;
};

struct BytecodeInterface : public BytecodeDialectInterface {
  explicit BytecodeInterface(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    return aicode::readAttribute(getContext(), reader);
  }
  Type readType(DialectBytecodeReader &reader) const override {
    return aicode::readType(getContext(), reader);
  }
  LogicalResult writeAttribute(Attribute attribute,
                               DialectBytecodeWriter &writer) const override {
    return aicode::writeAttribute(attribute, writer);
  }
  LogicalResult writeType(Type type,
                          DialectBytecodeWriter &writer) const override {
    return aicode::writeType(type, writer);
  }
  void writeVersion(DialectBytecodeWriter &writer) const override {
    writer.writeVarInt(kEncodingVersion);
  }
  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const override {
    uint64_t encoding = 0;
    if (failed(reader.readVarInt(encoding)))
      return nullptr;
    if (encoding != kEncodingVersion) {
      reader.emitError() << "encoding version " << encoding
                         << " of the program; only " << kEncodingVersion
                         << " can be read";
      return nullptr;
    }
    return std::make_unique<Version>(encoding);
  }
};

struct AsmInterface : public OpAsmDialectInterface {
  AsmInterface(Dialect *dialect, ResourceManager &manager)
      : OpAsmDialectInterface(dialect), manager(manager) {}

  std::string
  getResourceKey(const AsmDialectResourceHandle &handle) const override {
    return cast<ResourceHandle>(handle).getKey().str();
  }
  FailureOr<AsmDialectResourceHandle>
  declareResource(StringRef key) const override {
    return manager.insert(key);
  }
  LogicalResult parseResource(AsmParsedResourceEntry &entry) const override {
    FailureOr<AsmResourceBlob> blob = entry.parseAsBlob();
    if (failed(blob))
      return failure();
    manager.update(entry.getKey(), std::move(*blob));
    return success();
  }
  void buildResources(Operation *op,
                      const SetVector<AsmDialectResourceHandle> &referenced,
                      AsmResourceBuilder &builder) const override {
    manager.buildResources(builder, referenced.getArrayRef());
  }

  ResourceManager &manager;
};
} // namespace

void AICodeDialect::registerInterfaces() {
  addInterface<BytecodeInterface>();
  auto &manager = addInterface<ResourceManager>();
  addInterface<AsmInterface>(manager);
}

} // namespace corten::aicode
