// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Inspect/Archive.h"

#include "InfoText.h"
#include "corten/Program/Outline.h"
#include "corten/Pt2/Convert.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace corten;
using llvm::StringRef;
namespace json = llvm::json;

bool corten::isArchivePath(StringRef path) { return path.ends_with(".pt2"); }

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static InterfaceValue describe(const Program &program, StringRef name,
                               const ValueInfo &info) {
  InterfaceValue value;
  value.name = name.str();
  if (!info.isTensor()) {
    value.type = info.kind == ValueInfo::Kind::SymInt     ? "int"
                 : info.kind == ValueInfo::Kind::SymFloat ? "float"
                 : info.kind == ValueInfo::Kind::SymBool  ? "bool"
                                                          : "object";
    return value;
  }
  value.kind = InterfaceValue::Kind::Tensor;
  value.elementType = scalarTypeName(info.dtype).str();
  std::vector<std::string> sizes;
  for (Size size : info.sizes) {
    if (!size.isDynamic()) {
      value.shape.push_back({size.get(), {}, {}});
      sizes.push_back(std::to_string(size.get()));
      continue;
    }
    const Symbol &symbol = program.symbols[size.symbol()];
    value.shape.push_back({{}, symbol.min, symbol.max});
    sizes.push_back(symbol.expression.str());
  }
  value.type = value.elementType + "[" + llvm::join(sizes, ", ") + "]";
  return value;
}

static EntryPointInfo describeInterface(const Program &program,
                                        StringRef name) {
  EntryPointInfo entry;
  entry.name = name.str();
  for (const InputSpec &input : program.inputs) {
    if (input.node && input.kind == InputSpec::Kind::UserInput &&
        !input.isMutated)
      entry.inputs.push_back(
          describe(program, input.node->name, input.node->info()));
  }
  // Named and ordered as --state-names takes them.
  for (const OutputSpec &output : program.outputs)
    if (const Node *state = output.mutated)
      entry.states.push_back(
          describe(program, userName(program.inputs, *state), state->info()));
  for (const OutputSpec &output : program.outputs) {
    if (output.kind != OutputSpec::Kind::UserOutput || !output.value.isValue())
      continue;
    const Node &node = *output.value.asNode();
    entry.outputs.push_back(describe(program, nameAsOutput(node), node.info()));
  }
  return entry;
}

/// Whether the file says what it is, but has no data for it: it was exported on
/// the meta device.
static bool isWithoutData(const InputSpec &input) {
  using Kind = InputSpec::Kind;
  return input.weight < 0 && input.node &&
         (input.kind == Kind::Parameter || input.kind == Kind::Buffer ||
          input.kind == Kind::Constant) &&
         input.node->info().isTensor();
}

static std::vector<WeightGroup> describeWeights(const Program &program) {
  llvm::MapVector<ScalarType, WeightGroup> groups;
  auto add = [&](ScalarType dtype, uint64_t elements, uint64_t bytes) {
    WeightGroup &group = groups[dtype];
    group.elementType = scalarTypeName(dtype).str();
    ++group.count;
    group.elements += elements;
    group.bytes += bytes;
  };
  for (const TensorView &weight : program.weights)
    add(weight.dtype, weight.numElements(), weight.bytes);
  for (const InputSpec &input : program.inputs) {
    if (!isWithoutData(input))
      continue;
    const ValueInfo &info = input.node->info();
    uint64_t elements = 1;
    for (Size size : info.sizes)
      elements *= size.isDynamic() ? 1 : uint64_t(size.get());
    add(info.dtype, elements, elements * scalarTypeBits(info.dtype) / 8);
  }
  std::vector<WeightGroup> result;
  for (auto &[type, group] : groups)
    result.push_back(std::move(group));
  llvm::sort(result, [](const WeightGroup &a, const WeightGroup &b) {
    return std::tie(b.bytes, a.elementType) < std::tie(a.bytes, b.elementType);
  });
  return result;
}

/// Example inputs and the names of the inputs that they are for.
static void addExamples(const Pt2File &file, const Program &program,
                        SavedProgramInfo &info) {
  llvm::Expected<std::vector<Pt2Example>> examples =
      file.examples(info.interface.name);
  if (!examples) {
    info.examplesProblem = llvm::toString(examples.takeError());
    return;
  }
  std::vector<StringRef> names;
  for (const InputSpec &input : program.inputs)
    if (input.kind == InputSpec::Kind::UserInput)
      names.push_back(input.node ? input.node->name : "");
  if (!examples->empty() && names.size() != examples->size()) {
    info.examplesProblem = "the file has " + plural(examples->size(), "value") +
                           " for " + plural(names.size(), "input");
    return;
  }
  for (auto [name, example] : llvm::zip(names, *examples))
    info.examples.push_back({name.str(), std::move(example)});
}

llvm::Expected<ArchiveInfo> corten::describeArchive(StringRef path) {
  llvm::Expected<Pt2File> file = Pt2File::open(path);
  if (!file)
    return file.takeError();
  ArchiveInfo archive;
  archive.path = path.str();
  if (std::error_code code = llvm::sys::fs::file_size(path, archive.fileSize))
    return llvm::createStringError(code, path + ": " + code.message());
  for (const std::string &name : file->models()) {
    llvm::Expected<std::unique_ptr<Program>> saved =
        file->read(name, nullptr, nullptr, /*needsData=*/false);
    if (!saved)
      return llvm::createStringError("'" + path +
                                     "': " + llvm::toString(saved.takeError()));
    llvm::Expected<Pt2Versions> versions = file->versions(name);
    if (!versions)
      return versions.takeError();
    SavedProgramInfo &info = archive.programs.emplace_back();
    info.versions = std::move(*versions);
    info.operations = countOps(**saved);
    info.weights = describeWeights(**saved);
    info.hasWeights = llvm::none_of((*saved)->inputs, isWithoutData);
    info.interface = describeInterface(**saved, name);
    addExamples(*file, **saved, info);

    // As it is converted: what is written to shows only then.
    Pt2EntryPoint entryPoint;
    entryPoint.file = path.str();
    entryPoint.model = name;
    llvm::Expected<std::unique_ptr<Program>> converted =
        readPt2(*file, entryPoint, nullptr, /*needsData=*/false);
    if (!converted) {
      info.problem = llvm::toString(converted.takeError());
      continue;
    }
    info.isDecomposed = (*converted)->isDecomposed;
    info.interface = describeInterface(**converted, name);
  }
  return archive;
}

//===----------------------------------------------------------------------===//
// As data
//===----------------------------------------------------------------------===//

static StringRef kindName(Pt2Example::Kind kind) {
  switch (kind) {
  case Pt2Example::Kind::None:
    return "none";
  case Pt2Example::Kind::Bool:
    return "bool";
  case Pt2Example::Kind::Int:
    return "int";
  case Pt2Example::Kind::Float:
    return "float";
  case Pt2Example::Kind::String:
    return "string";
  case Pt2Example::Kind::Tensor:
    return "tensor";
  case Pt2Example::Kind::Object:
    return "object";
  }
  llvm_unreachable("all kinds are listed");
}

/// A plain value; null for what JSON cannot say.
static json::Value plainValue(const Pt2Example &example) {
  switch (example.kind) {
  case Pt2Example::Kind::Bool:
    return example.integer != 0;
  case Pt2Example::Kind::Int:
    return example.integer;
  case Pt2Example::Kind::Float:
    return std::isfinite(example.floating) ? json::Value(example.floating)
                                           : json::Value(nullptr);
  case Pt2Example::Kind::String:
  case Pt2Example::Kind::Object:
    return textJson(example.text);
  default:
    return nullptr;
  }
}

static json::Value exampleJson(const NamedExample &example) {
  const Pt2Example &value = example.value;
  bool isTensor = value.kind == Pt2Example::Kind::Tensor;
  return json::Object{
      {"input",
       example.input.empty() ? json::Value(nullptr) : textJson(example.input)},
      {"path", textJson(value.path)},
      {"kind", kindName(value.kind)},
      {"dtype", isTensor ? json::Value(scalarTypeName(value.dtype))
                         : json::Value(nullptr)},
      {"shape",
       isTensor ? json::Value(json::Array(value.shape)) : json::Value(nullptr)},
      {"value", plainValue(value)}};
}

static json::Value textOrNull(const std::optional<std::string> &text) {
  return text ? textJson(*text) : json::Value(nullptr);
}

static std::string schemaVersion(const Pt2Versions &versions) {
  return std::to_string(versions.major) + "." + std::to_string(versions.minor);
}

json::Object corten::archiveJson(const ArchiveInfo &info) {
  json::Array programs;
  for (const SavedProgramInfo &program : info.programs) {
    json::Array examples;
    for (const NamedExample &example : program.examples)
      examples.push_back(exampleJson(example));
    uint64_t bytes = 0;
    for (const WeightGroup &group : program.weights)
      bytes += group.bytes;
    programs.push_back(json::Object{
        {"name", textJson(program.interface.name)},
        {"torch_version", textJson(program.versions.torch)},
        {"schema_version", schemaVersion(program.versions)},
        {"decomposed", program.isDecomposed ? json::Value(*program.isDecomposed)
                                            : json::Value(nullptr)},
        {"problem", textOrNull(program.problem)},
        {"inputs", valuesJson(program.interface.inputs)},
        {"outputs", valuesJson(program.interface.outputs)},
        {"states", valuesJson(program.interface.states)},
        {"operation_count", program.operations.total()},
        {"operations", countsJson(program.operations.ops)},
        {"weight_bytes", bytes},
        {"weights", weightsJson(program.weights)},
        {"has_weights", program.hasWeights},
        {"examples", std::move(examples)},
        {"examples_problem", textOrNull(program.examplesProblem)}});
  }
  return json::Object{{"path", textJson(info.path)},
                      {"file_size", info.fileSize},
                      {"programs", std::move(programs)}};
}

//===----------------------------------------------------------------------===//
// For people
//===----------------------------------------------------------------------===//

static std::string describeExample(const Pt2Example &example) {
  switch (example.kind) {
  case Pt2Example::Kind::None:
    return "None";
  case Pt2Example::Kind::Bool:
    return example.integer ? "True" : "False";
  case Pt2Example::Kind::Int:
    return std::to_string(example.integer);
  case Pt2Example::Kind::Float: {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%g", example.floating);
    return text;
  }
  case Pt2Example::Kind::String:
    return "'" + example.text + "'";
  case Pt2Example::Kind::Object:
    return example.text.empty() ? "an object" : example.text;
  case Pt2Example::Kind::Tensor:
    break;
  }
  auto sizes = llvm::map_range(
      example.shape, [](int64_t size) { return std::to_string(size); });
  return scalarTypeName(example.dtype).str() + "[" + llvm::join(sizes, ", ") +
         "]";
}

void corten::printArchive(const ArchiveInfo &info, llvm::raw_ostream &os) {
  os << info.path << '\n';
  for (const SavedProgramInfo &program : info.programs) {
    printInterface("program " + program.interface.name, program.interface, os);
    printOperations(program.operations, os);
    printWeights(program.weights, os);
    Section examples("example inputs");
    for (const NamedExample &example : program.examples)
      examples.add(example.value.path, describeExample(example.value));
    if (program.examplesProblem)
      examples.add("cannot be read", *program.examplesProblem);
    examples.print(os);
    Section about("about");
    if (!program.versions.torch.empty())
      about.add("torch", program.versions.torch);
    about.add("schema version", schemaVersion(program.versions));
    if (program.isDecomposed)
      about.add("decomposed", *program.isDecomposed ? "yes" : "no");
    if (!program.hasWeights)
      about.add("weights", "not in the file: the model was on the meta device; "
                           "--weights FOLDER says where they are");
    about.print(os);
    if (program.problem)
      os << "cannot be converted: " << *program.problem << '\n';
  }
}
