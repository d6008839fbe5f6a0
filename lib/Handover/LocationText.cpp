// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LocationText.h"

#include "mlir/IR/BuiltinAttributes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace corten;
using llvm::StringRef;

LocationText::LocationText(const LocationTable &table)
    : table(table), definitions(definitionText), stream(text), ends{0},
      places(table.places.size()), modules(table.modules.size()),
      nodes(table.nodes.size()), uses(table.nodes.size()) {
  for (const LocationTable::Entry &entry : table.operations)
    if (entry.node)
      ++uses[*entry.node];
  for (const LocationTable::Entry &entry : table.operations) {
    write(entry);
    ends.push_back(stream.tell());
  }
}

static std::string quoted(StringRef text) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  stream << '"';
  llvm::printEscapedString(text, stream);
  stream << '"';
  return result;
}

std::string LocationText::define(StringRef text) {
  // Letters only, as few as can be: most of the text is names of aliases.
  std::string name = "#";
  unsigned number = numAliases++;
  do
    name += 'a' + number % 26;
  while ((number /= 26) != 0);
  definitions << name << " = " << text << "\n";
  return name;
}

StringRef LocationText::alias(StringRef text) {
  auto [entry, isNew] = known.try_emplace(text);
  if (isNew)
    entry->second = define(text);
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

std::string LocationText::scopeText(mlir::Attribute scope) {
  if (llvm::isa<mlir::UnitAttr>(scope))
    return "unit";
  std::string text;
  llvm::raw_string_ostream(text) << scope;
  return alias(text).str();
}

std::string LocationText::lineText(unsigned line) {
  auto [file, number] = table.lines[line];
  return alias("loc(" + quoted(table.files[file]) + ":" +
               std::to_string(number) + ":0)")
      .str();
}

const std::string &LocationText::placeText(unsigned place) {
  std::string &text = places[place];
  if (!text.empty())
    return text;
  const auto &[lines, attribute] = table.places[place];
  std::string scope = " in " + scopeText(attribute);
  text = lineText(lines.front()) + scope;
  if (lines.size() == 1)
    return text;
  auto callers = llvm::map_range(llvm::drop_begin(lines), [&](unsigned line) {
    return alias("#debuginfo.location<" + lineText(line) + scope + ">");
  });
  text += " fused with [" + llvm::join(callers, ", ") + "]";
  return text;
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

const std::string &LocationText::modulesText(unsigned place) {
  std::string &text = modules[place];
  if (!text.empty())
    return text;
  const auto &[callStack, path] = table.modules[place];
  auto names = llvm::map_range(
      callStack, [](const std::string &name) { return quoted(name); });
  text = ", ";
  text += alias("#debuginfo.metadata<\"call_stack\": [" +
                llvm::join(names, ", ") + "]>");
  if (!path.empty()) {
    text += ", ";
    text += alias("#debuginfo.metadata<\"module_path\": " + quoted(path) + ">");
  }
  return text;
}

const LocationText::NodeText &LocationText::nodeText(unsigned node) {
  NodeText &text = nodes[node];
  if (!text.before.empty())
    return text;
  const LocationTable::Node &from = table.nodes[node];
  std::string id = std::to_string(from.id);
  std::string facts[] = {
      "<\"sources\": [{id = " + id + " : ui64, identifiers = [" +
          quoted(from.name) + "], name = \"torch\"}]>",
      "<\"op_id\": {type = \"torch\", value = " + id + " : ui64}>"};
  // What more than one operation mentions becomes an alias.
  for (const std::string &fact : facts) {
    text.before += uses[node] > 1 ? define("#debuginfo.metadata" + fact) : fact;
    text.before += ", ";
  }
  if (from.modules)
    text.behind = modulesText(*from.modules);
  return text;
}

void LocationText::writeOutputs(const LocationTable::Entry &entry,
                                uint64_t node) {
  stream << ", <\"output_maps\": [";
  llvm::interleaveComma(
      table.outputsOf(entry), stream, [&](LocationTable::Output output) {
        stream << "{source = {id = " << node
               << " : ui64, level = \"torch\", output = " << output.ofNode
               << " : ui32}, target = "
               << alias("{level = \"coreai\", output = " +
                        std::to_string(output.ofOperation) + " : ui32}")
               << "}";
      });
  stream << "]>";
}

void LocationText::write(const LocationTable::Entry &entry) {
  stream << "#debuginfo.location<" << placeText(entry.place);
  const NodeText *node = entry.node ? &nodeText(*entry.node) : nullptr;
  if (entry.number) {
    stream << " metadata = [" << (node ? StringRef(node->before) : "")
           << "<\"op_id\": {type = \"coreai\", value = " << *entry.number
           << " : ui64}>";
    if (entry.numOutputs)
      writeOutputs(entry, table.nodes[*entry.node].id);
    stream << (node ? node->behind : "") << "]";
  }
  stream << ">";
}
