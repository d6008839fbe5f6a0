// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Session.h"

#include "corten/Model/Engine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using namespace corten::tool;
using llvm::StringRef;

void tool::addPrecision(CLI::App &command, PrecisionOptions &options) {
  command
      .add_option("--precision", options.factors,
                  "Compute products with constant weights in bf16, or those "
                  "of matrices in int8: faster, and less exact")
      ->type_name("bf16|int8")
      ->check(CLI::IsMember({"bf16", "int8"}));
  command.add_flag("--fast-math", options.isFastMath,
                   "Compute convolutions in forms with fewer multiplications "
                   "that lose up to a digit");
}

std::string PrecisionOptions::text() const {
  if (!isFastMath)
    return factors;
  return factors.empty() ? "fast_math" : factors + ",fast_math";
}

void tool::addCallOptions(CLI::App &command, CallOptions &options) {
  command
      .add_option("PATH", options.path,
                  "An asset (NAME.aimodel), a plan (NAME.cplan) or a program "
                  "of torch.export.save (NAME.pt2)")
      ->required();
  options.weights.addTo(command);
  command
      .add_option("--entrypoint", options.function,
                  "Which one, where there are several")
      ->type_name("NAME");
  addOlderName(command, options.function);
  command
      .add_option("--input", options.inputs,
                  "An input from a file: FILE.npy, FILE.npz, raw:FILE, or an "
                  "image (FILE.png, FILE.jpg). FILE.npz alone is for all "
                  "inputs by their names")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  command
      .add_option(
          "--shape", options.shapes,
          "The shape of an input that is random, raw, or an image, or of "
          "a state")
      ->type_name("NAME=1,3,224,224")
      ->allow_extra_args(false);
  command
      .add_option("--mean", options.images.mean,
                  "What is subtracted from the channels of images, which are "
                  "from 0 to 1")
      ->delimiter(',')
      ->type_name("R,G,B")
      ->allow_extra_args(false);
  command
      .add_option("--std", options.images.deviation,
                  "What the channels of images are divided by after that")
      ->delimiter(',')
      ->type_name("R,G,B")
      ->check(CLI::PositiveNumber)
      ->allow_extra_args(false);
  command.add_option("--seed", options.seed, "Of the random inputs");
  addPrecision(command, options.precision);
  command.add_flag("--metal-kernels", options.metalKernels,
                   "Compile and run the Metal kernels that a plan brings; "
                   "those of an asset are");
  command
      .add_option("--memory-limit", options.memoryLimit,
                  "How many bytes tensors may have at once (512MB, 2GB)")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->type_name("SIZE");
  command
      .add_option("--asset", options.asset,
                  "Where the asset of a plan is, if it was moved")
      ->type_name("PATH");
}

llvm::Expected<std::pair<StringRef, StringRef>>
tool::assignment(StringRef option, StringRef argument,
                 llvm::ArrayRef<runtime::Parameter> parameters) {
  auto [name, text] = argument.split('=');
  if (text.empty() && parameters.size() == 1)
    return std::pair(StringRef(parameters.front().name), argument);
  for (const runtime::Parameter &parameter : parameters)
    if (parameter.name == name && !text.empty())
      return std::pair(name, text);
  std::string names = llvm::join(
      llvm::map_range(parameters, [](const auto &p) { return p.name; }), ", ");
  return llvm::createStringError(option + ": want NAME=VALUE with a name of " +
                                 names + ", not " + argument);
}

static llvm::Expected<const runtime::Function *>
chooseFunction(const runtime::Model &model, StringRef name) {
  if (name.empty() && model.functions().size() == 1)
    return &model.functions().front();
  if (const runtime::Function *found =
          model.function(name.empty() ? StringRef("main") : name))
    return found;
  return llvm::createStringError(
      "--entrypoint: there is none of this name; the model has " +
      llvm::join(llvm::map_range(model.functions(),
                                 [](const auto &f) { return f.name(); }),
                 ", "));
}

/// By the name of the input.
using Sources = llvm::StringMap<InputSource>;

static llvm::Expected<Sources> readSources(const CallOptions &options,
                                           const runtime::Function &function) {
  llvm::ArrayRef<runtime::Parameter> inputs(function.inputs());
  Sources sources;
  for (StringRef argument : options.inputs) {
    if (argument.ends_with(".npz") && !argument.contains('=')) {
      for (const runtime::Parameter &input : inputs)
        sources[input.name].text = argument.str();
      continue;
    }
    auto pair = assignment("--input", argument, inputs);
    if (!pair)
      return pair.takeError();
    sources[pair->first].text = pair->second.str();
  }
  // States have shapes as well. Without a name it is that of the only input.
  std::vector<runtime::Parameter> shaped(inputs);
  llvm::append_range(shaped, function.states());
  for (StringRef argument : options.shapes) {
    bool isNamed = argument.contains('=') || inputs.empty();
    auto pair = assignment("--shape", argument,
                           isNamed ? llvm::ArrayRef(shaped) : inputs);
    if (!pair)
      return pair.takeError();
    sources[pair->first].shape = pair->second.str();
  }
  return sources;
}

static llvm::Expected<Owned> makeInput(const runtime::Parameter &input,
                                       const InputSource &source,
                                       const ImageOptions &images,
                                       std::mt19937 &random) {
  if (!source.text.empty())
    return readInput(source, input, images);
  auto shape = shapeFor(input, source.shape);
  if (!shape)
    return shape.takeError();
  return randomInput(input, *shape, random);
}

static llvm::Error translate(const runtime::Error &error) {
  return error ? llvm::createStringError(error.message())
               : llvm::Error::success();
}

/// Zeros, of the shape that is fixed or was said.
static llvm::Expected<runtime::State> makeState(const runtime::Model &model,
                                                const runtime::Parameter &state,
                                                StringRef shape) {
  auto extents = shapeFor(state, shape);
  if (!extents)
    return extents.takeError();
  bool isFixed = llvm::all_of(
      state.axes, [](const runtime::Axis &axis) { return axis.isFixed(); });
  if (!isFixed && shape.empty())
    return llvm::createStringError(
        "the state '" + state.name + "' is " + state.describe() +
        ": say which shape it is to have, as in --shape " + state.name + "=" +
        llvm::join(llvm::map_range(*extents,
                                   [](int64_t n) { return std::to_string(n); }),
                   ","));
  runtime::Expected<runtime::State> made = model.createState(state, *extents);
  if (!made)
    return translate(made.takeError());
  return std::move(*made);
}

llvm::Error Session::run() const { return translate(call->run()); }

llvm::Expected<Session> tool::openSession(const CallOptions &options,
                                          Progress &progress) {
  progress.show("compiling");
  runtime::LoadOptions loading;
  loading.threads = options.threads;
  loading.precision = options.precision.text();
  if (options.metalKernels)
    loading.foreign = metalKernels();
  loading.arenaLimit = options.memoryLimit.value_or(loading.arenaLimit);
  loading.assetPath = options.asset;
  llvm::Expected<WeightSource> weights = options.weights.parse();
  if (!weights)
    return weights.takeError();
  llvm::Expected<LoadedModel> loaded =
      loadForEngine(options.path, loading, *weights);
  if (!loaded)
    return loaded.takeError();
  if (!loaded->warnings.empty())
    Progress::clear();
  for (const std::string &warning : loaded->warnings)
    llvm::errs() << "corten: warning: " << warning << '\n';
  Session session;
  session.model = std::move(loaded->model);
  auto function = chooseFunction(*session.model, options.function);
  if (!function)
    return function.takeError();
  session.function = *function;
  session.call =
      std::make_unique<runtime::Call>(session.model, *session.function);
  llvm::ArrayRef<runtime::Parameter> inputs(session.function->inputs());
  llvm::Expected<Sources> sources = readSources(options, *session.function);
  if (!sources)
    return sources.takeError();
  progress.show("reading inputs");
  std::mt19937 random(options.seed);
  for (const runtime::Parameter &input : inputs) {
    llvm::Expected<Owned> made =
        makeInput(input, sources->lookup(input.name), options.images, random);
    if (!made)
      return made.takeError();
    if (llvm::Error error =
            translate(session.call->setInput(input.name, made->tensor)))
      return error;
    session.arguments.push_back(std::move(*made));
  }
  for (const runtime::Parameter &state : session.function->states()) {
    llvm::Expected<runtime::State> made =
        makeState(*session.model, state, sources->lookup(state.name).shape);
    if (!made)
      return made.takeError();
    // The call refers to what stays where it is.
    if (llvm::Error error =
            translate(session.call->setState(state.name, *made)))
      return error;
    session.states.push_back(std::move(*made));
  }
  return session;
}
