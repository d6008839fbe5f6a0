// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command that runs a model on the engine.

#include "Closeness.h"
#include "Session.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace corten;
using namespace corten::tool;
using llvm::StringRef;
using runtime::Tensor;

namespace {
struct RunOptions {
  CallOptions call;
  std::vector<std::string> outputs;
  std::string reference;
  std::optional<double> tolerance;
  int steps = 1;
  bool quiet = false;
};
} // namespace

/// A line about a result: how large, and between what its elements are.
static void describe(StringRef name, const Tensor &tensor) {
  std::vector<double> numbers = numbersOf(tensor);
  llvm::outs() << name << ": " << tensor.describe();
  if (!numbers.empty()) {
    double low = numbers.front(), high = low, sum = 0;
    for (double number : numbers) {
      low = std::min(low, number);
      high = std::max(high, number);
      sum += number;
    }
    llvm::outs() << llvm::format("  min %g  max %g  mean %g", low, high,
                                 sum / double(numbers.size()));
  }
  llvm::outs() << '\n';
}

static const Tensor &outputOf(const Session &session, size_t index) {
  return session.call->output(index).tensor();
}

static llvm::Error saveOutputs(const Session &session,
                               const llvm::StringMap<std::string> &targets,
                               llvm::ArrayRef<std::string> archives) {
  std::vector<NamedTensor> all;
  for (auto [index, output] : llvm::enumerate(session.outputs())) {
    all.push_back({output.name, outputOf(session, index)});
    auto target = targets.find(output.name);
    if (target == targets.end())
      continue;
    StringRef path = target->second;
    if (llvm::Error error = path.ends_with(".npz")
                                ? writeArchive(all.back(), path)
                                : writeTensor(all.back().tensor, path))
      return error;
  }
  for (StringRef archive : archives)
    if (llvm::Error error = writeArchive(all, archive))
      return error;
  return llvm::Error::success();
}

/// Success, or Found if something is farther off than it may be.
static llvm::Expected<int> compareOutputs(const Session &session,
                                          const RunOptions &options) {
  auto arrays = readNpz(options.reference);
  if (!arrays)
    return arrays.takeError();
  std::vector<Closeness> all;
  for (auto [index, output] : llvm::enumerate(session.outputs())) {
    const Tensor &actual = outputOf(session, index);
    auto found = llvm::find_if(
        *arrays, [&](const auto &named) { return named.first == output.name; });
    if (found == arrays->end())
      continue;
    std::string where = options.reference + ": " + output.name;
    llvm::Expected<Owned> expected = convert(found->second, where, output);
    if (!expected)
      return expected.takeError();
    if (!std::ranges::equal(expected->tensor.shape(), actual.shape()))
      return llvm::createStringError(where + " is " +
                                     expected->tensor.describe() +
                                     "; the result is " + actual.describe());
    all.push_back(
        compare(output.name, actual, expected->tensor, options.tolerance));
  }
  if (all.empty())
    return llvm::createStringError(
        options.reference + ": no array is called like an output; those are " +
        llvm::join(llvm::map_range(session.outputs(),
                                   [](const auto &o) { return o.name; }),
                   ", "));
  bool areClose = llvm::all_of(all, [](const auto &c) { return c.isClose(); });
  if (!options.quiet || !areClose)
    print(llvm::outs(), std::move(all));
  return areClose ? Success : Found;
}

static llvm::Expected<int> runModel(const RunOptions &options) {
  std::optional<Progress> progress(std::in_place);
  llvm::Expected<Session> session = openSession(options.call, *progress);
  if (!session)
    return session.takeError();
  llvm::StringMap<std::string> targets;
  std::vector<std::string> archives;
  for (StringRef argument : options.outputs) {
    if (argument.ends_with(".npz") && !argument.contains('=')) {
      archives.push_back(argument.str());
      continue;
    }
    auto pair = assignment("--output", argument, session->outputs());
    if (!pair)
      return pair.takeError();
    targets[pair->first] = pair->second.str();
  }
  auto start = std::chrono::steady_clock::now();
  for (int step = 0; step != options.steps; ++step) {
    progress->show("running", double(step) / options.steps);
    if (llvm::Error error = session->run())
      return error;
  }
  std::chrono::duration<double, std::milli> time =
      std::chrono::steady_clock::now() - start;
  progress.reset();
  if (llvm::Error error = saveOutputs(*session, targets, archives))
    return error;
  if (!options.quiet) {
    for (auto [index, output] : llvm::enumerate(session->outputs()))
      describe(output.name, outputOf(*session, index));
    llvm::outs() << llvm::format("%.2f ms", time.count() / options.steps)
                 << (options.steps == 1 ? "\n" : " for each step\n");
  }
  if (options.reference.empty())
    return Success;
  return compareOutputs(*session, options);
}

void tool::addRun(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "run", "Runs a model on this machine's processor. Inputs that are not "
             "given are random.");
  auto options = std::make_shared<RunOptions>();
  addCallOptions(*command, options->call);
  command
      ->add_option("--output", options->outputs,
                   "Where to write an output: FILE.npy, FILE.npz or raw:FILE. "
                   "FILE.npz alone is for all outputs")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--steps", options->steps,
                   "Call it so often, with the same inputs; states go on")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--threads", options->call.threads,
                   "How many threads to use; all that there are by default")
      ->check(CLI::NonNegativeNumber);
  CLI::Option *reference =
      command
          ->add_option("--compare", options->reference,
                       "Compare outputs with arrays of their names; the exit "
                       "status is 1 if one is too far off")
          ->type_name("FILE.npz");
  command
      ->add_option("--tolerance", options->tolerance,
                   "How far off an element may be, in itself or, where it is "
                   "larger than one, times its size; otherwise 1e-4 for f32 "
                   "and 1e-2 for f16")
      ->check(CLI::NonNegativeNumber)
      ->needs(reference);
  command->add_flag("--quiet", options->quiet, "Print nothing but differences");
  command->footer("Examples:\n"
                  "  corten run model.aimodel\n"
                  "  corten run model.aimodel --shape image=4,3,8,8 "
                  "--output probs=probs.npy\n"
                  "  corten run model.aimodel --output all.npz\n"
                  "  corten run model.aimodel --compare all.npz\n"
                  "  corten run model.aimodel --steps 8");
  command->callback([options, &exitCode] {
    llvm::Expected<int> status = runModel(*options);
    exitCode = status ? *status : failAtLength(status.takeError());
  });
}
