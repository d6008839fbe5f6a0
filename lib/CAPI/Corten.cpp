// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface over corten::Model.

#include "corten/C/Corten.h"

#include "Weights.h"

#include "corten/C/Handles.h"
#include "corten/Inspect/Archive.h"
#include "corten/Model/Convert.h"
#include "corten/Support/Text.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>

using namespace corten;
using capi::give;
using capi::take;

struct CortenFindings {
  std::vector<Finding> findings;
};

struct CortenModel {
  explicit CortenModel(std::unique_ptr<Model> model)
      : model(std::move(model)) {}

  std::unique_ptr<Model> model;
  /// Of its conversion.
  std::vector<std::string> warnings;
  /// What callers have pointers into, until the model is edited.
  std::optional<ProgramInfo> info;
  /// Of the values that were asked for.
  std::map<const InterfaceValue *, std::vector<CortenDimension>> shapes;

  const ProgramInfo &interface();
  /// Returns what an edit came to.
  CortenError *finishEdit(llvm::Error error);
};

struct CortenArchive {
  ArchiveInfo info;
  /// Keeps the elements of tensors that were asked for.
  std::map<const Pt2Example *, Pt2Example::Data> elements;
};

static CortenError *fail(const llvm::Twine &message) {
  return capi::makeError(message.str());
}

static CortenError *fail(llvm::Error error) {
  return fail(llvm::toString(std::move(error)));
}

/// For `free`, so that callers need not know of C++.
static char *copy(llvm::StringRef text) {
  auto *result = static_cast<char *>(std::malloc(text.size() + 1));
  if (!result)
    return nullptr;
  std::memcpy(result, text.data(), text.size());
  result[text.size()] = '\0';
  return result;
}

static std::string printJson(llvm::json::Value value) {
  return llvm::formatv("{0:2}", value).str();
}

static_assert(static_cast<int>(ValueRole::Input) == CORTEN_INPUT &&
              static_cast<int>(ValueRole::Output) == CORTEN_OUTPUT &&
              static_cast<int>(ValueRole::State) == CORTEN_STATE);

void cortenStringFree(char *string) { std::free(string); }

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

CortenError *cortenModelOpen(const char *path, CortenModel **model) {
  llvm::Expected<std::unique_ptr<Model>> opened = Model::open(path);
  if (!opened)
    return fail(opened.takeError());
  *model = new CortenModel(std::move(*opened));
  return nullptr;
}

void cortenModelFree(CortenModel *model) { delete model; }

CortenError *cortenModelInfoJson(CortenModel *model, char **json) {
  *json = copy(printJson(infoJson(model->model->info())));
  return nullptr;
}

CortenError *cortenModelText(CortenModel *model,
                             const CortenPrintOptions *options, char **text) {
  CortenPrintOptions given = take(options);
  llvm::Expected<std::string> printed =
      model->model->text({given.graph ? given.graph : "", given.locations != 0,
                          given.generic != 0});
  if (!printed)
    return fail(printed.takeError());
  *text = copy(*printed);
  return nullptr;
}

CortenError *cortenModelStrip(CortenModel *model) {
  model->model->stripDebugInfo();
  return nullptr;
}

CortenError *cortenModelOptimize(CortenModel *model) {
  if (llvm::Error error = model->model->optimize())
    return fail(std::move(error));
  return nullptr;
}

CortenError *cortenModelSetMetadata(CortenModel *model,
                                    const CortenMetadata *metadata) {
  CortenMetadata given = take(metadata);
  AssetMetadata changed = model->model->metadata();
  for (auto [text, member] :
       {std::pair(given.author, &AssetMetadata::author),
        std::pair(given.license, &AssetMetadata::license),
        std::pair(given.description, &AssetMetadata::description)}) {
    if (!text)
      continue;
    if (llvm::Error error = checkUtf8("metadata", text))
      return fail(std::move(error));
    changed.*member = text;
  }
  if (given.creatorDefined)
    if (llvm::Error error = setCreatorDefined(given.creatorDefined, changed))
      return fail(std::move(error));
  model->model->metadata() = std::move(changed);
  return nullptr;
}

CortenError *cortenModelSave(CortenModel *model, const char *path,
                             const CortenSaveOptions *options) {
  SaveOptions given;
  given.hash = take(options).withoutHash == 0;
  given.force = take(options).force != 0;
  if (llvm::Error error = model->model->save(path, given))
    return fail(std::move(error));
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

static ValueNames namesOf(const char *const *names,
                          const char *const *originals, size_t count) {
  ValueNames result;
  result.names.assign(names, names + count);
  if (originals)
    result.originals.assign(originals, originals + count);
  return result;
}

/// None for what is no value of the enumeration: the number is the caller's.
static std::optional<SourcePaths> sourcePathsOf(int value) {
  switch (value) {
  case CORTEN_SOURCE_PACKAGES:
    return SourcePaths::Packages;
  case CORTEN_SOURCE_ABSOLUTE:
    return SourcePaths::Absolute;
  case CORTEN_SOURCE_RELATIVE:
    return SourcePaths::Relative;
  case CORTEN_SOURCE_HIDDEN:
    return SourcePaths::Hidden;
  default:
    return std::nullopt;
  }
}

CortenError *cortenConvert(const CortenProgramFile *const *files, size_t count,
                           const CortenConvertOptions *options,
                           CortenModel **model) {
  if (count == 0)
    return fail("no program to convert");
  std::vector<ProgramFile> programs;
  programs.reserve(count);
  for (const CortenProgramFile *given : llvm::ArrayRef(files, count)) {
    CortenProgramFile file = take(given);
    if (!file.path)
      return fail("a program without a path");
    ProgramFile &program = programs.emplace_back();
    program.path = file.path;
    if (file.name)
      program.name = file.name;
    program.inputNames =
        namesOf(file.inputNames, file.inputOriginals, file.inputNameCount);
    program.outputNames =
        namesOf(file.outputNames, file.outputOriginals, file.outputNameCount);
    program.stateNames =
        namesOf(file.stateNames, file.stateOriginals, file.stateNameCount);
  }
  ConvertFilesOptions conversion;
  CortenConvertOptions how = take(options);
  conversion.release = how.release != 0;
  std::optional<SourcePaths> paths = sourcePathsOf(how.sourcePaths);
  if (!paths)
    return fail("sourcePaths: no such value of CortenSourcePaths");
  conversion.sourcePaths = *paths;
  conversion.optimize = how.optimize != 0;
  conversion.weights = capi::weightsOf(how);
  llvm::Expected<ConvertedFiles> converted = convertFiles(programs, conversion);
  if (!converted)
    return fail(converted.takeError());
  *model = new CortenModel(std::move(converted->model));
  (*model)->warnings = std::move(converted->warnings);
  return nullptr;
}

size_t cortenModelWarningCount(const CortenModel *model) {
  return model->warnings.size();
}

const char *cortenModelWarning(const CortenModel *model, size_t number) {
  return number < model->warnings.size() ? model->warnings[number].c_str()
                                         : nullptr;
}

//===----------------------------------------------------------------------===//
// Archives
//===----------------------------------------------------------------------===//

CortenError *cortenArchiveOpen(const char *path, CortenArchive **archive) {
  llvm::Expected<ArchiveInfo> info = describeArchive(path);
  if (!info)
    return fail(info.takeError());
  *archive = new CortenArchive{std::move(*info), {}};
  return nullptr;
}

void cortenArchiveFree(CortenArchive *archive) { delete archive; }

CortenError *cortenArchiveInfoJson(const CortenArchive *archive, char **json) {
  *json = copy(printJson(archiveJson(archive->info)));
  return nullptr;
}

static const SavedProgramInfo *programAt(const CortenArchive *archive,
                                         size_t number) {
  const std::vector<SavedProgramInfo> &programs = archive->info.programs;
  return number < programs.size() ? &programs[number] : nullptr;
}

size_t cortenArchiveProgramCount(const CortenArchive *archive) {
  return archive->info.programs.size();
}

const char *cortenArchiveProgramName(const CortenArchive *archive,
                                     size_t program) {
  const SavedProgramInfo *info = programAt(archive, program);
  return info ? info->interface.name.c_str() : nullptr;
}

size_t cortenArchiveExampleCount(const CortenArchive *archive, size_t program) {
  const SavedProgramInfo *info = programAt(archive, program);
  return info ? info->examples.size() : 0;
}

CortenError *cortenArchiveExample(CortenArchive *archive, size_t program,
                                  size_t number, CortenExample *example) {
  const SavedProgramInfo *info = programAt(archive, program);
  if (!info || number >= info->examples.size())
    return fail("no example input " + llvm::Twine(number) + " of program " +
                llvm::Twine(program));
  const NamedExample &named = info->examples[number];
  const Pt2Example &value = named.value;
  CortenExample result = {};
  result.input = named.input.empty() ? nullptr : named.input.c_str();
  result.path = value.path.c_str();
  if (value.kind == Pt2Example::Kind::Tensor) {
    auto [known, isNew] = archive->elements.try_emplace(&value);
    if (isNew) {
      llvm::Expected<Pt2Example::Data> data = value.data();
      if (!data) {
        archive->elements.erase(known);
        return fail(data.takeError());
      }
      known->second = std::move(*data);
    }
    // The name is a literal, which ends in a zero.
    result.elementType = scalarTypeName(value.dtype).data();
    result.shape = value.shape.data();
    result.rank = value.shape.size();
    result.data = known->second.bytes.data();
    result.byteCount = known->second.bytes.size();
  }
  give(result, example);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

const ProgramInfo &CortenModel::interface() {
  if (!info)
    info = model->info();
  return *info;
}

static const EntryPointInfo *entryPointAt(CortenModel *model, size_t number) {
  const ProgramInfo &info = model->interface();
  return number < info.entryPoints.size() ? &info.entryPoints[number] : nullptr;
}

static llvm::ArrayRef<InterfaceValue> valuesOf(const EntryPointInfo &entry,
                                               CortenRole role) {
  switch (role) {
  case CORTEN_INPUT:
    return entry.inputs;
  case CORTEN_OUTPUT:
    return entry.outputs;
  case CORTEN_STATE:
    return entry.states;
  }
  // C callers may give any number.
  return {};
}

size_t cortenModelEntryPointCount(CortenModel *model) {
  return model->interface().entryPoints.size();
}

const char *cortenModelEntryPointName(CortenModel *model, size_t entryPoint) {
  const EntryPointInfo *entry = entryPointAt(model, entryPoint);
  return entry ? entry->name.c_str() : nullptr;
}

size_t cortenModelValueCount(CortenModel *model, size_t entryPoint,
                             CortenRole role) {
  const EntryPointInfo *entry = entryPointAt(model, entryPoint);
  return entry ? valuesOf(*entry, role).size() : 0;
}

static CortenValueKind kindOf(InterfaceValue::Kind kind) {
  switch (kind) {
  case InterfaceValue::Kind::Tensor:
    return CORTEN_TENSOR;
  case InterfaceValue::Kind::Image:
    return CORTEN_IMAGE;
  case InterfaceValue::Kind::Other:
    return CORTEN_OTHER;
  }
  llvm_unreachable("all kinds are listed");
}

CortenError *cortenModelValue(CortenModel *model, size_t entryPoint,
                              CortenRole role, size_t number,
                              CortenValue *value) {
  const EntryPointInfo *entry = entryPointAt(model, entryPoint);
  if (!entry)
    return fail("no entry point " + llvm::Twine(entryPoint));
  llvm::ArrayRef<InterfaceValue> values = valuesOf(*entry, role);
  if (number >= values.size())
    return fail("entry point " + entry->name + " has no value " +
                llvm::Twine(number) + " of this role");
  const InterfaceValue &info = values[number];
  auto [entryOfShape, isNew] = model->shapes.try_emplace(&info);
  std::vector<CortenDimension> &shape = entryOfShape->second;
  for (const Dimension &dim : isNew ? info.shape : std::vector<Dimension>())
    shape.push_back({dim.size.value_or(CORTEN_UNKNOWN),
                     dim.min.value_or(CORTEN_UNKNOWN),
                     dim.max.value_or(CORTEN_UNKNOWN)});
  give(CortenValue{sizeof(CortenValue), info.name.c_str(), kindOf(info.kind),
                   info.elementType.c_str(), shape.data(), shape.size()},
       value);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Editing
//===----------------------------------------------------------------------===//

CortenError *CortenModel::finishEdit(llvm::Error error) {
  if (error)
    return fail(std::move(error));
  shapes.clear();
  info.reset();
  return nullptr;
}

CortenError *cortenModelRenameValues(CortenModel *model, const char *entryPoint,
                                     CortenRole role,
                                     const char *const *originals,
                                     const char *const *names, size_t count) {
  switch (role) {
  case CORTEN_INPUT:
  case CORTEN_OUTPUT:
  case CORTEN_STATE:
    return model->finishEdit(
        model->model->renameValues(entryPoint, static_cast<ValueRole>(role),
                                   namesOf(names, originals, count)));
  }
  // C callers may give any number.
  return fail("no role " + llvm::Twine(role));
}

CortenError *cortenModelRenameEntryPoint(CortenModel *model, const char *from,
                                         const char *to) {
  return model->finishEdit(model->model->renameEntryPoint(from, to));
}

CortenError *cortenModelExtract(CortenModel *model,
                                const char *const *entryPoints, size_t count) {
  std::vector<std::string> names(entryPoints, entryPoints + count);
  return model->finishEdit(model->model->keepEntryPoints(names));
}

CortenError *cortenMerge(CortenModel *const *models, size_t count,
                         CortenModel **merged) {
  std::vector<Model *> all;
  for (CortenModel *model : llvm::ArrayRef(models, count))
    all.push_back(model->model.get());
  llvm::Expected<std::unique_ptr<Model>> result = Model::merge(all);
  if (!result)
    return fail(result.takeError());
  *merged = new CortenModel(std::move(*result));
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

CortenError *cortenExamine(const char *path, CortenFindings **findings) {
  llvm::Expected<std::vector<Finding>> found = examinePath(path);
  if (!found)
    return fail(found.takeError());
  *findings = new CortenFindings{std::move(*found)};
  return nullptr;
}

size_t cortenFindingsCount(const CortenFindings *findings) {
  return findings->findings.size();
}

static CortenSeverity severityOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return CORTEN_ERROR;
  case Severity::Warning:
    return CORTEN_WARNING;
  case Severity::Note:
    return CORTEN_NOTE;
  }
  llvm_unreachable("all severities are listed");
}

CortenError *cortenFindingsGet(const CortenFindings *findings, size_t number,
                               CortenFinding *finding) {
  if (number >= findings->findings.size())
    return fail("no finding " + llvm::Twine(number));
  const Finding &found = findings->findings[number];
  const Check &check = checkOf(found.check);
  give(CortenFinding{sizeof(CortenFinding), severityOf(check.severity),
                     check.name, found.place.c_str(), found.detail.c_str(),
                     check.reason, check.remedy},
       finding);
  return nullptr;
}

void cortenFindingsFree(CortenFindings *findings) { delete findings; }
