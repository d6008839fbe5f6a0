// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command that runs a model on the engine.

#include "Commands.h"
#include "Terminal.h"
#include "corten/Model/Engine.h"
#include "corten/Runtime/Kernel.h"
#include "corten/Support/Npy.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <random>

using namespace corten;
using namespace corten::tool;
using runtime::ElementType;
using runtime::Tensor;

namespace {
struct RunOptions {
  std::string path;
  std::string function;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> shapes;
  int threads = 0;
  int steps = 1;
  unsigned seed = 0;
  bool quiet = false;
};

/// Elements and a view of them.
struct Owned {
  std::vector<char> memory;
  Tensor tensor;
};
} // namespace

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// The element type that NumPy writes so.
static std::optional<ElementType> fromNumpy(llvm::StringRef type) {
  return llvm::StringSwitch<std::optional<ElementType>>(type)
      .Case("b1", ElementType::Bool)
      .Case("i1", ElementType::SI8)
      .Case("i2", ElementType::SI16)
      .Case("i4", ElementType::SI32)
      .Case("i8", ElementType::SI64)
      .Case("u1", ElementType::UI8)
      .Case("u2", ElementType::UI16)
      .Case("u4", ElementType::UI32)
      .Case("u8", ElementType::UI64)
      .Case("f2", ElementType::F16)
      .Case("f4", ElementType::F32)
      .Case("f8", ElementType::F64)
      .Case("c8", ElementType::C64)
      .Default(std::nullopt);
}

/// What NumPy calls an element type; bytes where it has no name for it.
static llvm::StringRef toNumpy(ElementType type) {
  switch (type) {
  case ElementType::Bool:
    return "|b1";
  case ElementType::SI8:
    return "|i1";
  case ElementType::SI16:
    return "<i2";
  case ElementType::SI32:
    return "<i4";
  case ElementType::SI64:
    return "<i8";
  case ElementType::UI16:
  case ElementType::BF16:
    return "<u2";
  case ElementType::UI32:
    return "<u4";
  case ElementType::UI64:
    return "<u8";
  case ElementType::F16:
    return "<f2";
  case ElementType::F32:
    return "<f4";
  case ElementType::F64:
    return "<f8";
  case ElementType::C64:
    return "<c8";
  default:
    return "|u1";
  }
}

/// The array of a file as the parameter wants it: integers and floats are
/// converted.
static llvm::Expected<Owned> readInput(llvm::StringRef path,
                                       const runtime::Parameter &parameter) {
  llvm::Expected<NpyArray> array = readNpy(path);
  if (!array)
    return array.takeError();
  std::optional<ElementType> type = fromNumpy(array->type);
  auto mismatch = [&](const llvm::Twine &what) {
    return llvm::createStringError(path + ": " + what + "; the input " +
                                   parameter.name + " is " +
                                   parameter.describe());
  };
  if (array->type == "u2" && parameter.type == ElementType::BF16)
    type = ElementType::BF16;
  if (!type)
    return mismatch("elements of the type " + array->type);
  if (array->shape.size() > size_t(runtime::kMaxRank))
    return mismatch("too many axes");
  size_t width = runtime::byteSize(*type);
  Tensor from(*type, const_cast<char *>(array->elements.data.data()),
              array->shape);
  if (from.size() < 0 ||
      array->elements.data.size() / width < size_t(from.size()))
    return mismatch("the file ends before its elements do");
  if (array->isFortranOrder) {
    int64_t next = 1;
    for (int axis = 0; axis != from.rank; ++axis) {
      from.steps[axis] = next;
      next *= from.extents[axis];
    }
  }
  Owned result;
  result.memory.resize(size_t(from.size()) * runtime::byteSize(parameter.type));
  result.tensor = Tensor(parameter.type, result.memory.data(), array->shape);
  if (runtime::Error error = runtime::call(
          runtime::PortableKernel::Cast, {{&from, 1}, {&result.tensor, 1}, {}}))
    return mismatch(error.message());
  return result;
}

/// Random elements: floats as a network sees them, small whole numbers, which
/// are indices most of the time.
static Owned randomInput(const runtime::Parameter &parameter,
                         llvm::ArrayRef<int64_t> shape, std::mt19937 &random) {
  Owned result;
  Tensor numbers(ElementType::F32, nullptr, shape);
  std::vector<float> elements(size_t(numbers.size()));
  std::normal_distribution<float> normal;
  for (float &element : elements)
    element =
        runtime::isFloat(parameter.type) || parameter.type == ElementType::C64
            ? normal(random)
            : float(random() % 2);
  numbers.data = elements.data();
  result.memory.resize(elements.size() * runtime::byteSize(parameter.type));
  result.tensor = Tensor(parameter.type, result.memory.data(), shape);
  // Every type has zero and one.
  if (runtime::call(runtime::PortableKernel::Cast,
                    {{&numbers, 1}, {&result.tensor, 1}, {}}))
    llvm::fill(result.memory, char(0));
  return result;
}

/// NAME=TEXT, or TEXT where there is one name only.
static llvm::Expected<std::pair<llvm::StringRef, llvm::StringRef>>
assignment(llvm::StringRef option, llvm::StringRef argument,
           llvm::ArrayRef<runtime::Parameter> parameters) {
  auto [name, text] = argument.split('=');
  if (text.empty() && parameters.size() == 1)
    return std::pair(llvm::StringRef(parameters.front().name), argument);
  for (const runtime::Parameter &parameter : parameters)
    if (parameter.name == name && !text.empty())
      return std::pair(name, text);
  std::string names = llvm::join(
      llvm::map_range(parameters, [](const auto &p) { return p.name; }), ", ");
  return llvm::createStringError(option + ": want NAME=VALUE with a name of " +
                                 names + ", not " + argument);
}

/// The shape of an input that nobody gives: fixed, or as the user says.
static llvm::Expected<std::vector<int64_t>>
shapeFor(const runtime::Parameter &parameter, llvm::StringRef given) {
  std::vector<int64_t> shape;
  llvm::SmallVector<llvm::StringRef> extents;
  given.split(extents, ',', -1, false);
  for (auto [index, axis] : llvm::enumerate(parameter.axes)) {
    int64_t extent = axis.isFixed() ? axis.low : std::max<int64_t>(axis.low, 1);
    if (index < extents.size() &&
        extents[index].trim().getAsInteger(10, extent))
      return llvm::createStringError("--shape: " + given + " is no shape");
    shape.push_back(extent);
  }
  if (!extents.empty() && extents.size() != parameter.axes.size())
    return llvm::createStringError("--shape: " + given + " does not fit " +
                                   parameter.describe());
  return shape;
}

static llvm::Error saveOutput(const Tensor &tensor, llvm::StringRef path) {
  std::vector<char> memory(size_t(tensor.size()) *
                           runtime::byteSize(tensor.type));
  Tensor dense(tensor.type, memory.data(), tensor.shape());
  if (runtime::Error error = runtime::call(runtime::PortableKernel::Copy,
                                           {{&tensor, 1}, {&dense, 1}, {}}))
    return llvm::createStringError(error.message());
  return llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    writeNpy(os, toNumpy(tensor.type), dense.shape(), memory);
    return llvm::Error::success();
  });
}

/// A line about a result: how large, and between what its elements are.
static void describe(llvm::StringRef name, const Tensor &tensor) {
  std::vector<double> numbers(size_t(tensor.size()));
  Tensor wide(ElementType::F64, numbers.data(), tensor.shape());
  llvm::outs() << name << ": " << tensor.describe();
  if (!numbers.empty() && !runtime::call(runtime::PortableKernel::Cast,
                                         {{&tensor, 1}, {&wide, 1}, {}})) {
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

//===----------------------------------------------------------------------===//
// run
//===----------------------------------------------------------------------===//

static llvm::Error runModel(const RunOptions &options) {
  Progress progress;
  progress.show("compiling");
  runtime::LoadOptions loading;
  loading.threads = options.threads;
  llvm::Expected<LoadedModel> loaded = loadForEngine(options.path, loading);
  if (!loaded)
    return loaded.takeError();
  for (const std::string &warning : loaded->warnings)
    llvm::errs() << "corten: warning: " << warning << '\n';
  std::shared_ptr<runtime::Model> model = std::move(loaded->model);
  const runtime::Function *function =
      options.function.empty() && model->functions().size() == 1
          ? &model->functions().front()
          : model->function(options.function.empty() ? "main"
                                                     : options.function);
  if (!function)
    return llvm::createStringError(
        "--function: there is none of this name; the model has " +
        llvm::join(llvm::map_range(model->functions(),
                                   [](const auto &f) { return f.name(); }),
                   ", "));
  llvm::ArrayRef<runtime::Parameter> inputs(function->inputs());
  llvm::ArrayRef<runtime::Parameter> outputs(function->outputs());
  llvm::StringMap<std::string> files, shapes, targets;
  for (auto &[option, given, parameters, into] :
       {std::tuple("--input", &options.inputs, inputs, &files),
        std::tuple("--shape", &options.shapes, inputs, &shapes),
        std::tuple("--output", &options.outputs, outputs, &targets)})
    for (llvm::StringRef argument : *given) {
      auto pair = assignment(option, argument, parameters);
      if (!pair)
        return pair.takeError();
      (*into)[pair->first] = pair->second.str();
    }
  std::mt19937 random(options.seed);
  std::vector<Owned> arguments;
  runtime::Call call(model, *function);
  for (const runtime::Parameter &input : inputs) {
    auto file = files.find(input.name);
    if (file != files.end()) {
      llvm::Expected<Owned> read = readInput(file->second, input);
      if (!read)
        return read.takeError();
      arguments.push_back(std::move(*read));
    } else {
      auto shape = shapeFor(input, shapes.lookup(input.name));
      if (!shape)
        return shape.takeError();
      arguments.push_back(randomInput(input, *shape, random));
    }
    if (runtime::Error error =
            call.setInput(input.name, arguments.back().tensor))
      return llvm::createStringError(error.message());
  }
  std::vector<runtime::State> states;
  for (const runtime::Parameter &state : function->states()) {
    runtime::Expected<runtime::State> made = model->createState(state);
    if (!made)
      return llvm::createStringError(made.takeError().message());
    states.push_back(std::move(*made));
  }
  for (runtime::State &state : states)
    if (runtime::Error error = call.setState(state.name(), state))
      return llvm::createStringError(error.message());
  progress.show("running");
  auto start = std::chrono::steady_clock::now();
  for (int step = 0; step != options.steps; ++step)
    if (runtime::Error error = call.run())
      return llvm::createStringError(error.message());
  std::chrono::duration<double, std::milli> time =
      std::chrono::steady_clock::now() - start;
  for (size_t i = 0; i != outputs.size(); ++i) {
    const Tensor &tensor = call.output(i).tensor();
    auto target = targets.find(outputs[i].name);
    if (target != targets.end())
      if (llvm::Error error = saveOutput(tensor, target->second))
        return error;
    if (!options.quiet)
      describe(outputs[i].name, tensor);
  }
  if (!options.quiet)
    llvm::outs() << llvm::format("%.2f ms", time.count() / options.steps)
                 << (options.steps == 1 ? "\n" : " for each step\n");
  return llvm::Error::success();
}

void tool::addRun(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "run", "Runs a model on this machine's processor. Inputs that are not "
             "given are random.");
  auto options = std::make_shared<RunOptions>();
  command
      ->add_option("PATH", options->path,
                   "An asset (NAME.aimodel), a plan (NAME.cplan) or a program "
                   "of torch.export.save (NAME.pt2)")
      ->required();
  command
      ->add_option("--function", options->function,
                   "The entry point, where there are several")
      ->type_name("NAME");
  command
      ->add_option("--input", options->inputs,
                   "An input from a file of NumPy's")
      ->type_name("NAME=FILE.npy")
      ->allow_extra_args(false);
  command
      ->add_option("--shape", options->shapes,
                   "The shape of an input that is random")
      ->type_name("NAME=1,3,224,224")
      ->allow_extra_args(false);
  command->add_option("--output", options->outputs, "Where to write an output")
      ->type_name("NAME=FILE.npy")
      ->allow_extra_args(false);
  command
      ->add_option("--steps", options->steps,
                   "Call it so often, with the same inputs; states go on")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--threads", options->threads,
                   "How many threads to use; all that there are by default")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", options->seed, "Of the random inputs");
  command->add_flag("--quiet", options->quiet, "Print nothing");
  command->footer("Examples:\n"
                  "  corten run model.aimodel\n"
                  "  corten run model.aimodel --shape image=4,3,8,8 "
                  "--output probs=probs.npy\n"
                  "  corten run model.aimodel --steps 8");
  command->callback([options, &exitCode] {
    llvm::Error error = runModel(*options);
    exitCode = error ? failAtLength(std::move(error)) : Success;
  });
}
