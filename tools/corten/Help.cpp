// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands about commands: help, completion, manual. All of it is read off the
// commands themselves, so there is nothing to keep up to date.

#include "Commands.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using namespace corten::tool;
using llvm::StringRef;

/// The commands that a user is shown, by name.
static std::vector<CLI::App *> commandsOf(CLI::App &app) {
  std::vector<CLI::App *> commands = app.get_subcommands(
      [](const CLI::App *command) { return !command->get_group().empty(); });
  llvm::sort(commands, [](const CLI::App *a, const CLI::App *b) {
    return a->get_name() < b->get_name();
  });
  return commands;
}

CLI::App *tool::findCommand(CLI::App &app, StringRef name) {
  for (CLI::App *command : app.get_subcommands({}))
    if (name == command->get_name())
      return command;
  return nullptr;
}

namespace {
/// An option as completion offers it.
struct Spelling {
  /// With its dashes.
  std::string name;
  std::string description;
  bool takesValue = false;
};
} // namespace

/// The options of a command that a user is shown.
static std::vector<Spelling> optionsOf(const CLI::App &command) {
  std::vector<Spelling> options;
  for (const CLI::Option *option : command.get_options()) {
    if (option->get_group().empty())
      continue;
    auto add = [&](const std::string &name) {
      options.push_back({name, option->get_description(),
                         option->get_items_expected_max() > 0});
    };
    for (const std::string &name : option->get_lnames())
      add("--" + name);
    for (const std::string &name : option->get_snames())
      add("-" + name);
  }
  for (const PythonOption &option : pythonOptions(command.get_name()))
    if (!option.spelling.empty())
      options.push_back({option.spelling.str(), option.description.str(),
                         !option.value.empty()});
  return options;
}

//===----------------------------------------------------------------------===//
// Completion
//===----------------------------------------------------------------------===//

static void printBash(CLI::App &app) {
  llvm::raw_ostream &out = llvm::outs();
  std::vector<std::string> names;
  for (const CLI::App *command : commandsOf(app))
    names.push_back(command->get_name());
  out << "_corten() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} options=\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W '"
      << llvm::join(names, " ")
      << " --help --version' -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n";
  for (const CLI::App *command : commandsOf(app)) {
    std::vector<std::string> options;
    for (const Spelling &option : optionsOf(*command))
      options.push_back(option.name);
    out << "  " << command->get_name() << ") options='"
        << llvm::join(options, " ") << "' ;;\n";
  }
  out << "  esac\n"
         "  if [[ ${COMP_WORDS[1]} == help ]]; then\n"
         "    COMPREPLY=($(compgen -W '"
      << llvm::join(names, " ")
      << "' -- \"$word\"))\n"
         "  elif [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _corten corten\n";
}

/// A text between single quotes of a shell.
static std::string shellQuoted(StringRef text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// The first sentence of a description.
static StringRef brief(StringRef description) {
  return description.split(". ").first.split('\n').first.rtrim('.');
}

static void printZsh(CLI::App &app) {
  llvm::raw_ostream &out = llvm::outs();
  auto entry = [](StringRef name, StringRef description) {
    // Colons and brackets end the name of an entry.
    std::string text = brief(description).str();
    for (char &c : text)
      c = c == '[' ? '(' : c == ']' ? ')' : c;
    return std::pair(name.str(), text);
  };
  out << "#compdef corten\n"
         "_corten() {\n"
         "  local -a commands=(\n";
  for (const CLI::App *command : commandsOf(app)) {
    auto [name, text] = entry(command->get_name(), command->get_description());
    out << "    " << shellQuoted((llvm::Twine(name) + ":" + text).str())
        << '\n';
  }
  out << "  )\n"
         "  if ((CURRENT == 2)); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  case ${words[2]} in\n"
         "  help) _describe command commands ;;\n";
  for (const CLI::App *command : commandsOf(app)) {
    if (command->get_name() == "help")
      continue;
    out << "  " << command->get_name() << ") _arguments";
    for (const Spelling &option : optionsOf(*command)) {
      auto [name, text] = entry(option.name, option.description);
      out << " \\\n    "
          << shellQuoted((llvm::Twine(name) + "[" + text + "]").str());
      if (option.takesValue)
        out << ":value:_files";
    }
    out << " \\\n    '*:file:_files' ;;\n";
  }
  out << "  esac\n"
         "}\n"
         // Read as a file of $fpath, this is the function that is called.
         "if [[ $funcstack[1] == _corten ]]; then\n"
         "  _corten \"$@\"\n"
         "else\n"
         "  compdef _corten corten\n"
         "fi\n";
}

static void printFish(CLI::App &app) {
  llvm::raw_ostream &out = llvm::outs();
  // Where a command is wanted, no file is.
  StringRef places[] = {"__fish_use_subcommand",
                        "'__fish_seen_subcommand_from help'"};
  for (StringRef place : places)
    out << "complete -c corten -n " << place << " -f\n";
  for (const CLI::App *command : commandsOf(app)) {
    for (StringRef place : places)
      out << "complete -c corten -n " << place << " -a " << command->get_name()
          << " -d " << shellQuoted(brief(command->get_description())) << '\n';
    for (const Spelling &option : optionsOf(*command)) {
      StringRef name = option.name;
      bool isLong = name.starts_with("--");
      out << "complete -c corten -n '__fish_seen_subcommand_from "
          << command->get_name() << "' " << (isLong ? "-l " : "-s ")
          << name.ltrim('-') << (option.takesValue ? " -r" : "") << " -d "
          << shellQuoted(brief(option.description)) << '\n';
    }
  }
}

//===----------------------------------------------------------------------===//
// The manual page
//===----------------------------------------------------------------------===//

/// A text of a manual page: dashes are dashes, and no line is a request.
static std::string troff(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
    if (c == '\n')
      result += "\\&";
  }
  return result;
}

static void printManual(CLI::App &app) {
  llvm::raw_ostream &out = llvm::outs();
  auto entry = [&](StringRef what, StringRef description) {
    out << ".TP\n.B " << troff(what.rtrim()) << "\n\\&" << troff(description)
        << '\n';
  };
  out << ".TH CORTEN 1\n.SH NAME\ncorten \\- "
      << troff(brief(app.get_description()))
      << "\n.SH SYNOPSIS\n.B corten\nCOMMAND [OPTION...]\n.SH COMMANDS\n";
  for (const CLI::App *command : commandsOf(app)) {
    out << ".SS corten " << troff(command->get_name());
    for (const CLI::Option *option : command->get_options())
      if (option->get_positional())
        out << ' ' << troff(option->get_name(true));
    std::vector<PythonOption> others = pythonOptions(command->get_name());
    for (const PythonOption &option : others)
      if (option.spelling.empty())
        out << ' ' << troff(option.value);
    out << '\n' << troff(command->get_description()) << '\n';
    for (const CLI::Option *option : command->get_options()) {
      if (option->get_description().empty() || option->get_group().empty())
        continue;
      entry(option->get_name(option->get_positional(), true),
            option->get_description());
    }
    for (const PythonOption &option : others)
      entry((option.spelling + (option.spelling.empty() ? "" : " ") +
             option.value)
                .str(),
            option.description);
    if (std::string footer = command->get_footer(); !footer.empty())
      out << ".PP\n.nf\n\\&" << troff(footer) << "\n.fi\n";
  }
  out << ".SH EXIT STATUS\n.nf\n\\&" << troff(app.get_footer()) << "\n.fi\n";
}

//===----------------------------------------------------------------------===//
// The commands
//===----------------------------------------------------------------------===//

void tool::addHelp(CLI::App &app, int &exitCode) {
  CLI::App &help = *app.add_subcommand(
      "help", "Shows what the commands are, or the options of one.");
  help.footer("Examples:\n  corten help\n  corten help convert");
  auto wanted = std::make_shared<std::string>();
  help.add_option("COMMAND", *wanted, "Which one");
  // Once a command has been read, the help is that of the command.
  auto all = std::make_shared<std::string>();
  help.callback([&app, &exitCode, wanted, all] {
    if (wanted->empty()) {
      llvm::outs() << *all;
      return;
    }
    CLI::App *command = findCommand(app, *wanted);
    if (!command)
      exitCode = fail(unknownCommand(app, *wanted));
    else if (command->get_prefix_command())
      // Only the program that it stands for knows.
      command->parse(std::vector<std::string>{"--help"});
    else
      llvm::outs() << command->help(app.get_name());
  });

  CLI::App &completion = *app.add_subcommand(
      "completion", "Prints what makes a shell complete commands and options.");
  completion.footer("Examples:\n  corten completion bash\n"
                    "A line for ~/.bashrc: source <(corten completion bash)");
  auto shell = std::make_shared<std::string>();
  completion.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion.callback([&app, shell] {
    if (*shell == "bash")
      printBash(app);
    else if (*shell == "zsh")
      printZsh(app);
    else
      printFish(app);
  });

  // For the build, which installs what it prints.
  CLI::App &manual = *app.add_subcommand("manual", "Prints the manual page.");
  manual.group("");
  manual.callback([&app] { printManual(app); });
  *all = app.help();
}

std::string tool::unknownCommand(CLI::App &app, StringRef name) {
  std::string message = ("unknown command '" + name + "'").str();
  StringRef closest;
  // As many letters may be wrong as a third of the word.
  unsigned best = std::max<unsigned>(name.size() / 3, 1) + 1;
  for (const CLI::App *command : commandsOf(app)) {
    unsigned distance = name.edit_distance(command->get_name());
    if (distance < best ||
        (best > 0 && StringRef(command->get_name()).starts_with(name) &&
         !name.empty())) {
      best = std::min(best, distance);
      closest = command->get_name();
    }
  }
  return message + (closest.empty()
                        ? "; corten help lists the commands"
                        : ", did you mean '" + closest.str() + "'?");
}
