// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command that gives things in assets other names, merges assets and takes
// them apart: edit.

#include "Saving.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace corten;
using namespace corten::tool;
using llvm::StringRef;

namespace {
struct EditOptions {
  std::vector<std::string> paths;
  std::vector<std::string> entryPoints;
  std::vector<std::string> renamed;
  std::vector<std::string> extracted;
  NameOptions names;
  MetadataOptions metadata;
  std::string output;
  SaveOptions saving;
};
} // namespace

/// Where "OLD=NEW" is split; fails if it is something else.
static llvm::Expected<std::pair<StringRef, StringRef>>
splitPair(StringRef option, StringRef want, StringRef text) {
  auto [left, right] = text.split('=');
  if (left.empty() || right.empty())
    return llvm::createStringError(option + ": want " + want + ", not " + text);
  return std::pair(left, right);
}

static std::vector<std::string> entryPointsOf(Model &model) {
  std::vector<std::string> names;
  for (const EntryPointInfo &entry : model.info().entryPoints)
    names.push_back(entry.name);
  return names;
}

/// Opens "NAME=PATH", or "NAME=PATH:OLD" where PATH has several entry points.
static llvm::Expected<std::unique_ptr<Model>> openEntryPoint(StringRef text) {
  auto pair = splitPair("--entrypoint", "NAME=PATH", text);
  if (!pair)
    return pair.takeError();
  auto [name, path] = *pair;
  StringRef old;
  if (!llvm::sys::fs::exists(path))
    std::tie(path, old) = path.rsplit(':');
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(path);
  if (!model)
    return model.takeError();
  std::vector<std::string> known = entryPointsOf(**model);
  if (old.empty()) {
    if (known.size() != 1)
      return llvm::createStringError(
          path + " has several entry points: say which one, as in " + path +
          ":" + (known.empty() ? "NAME" : known.front()));
    old = known.front();
  }
  if (llvm::Error error = (*model)->keepEntryPoints(old.str()))
    return error;
  if (llvm::Error error = (*model)->renameEntryPoint(old, name))
    return error;
  return model;
}

/// What is given, as one model.
static llvm::Expected<std::unique_ptr<Model>>
openAll(const EditOptions &options) {
  std::vector<std::unique_ptr<Model>> models;
  for (const std::string &path : options.paths) {
    llvm::Expected<std::unique_ptr<Model>> model = Model::open(path);
    if (!model)
      return model.takeError();
    models.push_back(std::move(*model));
  }
  for (const std::string &entry : options.entryPoints) {
    llvm::Expected<std::unique_ptr<Model>> model = openEntryPoint(entry);
    if (!model)
      return model.takeError();
    models.push_back(std::move(*model));
  }
  if (models.empty())
    return llvm::createStringError("PATH or --entrypoint is required");
  // One alone as well: equal weights are stored once.
  std::vector<Model *> all;
  all.reserve(models.size());
  for (const std::unique_ptr<Model> &model : models)
    all.push_back(model.get());
  return Model::merge(all);
}

static llvm::Error change(Model &model, const EditOptions &options) {
  if (!options.extracted.empty())
    if (llvm::Error error = model.keepEntryPoints(options.extracted))
      return error;
  for (StringRef text : options.renamed) {
    auto pair = splitPair("--rename", "OLD=NEW", text);
    if (!pair)
      return pair.takeError();
    if (llvm::Error error = model.renameEntryPoint(pair->first, pair->second))
      return error;
  }
  std::vector<std::string> entryPoints = entryPointsOf(model);
  auto names = options.names.parse(entryPoints);
  if (!names)
    return names.takeError();
  for (auto [entry, own] : llvm::zip_equal(entryPoints, *names))
    for (auto [role, given] : {std::pair(ValueRole::Input, &own.inputs),
                               std::pair(ValueRole::Output, &own.outputs),
                               std::pair(ValueRole::State, &own.states)})
      if (!given->names.empty())
        if (llvm::Error error = model.renameValues(entry, role, *given))
          return error;
  return options.metadata.apply(model.metadata());
}

static int runEdit(const EditOptions &options) {
  Progress progress;
  progress.show("reading");
  llvm::Expected<std::unique_ptr<Model>> model = openAll(options);
  if (!model)
    return fail(model.takeError());
  if (llvm::Error error = change(**model, options))
    return fail(std::move(error));
  if (llvm::Error error =
          save(**model, options.output, options.saving, progress))
    return fail(std::move(error));
  return Success;
}

void tool::addEdit(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "edit", "Gives entry points, inputs, outputs and states of an asset "
              "other names, merges assets into one, and takes one apart. Equal "
              "weights are stored once.");
  auto options = std::make_shared<EditOptions>();
  command->add_option("PATH", options->paths,
                      "An asset (NAME.aimodel); several become one");
  addTarget(*command, options->output, options->saving);
  command
      ->add_option("--entrypoint", options->entryPoints,
                   "One entry point more, of another asset (PATH:OLD where it "
                   "has several); may be repeated")
      ->type_name("NAME=PATH")
      ->allow_extra_args(false);
  addOlderName(*command, options->entryPoints);
  command
      ->add_option("--rename", options->renamed,
                   "Call an entry point something else; may be repeated")
      ->type_name("OLD=NEW")
      ->allow_extra_args(false);
  command
      ->add_option("--extract", options->extracted,
                   "Keep only this entry point; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  options->names.addTo(*command,
                       "Names for the states, in order, or OLD=NEW,...");
  options->metadata.addTo(*command);
  command->footer(
      "Examples:\n"
      "  corten edit model.aimodel --input-names image=picture -o "
      "model.aimodel\n"
      "  corten edit --entrypoint encode=before.aimodel --entrypoint "
      "decode=after.aimodel -o both.aimodel\n"
      "  corten edit both.aimodel --extract decode --rename decode=main -o "
      "decode.aimodel");
  command->callback([options, &exitCode] { exitCode = runEdit(*options); });
}
