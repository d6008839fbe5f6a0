// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command that says how fast a model is.

#include "Session.h"

#include "corten/Runtime/ThreadPool.h"
#include "corten/Support/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>
#include <numeric>

using namespace corten;
using namespace corten::tool;
using Clock = std::chrono::steady_clock;

namespace {
struct BenchOptions {
  CallOptions call;
  std::vector<int> threads = {0};
  int warmup = 3;
  int rounds = 0;
  double seconds = 3;
  double items = 0;
  std::string unit;
  bool asJson = false;
};

/// What one number of threads came to.
struct Measured {
  int threads = 0;
  /// In milliseconds, as they came.
  std::vector<double> times;
  std::vector<double> sorted;

  /// The time that this part of the calls did not take longer than.
  double percentile(double part) const {
    double place = part * double(sorted.size() - 1);
    auto below = size_t(place);
    size_t above = std::min(below + 1, sorted.size() - 1);
    double weight = place - double(below);
    return sorted[below] * (1 - weight) + sorted[above] * weight;
  }
  double mean() const {
    return std::accumulate(times.begin(), times.end(), 0.0) /
           double(times.size());
  }
};

/// What a call does, to say how many of it a second has.
struct Work {
  double items = 1;
  std::string unit = "calls";
};
} // namespace

/// By the first input: tokens are whole numbers, images have colours, and
/// anything else comes in batches.
static Work workOf(const Session &session) {
  if (session.arguments.empty())
    return {};
  const runtime::Tensor &first = session.arguments.front().tensor;
  if (first.rank == 0)
    return {};
  if (first.rank <= 2 && runtime::isInteger(first.type))
    return {double(first.size()), "tokens"};
  bool hasColours =
      first.rank == 4 && (first.extents[1] == 3 || first.extents[3] == 3);
  return {double(first.extents[0]), hasColours ? "images" : "items"};
}

static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

static llvm::Expected<Measured> measure(const Session &session,
                                        const BenchOptions &options,
                                        int threads, Progress &progress) {
  progress.show("warming up");
  for (int i = 0; i < options.warmup; ++i)
    if (llvm::Error error = session.run())
      return error;
  Measured measured;
  measured.threads = threads;
  Clock::time_point start = Clock::now();
  double limit = options.seconds * 1000;
  double fraction = 0;
  while (fraction < 1) {
    Clock::time_point before = Clock::now();
    if (llvm::Error error = session.run())
      return error;
    measured.times.push_back(millisecondsSince(before));
    fraction = options.rounds ? double(measured.times.size()) / options.rounds
                              : millisecondsSince(start) / limit;
    progress.show("measuring with " + llvm::Twine(threads) +
                      (threads == 1 ? " thread" : " threads"),
                  std::min(fraction, 1.0));
  }
  measured.sorted = measured.times;
  llvm::sort(measured.sorted);
  return measured;
}

//===----------------------------------------------------------------------===//
// What it came to
//===----------------------------------------------------------------------===//

/// With three digits that count.
static std::string text(double number) {
  std::string result;
  int digits = number >= 100 ? 0 : number >= 10 ? 1 : 2;
  llvm::raw_string_ostream(result)
      << (number >= 1 ? llvm::format("%.*f", digits, number)
                      : llvm::format("%.*g", 3, number));
  return result;
}

static void printTable(llvm::ArrayRef<Measured> all, const Work &work) {
  Table table({">threads", ">calls", ">mean [ms]", ">min", ">p50", ">p90",
               ">p99", ">max", ">" + work.unit + "/s"});
  for (const Measured &one : all)
    table.add({std::to_string(one.threads), std::to_string(one.times.size()),
               text(one.mean()), text(one.sorted.front()),
               text(one.percentile(0.5)), text(one.percentile(0.9)),
               text(one.percentile(0.99)), text(one.sorted.back()),
               text(work.items * 1000 / one.percentile(0.5))});
  table.print(llvm::outs(), 0);
}

/// How many calls took how long. What took longer than all but one in a hundred
/// is one line, so that it does not squeeze the others.
static void printPlot(const Measured &one) {
  constexpr int kLines = 12;
  constexpr unsigned kWidth = 40;
  double low = one.sorted.front();
  double high = one.percentile(0.99);
  if (one.sorted.size() < 4 || high <= low)
    return;
  std::vector<size_t> counts(kLines + 1);
  for (double time : one.sorted) {
    auto line = size_t((time - low) / (high - low) * kLines);
    ++counts[time > high ? kLines : std::min<size_t>(line, kLines - 1)];
  }
  double most = double(*llvm::max_element(counts));
  llvm::outs() << '\n'
               << one.threads << (one.threads == 1 ? " thread" : " threads")
               << ", calls by time\n";
  for (auto [line, count] : llvm::enumerate(counts)) {
    if (line == kLines && count == 0)
      continue;
    double from = low + (high - low) * double(line) / kLines;
    llvm::outs() << llvm::format(line == kLines ? "  > %7s ms " : "  %9s ms ",
                                 text(from).c_str())
                 << bar(double(count) / most, kWidth) << ' ' << count << '\n';
  }
}

static llvm::json::Value jsonOf(const BenchOptions &options,
                                const Session &session,
                                llvm::ArrayRef<Measured> all,
                                const Work &work) {
  llvm::json::Array runs;
  for (const Measured &one : all)
    runs.push_back(llvm::json::Object{
        {"threads", one.threads},
        {"warmup", options.warmup},
        {"rounds", int64_t(one.times.size())},
        {"mean_ms", one.mean()},
        {"min_ms", one.sorted.front()},
        {"p10_ms", one.percentile(0.1)},
        {"p50_ms", one.percentile(0.5)},
        {"p90_ms", one.percentile(0.9)},
        {"p99_ms", one.percentile(0.99)},
        {"max_ms", one.sorted.back()},
        {"items_per_second", work.items * 1000 / one.percentile(0.5)},
        {"times_ms", llvm::json::Array(one.times)}});
  return llvm::json::Object{{"path", options.call.path},
                            {"entrypoint", session.function->name()},
                            // What it was called before.
                            {"function", session.function->name()},
                            {"items", work.items},
                            {"unit", work.unit},
                            {"runs", std::move(runs)}};
}

static llvm::Error runBench(const BenchOptions &options) {
  std::optional<Progress> progress(std::in_place);
  std::vector<Measured> all;
  std::optional<Session> session;
  Work work;
  for (int threads : options.threads) {
    CallOptions call = options.call;
    call.threads = threads;
    llvm::Expected<Session> opened = openSession(call, *progress);
    if (!opened)
      return opened.takeError();
    session.emplace(std::move(*opened));
    llvm::Expected<Measured> measured =
        measure(*session, options,
                runtime::ThreadPool::shared(threads)->threads(), *progress);
    if (!measured)
      return measured.takeError();
    all.push_back(std::move(*measured));
  }
  progress.reset();
  work = workOf(*session);
  if (options.items > 0)
    work.items = options.items;
  if (!options.unit.empty())
    work.unit = options.unit;
  if (options.asJson) {
    printJson(jsonOf(options, *session, all, work));
    return llvm::Error::success();
  }
  printTable(all, work);
  for (const Measured &one : all)
    printPlot(one);
  return llvm::Error::success();
}

void tool::addBench(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "bench", "Measures how long calls of a model take on this machine. "
               "Inputs that are not given are random.");
  auto options = std::make_shared<BenchOptions>();
  addCallOptions(*command, options->call);
  command
      ->add_option("--threads", options->threads,
                   "How many threads to use, or several numbers to compare; "
                   "all that there are by default")
      ->delimiter(',')
      ->type_name("1,2")
      ->check(CLI::NonNegativeNumber)
      ->allow_extra_args(false);
  command
      ->add_option("--warmup", options->warmup,
                   "So many calls come first and do not count (3)")
      ->check(CLI::NonNegativeNumber);
  CLI::Option *rounds =
      command->add_option("--rounds", options->rounds, "Measure so many calls")
          ->check(CLI::PositiveNumber);
  command
      ->add_option("--seconds", options->seconds,
                   "Measure as many calls as so long a time has (3)")
      ->check(CLI::PositiveNumber)
      ->excludes(rounds);
  command
      ->add_option("--items", options->items,
                   "How many things one call does; otherwise tokens or the "
                   "first axis of the first input")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--unit", options->unit,
                   "What they are called: tokens, images")
      ->type_name("NAME");
  command->add_flag("--json", options->asJson, "Print JSON, with every time");
  command->footer("Examples:\n"
                  "  corten bench model.aimodel --seconds 0.5\n"
                  "  corten bench model.aimodel --threads 1,2 --rounds 50\n"
                  "  corten bench model.aimodel --shape image=8,3,8,8 "
                  "--rounds 20 --json");
  command->callback([options, &exitCode] {
    llvm::Error error = runBench(*options);
    exitCode = error ? failAtLength(std::move(error)) : Success;
  });
}
