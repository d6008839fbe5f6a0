// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Walk/Declaration.h"

#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Dialect/CoreAI/IR/CoreAIDialect.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using namespace mlir;

static DictionaryAttr dictionary(Builder &builder,
                                 const AttributeValue::Dictionary &entries) {
  SmallVector<NamedAttribute> named;
  for (const auto &[key, value] : entries)
    named.push_back(builder.getNamedAttr(key, attributeOf(builder, value)));
  return builder.getDictionaryAttr(named);
}

Attribute corten::attributeOf(Builder &builder, const AttributeValue &value) {
  if (const auto *flag = std::get_if<bool>(&value.value))
    return builder.getBoolAttr(*flag);
  if (const auto *number = std::get_if<int64_t>(&value.value))
    return IntegerAttr::get(builder.getIntegerType(64, true), *number);
  if (const auto *number = std::get_if<double>(&value.value))
    return builder.getF32FloatAttr(static_cast<float>(*number));
  if (const auto *text = std::get_if<std::string>(&value.value))
    return builder.getStringAttr(*text);
  if (const auto *list = std::get_if<AttributeValue::List>(&value.value))
    return builder.getArrayAttr(
        llvm::map_to_vector(*list, [&](const AttributeValue &element) {
          return attributeOf(builder, element);
        }));
  return dictionary(builder, std::get<AttributeValue::Dictionary>(value.value));
}

static ArrayAttr stringArray(Builder &builder, ArrayRef<std::string> strings) {
  return builder.getStrArrayAttr(SmallVector<StringRef>(strings));
}

coreai::CompositeDeclarationAttr
corten::attributeOf(Builder &builder, const CompositeDeclaration &declaration) {
  DictionaryAttr content = builder.getDictionaryAttr(
      {builder.getNamedAttr("input_names",
                            stringArray(builder, declaration.inputNames)),
       builder.getNamedAttr("op_attrs",
                            dictionary(builder, declaration.attributes)),
       builder.getNamedAttr("output_names",
                            stringArray(builder, declaration.outputNames))});
  return coreai::CompositeDeclarationAttr::get(builder.getContext(),
                                               declaration.name, content);
}

std::string corten::declarationText(const CompositeDeclaration &declaration) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<coreai::CoreAIDialect>();
  Builder builder(&context);
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << Attribute(attributeOf(builder, declaration));
  return text;
}
