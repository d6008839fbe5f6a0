// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Conversion/AtenToCoreAI/Attach.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"
#include "corten/Support/Limits.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace corten;
using namespace corten::debuginfo;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

namespace {

/// Makes attributes of a table, those of what repeats once.
class LocationBuilder {
public:
  LocationBuilder(const LocationTable &table, MLIRContext *context)
      : table(table), builder(context),
        levels{builder.getStringAttr("torch"), builder.getStringAttr("coreai")},
        places(table.places.size()), nodes(table.nodes.size()),
        modules(table.modules.size()) {}

  DebugLocationAttr build(const LocationTable::Entry &entry);

private:
  /// Where facts are known from.
  enum Level { Torch, CoreAI };

  using Facts = SmallVector<MetadataAttr, 2>;

  NamedAttribute named(StringRef name, Attribute value) {
    return builder.getNamedAttr(name, value);
  }

  IntegerAttr number(unsigned bits, uint64_t value) {
    return builder.getIntegerAttr(
        builder.getIntegerType(bits, /*isSigned=*/false), value);
  }

  FileLineColRange line(unsigned place) {
    const LocationTable::Line &line = table.lines[place];
    return FileLineColLoc::get(builder.getContext(), table.files[line.file],
                               line.number, /*column=*/0);
  }

  MetadataAttr numberOf(Level level, uint64_t value);
  MetadataAttr outputMaps(uint64_t node,
                          ArrayRef<LocationTable::Output> outputs);
  DebugLocationAttr placeOf(unsigned place);
  const Facts &factsOf(unsigned node);
  const Facts &modulesOf(unsigned place);

  const LocationTable &table;
  Builder builder;
  StringAttr levels[2];
  /// Null, or empty, until they are made.
  std::vector<DebugLocationAttr> places;
  std::vector<Facts> nodes, modules;
};

} // namespace

MetadataAttr LocationBuilder::numberOf(Level level, uint64_t value) {
  return MetadataAttr::get(
      "op_id", builder.getDictionaryAttr({named("type", levels[level]),
                                          named("value", number(64, value))}));
}

MetadataAttr
LocationBuilder::outputMaps(uint64_t node,
                            ArrayRef<LocationTable::Output> outputs) {
  auto maps = llvm::map_to_vector(
      outputs, [&](LocationTable::Output output) -> Attribute {
        return builder.getDictionaryAttr(
            {named("source", builder.getDictionaryAttr(
                                 {named("id", number(64, node)),
                                  named("level", levels[Torch]),
                                  named("output", number(32, output.ofNode))})),
             named("target",
                   builder.getDictionaryAttr(
                       {named("level", levels[CoreAI]),
                        named("output", number(32, output.ofOperation))}))});
      });
  return MetadataAttr::get("output_maps", builder.getArrayAttr(maps));
}

DebugLocationAttr LocationBuilder::placeOf(unsigned place) {
  DebugLocationAttr &known = places[place];
  if (known)
    return known;
  const auto &[lines, scope] = table.places[place];
  auto callers =
      llvm::map_to_vector(ArrayRef(lines).drop_front(), [&](unsigned caller) {
        return DebugLocationAttr::get(line(caller), scope);
      });
  known = DebugLocationAttr::get(line(lines.front()), scope, callers);
  return known;
}

const LocationBuilder::Facts &LocationBuilder::factsOf(unsigned node) {
  Facts &facts = nodes[node];
  if (!facts.empty())
    return facts;
  const LocationTable::Node &from = table.nodes[node];
  Attribute source = builder.getDictionaryAttr(
      {named("id", number(64, from.id)),
       named("identifiers", builder.getStrArrayAttr({from.name})),
       named("name", levels[Torch])});
  facts = {MetadataAttr::get("sources", builder.getArrayAttr(source)),
           numberOf(Torch, from.id)};
  return facts;
}

const LocationBuilder::Facts &LocationBuilder::modulesOf(unsigned place) {
  Facts &facts = modules[place];
  if (!facts.empty())
    return facts;
  const LocationTable::Modules &from = table.modules[place];
  SmallVector<StringRef> names(from.callStack.begin(), from.callStack.end());
  facts.push_back(
      MetadataAttr::get("call_stack", builder.getStrArrayAttr(names)));
  if (!from.path.empty())
    facts.push_back(
        MetadataAttr::get("module_path", builder.getStringAttr(from.path)));
  return facts;
}

DebugLocationAttr LocationBuilder::build(const LocationTable::Entry &entry) {
  DebugLocationAttr place = placeOf(entry.place);
  SmallVector<MetadataAttr, 8> metadata;
  if (entry.node)
    llvm::append_range(metadata, factsOf(*entry.node));
  if (entry.number)
    metadata.push_back(numberOf(CoreAI, *entry.number));
  if (entry.node) {
    const LocationTable::Node &node = table.nodes[*entry.node];
    if (entry.numOutputs)
      metadata.push_back(outputMaps(node.id, table.outputsOf(entry)));
    if (node.modules)
      llvm::append_range(metadata, modulesOf(*node.modules));
  }
  return DebugLocationAttr::get(place.getSource(), place.getScope(),
                                place.getFusedWith(), metadata);
}

void corten::attachLocations(ConvertedModule &converted) {
  LocationBuilder builder(converted.locations, converted.context.get());
  auto entry = converted.locations.operations.begin();
  converted.module->walk([&](Operation *op) {
    assert(entry != converted.locations.operations.end() &&
           "the table is of another module");
    LocationAttr location = builder.build(*entry++);
    op->setLoc(location);
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setLoc(location);
  });
  converted.locations = {};
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

AsmResourceBlob corten::weightBlob(SharedBytes bytes) {
  ArrayRef<char> data(bytes.data.data(), bytes.data.size());
  auto keep = [owner = std::move(bytes.owner)](void *, size_t, size_t) {
    (void)owner;
  };
  return UnmanagedAsmResourceBlob::allocateWithAlign(
      data, kWeightAlignment, std::move(keep), /*dataIsMutable=*/false);
}

void corten::attachWeights(ConvertedModule &converted) {
  auto &manager =
      DenseResourceElementsHandle::getManagerInterface(converted.context.get());
  llvm::StringMap<const Resource *> byKey;
  for (const Resource &resource : converted.resources)
    byKey[resource.key] = &resource;
  DenseMap<Attribute, Attribute> attached;
  converted.module->walk([&](coreai::ConstantOp op) {
    auto numbered = dyn_cast<DenseResourceElementsAttr>(op.getValue());
    if (!numbered)
      return;
    Attribute &named = attached[numbered];
    if (!named) {
      const Resource &resource = *byKey.at(numbered.getRawHandle().getKey());
      named = DenseResourceElementsAttr::get(
          numbered.getType(),
          manager.insert(resource.name, weightBlob(resource.bytes())));
    }
    op->setAttr(op.getValueAttrName(), named);
  });
  converted.resources.clear();
}
