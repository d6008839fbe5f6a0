// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs plans about which nothing is known.

#ifndef CORTEN_RUNTIME_UNITTESTS_RUNALL_H
#define CORTEN_RUNTIME_UNITTESTS_RUNALL_H

#include "corten/Runtime/Model.h"
#include "corten/Runtime/PlanFile.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace corten::runtime {

/// Bounds on the time and memory of whatever a damaged plan says.
inline LoadOptions bounded(int threads = 1) {
  LoadOptions options;
  options.threads = threads;
  options.arenaLimit = 1 << 20;
  options.elementLimit = 8192;
  options.stepLimit = 200;
  options.check = true;
  return options;
}

/// A shape that a parameter allows, if that is a small one.
inline std::vector<int64_t> shapeOf(const Parameter &parameter) {
  std::vector<int64_t> shape;
  shape.reserve(parameter.axes.size());
  for (const Axis &axis : parameter.axes)
    shape.push_back(std::clamp<int64_t>(axis.isFixed() ? axis.low : 2,
                                        std::clamp<int64_t>(axis.low, 0, 64),
                                        64));
  return shape;
}

/// Sets every input to the numbers 1, 2, 3, ..., to true, or, as they may be
/// indices, to 1, 0, 1, ... Memory is kept in `memory`.
inline std::string setInputs(Call &call, const Function &function,
                             std::vector<std::vector<double>> &memory) {
  std::string text;
  for (size_t i = 0; i != function.inputs().size(); ++i) {
    const Parameter &input = function.inputs()[i];
    Tensor tensor(input.type, nullptr, shapeOf(input));
    if (tensor.size() < 0 || tensor.size() > 4096)
      continue;
    memory.emplace_back(size_t(tensor.size()) + 1);
    tensor.data = memory.back().data();
    if (input.type == ElementType::F32)
      for (int64_t k = 0; k != tensor.size(); ++k)
        tensor.as<float>()[k] = float(k + 1);
    if (input.type == ElementType::SI32)
      for (int64_t k = 0; k != tensor.size(); ++k)
        tensor.as<int32_t>()[k] = int32_t((k + 1) % 2);
    if (input.type == ElementType::Bool)
      std::memset(tensor.data, 1, size_t(tensor.size()));
    if (Error error = call.setInput(i, tensor))
      text += error.message() + "\n";
  }
  return text;
}

/// Runs every function with inputs of the shapes that it asks for. What comes
/// of it, errors too, as one text.
inline std::string runAll(const std::shared_ptr<Model> &model) {
  std::string text;
  for (const Function &function : model->functions()) {
    Call call(model, function);
    std::vector<std::vector<double>> memory;
    text += setInputs(call, function, memory);
    std::vector<State> states;
    states.reserve(function.states().size());
    for (const Parameter &parameter : function.states()) {
      std::vector<int64_t> shape = shapeOf(parameter);
      auto state = model->createState(parameter, shape);
      if (!state)
        continue;
      states.push_back(std::move(*state));
      if (Error error = call.setState(parameter.name, states.back()))
        text += error.message() + "\n";
    }
    if (Error error = call.run()) {
      text += error.message() + "\n";
      continue;
    }
    for (size_t i = 0; i != call.numOutputs(); ++i) {
      const Tensor &tensor = call.output(i).tensor();
      text += tensor.describe();
      if (tensor.isContiguous())
        text += " " + digestOf({tensor.as<std::byte>(),
                                size_t(tensor.size()) * byteSize(tensor.type)});
    }
  }
  return text;
}

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_UNITTESTS_RUNALL_H
