// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs plans about which nothing is known.

#ifndef CORTEN_RUNTIME_UNITTESTS_RUNALL_H
#define CORTEN_RUNTIME_UNITTESTS_RUNALL_H

#include "corten/Runtime/Model.h"
#include "corten/Runtime/PlanFile.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
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

/// Larger inputs are not set: the call is refused.
inline constexpr int64_t kMostElements = 4096;

/// A shape that a parameter allows, if that is a small one; else one whose
/// number of elements is a number still.
inline std::vector<int64_t> shapeOf(const Parameter &parameter) {
  std::vector<int64_t> shape;
  shape.reserve(parameter.axes.size());
  int64_t rest = kMostElements;
  for (const Axis &axis : parameter.axes) {
    int64_t most = std::max<int64_t>(rest, 64);
    shape.push_back(std::clamp<int64_t>(axis.isFixed() ? axis.low : 2,
                                        std::clamp<int64_t>(axis.low, 0, most),
                                        most));
    rest /= std::max<int64_t>(shape.back(), 1);
  }
  return shape;
}

/// Fills a tensor: floats with 1, 2, 3, ..., integers of 8 and 16 bits the same
/// up to 100, others, as they may be indices, with 1, 0, 1, ..., booleans with
/// true.
inline void fill(const Tensor &tensor) {
  withType(tensor.type, [&]<typename T>() {
    T *elements = tensor.as<T>();
    for (int64_t k = 0; k != tensor.size(); ++k)
      if constexpr (std::is_same_v<T, bool>)
        elements[k] = true;
      else if constexpr (FloatElement<T> || ComplexElement<T>)
        elements[k] = T(float(k + 1));
      else if constexpr (std::is_integral_v<T> && sizeof(T) <= 2)
        elements[k] = T(1 + k % 100);
      else
        elements[k] = T((k + 1) % 2);
  });
}

/// Fills every input, in `memory`.
inline std::string setInputs(Call &call, const Function &function,
                             std::vector<std::vector<double>> &memory) {
  std::string text;
  for (size_t i = 0; i != function.inputs().size(); ++i) {
    const Parameter &input = function.inputs()[i];
    Tensor tensor(input.type, nullptr, shapeOf(input));
    if (tensor.size() < 0 || tensor.size() > kMostElements)
      continue;
    memory.emplace_back(size_t(tensor.size()) + 1);
    tensor.data = memory.back().data();
    fill(tensor);
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
