// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The description of a program as JSON and as text.

#include "InfoText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using llvm::StringRef;
namespace json = llvm::json;

json::Value corten::textJson(StringRef string) { return json::fixUTF8(string); }

template <typename T>
static json::Value numberOrNull(const std::optional<T> &number) {
  return number ? json::Value(*number) : json::Value(nullptr);
}

template <typename Range, typename Function>
static json::Array arrayOf(const Range &range, Function &&function) {
  json::Array array;
  for (const auto &element : range)
    array.push_back(function(element));
  return array;
}

static StringRef kindName(InterfaceValue::Kind kind) {
  switch (kind) {
  case InterfaceValue::Kind::Tensor:
    return "tensor";
  case InterfaceValue::Kind::Image:
    return "image";
  case InterfaceValue::Kind::Other:
    return "other";
  }
  llvm_unreachable("all kinds are listed");
}

static json::Value valueJson(const InterfaceValue &value) {
  return json::Object{
      {"name", textJson(value.name)},
      {"kind", kindName(value.kind)},
      {"dtype", textJson(value.elementType)},
      {"shape", arrayOf(value.shape,
                        [](const Dimension &dim) -> json::Value {
                          if (dim.size)
                            return *dim.size;
                          return json::Object{{"min", numberOrNull(dim.min)},
                                              {"max", numberOrNull(dim.max)}};
                        })},
      {"type", textJson(value.type)}};
}

json::Array corten::valuesJson(const std::vector<InterfaceValue> &values) {
  return arrayOf(values, valueJson);
}

json::Array corten::countsJson(const std::vector<OpCount> &ops) {
  return arrayOf(ops, [](const OpCount &op) -> json::Value {
    return json::Object{{"name", textJson(op.name)}, {"count", op.count}};
  });
}

json::Array corten::weightsJson(const std::vector<WeightGroup> &weights) {
  return arrayOf(weights, [](const WeightGroup &group) -> json::Value {
    return json::Object{{"dtype", textJson(group.elementType)},
                        {"count", group.count},
                        {"elements", group.elements},
                        {"bytes", group.bytes}};
  });
}

json::Object corten::infoJson(const ProgramInfo &info) {
  auto entryPoint = [](const EntryPointInfo &entry) -> json::Value {
    return json::Object{{"name", textJson(entry.name)},
                        {"inputs", valuesJson(entry.inputs)},
                        {"outputs", valuesJson(entry.outputs)},
                        {"states", valuesJson(entry.states)}};
  };
  auto composite = [](const OpCounts::Composite &composite) -> json::Value {
    return json::Object{{"name", textJson(composite.name)},
                        {"graphs", composite.instances},
                        {"calls", composite.calls},
                        {"operations", countsJson(composite.ops)}};
  };
  auto compressed =
      [](const CompressionReport::Compressed &weight) -> json::Value {
    return json::Object{{"name", textJson(weight.name)},
                        {"scheme", textJson(weight.scheme)},
                        {"type", textJson(weight.type)},
                        {"elements", weight.elements},
                        {"bytes", weight.bytes},
                        {"uncompressed_bytes", weight.denseBytes},
                        {"ideal_bytes", weight.idealBytes}};
  };
  auto uncompressed =
      [](const CompressionReport::Uncompressed &weight) -> json::Value {
    return json::Object{{"name", textJson(weight.name)},
                        {"type", textJson(weight.type)},
                        {"bytes", weight.bytes},
                        {"reason", textJson(weight.reason)}};
  };
  json::Value entryPoints = arrayOf(info.entryPoints, entryPoint);
  return json::Object{
      {"path", textJson(info.path)},
      {"entrypoints", entryPoints},
      // The older spelling.
      {"entry_points", std::move(entryPoints)},
      {"private_graphs", info.privateGraphs},
      {"operation_count", info.operations.total()},
      {"operations", countsJson(info.operations.ops)},
      {"composites", arrayOf(info.operations.composites, composite)},
      {"weight_bytes", info.weightBytes()},
      {"weights", weightsJson(info.weights)},
      {"compressed", arrayOf(info.compression.compressed, compressed)},
      {"uncompressed", arrayOf(info.compression.uncompressed, uncompressed)},
      {"versions",
       json::Object{{"asset", info.versions.asset
                                  ? textJson(*info.versions.asset)
                                  : json::Value(nullptr)},
                    {"bytecode", numberOrNull(info.versions.bytecode)},
                    {"dialect", numberOrNull(info.versions.dialect)}}},
      {"metadata",
       json::Object{{"producer", textJson(info.producer)},
                    {"author", textJson(info.author)},
                    {"license", textJson(info.license)},
                    {"description", textJson(info.description)},
                    {"creation_date", textJson(info.creationDate)},
                    {"creator_defined", json::Object(info.creatorDefined)}}},
      {"file_size", numberOrNull(info.fileSize)}};
}

//===----------------------------------------------------------------------===//
// For people
//===----------------------------------------------------------------------===//

std::string corten::describeBytes(uint64_t bytes) {
  if (bytes < 1000)
    return std::to_string(bytes) + " B";
  constexpr StringRef kUnits[] = {"kB", "MB", "GB", "TB"};
  double amount = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  for (; amount >= 1000 && unit + 1 < std::size(kUnits); ++unit)
    amount /= 1000;
  std::string result;
  llvm::raw_string_ostream(result)
      << llvm::format("%.1f ", amount) << kUnits[unit];
  return result;
}

static std::string describeDimension(const Dimension &dim) {
  if (dim.size)
    return std::to_string(*dim.size);
  if (!dim.min && !dim.max)
    return "?";
  auto limit = [](const std::optional<int64_t> &number) {
    return number ? std::to_string(*number) : std::string();
  };
  return limit(dim.min) + ".." + limit(dim.max);
}

std::string corten::describeValue(const InterfaceValue &value) {
  if (value.kind == InterfaceValue::Kind::Other)
    return value.type;
  return value.elementType + "[" +
         llvm::join(llvm::map_range(value.shape, describeDimension), ", ") +
         "]";
}

void Section::add(std::string left, std::string right) {
  isEmpty = false;
  rows.add({std::move(left), std::move(right)});
}

void Section::print(llvm::raw_ostream &os) const {
  if (isEmpty)
    return;
  os << heading << '\n';
  rows.printRows(os, 2);
}

std::string corten::plural(uint64_t count, StringRef noun) {
  return std::to_string(count) + " " + noun.str() + (count == 1 ? "" : "s");
}

void corten::printInterface(std::string heading, const EntryPointInfo &entry,
                            llvm::raw_ostream &os) {
  Section section(std::move(heading));
  auto add = [&](StringRef kind, const std::vector<InterfaceValue> &values) {
    for (const InterfaceValue &value : values)
      section.add((kind + "  " + value.name).str(), describeValue(value));
  };
  add("input ", entry.inputs);
  add("output", entry.outputs);
  add("state ", entry.states);
  if (entry.inputs.empty() && entry.outputs.empty() && entry.states.empty())
    section.add("no inputs, no outputs", "");
  section.print(os);
}

void corten::printOperations(const OpCounts &operations,
                             llvm::raw_ostream &os) {
  Section section("operations: " + std::to_string(operations.total()));
  for (const OpCount &op : operations.ops)
    section.add(op.name, std::to_string(op.count));
  section.print(os);
}

void corten::printWeights(const std::vector<WeightGroup> &weights,
                          llvm::raw_ostream &os) {
  uint64_t bytes = 0;
  for (const WeightGroup &group : weights)
    bytes += group.bytes;
  Section section("weights: " + describeBytes(bytes));
  for (const WeightGroup &group : weights)
    section.add(group.elementType, describeBytes(group.bytes) + " in " +
                                       plural(group.count, "tensor") + ", " +
                                       plural(group.elements, "element"));
  section.print(os);
}

/// How weights are compressed; nothing where none is.
static void printCompression(const CompressionReport &report,
                             llvm::raw_ostream &os) {
  uint64_t bytes = 0, before = 0;
  for (const CompressionReport::Compressed &weight : report.compressed) {
    bytes += weight.bytes;
    before += weight.denseBytes;
  }
  Section compressed("compressed weights: " + describeBytes(bytes) + " of " +
                     describeBytes(before));
  for (const CompressionReport::Compressed &weight : report.compressed) {
    std::string line;
    llvm::raw_string_ostream stream(line);
    stream << weight.scheme << ": "
           << llvm::format("%.2f", 8.0 * static_cast<double>(weight.bytes) /
                                       static_cast<double>(std::max<int64_t>(
                                           weight.elements, 1)))
           << " bits, " << describeBytes(weight.bytes) << " of "
           << describeBytes(weight.denseBytes) << ", ideal "
           << describeBytes(weight.idealBytes);
    compressed.add(weight.name.empty() ? weight.type : weight.name, line);
  }
  compressed.print(os);
  if (report.compressed.empty())
    return;
  Section others("other weights");
  for (const CompressionReport::Uncompressed &weight : report.uncompressed)
    others.add(weight.name.empty() ? weight.type : weight.name,
               describeBytes(weight.bytes) + ", " + weight.reason);
  others.print(os);
}

void corten::printInfo(const ProgramInfo &info, llvm::raw_ostream &os) {
  os << info.path << '\n';
  for (const EntryPointInfo &entry : info.entryPoints)
    printInterface("entry point " + entry.name, entry, os);

  printOperations(info.operations, os);

  Section composites("composites");
  for (const OpCounts::Composite &composite : info.operations.composites)
    composites.add(composite.name, plural(composite.calls, "call") + ", " +
                                       plural(composite.instances, "graph") +
                                       ", " + plural(composite.total(), "op"));
  composites.print(os);

  printWeights(info.weights, os);
  printCompression(info.compression, os);

  Section about("about");
  auto addText = [&](StringRef name, StringRef value) {
    if (!value.empty())
      about.add(name.str(), value.str());
  };
  auto addNumber = [&](StringRef name, const std::optional<uint64_t> &number) {
    if (number)
      about.add(name.str(), std::to_string(*number));
  };
  addText("producer", info.producer);
  addText("created", info.creationDate);
  addText("author", info.author);
  addText("license", info.license);
  addText("description", info.description);
  for (const auto *member : json::sortedElements(info.creatorDefined))
    addText(member->first, llvm::formatv("{0}", member->second).str());
  addText("asset version", info.versions.asset.value_or(""));
  addNumber("dialect version", info.versions.dialect);
  addNumber("bytecode version", info.versions.bytecode);
  if (info.fileSize)
    addText("program", describeBytes(*info.fileSize));
  about.print(os);
}
