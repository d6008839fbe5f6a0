// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile programs in tests: the same by portable kernels, an instruction at a
// time, over whole tensors.

#ifndef CORTEN_RUNTIME_UNITTESTS_TILES_H
#define CORTEN_RUNTIME_UNITTESTS_TILES_H

#include "Tensors.h"

#include "corten/Runtime/TileProgram.h"

#include <algorithm>
#include <random>

namespace corten::runtime {

/// Elements of a type with a shape.
struct AnyTensor {
  std::vector<char> bytes;
  Tensor tensor;

  AnyTensor(ElementType type, std::span<const int64_t> shape)
      : tensor(type, nullptr, shape) {
    bytes.resize(size_t(tensor.size()) * byteSize(type) + 64);
    tensor.data = bytes.data();
  }

  double number(int64_t index) const {
    return withType(tensor.type, [&]<typename T>() -> double {
      if constexpr (ComplexElement<T>)
        return tensor.as<T>()[index].real();
      else
        return double(ComputeType<T>(tensor.as<T>()[index]));
    });
  }
};

/// The kernels that an opcode is named after.
inline PortableKernel kernelOf(TileOpcode opcode) {
  std::string name(info(opcode).name);
  if (name.starts_with("Integer"))
    name = name.substr(7);
  if (name == "And" || name == "Or" || name == "Xor")
    name = "Bitwise" + name;
  std::optional<PortableKernel> kernel = findKernel(name);
  return kernel ? *kernel : PortableKernel::Cast;
}

/// What a program means, by portable kernels. Inputs may be views.
inline std::vector<AnyTensor> runByKernels(const TileProgram &program,
                                           std::span<const Tensor> inputs,
                                           std::span<const ElementType> results,
                                           std::span<const int64_t> shape) {
  auto typeOf = [](TileLane lane) {
    return lane == TileLane::F   ? ElementType::F32
           : lane == TileLane::I ? ElementType::SI32
                                 : ElementType::Bool;
  };
  auto callOne = [](PortableKernel kernel, std::vector<Tensor> operands,
                    Tensor output) {
    Error error = call(kernel, {operands, {&output, 1}, {}});
    EXPECT_FALSE(error) << error.message();
  };
  auto castTo = [&](ElementType type, const Tensor &tensor) {
    AnyTensor result(type, shape);
    callOne(PortableKernel::Cast, {tensor}, result.tensor);
    return result;
  };
  std::vector<AnyTensor> registers;
  for (const Tensor &input : inputs)
    registers.push_back(castTo(typeOf(*tileLane(input.type)), input));
  while (registers.size() < program.numRegisters)
    registers.emplace_back(ElementType::F32, shape);
  for (const TileInstruction &instruction : program.instructions) {
    const TileOpcodeInfo &entry = info(instruction.opcode);
    std::string_view name = entry.name;
    std::vector<Tensor> operands;
    const uint16_t places[] = {instruction.a, instruction.b, instruction.c};
    for (int i = 0; i != entry.numOperands; ++i)
      operands.push_back(registers[places[i]].tensor);
    ElementType type = entry.result != TileLane::X ? typeOf(entry.result)
                                                   : operands.back().type;
    AnyTensor result(type, shape);
    if (entry.numOperands == 0) {
      AnyTensor number(ElementType::F64, {});
      *number.tensor.as<double>() = program.immediates[instruction.a];
      AnyTensor scalar(type, {});
      callOne(PortableKernel::Cast, {number.tensor}, scalar.tensor);
      callOne(PortableKernel::Fill, {scalar.tensor}, result.tensor);
    } else if (name.starts_with("RoundTo")) {
      AnyTensor narrow =
          castTo(name == "RoundToF16" ? ElementType::F16 : ElementType::BF16,
                 operands[0]);
      callOne(PortableKernel::Cast, {narrow.tensor}, result.tensor);
    } else if (name.starts_with("WrapTo")) {
      // The lowest bits come first in memory.
      ElementType narrow = name == "WrapToSI8"    ? ElementType::SI8
                           : name == "WrapToSI16" ? ElementType::SI16
                           : name == "WrapToUI8"  ? ElementType::UI8
                                                  : ElementType::UI16;
      Tensor low = operands[0];
      low.type = narrow;
      for (int64_t &step : low.steps)
        step *= int64_t(4 / byteSize(narrow));
      callOne(PortableKernel::Cast, {low}, result.tensor);
    } else {
      // A truth value counts as a whole number.
      std::vector<AnyTensor> whole;
      if (entry.operand == TileLane::I)
        for (Tensor &operand : operands) {
          whole.push_back(castTo(ElementType::SI32, operand));
          operand = whole.back().tensor;
        }
      callOne(kernelOf(instruction.opcode), operands, result.tensor);
    }
    registers[instruction.target] = std::move(result);
  }
  std::vector<AnyTensor> outputs;
  for (size_t i = 0; i != results.size(); ++i)
    outputs.push_back(castTo(results[i], registers[program.results[i]].tensor));
  return outputs;
}

/// Numbers of a type, special ones among them.
inline void fillRandom(AnyTensor &tensor, std::mt19937 &random,
                       bool withSpecial = true) {
  static const double kSpecial[] = {0,     -0.0, HUGE_VAL, -HUGE_VAL, kNan,
                                    1e-40, 3e38, -1e10,    0.5,       -2.5};
  withType(tensor.tensor.type, [&]<typename T>() {
    for (int64_t i = 0; i != tensor.tensor.size(); ++i) {
      T &element = tensor.tensor.as<T>()[i];
      if constexpr (FloatElement<T>) {
        std::normal_distribution<double> normal(0, 4);
        double number = withSpecial && random() % 16 == 0
                            ? kSpecial[random() % std::size(kSpecial)]
                            : normal(random);
        element = T(ComputeType<T>(number));
      } else if constexpr (std::is_same_v<T, bool>) {
        element = random() % 2;
      } else if constexpr (IntegerElement<T>) {
        element = T(random() % 3 == 0 ? int64_t(random())
                                      : int64_t(random() % 64) - 32);
      }
    }
  });
}

/// Two tensors without gaps: the same bits, or both are NaN.
inline testing::AssertionResult sameElements(const AnyTensor &actual,
                                             const AnyTensor &wanted) {
  for (int64_t i = 0; i != wanted.tensor.size(); ++i) {
    double a = actual.number(i);
    double b = wanted.number(i);
    bool isSame = (a == b && std::signbit(a) == std::signbit(b)) ||
                  (std::isnan(a) && std::isnan(b));
    if (!isSame)
      return testing::AssertionFailure()
             << "element " << i << ": " << a << " is not " << b;
  }
  return testing::AssertionSuccess();
}

/// A view of the shape with its axes in memory in another order, and with
/// stride 0 along some.
inline Tensor viewOf(AnyTensor &memory, std::span<const int64_t> shape,
                     std::mt19937 &random, bool mayRepeat) {
  std::vector<int> order(shape.size());
  for (size_t i = 0; i != order.size(); ++i)
    order[i] = int(i);
  if (random() % 2)
    std::shuffle(order.begin(), order.end(), random);
  std::vector<int64_t> steps(shape.size());
  int64_t next = random() % 4 == 0 ? 2 : 1;
  for (int axis : order) {
    bool isRepeated = mayRepeat && random() % 3 == 0;
    steps[axis] = isRepeated ? 0 : next;
    next *= isRepeated ? 1 : shape[axis] + (random() % 4 == 0);
  }
  return memory.tensor.view(shape, steps);
}

/// The forms that this CPU can run.
inline std::vector<Isa> testedIsas() {
  std::vector<Isa> result;
  for (Isa isa : {Isa::Portable, Isa::Avx2, Isa::Avx512, Isa::Neon})
    if (isa <= detectedIsa() && std::ranges::count(knownIsas(), isa))
      result.push_back(isa);
  return result;
}

/// Calls the best variant of a kernel for an instruction set.
inline std::string runWith(Isa isa, PortableKernel kernel, Invocation call) {
  const KernelVariant *variant = selectVariant(kernel, isa, call);
  std::vector<char> scratch;
  if (variant && variant->scratch) {
    scratch.resize(variant->scratch(call) + 64);
    call.scratch = scratch.data() + 64 - size_t(scratch.data()) % 64;
  }
  Error error =
      variant ? variant->function(call) : corten::runtime::call(kernel, call);
  return error ? error.message() : "";
}

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_UNITTESTS_TILES_H
