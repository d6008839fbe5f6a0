// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands that compare and draw: diff, view.

#include "corten/Model/Compare.h"
#include "Commands.h"
#include "Terminal.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using namespace corten::tool;

/// Writes a file in one go: half of one is worse than none. "-" is standard
/// output.
static llvm::Error
writeFile(llvm::StringRef path,
          llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  if (path == "-") {
    Progress::clear();
    return write(llvm::outs());
  }
  if (llvm::Error error = llvm::writeToOutput(path, write))
    return llvm::createStringError(path + ": " +
                                   llvm::toString(std::move(error)));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// diff
//===----------------------------------------------------------------------===//

namespace {
struct DiffOptions {
  std::string source;
  std::string target;
  std::string output = "-";
  CompareOptions compare;
  bool ignoreWeights = false;
  bool ignoreNames = false;
  bool asJson = false;
};
} // namespace

static int runDiff(const DiffOptions &options) {
  Progress progress;
  progress.show("reading");
  llvm::Expected<std::unique_ptr<Model>> source = Model::open(options.source);
  if (!source)
    return fail(source.takeError());
  llvm::Expected<std::unique_ptr<Model>> target = Model::open(options.target);
  if (!target)
    return fail(target.takeError());
  CompareOptions compare = options.compare;
  compare.compareWeights = !options.ignoreWeights;
  compare.compareNames = !options.ignoreNames;
  progress.show("comparing");
  llvm::Expected<Comparison> comparison =
      Comparison::make(**source, **target, compare);
  if (!comparison)
    return fail(comparison.takeError());

  auto write = [&](llvm::raw_ostream &os) {
    if (llvm::StringRef(options.output).ends_with(".html"))
      comparison->printHtml(os);
    else if (options.asJson)
      os << llvm::formatv("{0:2}", llvm::json::Value(comparison->json()))
         << '\n';
    else
      comparison->print(os);
    return llvm::Error::success();
  };
  if (llvm::Error error = writeFile(options.output, write))
    return fail(std::move(error));
  return comparison->isSame() ? Success : Found;
}

void tool::addDiff(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "diff", "Compares two programs: structure, attributes, weights, names of "
              "values. Exit status 1 if they differ.");
  auto options = std::make_shared<DiffOptions>();
  command->add_option("SOURCE", options->source, "An asset, or MLIR text")
      ->required();
  command->add_option("TARGET", options->target, "The same")->required();
  command
      ->add_option("--graph,--entrypoint", options->compare.graph,
                   "Compare this graph only")
      ->type_name("NAME");
  addOlderName(*command, options->compare.graph);
  command->add_flag("--ignore-weights", options->ignoreWeights,
                    "Of weights, compare types but not values");
  command->add_flag("--ignore-names", options->ignoreNames,
                    "Do not compare what inputs, outputs and states are "
                    "called");
  command
      ->add_option("--max-items", options->compare.maxItems,
                   "List at most so many ops of a graph")
      ->type_name("N");
  command
      ->add_option("-o,--output", options->output,
                   "Write to this file; NAME.html is a page")
      ->type_name("FILE");
  command->add_flag("--json", options->asJson, "Print JSON");
  command->footer("Examples:\n"
                  "  corten diff before.aimodel after.aimodel\n"
                  "  corten diff --ignore-weights --json before.aimodel "
                  "after.aimodel\n"
                  "  corten diff before.aimodel after.aimodel -o diff.html");
  command->callback([options, &exitCode] { exitCode = runDiff(*options); });
}

//===----------------------------------------------------------------------===//
// view
//===----------------------------------------------------------------------===//

namespace {
struct ViewCommandOptions {
  std::string path;
  std::string output;
  std::string overlay;
};
} // namespace

static int runView(const ViewCommandOptions &options) {
  Progress progress;
  progress.show("reading");
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(options.path);
  if (!model)
    return fail(model.takeError());
  std::string overlay;
  if (!options.overlay.empty()) {
    auto buffer = llvm::MemoryBuffer::getFile(options.overlay);
    if (!buffer)
      return fail(options.overlay + ": " + buffer.getError().message());
    overlay = (*buffer)->getBuffer().str();
    if (overlay.empty())
      return fail(options.overlay + ": expected a JSON object");
  }
  progress.show("drawing");
  std::string page;
  llvm::raw_string_ostream os(page);
  if (llvm::Error error = (*model)->writePage(os, overlay))
    return fail(options.overlay + ": " + llvm::toString(std::move(error)));
  // model.aimodel is shown by model.html, in the current folder.
  std::string output = options.output;
  if (output.empty())
    output =
        llvm::sys::path::stem(llvm::StringRef(options.path).rtrim('/')).str() +
        ".html";
  if (llvm::Error error = writeFile(output, [&](llvm::raw_ostream &os) {
        os << page;
        return llvm::Error::success();
      }))
    return fail(std::move(error));
  Progress::clear();
  if (options.output.empty())
    llvm::outs() << output << '\n';
  return Success;
}

void tool::addView(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "view", "Writes a page that shows the program: modules, graph, weights, "
              "source lines. It works offline.");
  auto options = std::make_shared<ViewCommandOptions>();
  command->add_option("PATH", options->path, "An asset, or MLIR text")
      ->required();
  command
      ->add_option("-o,--output", options->output,
                   "The page to write; otherwise NAME.html in this folder")
      ->type_name("FILE");
  command
      ->add_option("--overlay", options->overlay,
                   "JSON with errors or times of ops, to colour them by")
      ->type_name("FILE");
  command->footer("Examples:\n"
                  "  corten view model.aimodel\n"
                  "  corten view model.aimodel -o page.html");
  command->callback([options, &exitCode] { exitCode = runView(*options); });
}
