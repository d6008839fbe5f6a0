// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Kernels.h"

#include "llvm/ADT/StringSwitch.h"

using namespace corten;
using namespace mlir;
using runtime::PortableKernel;
using runtime::Tensor;

static std::optional<PortableKernel> unaryKernel(StringRef name) {
  using Kernel = PortableKernel;
  return llvm::StringSwitch<std::optional<PortableKernel>>(name)
      .Case("abs", Kernel::Abs)
      .Case("acos", Kernel::Acos)
      .Case("acosh", Kernel::Acosh)
      .Case("asin", Kernel::Asin)
      .Case("asinh", Kernel::Asinh)
      .Case("atan", Kernel::Atan)
      .Case("atanh", Kernel::Atanh)
      .Case("cast", Kernel::Cast)
      .Case("cos", Kernel::Cos)
      .Case("cosh", Kernel::Cosh)
      .Case("erf", Kernel::Erf)
      .Case("exp", Kernel::Exp)
      .Case("imaginary_part", Kernel::ImaginaryPart)
      .Case("log", Kernel::Log)
      .Case("not", Kernel::Not)
      .Case("real_part", Kernel::RealPart)
      .Case("relu", Kernel::Relu)
      .Case("round", Kernel::Round)
      .Case("rsqrt", Kernel::Rsqrt)
      .Case("sigmoid", Kernel::Sigmoid)
      .Case("silu", Kernel::Silu)
      .Case("sin", Kernel::Sin)
      .Case("sinh", Kernel::Sinh)
      .Case("sqrt", Kernel::Sqrt)
      .Case("tan", Kernel::Tan)
      .Case("tanh", Kernel::Tanh)
      .Default(std::nullopt);
}

static std::optional<PortableKernel> manyKernel(StringRef name) {
  using Kernel = PortableKernel;
  return llvm::StringSwitch<std::optional<PortableKernel>>(name)
      .Case("add", Kernel::Add)
      .Cases({"and", "bitwise_and"}, Kernel::BitwiseAnd)
      .Cases({"or", "bitwise_or"}, Kernel::BitwiseOr)
      .Cases({"xor", "bitwise_xor"}, Kernel::BitwiseXor)
      .Case("create_complex", Kernel::CreateComplex)
      .Case("divide", Kernel::Divide)
      .Case("equal", Kernel::Equal)
      .Case("floor_divide", Kernel::FloorDivide)
      .Case("greater", Kernel::Greater)
      .Case("maximum", Kernel::Maximum)
      .Case("minimum", Kernel::Minimum)
      .Case("modulo", Kernel::Modulo)
      .Case("mul", Kernel::Mul)
      .Case("not_equal", Kernel::NotEqual)
      .Case("pow", Kernel::Pow)
      .Case("sub", Kernel::Sub)
      .Case("where", Kernel::Where)
      .Default(std::nullopt);
}

std::optional<PortableKernel> corten::elementwiseKernel(Operation &op) {
  if (auto gelu = dyn_cast<coreai::GeluOp>(op)) {
    switch (gelu.getApproximate()) {
    case coreai::Approximate::None:
      return PortableKernel::Gelu;
    case coreai::Approximate::Tanh:
      return PortableKernel::GeluTanh;
    case coreai::Approximate::Sigmoid:
      return PortableKernel::GeluSigmoid;
    }
  }
  StringRef name = op.getName().stripDialect();
  name.consume_front("decomposable.broadcasting_");
  return op.getNumOperands() == 1 ? unaryKernel(name) : manyKernel(name);
}

bool corten::computeElementwise(PortableKernel kernel, Operands operands,
                                const Elements &result) {
  SmallVector<Tensor, 3> inputs;
  for (const Elements &operand : operands) {
    std::optional<Tensor> view = operand.spread(result.shape());
    if (!view)
      return false;
    inputs.push_back(result.isSplat() ? operand.first() : *view);
  }
  return runs(kernel, inputs, result.output());
}
