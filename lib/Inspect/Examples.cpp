// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Inspect/Examples.h"

#include "corten/Program/Outline.h"
#include "corten/Pt2/Safetensors.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using llvm::StringRef;

/// A tensor without axes.
template <typename T> static Pt2Example::Data scalar(T value) {
  auto owner = std::make_shared<T>(value);
  StringRef bytes(reinterpret_cast<const char *>(owner.get()), sizeof(T));
  return {bytes, std::move(owner)};
}

static llvm::Expected<ExampleTensor> tensorOf(const Pt2Example &example) {
  ExampleTensor result;
  result.source = example.path;
  switch (example.kind) {
  case Pt2Example::Kind::Bool:
    result.dtype = ScalarType::Bool;
    result.data = scalar(example.integer != 0);
    return result;
  case Pt2Example::Kind::Int:
    result.dtype = ScalarType::Int64;
    result.data = scalar(example.integer);
    return result;
  case Pt2Example::Kind::Float:
    result.dtype = ScalarType::Float64;
    result.data = scalar(example.floating);
    return result;
  case Pt2Example::Kind::Tensor: {
    result.dtype = example.dtype;
    result.shape = example.shape;
    result.hasData = example.hasData;
    if (!result.hasData)
      return result;
    llvm::Expected<Pt2Example::Data> data = example.data();
    if (!data)
      return data.takeError();
    result.data = std::move(*data);
    return result;
  }
  case Pt2Example::Kind::None:
  case Pt2Example::Kind::String:
  case Pt2Example::Kind::Object:
    break;
  }
  return llvm::createStringError("the example input " + example.path +
                                 " is no tensor and no number");
}

/// What a buffer holds.
static ExampleTensor tensorOf(StringRef path, const TensorView &weight) {
  ExampleTensor result;
  result.source = path.str();
  result.dtype = weight.dtype;
  result.shape.assign(weight.shape.begin(), weight.shape.end());
  result.data.bytes =
      StringRef(static_cast<const char *>(weight.data), weight.bytes);
  result.data.owner = weight.owner;
  return result;
}

static llvm::Expected<ExampleCall> callOf(const Program &program,
                                          llvm::ArrayRef<Pt2Example> examples) {
  ExampleCall call;
  for (const InputSpec &input : program.inputs) {
    bool isUsers = input.kind == InputSpec::Kind::UserInput;
    const Pt2Example *example = isUsers ? &examples.front() : nullptr;
    if (isUsers)
      examples = examples.drop_front();
    if (!isGraphInput(input))
      continue;
    std::vector<ExampleTensor> &place =
        input.isMutated ? call.states : call.inputs;
    if (!isUsers) {
      if (input.weight < 0)
        return llvm::createStringError("nothing says what the buffer " +
                                       input.target + " holds at first");
      place.push_back(tensorOf(input.target, program.weights[input.weight]));
      continue;
    }
    llvm::Expected<ExampleTensor> tensor = tensorOf(*example);
    if (!tensor)
      return tensor.takeError();
    place.push_back(std::move(*tensor));
  }
  return call;
}

llvm::Expected<ExampleCall>
corten::readExampleCall(const Pt2EntryPoint &entryPoint,
                        const WeightSource &weights) {
  llvm::Expected<Pt2File> file = Pt2File::open(entryPoint.file);
  if (!file)
    return file.takeError();
  llvm::Expected<std::optional<NamedWeights>> named = openWeights(weights);
  if (!named)
    return named.takeError();
  llvm::Expected<std::unique_ptr<Program>> program =
      readPt2(*file, entryPoint, *named ? &**named : nullptr);
  if (!program)
    return program.takeError();
  StringRef model =
      entryPoint.model.empty() ? file->models().front() : entryPoint.model;
  llvm::Expected<std::vector<Pt2Example>> examples = file->examples(model);
  if (!examples)
    return llvm::createStringError(entryPoint.file + ": " +
                                   llvm::toString(examples.takeError()));
  size_t numInputs =
      llvm::count_if((*program)->inputs, [](const InputSpec &input) {
        return input.kind == InputSpec::Kind::UserInput;
      });
  if (examples->size() != numInputs)
    return llvm::createStringError(
        entryPoint.file + ": the file has " + llvm::Twine(examples->size()) +
        " example inputs for a program with " + llvm::Twine(numInputs) +
        ": torch.export.save writes those that the program has in "
        "example_inputs");
  llvm::Expected<ExampleCall> call = callOf(**program, *examples);
  if (!call)
    return llvm::createStringError(entryPoint.file + ": " +
                                   llvm::toString(call.takeError()));
  return call;
}
