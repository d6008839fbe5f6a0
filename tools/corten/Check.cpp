// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Check.h"

#include "Closeness.h"
#include "Terminal.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Inspect/Examples.h"
#include "corten/Model/Engine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <random>

using namespace corten;
using namespace corten::tool;
using llvm::StringRef;
using runtime::ElementType;
using runtime::Tensor;
namespace fs = llvm::sys::fs;

static llvm::Error translate(const runtime::Error &error) {
  return error ? llvm::createStringError(error.message())
               : llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// What the runtime calls a type of torch's; none where it has no such type.
static std::optional<ElementType> elementTypeOf(ScalarType type) {
  switch (type) {
  case ScalarType::Bool:
    return ElementType::Bool;
  case ScalarType::UInt8:
    return ElementType::UI8;
  case ScalarType::Int8:
    return ElementType::SI8;
  case ScalarType::UInt16:
    return ElementType::UI16;
  case ScalarType::Int16:
    return ElementType::SI16;
  case ScalarType::UInt32:
    return ElementType::UI32;
  case ScalarType::Int32:
    return ElementType::SI32;
  case ScalarType::UInt64:
    return ElementType::UI64;
  case ScalarType::Int64:
    return ElementType::SI64;
  case ScalarType::Float16:
    return ElementType::F16;
  case ScalarType::BFloat16:
    return ElementType::BF16;
  case ScalarType::Float32:
    return ElementType::F32;
  case ScalarType::Float64:
    return ElementType::F64;
  case ScalarType::Complex64:
    return ElementType::C64;
  case ScalarType::Float8E4M3FN:
    return ElementType::F8E4M3FN;
  case ScalarType::Float8E5M2:
    return ElementType::F8E5M2;
  case ScalarType::Float8E8M0FNU:
    return ElementType::F8E8M0FNU;
  default:
    return std::nullopt;
  }
}

/// `random` gives the same numbers in every call, in its order.
static llvm::Expected<Owned> argumentOf(const ExampleTensor &example,
                                        const runtime::Parameter &parameter,
                                        std::mt19937 &random) {
  if (!example.hasData)
    return randomInput(parameter, example.shape, random);
  std::optional<ElementType> type = elementTypeOf(example.dtype);
  if (!type || example.shape.size() > size_t(runtime::kMaxRank))
    return llvm::createStringError(
        "the example for " + parameter.name + ", " + example.source +
        ", is of a type that the engine cannot be given: " +
        scalarTypeName(example.dtype));
  Tensor from(*type, const_cast<char *>(example.data.bytes.data()),
              example.shape);
  return convert(from, example.source, parameter);
}

namespace {
/// A function that was called.
struct Called {
  std::shared_ptr<runtime::Model> model;
  const runtime::Function *function = nullptr;
  std::vector<Owned> inputs;
  std::vector<runtime::State> states;
  std::unique_ptr<runtime::Call> call;

  /// Null if there is no result and no state of this name.
  const Tensor *find(StringRef name) const;
};
} // namespace

const Tensor *Called::find(StringRef name) const {
  for (auto [index, output] : llvm::enumerate(function->outputs()))
    if (output.name == name)
      return &call->output(index).tensor();
  for (const runtime::State &state : states)
    if (state.name() == name)
      return &state.tensor();
  return nullptr;
}

static llvm::Error setStates(Called &called, llvm::ArrayRef<ExampleTensor> as,
                             std::mt19937 &random) {
  // The call refers to what stays where it is.
  called.states.reserve(as.size());
  for (auto [parameter, example] :
       llvm::zip_equal(called.function->states(), as)) {
    llvm::Expected<Owned> value = argumentOf(example, parameter, random);
    if (!value)
      return value.takeError();
    runtime::Expected<runtime::State> state =
        called.model->createState(parameter, value->tensor.shape());
    if (!state)
      return translate(state.takeError());
    if (llvm::Error error = translate(state->write(value->tensor)))
      return error;
    called.states.push_back(std::move(*state));
    if (llvm::Error error = translate(
            called.call->setState(parameter.name, called.states.back())))
      return error;
  }
  return llvm::Error::success();
}

/// Calls a function with what its program was exported with.
static llvm::Expected<Called> callWith(std::shared_ptr<runtime::Model> model,
                                       StringRef name,
                                       const ExampleCall &example) {
  Called called;
  called.function = model->function(name);
  called.model = std::move(model);
  if (!called.function)
    return llvm::createStringError("the asset has no entry point " + name);
  if (called.function->inputs().size() != example.inputs.size() ||
      called.function->states().size() != example.states.size())
    return llvm::createStringError(
        "the asset takes other inputs than its program was exported with");
  called.call = std::make_unique<runtime::Call>(called.model, *called.function);
  std::mt19937 random;
  for (auto [parameter, given] :
       llvm::zip_equal(called.function->inputs(), example.inputs)) {
    llvm::Expected<Owned> value = argumentOf(given, parameter, random);
    if (!value)
      return value.takeError();
    if (llvm::Error error =
            translate(called.call->setInput(parameter.name, value->tensor)))
      return error;
    called.inputs.push_back(std::move(*value));
  }
  if (llvm::Error error = setStates(called, example.states, random))
    return error;
  if (llvm::Error error = translate(called.call->run()))
    return error;
  return called;
}

//===----------------------------------------------------------------------===//
// On the engine
//===----------------------------------------------------------------------===//

/// The program as it is converted, every operation for itself: what it computes
/// is returned, so nothing can be fused with it.
static llvm::Expected<std::shared_ptr<runtime::Model>>
loadPlain(const ProgramFile &file, const WeightSource &weights) {
  ConvertFilesOptions plain;
  plain.weights = weights;
  plain.assertions = true;
  llvm::Expected<ConvertedFiles> converted = convertFiles({file}, plain);
  if (!converted)
    return converted.takeError();
  std::vector<uint64_t> all;
  converted->model->module()->walk([&](mlir::Operation *op) {
    if (llvm::isa<coreai::ConstantOp>(op))
      return;
    if (std::optional<uint64_t> number = opNumber(op->getLoc()))
      all.push_back(*number);
  });
  runtime::LoadOptions portable;
  portable.isa = runtime::Isa::Portable;
  portable.check = true;
  llvm::Expected<WatchedModel> watched = loadWatched(
      converted->model->module(), file.name, all, std::move(portable));
  if (!watched)
    return watched.takeError();
  return std::move(watched->model);
}

/// That a result has the type and the extents that the asset says.
static llvm::Error checkDeclared(const Called &called) {
  for (const runtime::Parameter &output : called.function->outputs()) {
    const Tensor &tensor = *called.find(output.name);
    bool fits =
        tensor.type == output.type && size_t(tensor.rank) == output.axes.size();
    for (size_t i = 0; fits && i != output.axes.size(); ++i)
      fits =
          !output.axes[i].isFixed() || tensor.extents[i] == output.axes[i].low;
    if (!fits)
      return llvm::createStringError("the output " + output.name + " is " +
                                     tensor.describe() + "; the asset says " +
                                     output.describe());
  }
  return llvm::Error::success();
}

/// Says of which results elements are no numbers: right or wrong, nothing can
/// be compared there.
static void warnOfNaN(StringRef name, const Tensor &tensor) {
  size_t count =
      llvm::count_if(numbersOf(tensor), [](double x) { return std::isnan(x); });
  if (!count)
    return;
  Progress::clear();
  llvm::errs() << "corten: warning: " << name << " has " << count
               << " elements that are no numbers (NaN), on the inputs that "
                  "the program was exported with\n";
}

/// Says which inputs are not those that the program was exported with.
static void noteRandomInputs(const ExampleCall &example) {
  std::vector<std::string> names;
  for (llvm::ArrayRef<ExampleTensor> tensors :
       {llvm::ArrayRef(example.inputs), llvm::ArrayRef(example.states)})
    for (const ExampleTensor &tensor : tensors)
      if (!tensor.hasData)
        names.push_back(tensor.source);
  if (names.empty())
    return;
  Progress::clear();
  llvm::errs() << "corten: note: the program was exported on the meta "
                  "device: random numbers stand for "
               << llvm::join(names, ", ") << '\n';
}

static llvm::Expected<int> checkOnEngine(StringRef asset,
                                         const ProgramFile &file,
                                         const CheckOptions &options) {
  llvm::Expected<ExampleCall> example =
      readExampleCall(entryPointOf(file), options.weights);
  if (!example)
    return example.takeError();
  noteRandomInputs(*example);
  auto run = [&](auto loaded) -> llvm::Expected<Called> {
    if (!loaded)
      return loaded.takeError();
    return callWith(std::move(*loaded), file.name, *example);
  };
  llvm::Expected<std::unique_ptr<Model>> opened = Model::open(asset);
  if (!opened)
    return opened.takeError();
  llvm::Expected<Called> actual = run(loadForEngine(**opened));
  if (!actual)
    return actual.takeError();
  if (llvm::Error error = checkDeclared(*actual))
    return error;
  llvm::Expected<Called> expected = run(loadPlain(file, options.weights));
  if (!expected)
    return expected.takeError();
  std::vector<Closeness> all;
  auto add = [&](const runtime::Parameter &parameter) -> llvm::Error {
    const Tensor *ours = actual->find(parameter.name);
    const Tensor *theirs = expected->find(parameter.name);
    if (!theirs || !std::ranges::equal(ours->shape(), theirs->shape()))
      return llvm::createStringError(
          parameter.name + " is " + ours->describe() + "; without passes it " +
          (theirs ? "is " + theirs->describe() : std::string("is not there")));
    warnOfNaN(parameter.name, *theirs);
    all.push_back(
        compare(parameter.name, *ours, *theirs, std::nullopt, Scale::Largest));
    return llvm::Error::success();
  };
  for (auto parameters :
       {actual->function->outputs(), actual->function->states()})
    for (const runtime::Parameter &parameter : parameters)
      if (llvm::Error error = add(parameter))
        return error;
  bool areClose = llvm::all_of(all, [](const auto &c) { return c.isClose(); });
  Progress::clear();
  if (options.isShown || !areClose)
    print(options.isShown ? llvm::outs() : llvm::errs(), std::move(all));
  return areClose ? Success : Found;
}

//===----------------------------------------------------------------------===//
// Beside PyTorch
//===----------------------------------------------------------------------===//

/// What `corten verify` is asked to end with if it finds differences: Python
/// ends with 1 for whatever else goes wrong.
static constexpr int kDifferent = 3;

/// Runs `corten verify`. The asset has no name yet that coreai-core takes, so
/// there is a link to it.
static llvm::Expected<int> checkBesideTorch(StringRef asset,
                                            const ProgramFile &file,
                                            const CheckOptions &options) {
  llvm::SmallString<128> folder;
  if (std::error_code code = fs::createUniqueDirectory("corten-check", folder))
    return llvm::createStringError(code, folder + ": " + code.message());
  llvm::scope_exit remove([&] { (void)fs::remove_directories(folder.str()); });
  llvm::SmallString<128> target(asset);
  if (std::error_code code = fs::make_absolute(target))
    return llvm::createStringError(code, asset + ": " + code.message());
  llvm::SmallString<128> link(folder);
  llvm::sys::path::append(link, "checked.aimodel");
  if (std::error_code code = fs::create_link(target, link))
    return llvm::createStringError(code, link + ": " + code.message());
  llvm::SmallString<128> table(folder);
  llvm::sys::path::append(table, "table.txt");
  std::vector<std::string> words = {
      "corten.verify",         std::string(link),
      "--reference",           file.path,
      "--entrypoint",          file.name,
      "--status-if-different", std::to_string(kDifferent)};
  if (!options.weights.folder.empty())
    words.insert(words.end(), {"--weights", options.weights.folder});
  for (const TiedWeight &weight : options.weights.tied)
    words.insert(words.end(), {"--tied", weight.name + "=" + weight.stored});
  llvm::Expected<int> status = runPython(
      options.command, words, options.isShown ? StringRef() : StringRef(table));
  if (!status)
    return status.takeError();
  if (*status != Success && *status != kDifferent)
    return llvm::createStringError(
        "PyTorch could not be asked, see above; --check alone compares on the "
        "engine");
  if (*status == Success)
    return Success;
  if (!options.isShown)
    if (auto text = llvm::MemoryBuffer::getFile(table))
      llvm::errs() << (*text)->getBuffer();
  return Found;
}

llvm::Expected<int> tool::checkAsset(StringRef asset,
                                     llvm::ArrayRef<ProgramFile> files,
                                     const CheckOptions &options) {
  int status = Success;
  for (const ProgramFile &file : files) {
    llvm::Expected<int> found = options.reference == Reference::Torch
                                    ? checkBesideTorch(asset, file, options)
                                    : checkOnEngine(asset, file, options);
    if (!found)
      return llvm::createStringError("check of " + file.name + ": " +
                                     llvm::toString(found.takeError()));
    status = std::max(status, *found);
  }
  return status;
}
