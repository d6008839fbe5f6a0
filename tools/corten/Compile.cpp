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
  std::vector<std::string> shapes;
  PrecisionOptions precision;
};
} // namespace

/// `x=1,128`, or `x=1x128`.
static llvm::Expected<NamedShapes>
readShapes(llvm::ArrayRef<std::string> arguments) {
  NamedShapes shapes;
  for (llvm::StringRef argument : arguments) {
    auto [name, text] = argument.split('=');
    auto &[_, shape] = shapes.emplace_back(name.str(), std::vector<int64_t>());
    bool isShape = !name.empty();
    do {
      int64_t extent = 0;
      isShape &= !text.consumeInteger(10, extent) && extent >= 0;
      shape.push_back(extent);
    } while (isShape && (text.consume_front(",") || text.consume_front("x")));
    if (!isShape || !text.empty())
      return llvm::createStringError("--shape: want NAME=1,3,224,224, not " +
                                     argument);
  }
  return shapes;
}

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
  llvm::Expected<NamedShapes> shapes = readShapes(options.shapes);
  if (!shapes)
    return fail(shapes.takeError());
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
    if (llvm::Error error = (*model)->explainPlan(os, *precision, *shapes))
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
  CLI::Option *explain = command->add_flag(
      "--explain", options->explains,
      "Say which kernel does what and where, what was fused and "
      "what was not and why, and what memory and time it takes");
  command
      ->add_option(
          "--shape", options->shapes,
          "The shape of an input or a state, whose memory is explained")
      ->type_name("NAME=1,3,224,224")
      ->allow_extra_args(false)
      ->needs(explain);
  addPrecision(*command, options->precision);
  command->footer("Examples:\n"
                  "  corten compile model.aimodel -o model.cplan\n"
                  "  corten compile model.aimodel --precision bf16 -o m.cplan\n"
                  "  corten compile model.aimodel --explain\n"
                  "  corten compile model.aimodel --explain --shape "
                  "image=8,3,8,8\n"
                  "  corten compile model.aimodel --print");
  command->callback([options, &exitCode] { exitCode = runCompile(*options); });
}
