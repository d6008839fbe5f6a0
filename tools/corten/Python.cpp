// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands that the Python package has: servers, tokenizers and clusters are
// libraries of Python. They are run by the Python that stands beside the
// command, as environments and wheels put them.

#include "Commands.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdlib>
#include <unistd.h>
#include <vector>

using namespace corten;

/// The Python to use: what the user says, the one beside the command as it was
/// called (an environment has a link to it), or the first on the path.
static llvm::Expected<std::string> findPython(llvm::StringRef command) {
  if (const char *chosen = std::getenv("CORTEN_PYTHON"))
    return std::string(chosen);
  std::string called = command.str();
  if (!llvm::sys::path::has_parent_path(called))
    if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(called))
      called = *found;
  llvm::SmallString<128> beside(llvm::sys::path::parent_path(called));
  llvm::sys::path::append(beside, "python3");
  if (llvm::sys::fs::can_execute(beside))
    return std::string(beside);
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("python3");
  if (found)
    return *found;
  return llvm::createStringError(
      "this command needs Python: install the corten package, or name a "
      "Python that has it in CORTEN_PYTHON");
}

/// Becomes the module of that name. Returns only if that fails.
static int becomePython(llvm::StringRef command,
                        const std::vector<std::string> &module,
                        const std::vector<std::string> &arguments) {
  llvm::Expected<std::string> python = findPython(command);
  if (!python)
    return tool::fail(python.takeError());
  std::vector<std::string> words = {*python, "-m"};
  words.insert(words.end(), module.begin(), module.end());
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char *> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(python->c_str(), pointers.data());
  return tool::fail(*python + ": " +
                    std::error_code(errno, std::generic_category()).message());
}

llvm::Expected<int> tool::runPython(llvm::StringRef command,
                                    llvm::ArrayRef<std::string> module,
                                    llvm::StringRef output) {
  llvm::Expected<std::string> python = findPython(command);
  if (!python)
    return python.takeError();
  std::vector<llvm::StringRef> words = {*python, "-m"};
  words.insert(words.end(), module.begin(), module.end());
  std::vector<std::optional<llvm::StringRef>> streams(3);
  if (!output.empty())
    streams[1] = output;
  // What was said here comes before what is said there.
  llvm::outs().flush();
  std::string problem;
  int status = llvm::sys::ExecuteAndWait(*python, words, std::nullopt, streams,
                                         0, 0, &problem);
  if (status < 0)
    return llvm::createStringError(*python + ": " + problem);
  return status;
}

std::vector<tool::PythonOption> tool::pythonOptions(llvm::StringRef command) {
  static constexpr PythonOption kOptions[] = {
#define PYTHON_OPTION(...) {__VA_ARGS__},
#include "PythonOptions.inc"
#undef PYTHON_OPTION
  };
  std::vector<PythonOption> found;
  for (const PythonOption &option : kOptions)
    if (option.command == command)
      found.push_back(option);
  return found;
}

void tool::addPythonCommands(CLI::App &app, int &exitCode,
                             llvm::StringRef command) {
  struct Row {
    const char *name;
    const char *description;
    std::vector<std::string> module;
  };
  const Row rows[] = {
      {"batch", "Runs a model over the rows of files.", {"corten.batch"}},
      {"eval", "Measures a language model on a text.", {"corten.llm", "eval"}},
      {"generate",
       "Continues a prompt with a language model.",
       {"corten.llm", "generate"}},
      {"serve", "Serves models over HTTP.", {"corten.serve"}},
      {"verify", "Compares a model with another, op by op.", {"corten.verify"}},
  };
  for (const Row &row : rows) {
    CLI::App *added = app.add_subcommand(row.name, row.description);
    // All that follows is the module's, its --help too.
    added->prefix_command();
    added->set_help_flag();
    added->footer("corten " + std::string(row.name) +
                  " --help shows its options, with examples.");
    added->callback(
        [added, module = row.module, command = command.str(), &exitCode] {
          exitCode = becomePython(command, module, added->remaining());
        });
  }
}
