// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The subcommands of `corten`. Each function adds one: its options, its help
// and what to do when it is asked for.

#ifndef CORTEN_TOOLS_CORTEN_COMMANDS_H
#define CORTEN_TOOLS_CORTEN_COMMANDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <CLI/CLI.hpp>

#include <string>

namespace llvm::json {
class Value;
} // namespace llvm::json

namespace corten::tool {

/// What the process returns.
enum ExitCode : int {
  Success = 0,
  /// The command ran and found something: differences, traps.
  Found = 1,
  /// Arguments or files are bad.
  BadInput = 2,
};

/// `command` is what this one was called as.
void addConvert(CLI::App &app, int &exitCode, llvm::StringRef command);
void addDiff(CLI::App &app, int &exitCode);
void addInfo(CLI::App &app, int &exitCode);
void addPrint(CLI::App &app, int &exitCode);
void addOps(CLI::App &app, int &exitCode);
void addDoctor(CLI::App &app, int &exitCode);
void addView(CLI::App &app, int &exitCode);
void addStrip(CLI::App &app, int &exitCode);
void addOptimize(CLI::App &app, int &exitCode);
void addEdit(CLI::App &app, int &exitCode);
void addCompile(CLI::App &app, int &exitCode);
void addRun(CLI::App &app, int &exitCode);
void addBench(CLI::App &app, int &exitCode);
void addProfile(CLI::App &app, int &exitCode);
/// Those of the Python package; `command` is what this one was called as.
void addPythonCommands(CLI::App &app, int &exitCode, llvm::StringRef command);
/// What such a command takes, for completion and manual.
struct PythonOption {
  llvm::StringRef command;
  /// Empty for a positional argument.
  llvm::StringRef spelling;
  /// Empty for a flag.
  llvm::StringRef value;
  llvm::StringRef description;
};
std::vector<PythonOption> pythonOptions(llvm::StringRef command);
/// Runs a module of the Python package and returns its exit status. `command`
/// is what this one was called as; what the module prints goes to the standard
/// output, or to the file `output`.
llvm::Expected<int> runPython(llvm::StringRef command,
                              llvm::ArrayRef<std::string> module,
                              llvm::StringRef output);
/// Help, and what shells and manuals are made from. Last: it shows the others.
void addHelp(CLI::App &app, int &exitCode);

/// Takes what an option for entry points takes by its older name, too, which
/// no help shows. After that option, which begins a list anew.
void addOlderName(CLI::App &command, std::string &entryPoint);
void addOlderName(CLI::App &command, std::vector<std::string> &entryPoints);

/// Null if there is no such command.
CLI::App *findCommand(CLI::App &app, llvm::StringRef name);

/// What to say of a command that does not exist: which one may be meant.
std::string unknownCommand(CLI::App &app, llvm::StringRef name);

/// Says on one line what went wrong, on another what to do if the message has a
/// line "Fix: ...", and returns BadInput.
int fail(llvm::Error error);
int fail(llvm::StringRef message);
/// The same where all lines are wanted: a list of what cannot be converted.
int failAtLength(llvm::Error error);

/// Prints data, indented.
void printJson(const llvm::json::Value &value);

} // namespace corten::tool

#endif // CORTEN_TOOLS_CORTEN_COMMANDS_H
