// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Locations as text in which what repeats stands once, behind an alias. MLIR
// bytecode has no encoding for the attributes of `debuginfo` but their full
// text: for a model with deep call stacks that is two kilobytes for every
// operation, to be printed here and parsed there.

#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"
#include "corten/Handover/Handover.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using namespace corten::debuginfo;
using namespace mlir;

namespace {

/// Writes attributes of locations, and definitions of aliases as they are
/// needed. The general printer would need an order of magnitude longer: it
/// looks for aliases anew in every attribute.
class TableWriter {
public:
  explicit TableWriter(ModuleOp module) : definitions(definitionText) {
    module->walk([&](Operation *op) {
      if (auto location =
              dyn_cast<DebugLocationAttr>(LocationAttr(op->getLoc())))
        for (MetadataAttr fact : location.getMetadata())
          if (++uses[fact] == 1)
            count(fact.getData());
    });
  }

  void write(LocationAttr location, raw_ostream &stream) {
    auto debug = dyn_cast<DebugLocationAttr>(location);
    if (!debug)
      location.print(stream);
    else
      writeDebugLocation(debug, stream);
  }

  StringRef aliases() const { return definitionText; }

private:
  void count(Attribute data) {
    if (auto array = dyn_cast<ArrayAttr>(data)) {
      llvm::for_each(array, [&](Attribute element) { count(element); });
    } else if (auto dictionary = dyn_cast<DictionaryAttr>(data)) {
      if (++uses[dictionary] == 1)
        for (NamedAttribute entry : dictionary)
          count(entry.getValue());
    }
  }

  bool isShared(Attribute attribute) const {
    return uses.lookup(attribute) > 1;
  }

  void writeDebugLocation(DebugLocationAttr location, raw_ostream &stream) {
    stream << "#debuginfo.location<" << alias(location.getSource()) << " in ";
    writeScope(location.getScope(), stream);
    if (!location.getFusedWith().empty()) {
      stream << " fused with [";
      llvm::interleaveComma(
          location.getFusedWith(), stream,
          [&](DebugLocationAttr caller) { stream << alias(caller); });
      stream << "]";
    }
    if (!location.getMetadata().empty()) {
      stream << " metadata = [";
      llvm::interleaveComma(location.getMetadata(), stream,
                            [&](MetadataAttr fact) {
                              if (uses.lookup(fact) > 1)
                                stream << alias(fact);
                              else
                                writeMetadata(fact, stream);
                            });
      stream << "]";
    }
    stream << ">";
  }

  void writeMetadata(MetadataAttr fact, raw_ostream &stream) {
    stream << "<\"" << fact.getName() << "\": ";
    writeData(fact.getData(), stream);
    stream << ">";
  }

  /// The kinds of data that the converter records; others print themselves.
  void writeData(Attribute data, raw_ostream &stream) {
    if (auto text = dyn_cast<StringAttr>(data)) {
      stream << '"';
      llvm::printEscapedString(text.getValue(), stream);
      stream << '"';
    } else if (auto number = dyn_cast<IntegerAttr>(data);
               number && number.getType().isUnsignedInteger()) {
      stream << number.getValue().getZExtValue() << " : ui"
             << number.getType().getIntOrFloatBitWidth();
    } else if (auto array = dyn_cast<ArrayAttr>(data)) {
      stream << "[";
      llvm::interleaveComma(array, stream, [&](Attribute element) {
        writeData(element, stream);
      });
      stream << "]";
    } else if (auto dictionary = dyn_cast<DictionaryAttr>(data)) {
      if (isShared(dictionary))
        stream << alias(dictionary);
      else
        writeDictionary(dictionary, stream);
    } else {
      data.print(stream);
    }
  }

  void writeDictionary(DictionaryAttr dictionary, raw_ostream &stream) {
    stream << "{";
    llvm::interleaveComma(dictionary, stream, [&](NamedAttribute entry) {
      stream << entry.getName().getValue() << " = ";
      writeData(entry.getValue(), stream);
    });
    stream << "}";
  }

  void writeScope(Attribute scope, raw_ostream &stream) {
    if (isa<UnitAttr>(scope))
      stream << "unit";
    else
      stream << alias(scope);
  }

  /// The alias of an attribute, defined when it is asked for first.
  StringRef alias(Attribute attribute) {
    if (auto known = names.find(attribute); known != names.end())
      return known->second;
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (auto fact = dyn_cast<MetadataAttr>(attribute)) {
      stream << "#debuginfo.metadata";
      writeMetadata(fact, stream);
    } else if (auto location = dyn_cast<DebugLocationAttr>(attribute)) {
      writeDebugLocation(location, stream);
    } else if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
      writeDictionary(dictionary, stream);
    } else {
      attribute.print(stream);
    }
    // Aliases inside have been defined by now.
    std::string name = "#a" + std::to_string(names.size());
    definitions << name << " = " << text << "\n";
    return names.insert({attribute, std::move(name)}).first->second;
  }

  llvm::DenseMap<Attribute, unsigned> uses;
  llvm::DenseMap<Attribute, std::string> names;
  std::string definitionText;
  llvm::raw_string_ostream definitions;
};

} // namespace

LocationTable corten::locationTable(const ConvertedModule &module) {
  ModuleOp top = *module.module;
  TableWriter writer(top);
  LocationTable table;
  std::string entries;
  llvm::raw_string_ostream stream(entries);
  unsigned index = 0;
  top->walk([&](Operation *op) {
    if (index != 0)
      stream << ",\n";
    writer.write(op->getLoc(), stream);
    if (llvm::any_of(op->getRegions(), [](Region &region) {
          return llvm::any_of(region, [](Block &block) {
            return block.getNumArguments() != 0;
          });
        }))
      table.withArguments.push_back(index);
    ++index;
  });
  table.text = (writer.aliases() + "module attributes {coreai.locations = [\n" +
                entries + "]} {}\n")
                   .str();
  return table;
}
