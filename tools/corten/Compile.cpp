// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command that makes plans for the engine.

#include "Session.h"
#include "Terminal.h"
#include "corten/Model/Convert.h"
#include "corten/Model/Model.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using namespace corten::tool;

namespace {
struct CompileOptions {
  std::string path;
  std::string output;
  bool isSelfContained = false;
  bool printsPlan = false;
  bool explains = false;
  PrecisionOptions precision;
};
} // namespace

static int runCompile(const CompileOptions &options) {
  Progress progress;
  progress.show("reading");
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(options.path);
  if (!model)
    return fail(model.takeError());
  llvm::Expected<Precision> precision =
      parsePrecision(options.precision.text());
  if (!precision)
    return fail(precision.takeError());
  progress.show("compiling");
  if (options.printsPlan) {
    llvm::Expected<std::string> text = (*model)->planText(*precision);
    if (!text)
      return failAtLength(text.takeError());
    Progress::clear();
    llvm::outs() << *text;
    return Success;
  }
  if (options.explains) {
    // What is wrong is said before anything is.
    std::string text;
    llvm::raw_string_ostream os(text);
    if (llvm::Error error = (*model)->explainPlan(os, *precision))
      return failAtLength(std::move(error));
    Progress::clear();
    llvm::outs() << text;
    if (options.output.empty())
      return Success;
  }
  if (options.output.empty())
    return fail("--output is required");
  llvm::Expected<std::string> plan =
      (*model)->compile(options.isSelfContained, *precision);
  if (!plan)
    return failAtLength(plan.takeError());
  progress.show("writing");
  // All of it or nothing.
  if (llvm::Error error = llvm::writeToOutput(
          options.output, [&](llvm::raw_ostream &os) -> llvm::Error {
            os << *plan;
            return llvm::Error::success();
          }))
    return fail(std::move(error));
  return Success;
}

void tool::addCompile(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "compile", "Makes a plan for the engine: what `corten run` executes.");
  auto options = std::make_shared<CompileOptions>();
  command->add_option("PATH", options->path, "An asset (NAME.aimodel)")
      ->required();
  command->add_option("-o,--output", options->output, "The plan to write")
      ->type_name("PATH");
  command->add_flag("--self-contained", options->isSelfContained,
                    "Copy the weights into the plan, which then needs the "
                    "asset no more");
  command->add_flag("--print", options->printsPlan,
                    "Print the plan as text, and write nothing");
  command->add_flag("--explain", options->explains,
                    "Say which kernel does what and where, what was fused and "
                    "what was not and why, and what memory and time it takes");
  addPrecision(*command, options->precision);
  command->footer("Examples:\n"
                  "  corten compile model.aimodel -o model.cplan\n"
                  "  corten compile model.aimodel --precision bf16 -o m.cplan\n"
                  "  corten compile model.aimodel --explain\n"
                  "  corten compile model.aimodel --print");
  command->callback([options, &exitCode] { exitCode = runCompile(*options); });
}
