// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands that show what a program is: info, print, ops, doctor.

#include "Commands.h"
#include "Terminal.h"
#include "corten/Inspect/Archive.h"
#include "corten/Model/Model.h"
#include "corten/Model/Ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using namespace corten::tool;
namespace json = llvm::json;

static constexpr const char *kPathHelp =
    "An asset (NAME.aimodel), or a program as MLIR text";
static constexpr const char *kAnyPathHelp =
    "An asset (NAME.aimodel), a program as MLIR text, or one that "
    "torch.export.save wrote (NAME.pt2)";

//===----------------------------------------------------------------------===//
// info
//===----------------------------------------------------------------------===//

namespace {
struct InfoOptions {
  std::string path;
  bool asJson = false;
};
} // namespace

static int runArchiveInfo(const InfoOptions &options) {
  Progress progress;
  progress.show("reading");
  llvm::Expected<ArchiveInfo> info = describeArchive(options.path);
  if (!info)
    return fail(info.takeError());
  Progress::clear();
  if (options.asJson)
    printJson(archiveJson(*info));
  else
    printArchive(*info, llvm::outs());
  return Success;
}

static int runInfo(const InfoOptions &options) {
  if (isArchivePath(options.path))
    return runArchiveInfo(options);
  Progress progress;
  progress.show("reading");
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(options.path);
  if (!model)
    return fail(model.takeError());
  ProgramInfo info = (*model)->info();
  Progress::clear();
  if (options.asJson)
    printJson(infoJson(info));
  else
    printInfo(info, llvm::outs());
  return Success;
}

void tool::addInfo(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "info", "Shows entry points, inputs, outputs, states, ops, weights and "
              "versions; of a NAME.pt2 also example inputs.");
  auto options = std::make_shared<InfoOptions>();
  command->add_option("PATH", options->path, kAnyPathHelp)->required();
  command->add_flag("--json", options->asJson, "Print JSON");
  command->footer("Examples:\n"
                  "  corten info model.aimodel\n"
                  "  corten info --json model.aimodel\n"
                  "  corten info model.pt2");
  command->callback([options, &exitCode] { exitCode = runInfo(*options); });
}

//===----------------------------------------------------------------------===//
// print
//===----------------------------------------------------------------------===//

namespace {
struct PrintCommandOptions {
  std::string path;
  PrintOptions print;
};
} // namespace

static int runPrint(const PrintCommandOptions &options) {
  Progress progress;
  progress.show("reading");
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(options.path);
  if (!model)
    return fail(model.takeError());
  llvm::Expected<std::string> text = (*model)->text(options.print);
  if (!text)
    return fail(text.takeError());
  Progress::clear();
  llvm::outs() << *text;
  return Success;
}

void tool::addPrint(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "print", "Prints the program as MLIR text; weights are named, not "
               "printed.");
  auto options = std::make_shared<PrintCommandOptions>();
  command->add_option("PATH", options->path, kPathHelp)->required();
  command->add_option("--graph", options->print.graph, "Print this graph only")
      ->type_name("NAME");
  command->add_flag("--locations", options->print.locations,
                    "Print debug locations");
  command->add_flag("--generic", options->print.generic,
                    "Print the form that every MLIR reads");
  command->footer("Examples:\n"
                  "  corten print model.aimodel\n"
                  "  corten print --graph main --locations model.aimodel");
  command->callback([options, &exitCode] { exitCode = runPrint(*options); });
}

//===----------------------------------------------------------------------===//
// ops
//===----------------------------------------------------------------------===//

namespace {
struct OpsOptions {
  std::vector<std::string> paths;
  bool collapseComposites = false;
  bool asJson = false;
};
} // namespace

static int runOps(const OpsOptions &options) {
  Progress progress;
  progress.show("reading");
  llvm::Expected<OpReport> report =
      OpReport::make(options.paths, options.collapseComposites);
  if (!report)
    return fail(report.takeError());
  Progress::clear();
  if (options.asJson)
    printJson(report->json());
  else
    report->print(llvm::outs());
  return Success;
}

void tool::addOps(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "ops", "Counts ops by kind, over one file or several side by side.");
  auto options = std::make_shared<OpsOptions>();
  command->add_option("PATH", options->paths, kAnyPathHelp)->required();
  command->add_flag("--collapse-composites", options->collapseComposites,
                    "Count the call of a composite as one op, and not what it "
                    "is made of");
  command->add_flag("--json", options->asJson, "Print JSON");
  command->footer("Examples:\n"
                  "  corten ops model.aimodel\n"
                  "  corten ops --collapse-composites before.aimodel "
                  "after.aimodel\n"
                  "  corten ops --json model.pt2");
  command->callback([options, &exitCode] { exitCode = runOps(*options); });
}

//===----------------------------------------------------------------------===//
// doctor
//===----------------------------------------------------------------------===//

namespace {
struct DoctorOptions {
  std::vector<std::string> paths;
  std::vector<std::string> ignored;
  bool asJson = false;
  bool list = false;
};
} // namespace

static void listChecks(bool asJson) {
  if (!asJson) {
    for (const Check &check : doctorChecks())
      llvm::outs() << check.name << " (" << severityName(check.severity)
                   << ")\n  why: " << check.reason
                   << "\n  fix: " << check.remedy << '\n';
    return;
  }
  json::Array array;
  for (const Check &check : doctorChecks())
    array.push_back(json::Object{{"check", check.name},
                                 {"severity", severityName(check.severity)},
                                 {"reason", check.reason},
                                 {"remedy", check.remedy}});
  printJson(std::move(array));
}

static int runDoctor(const DoctorOptions &options) {
  if (options.list) {
    listChecks(options.asJson);
    return Success;
  }
  if (options.paths.empty())
    return fail("doctor: PATH is required");
  int exitCode = Success;
  json::Array reports;
  Progress progress;
  for (const std::string &path : options.paths) {
    progress.show("examining " + path);
    llvm::Expected<std::vector<Finding>> examined = examinePath(path);
    if (!examined)
      return fail(examined.takeError());
    std::vector<Finding> findings = std::move(*examined);
    llvm::erase_if(findings, [&](const Finding &finding) {
      return llvm::is_contained(options.ignored, checkOf(finding.check).name);
    });
    size_t notes = llvm::count_if(findings, [](const Finding &finding) {
      return checkOf(finding.check).severity == Severity::Note;
    });
    size_t found = findings.size() - notes;
    if (found != 0)
      exitCode = Found;
    if (options.asJson) {
      reports.push_back(findingsJson(path, findings));
      continue;
    }
    Progress::clear();
    llvm::outs() << path << ": ";
    if (found == 0)
      llvm::outs() << "nothing found";
    else
      llvm::outs() << found << (found == 1 ? " finding" : " findings");
    if (notes != 0)
      llvm::outs() << ", " << notes << (notes == 1 ? " note" : " notes");
    llvm::outs() << '\n';
    printFindings(findings, llvm::outs());
  }
  Progress::clear();
  if (options.asJson)
    printJson(std::move(reports));
  return exitCode;
}

void tool::addDoctor(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "doctor", "Looks for known traps, and says why they matter and what to "
                "do. Exit status 1 if there are any but notes.");
  auto options = std::make_shared<DoctorOptions>();
  command->add_option("PATH", options->paths, kPathHelp);
  std::vector<std::string> names;
  for (const Check &check : doctorChecks())
    names.emplace_back(check.name);
  command
      ->add_option("--ignore", options->ignored,
                   "Say nothing about this check; may be repeated")
      ->type_name("CHECK")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(names).description(""));
  command->add_flag("--json", options->asJson, "Print JSON");
  command->add_flag("--list", options->list, "List the checks and stop");
  command->footer(
      "Examples:\n"
      "  corten doctor model.aimodel\n"
      "  corten doctor --json --ignore absolute-source-paths model.aimodel\n"
      "  corten doctor --list");
  command->callback([options, &exitCode] { exitCode = runDoctor(*options); });
}
