// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands that write an asset: strip.

#include "Commands.h"
#include "corten/Inspect/Model.h"

using namespace corten;
using namespace corten::tool;

//===----------------------------------------------------------------------===//
// strip
//===----------------------------------------------------------------------===//

namespace {
struct StripOptions {
  std::string path;
  std::string output;
};
} // namespace

static int runStrip(const StripOptions &options) {
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(options.path);
  if (!model)
    return fail(model.takeError());
  (*model)->stripDebugInfo();
  if (llvm::Error error = (*model)->save(options.output))
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
  command->footer("Examples:\n"
                  "  corten strip model.aimodel -o stripped.aimodel");
  command->callback([options, &exitCode] { exitCode = runStrip(*options); });
}
