// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a plan, with nothing but the runtime: inputs are numbers that repeat,
// and what comes out is shown as shapes, digests and milliseconds.
//
//   corten-run-plan model.cplan [--function NAME] [--repeat N] [--threads N]
//                   [--asset PATH] [SYMBOL=EXTENT...]

#include "corten/Runtime/Model.h"
#include "corten/Runtime/PlanFile.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace corten::runtime;

namespace {
struct Options {
  std::string plan;
  std::string function;
  int repeat = 1;
  LoadOptions load;
  std::map<std::string, int64_t, std::less<>> extents;
};
} // namespace

static Expected<Options> parse(std::span<char *> arguments) {
  Options options;
  for (size_t i = 0; i != arguments.size(); ++i) {
    std::string argument = arguments[i];
    size_t equals = argument.find('=');
    if (argument.starts_with("--")) {
      if (i + 1 == arguments.size())
        return Error(argument + " wants a value");
      std::string value = arguments[++i];
      if (argument == "--function")
        options.function = value;
      else if (argument == "--repeat")
        options.repeat = std::atoi(value.c_str());
      else if (argument == "--threads")
        options.load.threads = std::atoi(value.c_str());
      else if (argument == "--asset")
        options.load.assetPath = value;
      else
        return Error("there is no option " + argument);
    } else if (equals != std::string::npos) {
      options.extents[argument.substr(0, equals)] =
          std::atoll(argument.c_str() + equals + 1);
    } else if (options.plan.empty()) {
      options.plan = argument;
    } else {
      return Error("one plan at a time: " + argument);
    }
  }
  if (options.plan.empty())
    return Error("usage: corten-run-plan model.cplan [--function NAME] "
                 "[--repeat N] [--threads N] [--asset PATH] "
                 "[SYMBOL=EXTENT...]");
  return options;
}

static std::vector<int64_t> shapeOf(const Parameter &parameter,
                                    const Options &options) {
  std::vector<int64_t> shape;
  for (const Axis &axis : parameter.axes) {
    auto given = options.extents.find(axis.symbol);
    shape.push_back(given != options.extents.end() ? given->second
                    : axis.isFixed() ? axis.low
                                     : std::max<int64_t>(axis.low, 1));
  }
  return shape;
}

/// A byte pattern that is a small number in every type.
static std::vector<double> numbersFor(const Tensor &tensor) {
  auto count = size_t(std::max<int64_t>(tensor.size(), 0));
  std::vector<double> memory(count * byteSize(tensor.type) / sizeof(double) +
                             1);
  for (size_t i = 0; tensor.type == ElementType::F32 && i != count; ++i)
    reinterpret_cast<float *>(memory.data())[i] = float(i % 17) / 16 - 0.5f;
  return memory;
}

static Error run(const Options &options) {
  auto loaded = Model::load(options.plan, options.load);
  if (!loaded)
    return loaded.takeError();
  std::shared_ptr<Model> model = *loaded;
  if (model->functions().empty())
    return Error("the plan has no functions");
  const Function *function = options.function.empty()
                                 ? model->functions().data()
                                 : model->function(options.function);
  if (!function)
    return Error("there is no function '" + options.function + "'");
  Call call(model, *function);
  std::vector<std::vector<double>> memory;
  for (size_t i = 0; i != function->inputs().size(); ++i) {
    const Parameter &input = function->inputs()[i];
    Tensor tensor(input.type, nullptr, shapeOf(input, options));
    memory.push_back(numbersFor(tensor));
    tensor.data = memory.back().data();
    if (Error error = call.setInput(i, tensor))
      return error;
    std::printf("%s: %s\n", input.name.c_str(), tensor.describe().c_str());
  }
  std::vector<State> states;
  states.reserve(function->states().size());
  for (const Parameter &parameter : function->states()) {
    std::vector<int64_t> shape = shapeOf(parameter, options);
    auto state = model->createState(parameter, shape);
    if (!state)
      return state.takeError();
    states.push_back(std::move(*state));
    if (Error error = call.setState(parameter.name, states.back()))
      return error;
  }
  for (int i = 0; i < options.repeat; ++i) {
    auto start = std::chrono::steady_clock::now();
    if (Error error = call.run())
      return error;
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    std::printf("run %d: %.3f ms\n", i, time.count());
  }
  for (size_t i = 0; i != call.numOutputs(); ++i) {
    const Tensor &tensor = call.output(i).tensor();
    std::string digest =
        tensor.isContiguous()
            ? digestOf({tensor.as<std::byte>(),
                        size_t(tensor.size()) * byteSize(tensor.type)})
            : "with gaps";
    std::printf("%s: %s %s\n", function->outputs()[i].name.c_str(),
                tensor.describe().c_str(), digest.c_str());
  }
  const FrameReport &report = call.report();
  std::printf("arena: %lld bytes, tensors %lld, at least %lld\n",
              static_cast<long long>(report.arenaBytes),
              static_cast<long long>(report.tensorBytes),
              static_cast<long long>(report.lowerBound));
  return Error::success();
}

int main(int argc, char **argv) {
  Expected<Options> options = parse(std::span(argv, size_t(argc)).subspan(1));
  Error error = options ? run(*options) : options.takeError();
  if (!error)
    return 0;
  std::fprintf(stderr, "corten-run-plan: %s\n", error.message().c_str());
  return 1;
}
