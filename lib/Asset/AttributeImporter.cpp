// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttributeImporter.h"

#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.h"
#include "corten/Dialect/CoreAI/IR/CoreAITypes.h"
#include "corten/Dialect/CoreAIX/IR/CoreAIXDialect.h"
#include "corten/Dialect/UDML/IR/UDMLDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type AttributeImporter::type(Type type) {
  auto known = types.find(type);
  Type result = known != types.end() ? known->second : translate(type);
  if (!result)
    error() << "type " << type << " has no counterpart in a program";
  types[type] = result;
  return result;
}

/// What tensors are made of; nothing for types of other kinds.
static Type elementType(Type type) {
  MLIRContext *context = type.getContext();
  Builder builder(context);
  auto complex = [](Type element) { return ComplexType::get(element); };
  auto integer = [&](unsigned width, bool isSigned) -> Type {
    return IntegerType::get(
        context, width, isSigned ? IntegerType::Signed : IntegerType::Unsigned);
  };
  return llvm::TypeSwitch<Type, Type>(type)
      .Case([&](aicode::BoolType) { return builder.getI1Type(); })
      .Case([&](aicode::Float64Type) { return builder.getF64Type(); })
      .Case([&](aicode::Float32Type) { return builder.getF32Type(); })
      .Case([&](aicode::Float16Type) { return builder.getF16Type(); })
      .Case([&](aicode::BFloat16Type) { return builder.getBF16Type(); })
      .Case([&](aicode::Float8E5M2Type) {
        return mlir::Float8E5M2Type::get(context);
      })
      .Case([&](aicode::Float8E4M3FNType) {
        return mlir::Float8E4M3FNType::get(context);
      })
      .Case([&](aicode::Float4E2M1FNType) {
        return mlir::Float4E2M1FNType::get(context);
      })
      .Case([&](aicode::Float8E8M0FNType) {
        return mlir::Float8E8M0FNUType::get(context);
      })
      .Case([&](aicode::TFloat32Type) { return builder.getTF32Type(); })
      .Case([&](aicode::ComplexFloat64Type) {
        return complex(builder.getF64Type());
      })
      .Case([&](aicode::ComplexFloat32Type) {
        return complex(builder.getF32Type());
      })
      .Case([&](aicode::ComplexFloat16Type) {
        return complex(builder.getF16Type());
      })
      .Case([&](aicode::ComplexBFloat16Type) {
        return complex(builder.getBF16Type());
      })
      .Case([&](aicode::ComplexFloat8E5M2Type) {
        return complex(mlir::Float8E5M2Type::get(context));
      })
      .Case([&](aicode::ComplexFloat8E4M3FNType) {
        return complex(mlir::Float8E4M3FNType::get(context));
      })
#define INTEGER(width)                                                         \
  .Case([&](aicode::SInt##width##Type) {                                       \
    return integer(width, true);                                               \
  }).Case([&](aicode::UInt##width##Type) { return integer(width, false); })
          INTEGER(64) INTEGER(32) INTEGER(16) INTEGER(8) INTEGER(4) INTEGER(2)
#undef INTEGER
      .Case([&](aicode::UInt6Type) { return integer(6, false); })
      .Case([&](aicode::UInt3Type) { return integer(3, false); })
      .Case([&](aicode::UInt1Type) { return integer(1, false); })
      .Default(Type());
}

Type AttributeImporter::translate(Type type) {
  if (Type element = elementType(type))
    return element;
  return llvm::TypeSwitch<Type, Type>(type)
      .Case([&](aicode::TensorType tensor) -> Type {
        Type element = this->type(tensor.getElementType());
        Attribute encoding;
        if (!optional(tensor.getEncoding(), encoding))
          return {};
        if (!element)
          return {};
        return RankedTensorType::getChecked(reporter(), tensor.getShape(),
                                            element, encoding);
      })
      .Case([&](aicode::HandleType handle) -> Type {
        Type inner = this->type(handle.getPointee());
        return inner ? coreai::HandleType::get(inner) : Type();
      })
      .Case([&](aicode::TokenType) { return coreai::TokenType::get(context); })
      .Case([&](aicode::FunctionType function) -> Type {
        SmallVector<Type> inputs, results;
        for (Type input : function.getInputs())
          inputs.push_back(this->type(input));
        for (Type result : function.getResults())
          results.push_back(this->type(result));
        if (llvm::is_contained(inputs, Type()) ||
            llvm::is_contained(results, Type()))
          return {};
        return mlir::FunctionType::get(context, inputs, results);
      })
      .Case([&](aicode::ImageType image) -> Type {
        Attribute constraints;
        if (!optional(image.getConstraints(), constraints))
          return {};
        auto format =
            dyn_cast_or_null<coreai::FourCCAttr>(value(image.getFormat()));
        if (!format)
          return {};
        return coreai::ImageType::getChecked(
            reporter(), context, format,
            TypedAttr(builder.getI64IntegerAttr(image.getHeight())),
            TypedAttr(builder.getI64IntegerAttr(image.getWidth())),
            constraints);
      })
      .Case([&](aicode::SymbolType) { return param::SymbolType::get(context); })
      .Case([&](aicode::MetaType) { return param::TypeType::get(context); })
      .Case([&](aicode::RefType ref) -> Type {
        Type inner = this->type(ref.getType());
        if (!inner)
          return {};
        return param::ParamRefType::getChecked(
            reporter(), context,
            TypedAttr(param::RefAttr::get(
                context, inner, builder.getStringAttr(ref.getName()))));
      })
      .Case([&](aicode::DebugUnresolvedType unresolved) -> Type {
        Type wrapped = this->type(unresolved.getWrappedType());
        return wrapped ? debuginfo::UnresolvedType::get(wrapped) : Type();
      })
      .Case([&](aicode::DebugBasicType basic) {
        return debuginfo::BasicType::get(context, basic.getTag(),
                                         basic.getEncoding(), basic.getName(),
                                         basic.getSizeInBits());
      })
      .Case([&](aicode::DebugDerivedType derived) -> Type {
        Type base = this->type(derived.getBaseType());
        if (!base)
          return {};
        return debuginfo::DerivedType::getChecked(
            reporter(), context, static_cast<unsigned>(derived.getTag()),
            derived.getName(), derived.getSizeInBits(),
            derived.getAlignInBits(), derived.getOffsetInBits(), base);
      })
      .Case([&](aicode::DebugCompositeType composite) -> Type {
        Type base;
        if (!optional(composite.getBaseType(), base))
          return {};
        auto scope =
            dyn_cast_or_null<SymbolRefAttr>(value(composite.getScope()));
        FileLineColRange line = range(composite.getLocation());
        SmallVector<Attribute> elements;
        if (!scope || !line || !values(composite.getElements(), elements))
          return {};
        return debuginfo::CompositeType::getChecked(
            reporter(), context, static_cast<unsigned>(composite.getTag()),
            composite.getName(), scope, line, composite.getSizeInBits(),
            composite.getAlignInBits(), base,
            static_cast<debuginfo::DIFlags>(composite.getFlags()),
            ArrayRef<Attribute>(elements));
      })
      .Default(Type());
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Attribute AttributeImporter::value(Attribute attribute) {
  if (!attribute)
    return {};
  auto known = attributes.find(attribute);
  Attribute result =
      known != attributes.end() ? known->second : translate(attribute);
  if (!result)
    error() << "attribute " << attribute << " has no counterpart in a program";
  attributes[attribute] = result;
  return result;
}

bool AttributeImporter::isSet(Attribute attribute) {
  auto flag = dyn_cast_or_null<aicode::WholeAttr>(attribute);
  return flag && flag.getValue() != 0;
}

DictionaryAttr AttributeImporter::dictionary(ArrayRef<Attribute> entries) {
  NamedAttrList result;
  for (Attribute entry : entries) {
    auto named = dyn_cast<aicode::NamedListAttr>(entry);
    if (!named || named.getValues().size() != 1) {
      error() << "dictionary with the entry " << entry;
      return {};
    }
    Attribute translated = value(named.getValues().front());
    if (!translated)
      return {};
    // Names of ours carry the dialect they are in.
    StringRef name = named.getName();
    std::string key =
        name.consume_front("aicode.") ? ("coreai." + name).str() : name.str();
    if (key.empty() || result.set(key, translated)) {
      error() << "dictionary with two entries \"" << key << '"';
      return {};
    }
  }
  return result.getDictionary(context);
}

FailureOr<ArrayAttr> AttributeImporter::dictionaries(Attribute attribute) {
  auto list = dyn_cast_or_null<aicode::ListAttr>(attribute);
  if (!list) {
    error() << "a list of attributes of arguments was expected";
    return failure();
  }
  SmallVector<Attribute> result;
  for (Attribute argument : list.getValues()) {
    auto entries = dyn_cast<aicode::ListAttr>(argument);
    if (!entries) {
      error() << "attributes of an argument: " << argument;
      return failure();
    }
    DictionaryAttr translated = dictionary(entries.getValues());
    if (!translated)
      return failure();
    result.push_back(translated);
  }
  return result.empty() ? ArrayAttr() : builder.getArrayAttr(result);
}

param::DeclArrayAttr AttributeImporter::declarations(Attribute attribute) {
  auto list = dyn_cast_or_null<aicode::ListAttr>(attribute);
  if (!list) {
    error() << "a list of parameters was expected";
    return {};
  }
  SmallVector<param::DeclAttr> result;
  for (Attribute entry : list.getValues()) {
    auto declaration = dyn_cast_or_null<param::DeclAttr>(value(entry));
    if (!declaration)
      return {};
    result.push_back(declaration);
  }
  return param::DeclArrayAttr::get(context, result);
}

TypedAttr AttributeImporter::parameter(Attribute wrapped, Type) {
  Attribute inner = value(wrapped);
  if (!inner)
    return {};
  return param::ConstantAttr::get(inner);
}

/// The value of an enumeration of ours, unless the number is none.
template <typename AttrT, typename EnumT>
static Attribute enumeration(MLIRContext *context, uint64_t number,
                             std::optional<EnumT> (*symbolize)(uint32_t)) {
  if (number > UINT32_MAX)
    return {};
  std::optional<EnumT> value = symbolize(static_cast<uint32_t>(number));
  return value ? Attribute(AttrT::get(context, *value)) : Attribute();
}

Attribute AttributeImporter::translate(Attribute attribute) {
  return llvm::TypeSwitch<Attribute, Attribute>(attribute)
      .Case([&](aicode::TextAttr text) {
        return builder.getStringAttr(text.getValue());
      })
      .Case([&](aicode::WholeAttr whole) -> Attribute {
        if (whole.getWidth() == 1 && !whole.getIsUnsigned())
          return builder.getBoolAttr(whole.getValue() != 0);
        auto type =
            IntegerType::get(context, whole.getWidth(),
                             whole.getIsUnsigned() ? IntegerType::Unsigned
                                                   : IntegerType::Signed);
        return IntegerAttr::get(type,
                                APInt(whole.getWidth(), whole.getValue()));
      })
      .Case([&](aicode::RealAttr real) -> Attribute {
        Type type = real.getWidth() == 16   ? builder.getF16Type()
                    : real.getWidth() == 32 ? Type(builder.getF32Type())
                    : real.getWidth() == 64 ? Type(builder.getF64Type())
                                            : Type();
        if (!type)
          return {};
        APFloat number(cast<FloatType>(type).getFloatSemantics(),
                       APInt(real.getWidth(), real.getBits()));
        return FloatAttr::get(type, number);
      })
      .Case([&](aicode::TypeLiteralAttr literal) -> Attribute {
        Type inner = type(literal.getValue());
        return inner ? TypeAttr::get(inner) : Attribute();
      })
      .Case([&](aicode::ListAttr list) -> Attribute {
        SmallVector<Attribute> elements;
        if (!values(list.getValues(), elements))
          return {};
        return builder.getArrayAttr(elements);
      })
      .Case([&](aicode::DictionaryAttr dictionary) -> Attribute {
        return this->dictionary(dictionary.getEntries());
      })
      .Case([&](aicode::UnitAttr) { return builder.getUnitAttr(); })
      .Case([&](aicode::SymbolRefAttr symbol) -> Attribute {
        SmallVector<FlatSymbolRefAttr> nested;
        for (StringAttr name : symbol.getPath().drop_front())
          nested.push_back(FlatSymbolRefAttr::get(name));
        return SymbolRefAttr::get(symbol.getPath().front(), nested);
      })
      .Case([&](aicode::ParamDeclAttr declaration) -> Attribute {
        Type inner = type(declaration.getType());
        if (!inner)
          return {};
        return param::DeclAttr::get(
            context, builder.getStringAttr(declaration.getName()), inner,
            TypedAttr());
      })
      .Case([&](aicode::ParamConstantAttr constant) -> Attribute {
        return parameter(constant.getValue(), constant.getType());
      })
      .Case([&](aicode::ParamBindAttr bind) -> Attribute {
        TypedAttr symbol = parameter(bind.getValue(), bind.getType());
        SmallVector<Attribute> arguments;
        if (!symbol || !values(bind.getArguments(), arguments))
          return {};
        // A program has plain values there.
        for (Attribute &argument : arguments)
          if (auto constant = dyn_cast<param::ConstantAttr>(argument))
            argument = constant.getValue();
        return param::BindAttr::get(context, symbol.getType(), symbol,
                                    builder.getArrayAttr(arguments));
      })
      .Case([&](aicode::PaddingModeAttr mode) {
        return enumeration<coreai::PaddingModeAttr>(
            context, mode.getValue(), coreai::symbolizePaddingMode);
      })
      .Case([&](aicode::ApproximateAttr approximate) {
        return enumeration<coreai::ApproximateAttr>(
            context, approximate.getValue(), coreai::symbolizeApproximate);
      })
      .Case([&](aicode::ScatterModeAttr mode) {
        return enumeration<coreai::ScatterModeAttr>(
            context, mode.getValue(), coreai::symbolizeScatterMode);
      })
      .Case([&](aicode::InterpolationModeAttr mode) {
        return enumeration<coreai::InterpolationModeAttr>(
            context, mode.getValue(), coreai::symbolizeInterpolationMode);
      })
      .Case([&](aicode::CompilationAttr compilation) {
        return enumeration<coreai::CompilationAttr>(
            context, compilation.getValue(), coreai::symbolizeCompilation);
      })
      .Case([&](aicode::ScanCombinerAttr combiner) -> Attribute {
        if (combiner.getValue() > 3)
          return {};
        return builder.getI32IntegerAttr(combiner.getValue());
      })
      .Case([&](aicode::LifecyclePhaseAttr phase) {
        return enumeration<udml::LifecycleAttr>(context, phase.getValue(),
                                                udml::symbolizeLifecycle);
      })
      .Case([&](aicode::FourCCAttr code) -> Attribute {
        if (code.getValue() > UINT32_MAX)
          return {};
        return coreai::FourCCAttr::get(context, code.getValue());
      })
      .Case([&](aicode::TargetSpecAttr spec) -> Attribute {
        auto triple = dyn_cast_or_null<StringAttr>(value(spec.getTriple()));
        auto soc = dyn_cast_or_null<StringAttr>(value(spec.getSoc()));
        auto options = dyn_cast<aicode::ListAttr>(spec.getDelegateOptions());
        if (!triple || !soc || !options)
          return {};
        DictionaryAttr entries = dictionary(options.getValues());
        return entries
                   ? coreai::TargetSpecAttr::get(context, triple, soc, entries)
                   : Attribute();
      })
      .Case([&](aicode::HwConstraintsAttr constraints) -> Attribute {
        std::optional<coreaix::Backing> backing =
            coreaix::symbolizeBacking(constraints.getBacking() - 1);
        if (!backing)
          return {};
        return coreaix::HWConstraintsAttr::get(context, *backing,
                                               constraints.getAlignments(),
                                               constraints.getInterleave());
      })
      .Case([&](aicode::ImageConstraintsAttr constraints) -> Attribute {
        std::optional<coreaix::ImageBacking> backing =
            coreaix::symbolizeImageBacking(constraints.getBacking() - 1);
        if (!backing)
          return {};
        return coreaix::ImageConstraintsAttr::get(
            context, *backing, constraints.getRowAlignmentsPerPlane());
      })
      .Case([&](aicode::SparseEncodingAttr sparse) -> Attribute {
        std::optional<coreai::CompressionScheme> scheme =
            coreai::symbolizeCompressionScheme(sparse.getScheme());
        if (!scheme)
          return {};
        return coreai::SparseTensorEncodingAttr::getChecked(
            reporter(), context, *scheme, sparse.getNonZeros(),
            sparse.getPosWidth(), sparse.getCrdWidth(), sparse.getBlockSize());
      })
      .Default(
          [&](Attribute attribute) { return translateDebugInfo(attribute); });
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Whether a weight of so many bytes can have the elements of a type, each of
/// `width` bits. Those of less than a byte are packed, all but booleans, and
/// their last byte may be followed by what fills up a group of whole bytes.
static bool isSizeOf(uint64_t size, RankedTensorType type, uint64_t width) {
  uint64_t count = type.getNumElements();
  if (width >= 8 || type.getElementType().isSignlessInteger())
    return size == count * llvm::divideCeil(width, 8);
  uint64_t packed = llvm::divideCeil(count * width, 8);
  return size >= packed &&
         size <= llvm::alignTo(packed, std::lcm(width, uint64_t(8)) / 8);
}

Attribute AttributeImporter::elements(Attribute data, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape()) {
    error() << "constant of type " << type;
    return {};
  }
  auto complex = dyn_cast<ComplexType>(tensor.getElementType());
  Type number = complex ? complex.getElementType() : tensor.getElementType();
  if (!number.isIntOrFloat()) {
    error() << "constant of type " << type;
    return {};
  }
  int64_t width = int64_t(complex ? 2 : 1) * number.getIntOrFloatBitWidth();
  if (auto resource = dyn_cast<aicode::ResourceAttr>(data)) {
    AsmResourceBlob *blob = resource.getHandle().getBlob();
    StringRef key = resource.getHandle().getKey();
    if (!blob) {
      error() << "the weight \"" << key << "\" is not in the file";
      return {};
    }
    ArrayRef<char> weight = blob->getData();
    if (!isSizeOf(weight.size(), tensor, width)) {
      error() << "the weight \"" << key << "\" has " << weight.size()
              << " bytes, which is not the size of " << type;
      return {};
    }
    // Constants that share a weight go on sharing it.
    auto [known, isNew] = weights.try_emplace(data);
    if (isNew) {
      auto keep = [owner = owner](void *, size_t, size_t) { (void)owner; };
      known->second =
          DenseResourceElementsHandle::getManagerInterface(context).insert(
              key, UnmanagedAsmResourceBlob::allocateWithAlign(
                       weight, blob->getDataAlignment(), keep,
                       /*dataIsMutable=*/false));
    }
    return DenseResourceElementsAttr::get(tensor, *known->second);
  }

  auto literal = dyn_cast<aicode::BytesAttr>(data);
  if (!literal) {
    error() << "constant with the value " << data;
    return {};
  }
  ArrayRef<char> raw = literal.getBytes();
  if (tensor.getElementType().isSignlessInteger(1)) {
    // One byte each, a splat included.
    if (raw.size() != static_cast<size_t>(tensor.getNumElements())) {
      error() << "constant of " << raw.size() << " bytes of type " << type;
      return {};
    }
    SmallVector<bool> flags(raw.begin(), raw.end());
    return DenseElementsAttr::get(tensor, flags);
  }
  bool isSplat = false;
  if (!DenseElementsAttr::isValidRawBuffer(tensor, raw, isSplat)) {
    error() << "constant of " << raw.size() << " bytes of type " << type;
    return {};
  }
  return DenseElementsAttr::getFromRawBuffer(tensor, raw);
}

//===----------------------------------------------------------------------===//
// Where things come from
//===----------------------------------------------------------------------===//

FileLineColRange AttributeImporter::range(Attribute source) {
  auto line = dyn_cast_or_null<aicode::SourceLocationAttr>(source);
  auto file = line
                  ? dyn_cast_or_null<debuginfo::FileAttr>(value(line.getFile()))
                  : debuginfo::FileAttr();
  if (!file)
    return {};
  return FileLineColRange::get(builder.getStringAttr(file.getPath()),
                               line.getStartLine(), line.getStartColumn(),
                               line.getEndLine(), line.getEndColumn());
}

Attribute AttributeImporter::translateDebugInfo(Attribute attribute) {
  auto file = [&](Attribute attribute) {
    return dyn_cast_or_null<debuginfo::FileAttr>(value(attribute));
  };
  return llvm::TypeSwitch<Attribute, Attribute>(attribute)
      .Case([&](aicode::FileAttr attr) {
        return debuginfo::FileAttr::get(context, attr.getFilename(),
                                        attr.getDirectory(),
                                        attr.getSha256Sum());
      })
      .Case([&](aicode::SourceLocationAttr attr) -> Attribute {
        return range(attr);
      })
      .Case([&](aicode::CompileUnitAttr attr) -> Attribute {
        SmallVector<debuginfo::FileAttr> all;
        for (Attribute entry : attr.getAllFiles())
          all.push_back(file(entry));
        debuginfo::FileAttr own = file(attr.getFile());
        if (!own || llvm::is_contained(all, debuginfo::FileAttr()))
          return {};
        return debuginfo::CompileUnitAttr::get(
            context, attr.getSourceLanguage(), own, attr.getProducer(),
            attr.getOptimized(), attr.getFlags(), all);
      })
      .Case([&](aicode::MetadataDataAttr attr) -> Attribute {
        return value(attr.getValue());
      })
      .Case([&](aicode::MetadataAttr attr) -> Attribute {
        Attribute data = value(attr.getData());
        if (!data)
          return {};
        return debuginfo::MetadataAttr::getChecked(reporter(), context,
                                                   attr.getName(), data);
      })
      .Case([&](aicode::SubprogramAttr attr) -> Attribute {
        Type function = type(attr.getTypeAttr());
        Attribute unit = value(attr.getCompileUnit());
        debuginfo::FileAttr own = file(attr.getFile());
        if (!function || !unit || !own)
          return {};
        return debuginfo::SubprogramAttr::getChecked(
            reporter(), context, function, unit, own, attr.getName(),
            attr.getLinkageName(),
            static_cast<debuginfo::SubprogramFlags>(attr.getFlags()));
      })
      .Case([&](aicode::LocalVariableAttr attr) -> Attribute {
        Type variable = type(attr.getTypeAttr());
        FileLineColRange line = range(attr.getLocation());
        auto scope = dyn_cast_or_null<SymbolRefAttr>(value(attr.getScope()));
        if (!variable || !line || !scope)
          return {};
        return debuginfo::LocalVariableAttr::get(
            context, variable, attr.getName(), line, scope,
            attr.getAlignInBits(),
            static_cast<debuginfo::DIFlags>(attr.getFlags()));
      })
      .Case([&](aicode::BoundsAttr attr) {
        return debuginfo::BoundsAttr::get(context, attr.getCount(),
                                          attr.getLower(), attr.getUpper(),
                                          attr.getStride());
      })
      .Case([&](aicode::CompositeElementAttr attr) {
        return value(attr.getValue());
      })
      .Default(Attribute());
}

Location AttributeImporter::location(Location location) {
  // A place that cannot be told is no reason to refuse a program.
  bool wasQuiet = std::exchange(isQuiet, true);
  LocationAttr translated = translateLocation(location);
  isQuiet = wasQuiet;
  return translated ? Location(translated) : UnknownLoc::get(context);
}

LocationAttr AttributeImporter::translateLocation(Attribute location) {
  auto known = locations.find(location);
  if (known != locations.end())
    return known->second;
  auto metadata = [&](ArrayRef<Attribute> entries,
                      SmallVectorImpl<debuginfo::MetadataAttr> &result) {
    for (Attribute entry : entries) {
      auto translated = dyn_cast_or_null<debuginfo::MetadataAttr>(value(entry));
      if (!translated)
        return false;
      result.push_back(translated);
    }
    return true;
  };
  SmallVector<debuginfo::MetadataAttr> facts;
  LocationAttr result;
  if (auto debug = dyn_cast<aicode::DebugLocationAttr>(location)) {
    FileLineColRange source = range(debug.getSource());
    Attribute scope = value(debug.getScope());
    SmallVector<debuginfo::DebugLocationAttr> fused;
    for (Attribute other : debug.getFusedWith())
      fused.push_back(dyn_cast_or_null<debuginfo::DebugLocationAttr>(
          translateLocation(other)));
    if (source && scope &&
        !llvm::is_contained(fused, debuginfo::DebugLocationAttr()) &&
        metadata(debug.getMetadata(), facts))
      result = debuginfo::DebugLocationAttr::getChecked(
          reporter(), context, source, scope,
          ArrayRef<debuginfo::DebugLocationAttr>(fused),
          ArrayRef<debuginfo::MetadataAttr>(facts));
  } else if (auto known = dyn_cast<aicode::MetadataLocationAttr>(location)) {
    if (metadata(known.getMetadata(), facts))
      result = debuginfo::MetadataLocationAttr::get(context, facts);
  }
  return locations[location] = result;
}
