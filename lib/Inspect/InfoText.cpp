// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The description of a program as JSON and as text.

#include "corten/Inspect/Info.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using llvm::StringRef;
namespace json = llvm::json;

/// MLIR and its users write any bytes into names; JSON wants UTF-8.
static json::Value text(StringRef string) { return json::fixUTF8(string); }

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
      {"name", text(value.name)},
      {"kind", kindName(value.kind)},
      {"dtype", text(value.elementType)},
      {"shape", arrayOf(value.shape,
                        [](const Dimension &dim) -> json::Value {
                          if (dim.size)
                            return *dim.size;
                          return json::Object{{"min", numberOrNull(dim.min)},
                                              {"max", numberOrNull(dim.max)}};
                        })},
      {"type", text(value.type)}};
}

static json::Value countJson(const OperationCount &op) {
  return json::Object{{"name", text(op.name)}, {"count", op.count}};
}

json::Object corten::infoJson(const ProgramInfo &info) {
  auto entryPoint = [](const EntryPointInfo &entry) -> json::Value {
    return json::Object{{"name", text(entry.name)},
                        {"inputs", arrayOf(entry.inputs, valueJson)},
                        {"outputs", arrayOf(entry.outputs, valueJson)},
                        {"states", arrayOf(entry.states, valueJson)}};
  };
  auto composite = [](const CompositeInfo &composite) -> json::Value {
    return json::Object{
        {"name", text(composite.name)},
        {"graphs", composite.graphs},
        {"calls", composite.calls},
        {"operations", arrayOf(composite.operations, countJson)}};
  };
  auto weight = [](const WeightGroup &group) -> json::Value {
    return json::Object{{"dtype", text(group.elementType)},
                        {"count", group.count},
                        {"elements", group.elements},
                        {"bytes", group.bytes}};
  };
  auto compressed =
      [](const CompressionReport::Compressed &weight) -> json::Value {
    return json::Object{{"name", text(weight.name)},
                        {"scheme", text(weight.scheme)},
                        {"type", text(weight.type)},
                        {"elements", weight.elements},
                        {"bytes", weight.bytes},
                        {"uncompressed_bytes", weight.denseBytes},
                        {"ideal_bytes", weight.idealBytes}};
  };
  auto uncompressed =
      [](const CompressionReport::Uncompressed &weight) -> json::Value {
    return json::Object{{"name", text(weight.name)},
                        {"type", text(weight.type)},
                        {"bytes", weight.bytes},
                        {"reason", text(weight.reason)}};
  };
  return json::Object{
      {"path", text(info.path)},
      {"entry_points", arrayOf(info.entryPoints, entryPoint)},
      {"private_graphs", info.privateGraphs},
      {"operation_count", info.operationCount()},
      {"operations", arrayOf(info.operations, countJson)},
      {"composites", arrayOf(info.composites, composite)},
      {"weight_bytes", info.weightBytes()},
      {"weights", arrayOf(info.weights, weight)},
      {"compressed", arrayOf(info.compression.compressed, compressed)},
      {"uncompressed", arrayOf(info.compression.uncompressed, uncompressed)},
      {"versions",
       json::Object{{"asset", info.versions.asset ? text(*info.versions.asset)
                                                  : json::Value(nullptr)},
                    {"bytecode", numberOrNull(info.versions.bytecode)},
                    {"dialect", numberOrNull(info.versions.dialect)}}},
      {"metadata", json::Object{{"producer", text(info.producer)},
                                {"author", text(info.author)},
                                {"license", text(info.license)},
                                {"description", text(info.description)},
                                {"creation_date", text(info.creationDate)}}},
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

namespace {
/// Rows of two columns under a heading, the first as wide as its widest.
class Section {
public:
  explicit Section(std::string heading) : heading(std::move(heading)) {}

  void add(std::string left, std::string right) {
    width = std::max(width, left.size());
    rows.emplace_back(std::move(left), std::move(right));
  }
  void print(llvm::raw_ostream &os) const {
    if (rows.empty())
      return;
    os << heading << '\n';
    for (const auto &[left, right] : rows)
      os << "  " << llvm::left_justify(left, width) << "  " << right << '\n';
  }

private:
  std::string heading;
  std::vector<std::pair<std::string, std::string>> rows;
  size_t width = 0;
};
} // namespace

static std::string plural(uint64_t count, StringRef noun) {
  return std::to_string(count) + " " + noun.str() + (count == 1 ? "" : "s");
}

static void printEntryPoint(const EntryPointInfo &entry,
                            llvm::raw_ostream &os) {
  Section section("entry point " + entry.name);
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
    printEntryPoint(entry, os);

  Section operations("operations: " + std::to_string(info.operationCount()));
  for (const OperationCount &op : info.operations)
    operations.add(op.name, std::to_string(op.count));
  operations.print(os);

  Section composites("composites");
  for (const CompositeInfo &composite : info.composites)
    composites.add(composite.name, plural(composite.calls, "call") + ", " +
                                       plural(composite.graphs, "graph"));
  composites.print(os);

  Section weights("weights: " + describeBytes(info.weightBytes()));
  for (const WeightGroup &group : info.weights)
    weights.add(group.elementType, describeBytes(group.bytes) + " in " +
                                       plural(group.count, "tensor") + ", " +
                                       plural(group.elements, "element"));
  weights.print(os);
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
  addText("asset version", info.versions.asset.value_or(""));
  addNumber("dialect version", info.versions.dialect);
  addNumber("bytecode version", info.versions.bytecode);
  if (info.fileSize)
    addText("program", describeBytes(*info.fileSize));
  about.print(os);
}
