// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is done with each element of a product before it is stored.

#ifndef CORTEN_RUNTIME_LIB_PORTABLE_EPILOGUE_H
#define CORTEN_RUNTIME_LIB_PORTABLE_EPILOGUE_H

#include "corten/Runtime/Kernel.h"
#include "corten/Runtime/TileProgram.h"

#include <algorithm>

namespace corten::runtime {

/// The program of an invocation, or the one that only narrows to the type of
/// the output, and the views that its further inputs come from.
class Epilogue {
public:
  /// Of a kernel with `operands` inputs of its own.
  Epilogue(const Invocation &call, size_t operands);

  /// That it fits: an input for each of the program's, of the output's shape.
  Error check(std::string_view kernel) const;

  /// Finds the lane of the result; an error if an input's type is not that of
  /// an instruction that takes it.
  Error resolve(TileLane &lane) const;

  /// The views that the inputs of the program after the first come from.
  std::span<const Tensor> inputs() const { return views; }
  const TileProgram &program() const { return *code; }
  const Tensor &output() const { return target; }

  /// What an input or the output has along an axis, from an element on.
  static TileOperand operand(const Tensor &tensor, int64_t offset, int axis) {
    return {static_cast<char *>(tensor.data) +
                offset * int64_t(byteSize(tensor.type)),
            tensor.steps[axis], tensor.type};
  }

private:
  const TileProgram *code;
  std::span<const Tensor> views;
  const Tensor &target;
};

namespace portable {

/// Whether products are made of elements of this type.
bool isFactor(ElementType type);

/// Calls `function.template operator()<T>()` for a type that products are made
/// of.
template <typename Function>
void withFactor(ElementType type, Function &&function) {
  if (type == ElementType::F16)
    function.template operator()<Float16>();
  else if (type == ElementType::BF16)
    function.template operator()<BFloat16>();
  else
    function.template operator()<float>();
}

/// What MatMulPacked checks of its operands.
Error checkPackedProduct(const Invocation &call);

/// How many inputs MatMulRouted has before those of a program, and what it
/// checks of them.
inline constexpr size_t kRoutedOperands = 3;
Error checkRoutedProduct(const Invocation &call);

/// Calls `fill(index, count, products)` for runs of elements along the last
/// axis of the output, and stores what the program makes of them.
template <typename Fill>
void storeProducts(const Epilogue &epilogue, Fill &&fill) {
  const Tensor &output = epilogue.output();
  if (output.size() == 0)
    return;
  static const TileFunction function = tileFunction(Isa::Portable);
  float products[kTileSize];
  TileOperand inputs[kMaxTileRegisters] = {{products, 1, ElementType::F32}};
  int last = output.rank - 1;
  std::array<int64_t, kMaxRank> index = {};
  auto offsetIn = [&](const Tensor &tensor) {
    int64_t offset = 0;
    for (int axis = 0; axis <= last; ++axis)
      offset += index[axis] * tensor.steps[axis];
    return offset;
  };
  while (true) {
    int64_t count =
        std::min<int64_t>(kTileSize, output.extents[last] - index[last]);
    fill(index, count, products);
    size_t numInputs = 1;
    for (const Tensor &view : epilogue.inputs())
      inputs[numInputs++] = Epilogue::operand(view, offsetIn(view), last);
    TileOperand target = Epilogue::operand(output, offsetIn(output), last);
    function(epilogue.program(), {inputs, numInputs}, {&target, 1}, count);
    index[last] += count;
    int axis = last;
    for (; axis >= 0 && index[axis] == output.extents[axis]; --axis) {
      index[axis] = 0;
      if (axis > 0)
        ++index[axis - 1];
    }
    if (axis < 0)
      return;
  }
}

} // namespace portable
} // namespace corten::runtime

#endif // CORTEN_RUNTIME_LIB_PORTABLE_EPILOGUE_H
