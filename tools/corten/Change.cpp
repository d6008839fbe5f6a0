// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands that write an asset: convert, strip.

#include "Commands.h"
#include "Terminal.h"
#include "corten/Model/Convert.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace corten;
using namespace corten::tool;

//===----------------------------------------------------------------------===//
// convert
//===----------------------------------------------------------------------===//

namespace {
struct ConvertOptions {
  std::string path;
  std::vector<std::string> entryPoints;
  ProgramFile names;
  std::string output;
  bool release = false;
  bool asJson = false;
  SaveOptions saving;
};
} // namespace

/// What all commands that write an asset can be told.
static void addSaving(CLI::App &command, SaveOptions &options) {
  command.add_flag("!--no-hash", options.hash,
                   "Leave out main.hash, the checksum of the program; it takes "
                   "longer to make than the asset to write");
}

/// The files to convert, or what is wrong with the arguments.
static llvm::Expected<std::vector<ProgramFile>>
programFiles(const ConvertOptions &options) {
  std::vector<ProgramFile> files;
  if (!options.path.empty()) {
    files.push_back(options.names);
    files.back().path = options.path;
  }
  for (llvm::StringRef entry : options.entryPoints) {
    auto [name, path] = entry.split('=');
    if (name.empty() || path.empty())
      return llvm::createStringError("--entrypoint: want NAME=FILE, not " +
                                     entry);
    files.emplace_back();
    files.back().name = name.str();
    files.back().path = path.str();
  }
  if (files.empty())
    return llvm::createStringError("FILE or --entrypoint is required");
  bool hasNames = !options.names.inputNames.empty() ||
                  !options.names.outputNames.empty() ||
                  !options.names.stateNames.empty();
  if (hasNames && (files.size() > 1 || options.path.empty()))
    return llvm::createStringError(
        "names of values can be given for a single FILE only");
  return files;
}

/// Converts. Files are checked, but may be wrong in a way that nobody thought
/// of: then an assertion or a bad access ends the conversion, not the command.
static llvm::Expected<ConvertedFiles>
convertSafely(const std::vector<ProgramFile> &files,
              const ConvertFilesOptions &options) {
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  std::optional<llvm::Expected<ConvertedFiles>> converted;
  bool isDone = recovery.RunSafely(
      [&] { converted.emplace(convertFiles(files, options)); });
  llvm::CrashRecoveryContext::Disable();
  if (isDone)
    return std::move(*converted);
  return llvm::createStringError(
      "the conversion crashed, and nothing was written. If torch.export.save "
      "wrote the program, this is a fault of corten's: please report it");
}

/// Converts and writes; says meanwhile how far it is.
static llvm::Expected<std::vector<std::string>>
convertAndSave(const std::vector<ProgramFile> &files,
               const ConvertOptions &options) {
  Progress progress;
  ConvertFilesOptions conversion;
  conversion.release = options.release;
  conversion.progress = [&](size_t nodes) {
    progress.show("converting: " + llvm::Twine(nodes) + " nodes");
  };
  progress.show("reading");
  llvm::Expected<ConvertedFiles> converted = convertSafely(files, conversion);
  if (!converted)
    return converted.takeError();
  progress.show("writing");
  if (llvm::Error error =
          converted->model->save(options.output, options.saving))
    return error;
  return std::move(converted->warnings);
}

/// Prints what the asset is that was written.
static int printSummary(const std::string &path,
                        const std::vector<std::string> &warnings) {
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(path);
  if (!model)
    return fail(model.takeError());
  llvm::json::Array texts;
  for (const std::string &warning : warnings)
    texts.push_back(llvm::json::fixUTF8(warning));
  printJson(llvm::json::Object{{"warnings", std::move(texts)},
                               {"info", infoJson((*model)->info())}});
  return Success;
}

static int runConvert(const ConvertOptions &options) {
  llvm::Expected<std::vector<ProgramFile>> files = programFiles(options);
  if (!files)
    return fail(files.takeError());
  llvm::Expected<std::vector<std::string>> warnings =
      convertAndSave(*files, options);
  if (!warnings)
    return failAtLength(warnings.takeError());
  for (const std::string &warning : *warnings)
    llvm::errs() << "corten: warning: " << warning << '\n';
  return options.asJson ? printSummary(options.output, *warnings) : Success;
}

void tool::addConvert(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "convert", "Converts programs that torch.export.save wrote to an asset.");
  auto options = std::make_shared<ConvertOptions>();
  command->add_option("FILE", options->path,
                      "The program (NAME.pt2, or NAME.pt2:PROGRAM of a file "
                      "with several), which becomes the entry point main");
  command->add_option("-o,--output", options->output, "The asset to write")
      ->type_name("PATH")
      ->required();
  auto addNames = [&](const char *flag, std::vector<std::string> &names,
                      const char *help) {
    command->add_option(flag, names, help)
        ->type_name("NAME,...")
        ->delimiter(',')
        ->allow_extra_args(false);
  };
  addNames("--input-names", options->names.inputNames,
           "Names for the inputs, in order");
  addNames("--output-names", options->names.outputNames,
           "Names for the outputs, in order");
  addNames("--state-names", options->names.stateNames,
           "Names for the states: mutated buffers, then mutated inputs");
  command
      ->add_option("--entrypoint", options->entryPoints,
                   "One more entry point of this name; may be repeated")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  command->add_flag("--release", options->release,
                    "Leave out source files, lines and module names");
  command->add_flag("--json", options->asJson,
                    "Print as JSON what was written");
  addSaving(*command, options->saving);
  command->footer(
      "Examples:\n"
      "  corten convert model.pt2 -o model.aimodel\n"
      "  corten convert model.pt2 -o model.aimodel --input-names image "
      "--release\n"
      "  corten convert --entrypoint encode=encoder.pt2 --entrypoint "
      "decode=decoder.pt2 -o model.aimodel");
  command->callback([options, &exitCode] { exitCode = runConvert(*options); });
}

//===----------------------------------------------------------------------===//
// strip
//===----------------------------------------------------------------------===//

namespace {
struct StripOptions {
  std::string path;
  std::string output;
  SaveOptions saving;
};
} // namespace

static int runStrip(const StripOptions &options) {
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(options.path);
  if (!model)
    return fail(model.takeError());
  (*model)->stripDebugInfo();
  if (llvm::Error error = (*model)->save(options.output, options.saving))
    return fail(std::move(error));
  return Success;
}

void tool::addStrip(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "strip", "Writes an asset without debug info: no files, no lines, no "
               "module names. Ops keep their numbers.");
  auto options = std::make_shared<StripOptions>();
  command->add_option("PATH", options->path, "An asset (NAME.aimodel)")
      ->required();
  command
      ->add_option("-o,--output", options->output,
                   "The asset to write; may be PATH itself")
      ->type_name("PATH")
      ->required();
  addSaving(*command, options->saving);
  command->footer("Examples:\n"
                  "  corten strip model.aimodel -o stripped.aimodel");
  command->callback([options, &exitCode] { exitCode = runStrip(*options); });
}
