// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Pt2/Pt2.h"

#include "Archive.h"
#include "Payload.h"
#include "ProgramReader.h"
#include "corten/Support/Text.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace corten::pt2;
using llvm::StringRef;

/// What a program of torch before 2.8 is called: an archive held only one.
static constexpr StringRef kOnlyModel = "model";
static constexpr StringRef kOldProgram = "serialized_exported_program.json";

Pt2File::Pt2File(TorchArchive opened)
    : archive(std::make_unique<TorchArchive>(std::move(opened))),
      modelNames(archive->namesBetween("models/", ".json")) {
  if (archive->has(kOldProgram))
    modelNames.push_back(kOnlyModel.str());
}
Pt2File::Pt2File(Pt2File &&) noexcept = default;
Pt2File &Pt2File::operator=(Pt2File &&) noexcept = default;
Pt2File::~Pt2File() = default;

llvm::Expected<Pt2File> Pt2File::open(StringRef path) {
  if (llvm::Error error = checkUtf8("the path", path))
    return error;
  llvm::Expected<Bytes> bytes = mapFile(path);
  if (!bytes)
    return llvm::createStringError("cannot read '" + path +
                                   "': " + llvm::toString(bytes.takeError()));
  llvm::Expected<Pt2File> file = fromMemory(bytes->data, bytes->owner);
  if (!file)
    return llvm::createStringError("'" + path +
                                   "': " + llvm::toString(file.takeError()));
  return file;
}

/// Of the archive itself, not of the programs in it.
static llvm::Error checkVersion(const TorchArchive &archive) {
  if (archive.has(kOldProgram))
    return llvm::Error::success();
  if (!archive.has("archive_format"))
    return llvm::createStringError(
        "no archive of torch.export.save: it does not say that it is one");
  llvm::Expected<Bytes> format = archive.read("archive_format");
  if (!format)
    return format.takeError();
  if (format->data != "pt2")
    return llvm::createStringError("an archive of the unknown format '" +
                                   format->data.take_front(32) + "'");
  llvm::Expected<Bytes> version = archive.read("archive_version");
  if (!version)
    return version.takeError();
  if (version->data != "0")
    return llvm::createStringError("an archive of version " +
                                   version->data.take_front(32) +
                                   "; this reads version 0");
  return llvm::Error::success();
}

llvm::Expected<Pt2File> Pt2File::fromMemory(StringRef bytes,
                                            std::shared_ptr<const void> owner) {
  llvm::Expected<TorchArchive> archive =
      TorchArchive::open({bytes, std::move(owner)});
  if (!archive)
    return archive.takeError();
  if (llvm::Error error = checkVersion(*archive))
    return error;
  Pt2File file(std::move(*archive));
  if (file.modelNames.empty())
    return llvm::createStringError("the archive has no program");
  return file;
}

/// Weights or constants, wherever they are.
static llvm::Expected<Payload> readPayload(const TorchArchive &archive,
                                           StringRef model, StringRef kind,
                                           StringRef oldName) {
  if (archive.has(oldName))
    return Payload::fromSaved(archive, oldName);
  std::string folder = ("data/" + kind + "/").str();
  std::string saved = (folder + model + ".pt").str();
  if (archive.has(saved))
    return Payload::fromSaved(archive, saved);
  return Payload::fromConfig(
      archive, (folder + model + "_" + kind + "_config.json").str(), folder);
}

namespace {
/// The JSON of a program, with the text that it is a view of.
struct ModelText {
  Bytes text;
  JsonDocument document;

  JsonValue root() const { return document.root(); }
};
} // namespace

static llvm::Expected<ModelText> readModel(const TorchArchive &archive,
                                           StringRef model) {
  llvm::Expected<Bytes> text = archive.read(
      archive.has(kOldProgram) ? kOldProgram.str()
                               : ("models/" + model + ".json").str());
  if (!text)
    return text.takeError();
  llvm::Expected<JsonDocument> document = JsonDocument::parse(text->data);
  if (!document)
    return document.takeError();
  return ModelText{std::move(*text), std::move(*document)};
}

llvm::Expected<std::unique_ptr<Program>>
Pt2File::read(StringRef model,
              llvm::function_ref<bool(const Operator &)> hasLowering,
              NamedWeights *named, bool needsData) const {
  llvm::Expected<ModelText> program = readModel(*archive, model);
  if (!program)
    return program.takeError();
  llvm::Expected<Payload> weights =
      readPayload(*archive, model, "weights", "serialized_state_dict.pt");
  if (!weights)
    return weights.takeError();
  llvm::Expected<Payload> constants =
      readPayload(*archive, model, "constants", "serialized_constants.pt");
  if (!constants)
    return constants.takeError();
  return ProgramReader(*weights, *constants, named, needsData)
      .read(program->root(), hasLowering);
}

llvm::Expected<Pt2Versions> Pt2File::versions(StringRef model) const {
  llvm::Expected<ModelText> program = readModel(*archive, model);
  if (!program)
    return program.takeError();
  JsonValue root = program->root(), schema = root["schema_version"];
  return Pt2Versions{root["torch_version"].string().value_or(""),
                     schema["major"].integer().value_or(0),
                     schema["minor"].integer().value_or(0)};
}

//===----------------------------------------------------------------------===//
// Example inputs
//===----------------------------------------------------------------------===//

llvm::Expected<Pt2Example::Data> Pt2Example::data() const {
  if (kind != Kind::Tensor)
    return llvm::createStringError("'" + path + "' is no tensor");
  if (!hasData)
    return llvm::createStringError("the tensor '" + path +
                                   "' has no data: it was on the meta device");
  llvm::Expected<Bytes> elements = elementsOf(*tensor);
  if (!elements)
    return llvm::createStringError("the tensor '" + path + "' " +
                                   llvm::toString(elements.takeError()));
  return Data{elements->data, std::move(elements->owner)};
}

/// The names of keyword arguments in the order of the program's inputs: that of
/// the call which is in the file may be another.
static std::vector<std::string> keywordOrder(JsonValue program) {
  std::vector<std::string> names;
  // Trees that cannot be read say nothing of the order.
  auto parse = [](const std::string &text) -> std::optional<JsonDocument> {
    llvm::Expected<JsonDocument> document = JsonDocument::parse(text);
    if (document)
      return std::move(*document);
    llvm::consumeError(document.takeError());
    return std::nullopt;
  };
  for (JsonValue call :
       program["graph_module"]["module_call_graph"].elements()) {
    if (call["fqn"].string() != "")
      continue;
    // [1, {"children_spec": [args, kwargs]}]: trees as torch prints them.
    std::string spec = call["signature"]["in_spec"].string().value_or("");
    std::optional<JsonDocument> tree = parse(spec);
    if (!tree)
      break;
    for (JsonValue root : tree->root().elements()) {
      llvm::SmallVector<JsonValue> parts(root["children_spec"].elements());
      if (parts.size() != 2)
        continue;
      std::string context = parts[1]["context"].string().value_or("");
      if (std::optional<JsonDocument> keys = parse(context))
        for (JsonValue key : keys->root().elements())
          names.push_back(key.string().value_or(""));
    }
    break;
  }
  return names;
}

static void setValue(Pt2Example &example, const SavedLeaf &leaf) {
  using Kind = Pt2Example::Kind;
  static constexpr Kind kKinds[] = {Kind::None,  Kind::Bool,   Kind::Int,
                                    Kind::Float, Kind::String, Kind::Tensor,
                                    Kind::Object};
  example.kind = kKinds[leaf.value.index()];
  if (const auto *truth = std::get_if<bool>(&leaf.value))
    example.integer = *truth;
  else if (const auto *integer = std::get_if<int64_t>(&leaf.value))
    example.integer = *integer;
  else if (const auto *floating = std::get_if<double>(&leaf.value))
    example.floating = *floating;
  else if (const auto *text = std::get_if<std::string>(&leaf.value))
    example.text = *text;
  else if (const auto *object = std::get_if<SavedObject>(&leaf.value))
    example.text = object->name;
}

llvm::Expected<std::vector<Pt2Example>>
Pt2File::examples(StringRef model) const {
  std::vector<Pt2Example> examples;
  std::string name = archive->has(kOldProgram)
                         ? "serialized_example_inputs.pt"
                         : ("data/sample_inputs/" + model + ".pt").str();
  if (!archive->has(name))
    return examples;
  llvm::Expected<Bytes> saved = archive->read(name);
  if (!saved)
    return saved.takeError();
  if (saved->data.empty())
    return examples;
  llvm::Expected<std::vector<SavedLeaf>> leaves = readSavedLeaves(*saved);
  if (!leaves)
    return leaves.takeError();

  // The file has (args, kwargs).
  auto isKeyword = [](const SavedLeaf &leaf) { return leaf.path[0] == "[1]"; };
  for (const SavedLeaf &leaf : *leaves)
    if (leaf.path.size() < 2 || (leaf.path[0] != "[0]" && !isKeyword(leaf)))
      return llvm::createStringError("'" + name +
                                     "' holds no arguments of a call");
  llvm::Expected<ModelText> program = readModel(*archive, model);
  if (!program)
    return program.takeError();
  std::vector<std::string> order = keywordOrder(program->root());
  auto place = [&](const SavedLeaf &leaf) -> size_t {
    if (!isKeyword(leaf))
      return 0;
    auto found = llvm::find_if(order, [&](const std::string &key) {
      return leaf.path[1] == "['" + key + "']";
    });
    return 1 + (found - order.begin());
  };
  // Leaves of one argument keep their order.
  std::vector<std::pair<size_t, size_t>> places;
  for (auto [number, leaf] : llvm::enumerate(*leaves))
    places.emplace_back(place(leaf), number);
  llvm::sort(places);
  for (size_t number : llvm::make_second_range(places)) {
    const SavedLeaf &leaf = (*leaves)[number];
    Pt2Example &example = examples.emplace_back();
    example.path = isKeyword(leaf) ? "kwargs" : "args";
    for (const std::string &key : llvm::drop_begin(leaf.path))
      example.path += key;
    setValue(example, leaf);
    if (const auto *tensor = std::get_if<SavedTensor>(&leaf.value)) {
      example.dtype = tensor->dtype;
      example.hasData = tensor->hasData;
      example.shape.assign(tensor->shape.begin(), tensor->shape.end());
      example.tensor = std::make_shared<SavedTensor>(*tensor);
    }
  }
  return examples;
}
