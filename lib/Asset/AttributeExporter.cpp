// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttributeExporter.h"

#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.h"
#include "corten/Dialect/CoreAI/IR/CoreAITypes.h"
#include "corten/Dialect/CoreAIX/IR/CoreAIXDialect.h"
#include "corten/Dialect/UDML/IR/UDMLDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace corten;
using namespace mlir;

// When forms that are younger than every program were introduced; all others
// are older than the ops that use them.
static constexpr uint32_t kSmallFloatDate = 20250723;
static constexpr uint32_t kHwConstraintsDate = 20250825;
static constexpr uint32_t kParameterDate = 20251002;
static constexpr uint32_t kOddIntegerDate = 20251003;
static constexpr uint32_t kUnitDate = 20260313;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type AttributeExporter::type(Type type) {
  auto known = types.find(type);
  Type result = known != types.end() ? known->second : translate(type);
  if (!result)
    error() << "type " << type << " has no form in an asset";
  types[type] = result;
  return result;
}

static Type integerType(IntegerType type) {
  MLIRContext *context = type.getContext();
  if (type.isSignless() && type.getWidth() == 1)
    return aicode::BoolType::get(context);
  if (type.isSigned()) {
    switch (type.getWidth()) {
#define SIGNED(width)                                                          \
  case width:                                                                  \
    return aicode::SInt##width##Type::get(context);
      SIGNED(64)
      SIGNED(32)
      SIGNED(16)
      SIGNED(8)
      SIGNED(4)
      SIGNED(2)
#undef SIGNED
    default:
      return {};
    }
  }
  // Signless ones are read as unsigned.
  switch (type.getWidth()) {
#define UNSIGNED(width)                                                        \
  case width:                                                                  \
    return aicode::UInt##width##Type::get(context);
    UNSIGNED(64)
    UNSIGNED(32)
    UNSIGNED(16)
    UNSIGNED(8)
    UNSIGNED(6)
    UNSIGNED(4)
    UNSIGNED(3)
    UNSIGNED(2)
    UNSIGNED(1)
#undef UNSIGNED
  default:
    return {};
  }
}

static Type complexType(ComplexType type) {
  MLIRContext *context = type.getContext();
  return llvm::TypeSwitch<Type, Type>(type.getElementType())
      .Case(
          [&](Float64Type) { return aicode::ComplexFloat64Type::get(context); })
      .Case(
          [&](Float32Type) { return aicode::ComplexFloat32Type::get(context); })
      .Case(
          [&](Float16Type) { return aicode::ComplexFloat16Type::get(context); })
      .Case([&](BFloat16Type) {
        return aicode::ComplexBFloat16Type::get(context);
      })
      .Case([&](Float8E5M2Type) {
        return aicode::ComplexFloat8E5M2Type::get(context);
      })
      .Case([&](Float8E4M3FNType) {
        return aicode::ComplexFloat8E4M3FNType::get(context);
      })
      .Default(Type());
}

Type AttributeExporter::translate(Type type) {
  auto dated = [&](uint32_t date, Type result) {
    use(date);
    return result;
  };
  return llvm::TypeSwitch<Type, Type>(type)
      .Case([&](Float64Type) { return aicode::Float64Type::get(context); })
      .Case([&](Float32Type) { return aicode::Float32Type::get(context); })
      .Case([&](Float16Type) { return aicode::Float16Type::get(context); })
      .Case([&](BFloat16Type) { return aicode::BFloat16Type::get(context); })
      .Case([&](FloatTF32Type) { return aicode::TFloat32Type::get(context); })
      .Case(
          [&](Float8E5M2Type) { return aicode::Float8E5M2Type::get(context); })
      .Case([&](Float8E4M3FNType) {
        return aicode::Float8E4M3FNType::get(context);
      })
      .Case([&](Float4E2M1FNType) {
        return dated(kSmallFloatDate, aicode::Float4E2M1FNType::get(context));
      })
      .Case([&](Float8E8M0FNUType) {
        return dated(kSmallFloatDate, aicode::Float8E8M0FNType::get(context));
      })
      .Case([&](ComplexType complex) { return complexType(complex); })
      .Case([&](IntegerType integer) {
        if (integer.getWidth() == 3 || integer.getWidth() == 6)
          use(kOddIntegerDate);
        return integerType(integer);
      })
      .Case([&](RankedTensorType tensor) -> Type {
        Type element = this->type(tensor.getElementType());
        Attribute encoding;
        if (!optional(tensor.getEncoding(), encoding))
          return {};
        return element ? aicode::TensorType::get(context, tensor.getShape(),
                                                 element, encoding)
                       : Type();
      })
      .Case([&](coreai::HandleType handle) -> Type {
        Type inner = this->type(handle.getInnerType());
        return inner ? aicode::HandleType::get(context, inner) : Type();
      })
      .Case([&](coreai::TokenType) { return aicode::TokenType::get(context); })
      .Case([&](FunctionType function) -> Type {
        SmallVector<Type> inputs, results;
        for (Type input : function.getInputs())
          inputs.push_back(this->type(input));
        for (Type result : function.getResults())
          results.push_back(this->type(result));
        if (llvm::is_contained(inputs, Type()) ||
            llvm::is_contained(results, Type()))
          return {};
        return aicode::FunctionType::get(context, inputs, results);
      })
      .Case([&](coreai::ImageType image) -> Type {
        auto height = dyn_cast<IntegerAttr>(image.getHeight());
        auto width = dyn_cast<IntegerAttr>(image.getWidth());
        Attribute format = value(image.getFourCC());
        Attribute constraints;
        if (!height || !width || !format ||
            !optional(image.getImageConstraints(), constraints))
          return {};
        return aicode::ImageType::get(
            context, format, height.getValue().getZExtValue(),
            width.getValue().getZExtValue(), constraints);
      })
      .Case([&](param::SymbolType) { return aicode::SymbolType::get(context); })
      .Case([&](param::TypeType) { return aicode::MetaType::get(context); })
      .Case([&](param::ParamRefType reference) -> Type {
        auto named = dyn_cast<param::RefAttr>(reference.getParam());
        Type inner = named ? this->type(named.getType()) : Type();
        return inner ? aicode::RefType::get(context, named.getName().getValue(),
                                            inner)
                     : Type();
      })
      .Case([&](debuginfo::UnresolvedType unresolved) -> Type {
        Type wrapped = this->type(unresolved.getWrapped());
        return wrapped ? aicode::DebugUnresolvedType::get(context, wrapped)
                       : Type();
      })
      .Case([&](debuginfo::BasicType basic) {
        return aicode::DebugBasicType::get(
            context, basic.getDwTag(), basic.getDwEncoding(), basic.getName(),
            basic.getSizeInBits());
      })
      .Case([&](debuginfo::DerivedType derived) -> Type {
        Type base = this->type(derived.getBaseType());
        return base ? aicode::DebugDerivedType::get(
                          context, derived.getDwTag(), derived.getName(),
                          derived.getSizeInBits(), derived.getAlignInBits(),
                          derived.getOffsetInBits(), base)
                    : Type();
      })
      .Case([&](debuginfo::CompositeType composite) -> Type {
        Type base;
        if (!optional(composite.getBaseType(), base))
          return {};
        SmallVector<Attribute> elements;
        for (Attribute element : composite.getElements()) {
          Attribute translated = value(element);
          if (!translated)
            return {};
          elements.push_back(
              aicode::CompositeElementAttr::get(context, translated));
        }
        return aicode::DebugCompositeType::get(
            context, composite.getDwTag(), composite.getName(),
            value(composite.getScope()), range(composite.getLine()),
            composite.getSizeInBits(), composite.getAlignInBits(), base,
            static_cast<uint64_t>(composite.getFlags()), elements);
      })
      .Default(Type());
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Attribute AttributeExporter::value(Attribute attribute) {
  if (!attribute) {
    error() << "an attribute that is missing";
    return {};
  }
  auto known = attributes.find(attribute);
  Attribute result =
      known != attributes.end() ? known->second : translate(attribute);
  if (!result)
    error() << "attribute " << attribute << " has no form in an asset";
  attributes[attribute] = result;
  return result;
}

Attribute AttributeExporter::list(ArrayRef<Attribute> values) {
  return aicode::ListAttr::get(context, values);
}

Attribute AttributeExporter::text(StringRef value) {
  return aicode::TextAttr::get(context, value);
}

Attribute AttributeExporter::flag(bool value) {
  return aicode::WholeAttr::get(context, 1, /*isUnsigned=*/true, value);
}

bool AttributeExporter::entries(DictionaryAttr dictionary,
                                SmallVectorImpl<Attribute> &result) {
  for (NamedAttribute entry : dictionary) {
    Attribute translated = value(entry.getValue());
    if (!translated)
      return false;
    // Names of ours carry the dialect they are in.
    StringRef name = entry.getName().getValue();
    std::string key =
        name.consume_front("coreai.") ? ("aicode." + name).str() : name.str();
    result.push_back(
        aicode::NamedListAttr::get(context, key, {&translated, 1}));
  }
  return true;
}

Attribute AttributeExporter::dictionaries(ArrayAttr arguments) {
  SmallVector<Attribute> result;
  if (arguments)
    for (Attribute argument : arguments) {
      SmallVector<Attribute> translated;
      if (!entries(cast<DictionaryAttr>(argument), translated))
        return {};
      result.push_back(list(translated));
    }
  return list(result);
}

Attribute AttributeExporter::declarations(param::DeclArrayAttr declarations) {
  SmallVector<Attribute> result;
  for (param::DeclAttr declaration : declarations.getValue()) {
    Attribute translated = value(declaration);
    if (!translated)
      return {};
    result.push_back(translated);
  }
  return list(result);
}

/// Signless numbers are signed ones, but for what asset writers take for the
/// kind of a scan.
static Attribute number(IntegerAttr attribute) {
  MLIRContext *context = attribute.getContext();
  APInt value = attribute.getValue();
  if (attribute.getType().isSignlessInteger(32) && value.ult(4))
    return aicode::ScanCombinerAttr::get(context, value.getZExtValue());
  if (value.getBitWidth() > 64)
    return {};
  return aicode::WholeAttr::get(context, value.getBitWidth(),
                                attribute.getType().isUnsignedInteger(),
                                value.getZExtValue());
}

Attribute AttributeExporter::translate(Attribute attribute) {
  auto numbered = [&](auto mode) {
    return static_cast<uint64_t>(mode.getValue());
  };
  return llvm::TypeSwitch<Attribute, Attribute>(attribute)
      .Case([&](StringAttr string) { return text(string.getValue()); })
      .Case([&](IntegerAttr integer) { return number(integer); })
      .Case([&](FloatAttr real) -> Attribute {
        // Half a width tells no bfloat16 from a float16.
        APInt bits = real.getValue().bitcastToAPInt();
        if (bits.getBitWidth() > 64 || real.getType().isBF16())
          return {};
        return aicode::RealAttr::get(context, bits.getBitWidth(),
                                     bits.getZExtValue());
      })
      .Case([&](TypeAttr literal) -> Attribute {
        Type inner = type(literal.getValue());
        return inner ? aicode::TypeLiteralAttr::get(context, inner)
                     : Attribute();
      })
      .Case([&](ArrayAttr array) -> Attribute {
        SmallVector<Attribute> elements;
        return values(array.getValue(), elements) ? list(elements)
                                                  : Attribute();
      })
      .Case([&](DictionaryAttr dictionary) -> Attribute {
        SmallVector<Attribute> translated;
        return entries(dictionary, translated)
                   ? aicode::DictionaryAttr::get(context, translated)
                   : Attribute();
      })
      .Case([&](UnitAttr) {
        use(kUnitDate);
        return aicode::UnitAttr::get(context);
      })
      .Case([&](SymbolRefAttr symbol) -> Attribute {
        SmallVector<StringAttr> path = {symbol.getRootReference()};
        for (FlatSymbolRefAttr nested : symbol.getNestedReferences())
          path.push_back(nested.getAttr());
        return aicode::SymbolRefAttr::get(context, path);
      })
      .Case([&](param::DeclAttr declaration) -> Attribute {
        Type inner = type(declaration.getType());
        use(kParameterDate);
        // A default has no place in an asset.
        return inner && !declaration.getDefaultValue()
                   ? aicode::ParamDeclAttr::get(
                         context, declaration.getName().getValue(), inner)
                   : Attribute();
      })
      .Case([&](param::ConstantAttr constant) -> Attribute {
        Attribute inner = value(constant.getValue());
        Type kind = type(constant.getType());
        return inner && kind
                   ? aicode::ParamConstantAttr::get(context, inner, kind)
                   : Attribute();
      })
      .Case([&](param::BindAttr bind) -> Attribute {
        auto symbol = dyn_cast<param::ConstantAttr>(bind.getSymbol());
        Attribute inner = symbol ? value(symbol.getValue()) : Attribute();
        Type kind = type(bind.getType());
        SmallVector<Attribute> arguments;
        use(kParameterDate);
        // Assets wrap plain values.
        for (Attribute argument : bind.getArguments())
          arguments.push_back(value(isa<param::ConstantAttr>(argument)
                                        ? argument
                                        : param::ConstantAttr::get(argument)));
        if (!inner || !kind || llvm::is_contained(arguments, Attribute()))
          return {};
        return aicode::ParamBindAttr::get(context, inner, kind, arguments);
      })
      .Case([&](coreai::PaddingModeAttr mode) {
        return aicode::PaddingModeAttr::get(context, numbered(mode));
      })
      .Case([&](coreai::ApproximateAttr mode) {
        return aicode::ApproximateAttr::get(context, numbered(mode));
      })
      .Case([&](coreai::ScatterModeAttr mode) {
        return aicode::ScatterModeAttr::get(context, numbered(mode));
      })
      .Case([&](coreai::InterpolationModeAttr mode) {
        return aicode::InterpolationModeAttr::get(context, numbered(mode));
      })
      .Case([&](coreai::CompilationAttr mode) {
        return aicode::CompilationAttr::get(context, numbered(mode));
      })
      .Case([&](udml::LifecycleAttr mode) {
        return aicode::LifecyclePhaseAttr::get(context, numbered(mode));
      })
      .Case([&](coreai::FourCCAttr format) {
        return aicode::FourCCAttr::get(context, format.getCode());
      })
      .Case([&](coreai::TargetSpecAttr spec) -> Attribute {
        SmallVector<Attribute> options;
        if (!entries(spec.getDelegateOptions(), options))
          return {};
        return aicode::TargetSpecAttr::get(context, text(spec.getTriple()),
                                           text(spec.getSoc()), list(options));
      })
      .Case([&](coreaix::HWConstraintsAttr constraints) {
        use(kHwConstraintsDate);
        return aicode::HwConstraintsAttr::get(
            context, constraints.getAlignments(), constraints.getInterleave(),
            static_cast<uint64_t>(constraints.getBacking()) + 1);
      })
      .Case([&](coreaix::ImageConstraintsAttr constraints) {
        return aicode::ImageConstraintsAttr::get(
            context, static_cast<uint64_t>(constraints.getBacking()) + 1,
            constraints.getRowAlignmentsPerPlane());
      })
      .Case([&](coreai::SparseTensorEncodingAttr sparse) {
        return aicode::SparseEncodingAttr::get(
            context, static_cast<uint64_t>(sparse.getCompressionScheme()),
            sparse.getPosWidth(), sparse.getCrdWidth(), sparse.getNumNonZero(),
            sparse.getBlockSize());
      })
      .Case([&](FileLineColRange place) { return range(place); })
      .Default(
          [&](Attribute attribute) { return translateDebugInfo(attribute); });
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

aicode::ResourceHandle AttributeExporter::weight(StringRef key,
                                                 const AsmResourceBlob &blob) {
  auto &manager = aicode::ResourceHandle::getManagerInterface(context);
  // A program that was read from an asset in this context has it already.
  if (auto *entry = manager.getBlobManager().lookup(key))
    if (const AsmResourceBlob *known = entry->getBlob();
        known && known->getData().data() == blob.getData().data() &&
        known->getData().size() == blob.getData().size())
      return aicode::ResourceHandle(
          entry, context->getLoadedDialect<aicode::AICodeDialect>());
  // The resource of the program, in the same context, keeps the memory.
  return manager.insert(key, UnmanagedAsmResourceBlob::allocateWithAlign(
                                 blob.getData(), blob.getDataAlignment(),
                                 /*deleter=*/{}, /*dataIsMutable=*/false));
}

Attribute AttributeExporter::elements(Attribute data) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(data)) {
    DenseResourceElementsHandle handle = resource.getRawHandle();
    AsmResourceBlob *blob = handle.getBlob();
    if (!blob) {
      error() << "the weight \"" << handle.getKey() << "\" has no data";
      return {};
    }
    // By what it stands for: constants of several types can share a weight.
    Attribute &known = weights[StringAttr::get(context, handle.getKey())];
    if (!known)
      known =
          aicode::ResourceAttr::get(context, weight(handle.getKey(), *blob));
    return known;
  }
  auto literal = dyn_cast<DenseElementsAttr>(data);
  if (!literal) {
    error() << "a constant whose value is " << data;
    return {};
  }
  bool isSplat = literal.isSplat();
  ArrayRef<char> raw = literal.getRawData();
  SmallVector<char> bytes;
  auto integer = dyn_cast<IntegerType>(literal.getElementType());
  if (integer && integer.isSignless() && integer.getWidth() == 1) {
    // A byte each, a splat included.
    for (bool flag : literal.getValues<bool>())
      bytes.push_back(static_cast<char>(flag));
    raw = bytes;
  } else if (integer && integer.getWidth() > 1 && integer.getWidth() < 8) {
    bytes.assign(raw.begin(), raw.end());
    for (char &byte : bytes)
      byte &= static_cast<char>((1 << integer.getWidth()) - 1);
    raw = bytes;
  }
  return aicode::BytesAttr::get(context, isSplat, raw);
}

//===----------------------------------------------------------------------===//
// Where things come from
//===----------------------------------------------------------------------===//

void AttributeExporter::setGraph(StringAttr name) {
  if (graph == name)
    return;
  graph = name;
  // Those of named places depend on it.
  locations.clear();
}

Attribute AttributeExporter::range(FileLineColRange place) {
  return aicode::SourceLocationAttr::get(
      context,
      aicode::FileAttr::get(context, place.getFilename().getValue(), "", ""),
      place.getStartLine(), place.getStartColumn(), place.getEndLine(),
      place.getEndColumn());
}

LocationAttr AttributeExporter::unknown() {
  return aicode::DebugLocationAttr::get(
      context,
      aicode::SourceLocationAttr::get(
          context, aicode::FileAttr::get(context, "-", "", ""), 0, 0, 0, 0),
      aicode::UnitAttr::get(context), Attribute(), {}, {});
}

Attribute AttributeExporter::translateDebugInfo(Attribute attribute) {
  return llvm::TypeSwitch<Attribute, Attribute>(attribute)
      .Case([&](debuginfo::FileAttr file) {
        return aicode::FileAttr::get(context, file.getFilename(),
                                     file.getDirectory(), file.getSha256Sum());
      })
      .Case([&](debuginfo::CompileUnitAttr unit) -> Attribute {
        SmallVector<Attribute> files;
        if (!values(unit.getAllFiles(), files))
          return {};
        return aicode::CompileUnitAttr::get(
            context, unit.getSourceLanguage(), value(unit.getFile()),
            unit.getProducer(), unit.getOptimized(), unit.getFlags(), files);
      })
      .Case([&](debuginfo::SubprogramAttr program) -> Attribute {
        Type signature = type(program.getType());
        Attribute unit = value(program.getCompileUnit());
        if (!signature || !unit)
          return {};
        return aicode::SubprogramAttr::get(
            context, signature, unit, value(program.getFile()),
            program.getName(), program.getLinkageName(),
            static_cast<uint64_t>(program.getFlags()));
      })
      .Case([&](debuginfo::LocalVariableAttr variable) -> Attribute {
        Type described = type(variable.getType());
        if (!described)
          return {};
        return aicode::LocalVariableAttr::get(
            context, described, variable.getName(), range(variable.getLine()),
            value(variable.getScope()), variable.getAlignInBits(),
            static_cast<uint64_t>(variable.getFlags()));
      })
      .Case([&](debuginfo::BoundsAttr bounds) {
        return aicode::BoundsAttr::get(context, bounds.getCount(),
                                       bounds.getLower(), bounds.getUpper(),
                                       bounds.getStride());
      })
      .Case([&](debuginfo::MetadataAttr fact) -> Attribute {
        Attribute data = value(fact.getData());
        if (!data)
          return {};
        return aicode::MetadataAttr::get(
            context, fact.getName(),
            aicode::MetadataDataAttr::get(context, data));
      })
      .Default(Attribute());
}

Location AttributeExporter::location(Location location) {
  // Places do not count for the version of a program.
  uint32_t date = newestDate;
  LocationAttr translated = translateLocation(location);
  newestDate = date;
  return translated;
}

LocationAttr AttributeExporter::translateLocation(LocationAttr location) {
  auto known = locations.find(location);
  if (known != locations.end())
    return known->second;
  auto make = [&](Attribute source, Attribute scope, ArrayRef<Attribute> fused,
                  ArrayRef<Attribute> metadata) -> LocationAttr {
    return aicode::DebugLocationAttr::get(context, source, scope, Attribute(),
                                          fused, metadata);
  };
  Attribute nowhere = aicode::UnitAttr::get(context);
  /// `first` with `others` beside it.
  auto fuse = [&](LocationAttr first, ArrayRef<Location> others,
                  ArrayRef<Attribute> metadata) -> LocationAttr {
    auto main = dyn_cast<aicode::DebugLocationAttr>(translateLocation(first));
    if (!main)
      return unknown();
    SmallVector<Attribute> fused;
    for (Location other : others)
      fused.push_back(translateLocation(other));
    SmallVector<Attribute> facts(main.getMetadata());
    llvm::append_range(facts, metadata);
    return make(main.getSource(), main.getScope(), fused, facts);
  };
  auto fact = [&](StringRef name, Attribute data) -> Attribute {
    return aicode::MetadataAttr::get(
        context, name, aicode::MetadataDataAttr::get(context, data));
  };
  LocationAttr result =
      llvm::TypeSwitch<LocationAttr, LocationAttr>(location)
          .Case([&](FileLineColRange place) {
            return make(range(place), nowhere, {}, {});
          })
          .Case([&](debuginfo::DebugLocationAttr debug) -> LocationAttr {
            SmallVector<Attribute> fused, facts;
            Attribute scope = value(debug.getScope());
            for (debuginfo::DebugLocationAttr other : debug.getFusedWith())
              fused.push_back(translateLocation(other));
            if (!scope || !values(debug.getMetadata(), facts))
              return unknown();
            return make(range(debug.getSource()), scope, fused, facts);
          })
          .Case([&](debuginfo::MetadataLocationAttr known) -> LocationAttr {
            SmallVector<Attribute> facts;
            if (!values(known.getMetadata(), facts))
              return unknown();
            return aicode::MetadataLocationAttr::get(context, facts);
          })
          .Case([&](NameLoc named) -> LocationAttr {
            auto child = dyn_cast<FileLineColRange>(named.getChildLoc());
            if (!child)
              return translateLocation(named.getChildLoc());
            return make(
                range(child),
                graph ? Attribute(aicode::SymbolRefAttr::get(context, {graph}))
                      : nowhere,
                {},
                fact(named.getName().getValue(),
                     text(child.getFilename().getValue())));
          })
          .Case([&](FusedLoc fused) -> LocationAttr {
            if (fused.getLocations().empty())
              return unknown();
            SmallVector<Attribute> facts;
            if (auto name = dyn_cast_or_null<StringAttr>(fused.getMetadata()))
              facts.push_back(fact(name.getValue(), nowhere));
            return fuse(fused.getLocations().front(),
                        fused.getLocations().drop_front(), facts);
          })
          .Case([&](CallSiteLoc call) -> LocationAttr {
            return fuse(call.getCallee(), {call.getCaller()}, {});
          })
          .Default([&](LocationAttr) { return unknown(); });
  return locations[location] = result;
}
