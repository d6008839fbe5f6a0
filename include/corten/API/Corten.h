// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C++ interface of Corten, over the C one: it is all in this header, so it
// works with every compiler and standard library, from C++17 on, and a program
// that uses it depends on C symbols only.
//
// A function that can fail returns a Result, which holds a value or an Error;
// nothing throws but allocation. corten/API/Engine.h runs models.

#ifndef CORTEN_API_CORTEN_H
#define CORTEN_API_CORTEN_H

#include "corten/API/Result.h"
#include "corten/C/Corten.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corten {
// Apart from what the library is made of inside.
inline namespace api_v0 {

/// An input, output or state of an entry point.
struct Value {
  std::string name;
  CortenValueKind kind = CORTEN_OTHER;
  /// "f32"; of an image its pixel format.
  std::string elementType;
  std::vector<Dimension> shape;
};

/// A graph that can be called.
struct EntryPoint {
  std::string name;
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  /// What the program changes in place.
  std::vector<Value> states;
};

/// A known trap that a model runs into.
struct Finding {
  CortenSeverity severity = CORTEN_NOTE;
  std::string check;
  std::string place;
  std::string detail;
  std::string reason;
  std::string remedy;
};

/// A program that torch.export.save wrote; it becomes one entry point.
struct ProgramFile {
  /// FILE.pt2, or FILE.pt2:PROGRAM where a file has several programs.
  std::string path;
  /// Of the entry point.
  std::string name = "main";
  /// Names for the values, in order; none keeps those of the program.
  std::vector<std::string> inputNames;
  std::vector<std::string> outputNames;
  std::vector<std::string> stateNames;
  /// None, or the values that get these names, as many; others keep theirs.
  /// They are called as in the program; a state that is a buffer, by its path.
  std::vector<std::string> inputOriginals;
  std::vector<std::string> outputOriginals;
  std::vector<std::string> stateOriginals;
};

/// What an asset says about itself; what is not given stays as it is.
struct Metadata {
  std::optional<std::string> author;
  std::optional<std::string> license;
  std::optional<std::string> description;
  /// Whatever the author wants to say besides: a JSON object.
  std::optional<std::string> creatorDefined;
};

struct SaveOptions {
  /// Leave out main.hash, which takes longer to make than to write.
  bool withoutHash = false;
  /// Replace also what is no asset.
  bool force = false;
};

struct ConvertOptions {
  /// Leave out source files, lines and module names.
  bool release = false;
  /// A folder of safetensors files that the weights are in, by name; empty if
  /// the programs have their own.
  std::string weights;
  /// Bring the program into its simplest form; see Model::optimize().
  bool optimize = false;
  /// Weights that the folder has under another name only, because the model
  /// ties them, and those names.
  std::map<std::string, std::string> tied;
  /// How debug information shows the files of the user's program.
  CortenSourcePaths sourcePaths = CORTEN_SOURCE_PACKAGES;
};

/// How a program is printed.
struct PrintOptions {
  /// The graph to print; empty for all.
  std::string graph;
  bool locations = false;
  bool generic = false;
};

namespace detail {
inline std::string take(char *text) {
  std::unique_ptr<char, void (*)(char *)> owner(text, cortenStringFree);
  return text ? text : "";
}

inline std::vector<const char *> pointers(const std::vector<std::string> &all) {
  std::vector<const char *> result;
  for (const std::string &text : all)
    result.push_back(text.c_str());
  return result;
}
} // namespace detail

/// A program with the memory that it lies in. One thread at a time.
class Model {
public:
  /// Opens an asset, the program of one, or a program as MLIR text.
  static Result<Model> open(const std::string &path) {
    CortenModel *model = nullptr;
    if (CortenError *error = cortenModelOpen(path.c_str(), &model))
      return detail::take(error);
    return Model(model);
  }

  /// Converts programs to one model, without Python and torch. The message of
  /// the error lists everything that cannot be converted, on several lines.
  static Result<Model> convert(const std::vector<ProgramFile> &files,
                               const ConvertOptions &options = {}) {
    // What the C structures point to.
    std::deque<std::vector<const char *>> lists;
    std::deque<CortenProgramFile> given;
    std::vector<const CortenProgramFile *> all;
    auto pointers = [&](const std::vector<std::string> &texts) {
      lists.push_back(detail::pointers(texts));
      return texts.empty() ? nullptr : lists.back().data();
    };
    for (const ProgramFile &file : files) {
      for (const auto &[names, originals] :
           {std::pair(&file.inputNames, &file.inputOriginals),
            std::pair(&file.outputNames, &file.outputOriginals),
            std::pair(&file.stateNames, &file.stateOriginals)})
        if (!originals->empty() && originals->size() != names->size())
          return Error(file.path + ": a name for each original is needed");
      given.push_back({sizeof(CortenProgramFile), file.path.c_str(),
                       file.name.c_str(), pointers(file.inputNames),
                       file.inputNames.size(), pointers(file.outputNames),
                       file.outputNames.size(), pointers(file.stateNames),
                       file.stateNames.size(), pointers(file.inputOriginals),
                       pointers(file.outputOriginals),
                       pointers(file.stateOriginals)});
      all.push_back(&given.back());
    }
    detail::TiedNames tied(options.tied);
    CortenConvertOptions how = {
        sizeof(CortenConvertOptions),
        options.release,
        options.weights.empty() ? nullptr : options.weights.c_str(),
        options.optimize,
        tied.names.data(),
        tied.stored.data(),
        tied.names.size(),
        options.sourcePaths};
    CortenModel *model = nullptr;
    if (CortenError *error =
            cortenConvert(all.data(), all.size(), &how, &model))
      return detail::take(error);
    return Model(model);
  }

  /// One model with the entry points of several, which must not be called the
  /// same. It has the metadata of the first, and needs none of them afterwards.
  static Result<Model> merge(const std::vector<const Model *> &models) {
    std::vector<CortenModel *> handles;
    for (const Model *model : models)
      handles.push_back(model->handle.get());
    CortenModel *merged = nullptr;
    if (CortenError *error =
            cortenMerge(handles.data(), handles.size(), &merged))
      return detail::take(error);
    return Model(merged);
  }

  /// Gives values of an entry point other names; `originals` are what they are
  /// called, none if there is a name for each.
  Status renameValues(const std::string &entryPoint, CortenRole role,
                      const std::vector<std::string> &names,
                      const std::vector<std::string> &originals = {}) {
    if (!originals.empty() && originals.size() != names.size())
      return Error("a name for each original is needed");
    std::vector<const char *> from = detail::pointers(originals);
    std::vector<const char *> to = detail::pointers(names);
    return detail::status(cortenModelRenameValues(
        handle.get(), entryPoint.c_str(), role,
        originals.empty() ? nullptr : from.data(), to.data(), to.size()));
  }
  Status renameEntryPoint(const std::string &from, const std::string &to) {
    return detail::status(
        cortenModelRenameEntryPoint(handle.get(), from.c_str(), to.c_str()));
  }
  /// Removes all other entry points, and what only they need.
  Status extract(const std::vector<std::string> &entryPoints) {
    std::vector<const char *> names = detail::pointers(entryPoints);
    return detail::status(
        cortenModelExtract(handle.get(), names.data(), names.size()));
  }
  /// Says what assets that are written of this model tell about it.
  Status setMetadata(const Metadata &metadata) {
    auto text = [](const std::optional<std::string> &value) {
      return value ? value->c_str() : nullptr;
    };
    CortenMetadata given = {sizeof(CortenMetadata), text(metadata.author),
                            text(metadata.license), text(metadata.description),
                            text(metadata.creatorDefined)};
    return detail::status(cortenModelSetMetadata(handle.get(), &given));
  }

  std::vector<EntryPoint> entryPoints() const {
    std::vector<EntryPoint> result;
    std::size_t count = cortenModelEntryPointCount(handle.get());
    for (std::size_t i = 0; i < count; ++i)
      result.push_back({cortenModelEntryPointName(handle.get(), i),
                        values(i, CORTEN_INPUT), values(i, CORTEN_OUTPUT),
                        values(i, CORTEN_STATE)});
    return result;
  }

  /// What the user should know about the conversion all the same.
  std::vector<std::string> warnings() const {
    std::vector<std::string> result;
    std::size_t count = cortenModelWarningCount(handle.get());
    for (std::size_t i = 0; i < count; ++i)
      result.push_back(cortenModelWarning(handle.get(), i));
    return result;
  }

  /// Everything that `corten info --json` prints.
  Result<std::string> infoJson() const {
    char *json = nullptr;
    if (CortenError *error = cortenModelInfoJson(handle.get(), &json))
      return detail::take(error);
    return detail::take(json);
  }

  /// The program as MLIR text; weights are named, not printed.
  Result<std::string> text(const PrintOptions &options = {}) const {
    CortenPrintOptions given = {};
    given.size = sizeof(given);
    given.graph = options.graph.empty() ? nullptr : options.graph.c_str();
    given.locations = options.locations;
    given.generic = options.generic;
    char *text = nullptr;
    if (CortenError *error = cortenModelText(handle.get(), &given, &text))
      return detail::take(error);
    return detail::take(text);
  }

  /// Removes source lines and module names. Ops keep their numbers.
  Status strip() { return detail::status(cortenModelStrip(handle.get())); }

  /// Brings the program into its simplest form: constants computed, what is the
  /// same computed once, transposes, reshapes and casts merged. What it
  /// computes, its interface, its composites and its weights stay.
  Status optimize() {
    return detail::status(cortenModelOptimize(handle.get()));
  }

  /// Writes an asset, which replaces one at `path` in one step.
  Status save(const std::string &path, const SaveOptions &options = {}) const {
    CortenSaveOptions given = {};
    given.size = sizeof(given);
    given.withoutHash = options.withoutHash;
    given.force = options.force;
    return detail::status(cortenModelSave(handle.get(), path.c_str(), &given));
  }

private:
  explicit Model(CortenModel *model) : handle(model, cortenModelFree) {}

  std::vector<Value> values(std::size_t entryPoint, CortenRole role) const {
    std::vector<Value> result;
    std::size_t count = cortenModelValueCount(handle.get(), entryPoint, role);
    for (std::size_t i = 0; i < count; ++i) {
      CortenValue value = {};
      value.size = sizeof(value);
      // Numbers below the count are right.
      cortenErrorFree(
          cortenModelValue(handle.get(), entryPoint, role, i, &value));
      Value copy{value.name, value.kind, value.elementType, {}};
      for (std::size_t j = 0; j < value.rank; ++j)
        copy.shape.push_back(detail::dimension(value.shape[j]));
      result.push_back(std::move(copy));
    }
    return result;
  }

  std::unique_ptr<CortenModel, void (*)(CortenModel *)> handle;
};

/// A value that a program was exported with.
struct Example {
  /// The input that it is for; empty for a plain value of Python's.
  std::string input;
  /// Where it stands in the call: "args[0]", "kwargs['mask']".
  std::string path;
  /// Of a tensor, as torch calls it ("float32"); else empty.
  std::string elementType;
  std::vector<std::int64_t> shape;
  /// The elements of a tensor in row-major order, as long as the archive lives.
  const void *data = nullptr;
  std::size_t byteCount = 0;
};

/// A file NAME.pt2 of torch.export.save. One thread at a time.
class Archive {
public:
  /// Also opens one whose programs cannot be converted.
  static Result<Archive> open(const std::string &path) {
    CortenArchive *archive = nullptr;
    if (CortenError *error = cortenArchiveOpen(path.c_str(), &archive))
      return detail::take(error);
    return Archive(archive);
  }

  /// Everything that `corten info --json` prints of it.
  Result<std::string> infoJson() const {
    char *json = nullptr;
    if (CortenError *error = cortenArchiveInfoJson(handle.get(), &json))
      return detail::take(error);
    return detail::take(json);
  }

  /// The names of its programs; torch.export.save writes one, "model".
  std::vector<std::string> programs() const {
    std::vector<std::string> result;
    std::size_t count = cortenArchiveProgramCount(handle.get());
    for (std::size_t i = 0; i < count; ++i)
      result.push_back(cortenArchiveProgramName(handle.get(), i));
    return result;
  }

  /// One for each input of a program; none where it was saved without.
  Result<std::vector<Example>> examples(std::size_t program = 0) const {
    std::vector<Example> result;
    std::size_t count = cortenArchiveExampleCount(handle.get(), program);
    for (std::size_t i = 0; i < count; ++i) {
      CortenExample example = {};
      example.size = sizeof(example);
      if (CortenError *error =
              cortenArchiveExample(handle.get(), program, i, &example))
        return detail::take(error);
      result.push_back({example.input ? example.input : "",
                        example.path,
                        example.elementType ? example.elementType : "",
                        {example.shape, example.shape + example.rank},
                        example.data,
                        example.byteCount});
    }
    return result;
  }

private:
  explicit Archive(CortenArchive *archive)
      : handle(archive, cortenArchiveFree) {}

  std::unique_ptr<CortenArchive, void (*)(CortenArchive *)> handle;
};

/// What `corten doctor` finds at `path`, the worst first.
inline Result<std::vector<Finding>> examine(const std::string &path) {
  CortenFindings *list = nullptr;
  if (CortenError *error = cortenExamine(path.c_str(), &list))
    return detail::take(error);
  std::unique_ptr<CortenFindings, void (*)(CortenFindings *)> owner(
      list, cortenFindingsFree);
  std::vector<Finding> result;
  for (std::size_t i = 0; i < cortenFindingsCount(list); ++i) {
    CortenFinding finding = {};
    finding.size = sizeof(finding);
    // Numbers below the count are right.
    cortenErrorFree(cortenFindingsGet(list, i, &finding));
    result.push_back({finding.severity, finding.check, finding.place,
                      finding.detail, finding.reason, finding.remedy});
  }
  return result;
}

} // namespace api_v0
} // namespace corten

#endif // CORTEN_API_CORTEN_H
