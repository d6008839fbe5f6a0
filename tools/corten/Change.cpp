// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands that write an asset: convert, strip, optimize.

#include "Check.h"
#include "Saving.h"
#include "Terminal.h"
#include "Weights.h"
#include "corten/Asset/Asset.h"
#include "corten/Model/Convert.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
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
  NameOptions names;
  MetadataOptions metadata;
  std::string output;
  WeightOptions weights;
  bool release = false;
  std::string sourcePaths;
  bool optimize = false;
  bool asJson = false;
  bool quiet = false;
  SaveOptions saving;
  /// What to compare with; empty: nothing.
  std::string reference;
  /// What this command was called as.
  std::string command;
};
} // namespace

/// The files to convert, or what is wrong with the arguments.
static llvm::Expected<std::vector<ProgramFile>>
programFiles(const ConvertOptions &options) {
  std::vector<ProgramFile> files;
  if (!options.path.empty())
    files.emplace_back().path = options.path;
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
  std::vector<std::string> entryPoints;
  entryPoints.reserve(files.size());
  for (const ProgramFile &file : files)
    entryPoints.push_back(file.name);
  auto names = options.names.parse(entryPoints);
  if (!names)
    return names.takeError();
  for (auto [file, own] : llvm::zip_equal(files, *names)) {
    file.inputNames = std::move(own.inputs);
    file.outputNames = std::move(own.outputs);
    file.stateNames = std::move(own.states);
  }
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

/// What looks at the asset before it gets its name; none if nobody asks for it.
/// Sets `isDifferent` if it computes something else than the programs.
static std::function<llvm::Error(llvm::StringRef)>
inspector(const std::vector<ProgramFile> &files, const WeightSource &weights,
          const ConvertOptions &options, Progress &progress,
          bool &isDifferent) {
  if (options.reference.empty())
    return nullptr;
  return [&](llvm::StringRef folder) -> llvm::Error {
    progress.show("checking");
    CheckOptions check;
    check.reference =
        options.reference == "torch" ? Reference::Torch : Reference::Engine;
    check.command = options.command;
    check.weights = weights;
    // JSON stands alone.
    check.isShown = !options.quiet && !options.asJson;
    // What the check prints is no line to write over.
    if (check.reference == Reference::Torch)
      Progress::clear();
    llvm::Expected<int> status = checkAsset(folder, files, check);
    if (!status)
      return status.takeError();
    isDifferent = *status != Success;
    return isDifferent ? llvm::createStringError(
                             "the asset computes something else "
                             "than the program: nothing was written")
                       : llvm::Error::success();
  };
}

/// Converts and writes; says meanwhile how far it is.
static llvm::Expected<std::vector<std::string>>
convertAndSave(const std::vector<ProgramFile> &files,
               const ConvertOptions &options, bool &isDifferent) {
  // Not after a conversion that may be long.
  if (llvm::Error error = checkTarget(options.output, options.saving.force))
    return error;
  Progress progress;
  ConvertFilesOptions conversion;
  conversion.release = options.release;
  conversion.sourcePaths = llvm::StringSwitch<SourcePaths>(options.sourcePaths)
                               .Case("absolute", SourcePaths::Absolute)
                               .Case("relative", SourcePaths::Relative)
                               .Case("hidden", SourcePaths::Hidden)
                               .Default(SourcePaths::Packages);
  conversion.optimize = options.optimize;
  llvm::Expected<WeightSource> weights = options.weights.parse();
  if (!weights)
    return weights.takeError();
  conversion.weights = *weights;
  conversion.progress = [&](size_t nodes) {
    progress.show("converting: " + llvm::Twine(nodes) + " nodes");
  };
  progress.show("reading");
  llvm::Expected<ConvertedFiles> converted = convertSafely(files, conversion);
  if (!converted)
    return converted.takeError();
  if (llvm::Error error = options.metadata.apply(converted->model->metadata()))
    return error;
  SaveOptions saving = options.saving;
  saving.inspect = inspector(files, *weights, options, progress, isDifferent);
  if (llvm::Error error =
          save(*converted->model, options.output, std::move(saving), progress))
    return error;
  return std::move(converted->warnings);
}

/// Says what the asset is that was written: as JSON, or on a line.
static int printSummary(const ConvertOptions &options,
                        const std::vector<std::string> &warnings,
                        std::chrono::duration<double> time) {
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(options.output);
  if (!model)
    return fail(model.takeError());
  ProgramInfo info = (*model)->info();
  if (!options.asJson) {
    uint64_t tensors = 0;
    for (const WeightGroup &group : info.weights)
      tensors += group.count;
    llvm::outs() << options.output << ": "
                 << plural(info.operations.total(), "operation") << ", "
                 << describeBytes(info.weightBytes()) << " of weights in "
                 << plural(tensors, "tensor") << ", "
                 << describeBytes(info.fileSize.value_or(0)) << ", "
                 << llvm::format("%.2f s", time.count()) << '\n';
    return Success;
  }
  llvm::json::Array texts;
  for (const std::string &warning : warnings)
    texts.push_back(llvm::json::fixUTF8(warning));
  printJson(llvm::json::Object{{"warnings", std::move(texts)},
                               {"info", infoJson(info)}});
  return Success;
}

static int runConvert(const ConvertOptions &options) {
  auto start = std::chrono::steady_clock::now();
  llvm::Expected<std::vector<ProgramFile>> files = programFiles(options);
  if (!files)
    return fail(files.takeError());
  bool isDifferent = false;
  llvm::Expected<std::vector<std::string>> warnings =
      convertAndSave(*files, options, isDifferent);
  if (!warnings) {
    int status = failAtLength(warnings.takeError());
    return isDifferent ? Found : status;
  }
  for (const std::string &warning : *warnings)
    llvm::errs() << "corten: warning: " << warning << '\n';
  if (options.quiet && !options.asJson)
    return Success;
  return printSummary(options, *warnings,
                      std::chrono::steady_clock::now() - start);
}

/// A flag that may say what to compare with.
static void addCheck(CLI::App &command, std::string &reference) {
  command
      .add_flag("--check{engine}", reference,
                "Run the asset on the inputs that the program was exported "
                "with, and compare with the program before all optimization, "
                "or, with --check=torch, with PyTorch; where they differ, "
                "write nothing")
      ->type_name("engine|torch")
      ->check(CLI::IsMember({"engine", "torch"}));
}

void tool::addConvert(CLI::App &app, int &exitCode, llvm::StringRef program) {
  CLI::App *command = app.add_subcommand(
      "convert", "Converts programs that torch.export.save wrote to an asset.");
  auto options = std::make_shared<ConvertOptions>();
  command->add_option("FILE", options->path,
                      "The program (NAME.pt2, or NAME.pt2:PROGRAM of a file "
                      "with several), which becomes the entry point main");
  command->add_option("-o,--output", options->output, "The asset to write")
      ->type_name("PATH")
      ->required();
  options->names.addTo(*command,
                       "Names for the states: mutated buffers, then mutated "
                       "inputs; or BUFFER=NEW,...");
  command
      ->add_option("--entrypoint", options->entryPoints,
                   "One more entry point of this name; may be repeated")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  addOlderName(*command, options->entryPoints);
  options->weights.addTo(*command);
  command->add_flag("--release", options->release,
                    "Leave out source files, lines and module names");
  command
      ->add_option("--source-paths", options->sourcePaths,
                   "How source files are shown: those of packages as they are "
                   "imported and others as they are (the default), all as they "
                   "are, all relative to packages and the current folder, or "
                   "not at all")
      ->type_name("packages|absolute|relative|hidden")
      ->check(CLI::IsMember({"packages", "absolute", "relative", "hidden"}));
  command->add_flag("-O,--optimize", options->optimize,
                    "Bring the program into its simplest form, as corten "
                    "optimize does");
  options->metadata.addTo(*command);
  options->command = program.str();
  addCheck(*command, options->reference);
  command->add_flag("--json", options->asJson,
                    "Print as JSON what was written");
  command->add_flag("--quiet", options->quiet, "Print no summary");
  addSaving(*command, options->saving);
  command->footer(
      "Examples:\n"
      "  corten convert model.pt2 -o model.aimodel\n"
      "  corten convert model.pt2 -o model.aimodel --input-names image "
      "--release\n"
      "  corten convert --entrypoint encode=encoder.pt2 --entrypoint "
      "decode=decoder.pt2 --input-names encode=image -o model.aimodel");
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
  Progress progress;
  progress.show("reading");
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(options.path);
  if (!model)
    return fail(model.takeError());
  (*model)->stripDebugInfo();
  if (llvm::Error error =
          save(**model, options.output, options.saving, progress))
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
  addTarget(*command, options->output, options->saving);
  command->footer("Examples:\n"
                  "  corten strip model.aimodel -o stripped.aimodel");
  command->callback([options, &exitCode] { exitCode = runStrip(*options); });
}

//===----------------------------------------------------------------------===//
// optimize
//===----------------------------------------------------------------------===//

namespace {
struct OptimizeOptions {
  std::string path;
  std::string output;
  bool quiet = false;
  SaveOptions saving;
};
} // namespace

static int runOptimize(const OptimizeOptions &options) {
  Progress progress;
  progress.show("reading");
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(options.path);
  if (!model)
    return fail(model.takeError());
  uint64_t before = (*model)->info().operations.total();
  progress.show("optimizing " + plural(before, "operation"));
  if (llvm::Error error = (*model)->optimize())
    return fail(std::move(error));
  if (llvm::Error error =
          save(**model, options.output, options.saving, progress))
    return fail(std::move(error));
  Progress::clear();
  if (!options.quiet)
    llvm::outs() << options.output << ": "
                 << plural((*model)->info().operations.total(), "operation")
                 << ", before " << before << '\n';
  return Success;
}

void tool::addOptimize(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "optimize", "Writes an asset that computes the same with fewer "
                  "operations. Interface, composites and weights stay.");
  auto options = std::make_shared<OptimizeOptions>();
  command->add_option("PATH", options->path, "An asset (NAME.aimodel)")
      ->required();
  command->add_flag("--quiet", options->quiet, "Print no summary");
  addTarget(*command, options->output, options->saving);
  command->footer("Examples:\n"
                  "  corten optimize model.aimodel -o optimized.aimodel");
  command->callback([options, &exitCode] { exitCode = runOptimize(*options); });
}
