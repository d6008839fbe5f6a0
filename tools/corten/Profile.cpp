// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command that says where the time of a model goes.

#include "Session.h"
#include "StepTimes.h"

#include "corten/Support/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace corten;
using namespace corten::tool;
using llvm::StringRef;

namespace {
struct ProfileOptions {
  CallOptions call;
  int warmup = 2;
  int rounds = 10;
  unsigned top = 20;
  std::string overlay;
  std::string trace;
  bool asTree = false;
  bool asJson = false;
};

/// A module with those inside of it.
struct ModuleNode {
  std::map<std::string, ModuleNode> parts;
  /// With what is inside.
  int64_t nanoseconds = 0;
  double bytes = 0;
  double arithmetic = 0;
  int64_t steps = 0;

  void add(const StepTimes &step) {
    nanoseconds += step.nanoseconds;
    bytes += step.bytes;
    arithmetic += step.arithmetic;
    ++steps;
  }
};
} // namespace

static std::string text(const char *format, double number) {
  std::string result;
  llvm::raw_string_ostream(result) << llvm::format(format, number);
  return result;
}

/// So many in a nanosecond are as many billions in a second.
static std::string rate(double count, int64_t nanoseconds) {
  return count > 0 && nanoseconds > 0
             ? text("%.1f", count / double(nanoseconds))
             : "";
}

/// Milliseconds of one call.
static double perCall(const StepCollector &collector, int64_t nanoseconds) {
  return double(nanoseconds) / 1e6 / double(collector.numCalls());
}

static std::string part(const StepCollector &collector, int64_t nanoseconds) {
  return text("%.1f",
              100 * double(nanoseconds) / double(collector.nanoseconds()));
}

/// Most time first.
static std::vector<const StepTimes *> sorted(const StepCollector &collector) {
  std::vector<const StepTimes *> steps;
  for (const StepTimes &step : collector.steps())
    steps.push_back(&step);
  llvm::sort(steps, [](const StepTimes *a, const StepTimes *b) {
    // Those that took the same stay in their order.
    return std::pair(-a->nanoseconds, a) < std::pair(-b->nanoseconds, b);
  });
  return steps;
}

/// Megabytes of one call, of those that all calls moved.
static std::string megabytes(const StepCollector &collector, double bytes) {
  return text("%.2f", bytes / 1e6 / double(collector.numCalls()));
}

static void printTable(const StepCollector &collector, unsigned top) {
  Table table({">ms", ">%", "kernel", "result", ">MB", ">GB/s", ">GFLOP/s",
               "module", "line"});
  std::vector<const StepTimes *> steps = sorted(collector);
  int64_t shown = 0;
  for (const StepTimes *step : llvm::ArrayRef(steps).take_front(top)) {
    shown += step->nanoseconds;
    table.add({text("%.4f", perCall(collector, step->nanoseconds)),
               part(collector, step->nanoseconds),
               step->variant.empty() ? step->kernel
                                     : step->kernel + " " + step->variant,
               step->shapes, megabytes(collector, step->bytes),
               rate(step->bytes, step->nanoseconds),
               rate(step->arithmetic, step->nanoseconds), step->module,
               step->location});
  }
  table.print(llvm::outs(), 0);
  int64_t inSteps = 0;
  for (const StepTimes &step : collector.steps())
    inSteps += step.nanoseconds;
  llvm::outs() << llvm::format(
      "a call takes %.4f ms: %.4f in %zu steps, %.4f between them",
      perCall(collector, collector.nanoseconds()), perCall(collector, inSteps),
      steps.size(), perCall(collector, collector.nanoseconds() - inSteps));
  if (steps.size() > top)
    llvm::outs() << llvm::format("; %.4f in those that are not shown",
                                 perCall(collector, inSteps - shown));
  llvm::outs() << '\n';
}

static void printNode(const StepCollector &collector, StringRef name,
                      const ModuleNode &node, unsigned depth, Table &table) {
  double fraction = double(node.nanoseconds) / double(collector.nanoseconds());
  table.add({std::string(depth * 2, ' ') + name.str(),
             text("%.4f", perCall(collector, node.nanoseconds)),
             part(collector, node.nanoseconds), bar(fraction, 20),
             std::to_string(node.steps), megabytes(collector, node.bytes),
             rate(node.bytes, node.nanoseconds),
             rate(node.arithmetic, node.nanoseconds)});
  std::vector<std::pair<StringRef, const ModuleNode *>> parts;
  for (const auto &[label, inner] : node.parts)
    parts.emplace_back(label, &inner);
  llvm::sort(parts, [](const auto &a, const auto &b) {
    return std::pair(-a.second->nanoseconds, a.first) <
           std::pair(-b.second->nanoseconds, b.first);
  });
  for (auto [label, inner] : parts)
    printNode(collector, label, *inner, depth + 1, table);
}

static void printTree(const StepCollector &collector) {
  ModuleNode root;
  for (const StepTimes &step : collector.steps()) {
    ModuleNode *node = &root;
    node->add(step);
    llvm::SmallVector<StringRef> path;
    StringRef(step.module).split(path, '.', -1, /*KeepEmpty=*/false);
    for (StringRef name : path) {
      node = &node->parts[name.str()];
      node->add(step);
    }
  }
  Table table(
      {"module", ">ms", ">%", "", ">steps", ">MB", ">GB/s", ">GFLOP/s"});
  printNode(collector, "model", root, 0, table);
  table.print(llvm::outs(), 0);
}

static llvm::json::Value jsonOf(const ProfileOptions &options,
                                const Session &session,
                                const StepCollector &collector) {
  llvm::json::Array steps;
  double calls = double(collector.numCalls());
  for (const StepTimes *step : sorted(collector))
    steps.push_back(
        llvm::json::Object{{"kernel", step->kernel},
                           {"variant", step->variant},
                           {"result", step->shapes},
                           {"ms", perCall(collector, step->nanoseconds)},
                           {"runs", double(step->runs) / calls},
                           {"bytes", step->bytes / calls},
                           {"flops", step->arithmetic / calls},
                           {"module", step->module},
                           {"line", step->location},
                           {"operations", llvm::json::Array(step->operations)},
                           {"depth", step->depth}});
  return llvm::json::Object{{"path", options.call.path},
                            {"entrypoint", session.function->name()},
                            {"rounds", collector.numCalls()},
                            {"ms", perCall(collector, collector.nanoseconds())},
                            {"steps", std::move(steps)}};
}

static llvm::Error writeJson(StringRef path, const llvm::json::Value &value) {
  return llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    os << llvm::formatv("{0}", value) << '\n';
    return llvm::Error::success();
  });
}

static llvm::Error runProfile(const ProfileOptions &options) {
  std::optional<Progress> progress(std::in_place);
  llvm::Expected<Session> session = openSession(options.call, *progress);
  if (!session)
    return session.takeError();
  progress->show("warming up");
  for (int i = 0; i != options.warmup; ++i)
    if (llvm::Error error = session->run())
      return error;
  StepCollector collector;
  session->call->setObserver(collector.observer());
  for (int i = 0; i != options.rounds; ++i) {
    progress->show("profiling", double(i) / options.rounds);
    // One call is enough to look at.
    collector.beginCall(/*isTracedCall=*/i + 1 == options.rounds);
    if (llvm::Error error = session->run())
      return error;
    collector.endCall();
  }
  progress.reset();
  if (!options.overlay.empty())
    if (llvm::Error error = writeJson(options.overlay, collector.overlay()))
      return error;
  if (!options.trace.empty())
    if (llvm::Error error = writeJson(options.trace, collector.trace()))
      return error;
  if (options.asJson)
    printJson(jsonOf(options, *session, collector));
  else if (options.asTree)
    printTree(collector);
  else
    printTable(collector, options.top);
  return llvm::Error::success();
}

void tool::addProfile(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "profile", "Says where the time of a model goes: kernels with their "
                 "modules and source lines. Inputs that are not given are "
                 "random.");
  auto options = std::make_shared<ProfileOptions>();
  addCallOptions(*command, options->call);
  command
      ->add_option("--threads", options->call.threads,
                   "How many threads to use; all that there are by default")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--warmup", options->warmup,
                   "So many calls come first and do not count (2)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--rounds", options->rounds, "How many calls (10)")
      ->check(CLI::PositiveNumber);
  command->add_option("--top", options->top, "How many steps to show (20)")
      ->check(CLI::PositiveNumber);
  command->add_flag("--tree", options->asTree,
                    "Print the modules as a tree instead");
  command->add_flag("--json", options->asJson, "Print all steps as JSON");
  command
      ->add_option("--overlay", options->overlay,
                   "Write times of ops, for corten view --overlay")
      ->type_name("FILE.json");
  command
      ->add_option("--trace", options->trace,
                   "Write one call as a trace for chrome://tracing or Perfetto")
      ->type_name("FILE.json");
  command->footer("Examples:\n"
                  "  corten profile model.aimodel\n"
                  "  corten profile model.aimodel --tree --threads 1\n"
                  "  corten profile model.aimodel --overlay times.json "
                  "--trace trace.json\n"
                  "  corten view model.aimodel --overlay times.json");
  command->callback([options, &exitCode] {
    llvm::Error error = runProfile(*options);
    exitCode = error ? failAtLength(std::move(error)) : Success;
  });
}
