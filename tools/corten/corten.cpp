// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `corten` command: arguments only. The work is in the libraries.

#include "Commands.h"
#include "Terminal.h"
#include "corten/Asset/Asset.h"
#include "corten/Support/Text.h"
#include "corten/Version.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;

int tool::fail(llvm::StringRef message) {
  // Messages of parsers may go on at length; one line is promised, and what to
  // do about it.
  Progress::clear();
  auto [first, rest] = message.split('\n');
  llvm::errs() << "corten: error: " << first << '\n';
  for (llvm::StringRef line : llvm::split(rest, '\n'))
    if (line.ltrim().starts_with("Fix:"))
      llvm::errs() << line.ltrim() << '\n';
  return BadInput;
}

int tool::fail(llvm::Error error) {
  return fail(llvm::toString(std::move(error)));
}

int tool::failAtLength(llvm::Error error) {
  Progress::clear();
  llvm::errs() << "corten: error: " << llvm::toString(std::move(error)) << '\n';
  return BadInput;
}

static constexpr const char *kOlderName = "--function";

void tool::addOlderName(CLI::App &command, std::string &entryPoint) {
  command.add_option(kOlderName, entryPoint)->group("");
}

void tool::addOlderName(CLI::App &command,
                        std::vector<std::string> &entryPoints) {
  command
      .add_option_function<std::vector<std::string>>(
          kOlderName,
          [&](const std::vector<std::string> &given) {
            llvm::append_range(entryPoints, given);
          })
      ->group("")
      ->allow_extra_args(false);
}

void tool::printJson(const llvm::json::Value &value) {
  llvm::outs() << llvm::formatv("{0:2}", value) << '\n';
}

/// A full disk is an error like any other, not the end of the process.
static int closeOutput(int exitCode) {
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return exitCode;
  std::error_code code = llvm::outs().error();
  llvm::outs().clear_error();
  // Whoever reads has seen enough.
  if (code == std::errc::broken_pipe)
    return exitCode;
  return tool::fail("standard output: " + code.message());
}

int main(int argc, char **argv) {
  removeUnfinishedAssetsOnSignals();
  CLI::App app("Converts models to Core AI assets, and shows, compares, checks "
               "and changes assets.",
               "corten");
  app.set_version_flag("--version", "corten " CORTEN_VERSION_STRING);
  // CLI11 would say which argument it did not expect; see unknownCommand().
  app.require_subcommand(0, 1);
  app.footer("Exit status: 0 if all is well, 1 if a command found differences "
             "or traps,\n2 if arguments or files are bad.\n"
             "corten COMMAND --help shows the options of a command, with "
             "examples.");

  int exitCode = tool::Success;
  tool::addConvert(app, exitCode, argv[0]);
  tool::addDiff(app, exitCode);
  tool::addInfo(app, exitCode);
  tool::addPrint(app, exitCode);
  tool::addStrip(app, exitCode);
  tool::addOptimize(app, exitCode);
  tool::addEdit(app, exitCode);
  tool::addCompile(app, exitCode);
  tool::addRun(app, exitCode);
  tool::addBench(app, exitCode);
  tool::addProfile(app, exitCode);
  tool::addDoctor(app, exitCode);
  tool::addOps(app, exitCode);
  tool::addView(app, exitCode);
  tool::addPythonCommands(app, exitCode, argv[0]);
  tool::addHelp(app, exitCode);
  for (const char *argument : llvm::ArrayRef(argv, argc))
    if (llvm::Error error = checkUtf8("an argument", argument))
      return tool::fail(std::move(error));
  if (argc < 2) {
    llvm::errs() << app.help();
    return tool::BadInput;
  }
  if (llvm::StringRef name = argv[1];
      !name.starts_with("-") && !tool::findCommand(app, name))
    return tool::fail(tool::unknownCommand(app, name));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &request) {
    return app.exit(request);
  } catch (const CLI::ParseError &error) {
    return tool::fail(error.what());
  }
  return closeOutput(exitCode);
}
