// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module as coreai-core's parser takes it fastest: generic form, and an
// alias for every type and attribute, so that each is printed and parsed once
// however many operations have it. MLIR's own printer finds aliases by printing
// everything twice.

#include "LocationText.h"
#include "corten/Handover/Handover.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using namespace mlir;

namespace {

class TextWriter {
public:
  explicit TextWriter(const ConvertedModule &converted)
      : locations(converted.locations), state(converted.context.get()),
        definitions(definitionText), body(bodyText) {
    ModuleOp module = *converted.module;
    unsigned place = 0;
    module->walk([&](Operation *op) {
      if (op->getNumRegions() != 0)
        owners[op] = place;
      ++place;
    });
    assert(place == locations.size() && "the table is of another module");
    write(module);
  }

  std::string take() {
    return (Twine(locations.aliases()) + definitionText + bodyText).str();
  }

private:
  void write(Operation *op);
  void writeRegion(Region &region, unsigned location);
  void writeProperties(Operation *op);
  void writeDiscardable(Operation *op);
  void writeTypes(TypeRange types);

  /// The number of the alias that stands for `value`.
  template <typename T>
  unsigned alias(llvm::DenseMap<T, unsigned> &aliases, char sigil, T value) {
    auto [entry, isNew] = aliases.try_emplace(value, aliases.size());
    if (isNew) {
      definitions << sigil << 'h' << entry->second << " = ";
      value.print(definitions, state);
      definitions << '\n';
    }
    return entry->second;
  }

  void define(Value value) {
    body << '%' << numbers.try_emplace(value, numbers.size()).first->second;
  }

  LocationText locations;
  AsmState state;
  std::string definitionText, bodyText;
  llvm::raw_string_ostream definitions, body;
  llvm::DenseMap<Type, unsigned> types;
  llvm::DenseMap<Attribute, unsigned> attributes;
  llvm::DenseMap<Value, unsigned> numbers;
  /// The places of operations with regions, in the order of the locations.
  llvm::DenseMap<Operation *, unsigned> owners;
  /// How many operations have been written.
  unsigned place = 0;
};

} // namespace

void TextWriter::writeTypes(TypeRange range) {
  body << '(';
  llvm::interleave(
      range, [&](Type type) { body << "!h" << alias(types, '!', type); },
      [&] { body << ','; });
  body << ')';
}

void TextWriter::writeProperties(Operation *op) {
  if (Attribute properties = op->getPropertiesAsAttribute())
    body << "<#h" << alias(attributes, '#', properties) << '>';
}

void TextWriter::writeDiscardable(Operation *op) {
  SmallVector<NamedAttribute> discardable =
      llvm::to_vector(op->getDiscardableAttrs());
  if (discardable.empty())
    return;
  body << '{';
  llvm::interleave(
      discardable,
      [&](NamedAttribute named) {
        body << '"';
        llvm::printEscapedString(named.getName(), body);
        body << "\"=#h" << alias(attributes, '#', named.getValue());
      },
      [&] { body << ','; });
  body << '}';
}

void TextWriter::writeRegion(Region &region, unsigned location) {
  assert(llvm::hasNItemsOrLess(region, 1) && "no region has control flow");
  body << '{';
  for (Block &block : region) {
    if (block.getNumArguments() != 0) {
      body << "^b(";
      llvm::interleave(
          block.getArguments(),
          [&](BlockArgument argument) {
            define(argument);
            body << ":!h" << alias(types, '!', argument.getType()) << " loc(#l"
                 << location << ')';
          },
          [&] { body << ','; });
      body << "):\n";
    }
    for (Operation &op : block)
      write(&op);
  }
  body << '}';
}

void TextWriter::write(Operation *op) {
  if (op->getNumResults() != 0) {
    llvm::interleave(
        op->getResults(), [&](Value result) { define(result); },
        [&] { body << ','; });
    body << '=';
  }
  body << '"' << op->getName().getStringRef() << "\"(";
  llvm::interleave(
      op->getOperands(),
      [&](Value operand) { body << '%' << numbers.at(operand); },
      [&] { body << ','; });
  body << ')';
  // Properties stand before regions, other attributes behind them.
  writeProperties(op);
  if (op->getNumRegions() != 0) {
    // The arguments of blocks are where their owner is.
    unsigned location = owners.at(op);
    definitions << "#l" << location << " = " << locations[location] << '\n';
    body << '(';
    llvm::interleave(
        op->getRegions(),
        [&](Region &region) { writeRegion(region, location); },
        [&] { body << ','; });
    body << ')';
  }
  writeDiscardable(op);
  body << ':';
  writeTypes(op->getOperandTypes());
  body << "->";
  writeTypes(op->getResultTypes());
  body << " loc(" << locations[place++] << ")\n";
}

std::string corten::handoverText(const ConvertedModule &module) {
  return TextWriter(module).take();
}
