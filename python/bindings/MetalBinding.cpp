// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"
#include "Errors.h"
#include "WithoutGil.h"

#include "corten/Metal/Check.h"
#include "corten/Metal/Compile.h"
#include "corten/Metal/Kernel.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace corten;

using Texts = std::vector<std::pair<std::string, std::string>>;

static metal::Kernel describeKernel(
    std::string name,
    const std::vector<std::pair<std::string, metal::InputKind>> &inputs,
    std::vector<std::string> results, std::string body, std::string helpers,
    const std::vector<std::tuple<std::string, std::string, std::string>>
        &parameters,
    Texts templates) {
  metal::Kernel kernel;
  kernel.name = std::move(name);
  for (const auto &[inputName, kind] : inputs)
    kernel.inputs.push_back({inputName, kind});
  kernel.results = std::move(results);
  kernel.body = std::move(body);
  kernel.helpers = std::move(helpers);
  for (const auto &[parameter, type, attribute] : parameters)
    kernel.parameters.push_back({parameter, type, attribute});
  kernel.templates = std::move(templates);
  return kernel;
}

/// (Metal type, rank, literal of a number that is known)
using OperandTuple =
    std::tuple<std::string, unsigned, std::optional<std::string>>;

static std::vector<metal::Operand>
operandsOf(const std::vector<OperandTuple> &descriptions) {
  std::vector<metal::Operand> operands;
  operands.reserve(descriptions.size());
  for (const auto &[type, rank, literal] : descriptions)
    operands.push_back({type, rank, literal});
  return operands;
}

void corten::bindings::bindMetal(nb::module_ &module) {
  nb::enum_<metal::InputKind>(module, "KernelInputKind")
      .value("TENSOR", metal::InputKind::Tensor)
      .value("INT", metal::InputKind::Int)
      .value("FLOAT", metal::InputKind::Float)
      .value("BOOL", metal::InputKind::Bool);

  nb::class_<metal::Kernel>(module, "MetalKernel",
                            "A Metal kernel as its author describes it.")
      .def(
          "__init__",
          [](metal::Kernel *self, std::string name,
             const std::vector<std::pair<std::string, metal::InputKind>>
                 &inputs,
             std::vector<std::string> results, std::string body,
             std::string helpers,
             const std::vector<
                 std::tuple<std::string, std::string, std::string>> &parameters,
             Texts templates) {
            new (self) metal::Kernel(describeKernel(
                std::move(name), inputs, std::move(results), std::move(body),
                std::move(helpers), parameters, std::move(templates)));
          },
          nb::arg("name"), nb::arg("inputs"), nb::arg("results"),
          nb::arg("body"), nb::arg("helpers"), nb::arg("parameters"),
          nb::arg("templates"))
      .def(
          "check_source",
          [](const metal::Kernel &self, const std::vector<OperandTuple> &inputs,
             const std::vector<OperandTuple> &results) {
            return bindings::unwrap(metal::checkSource(self, operandsOf(inputs),
                                                       operandsOf(results)));
          },
          nb::arg("inputs"), nb::arg("results"),
          "C++ that runs one thread of the kernel; operands are (Metal type, "
          "rank, literal). Raises ValueError for what cannot be checked.");

  module.def(
      "int_literal",
      [](const std::string &name, int64_t value) {
        return bindings::unwrap(metal::intLiteral(name, value));
      },
      nb::arg("name"), nb::arg("value"));
  module.def(
      "float_literal",
      [](const std::string &name, double value) {
        return bindings::unwrap(metal::floatLiteral(name, value));
      },
      nb::arg("name"), nb::arg("value"));
  module.def(
      "compile_kernel",
      [](const std::string &source) {
        llvm::Expected<metal::CompiledKernel> compiled =
            metal::compileKernel(source);
        if (!compiled)
          throw std::runtime_error(llvm::toString(compiled.takeError()));
        std::vector<std::tuple<std::string, unsigned, unsigned, std::string>>
            errors;
        for (const metal::CompileError &error : compiled->errors)
          errors.emplace_back(error.file, error.line, error.column,
                              error.message);
        return std::pair(compiled->path, std::move(errors));
      },
      nb::arg("source"), nb::call_guard<bindings::WithoutGil>(),
      "The shared object that C++ becomes, and (file, line, column, message) "
      "for what is wrong with it. Raises RuntimeError without a compiler.");
  module.def(
      "kernel_runner",
      [] {
        llvm::Expected<std::string> runner = metal::kernelRunner();
        if (!runner)
          throw std::runtime_error(llvm::toString(runner.takeError()));
        return *runner;
      },
      "The program that runs compiled kernels. Raises RuntimeError.");
  module.def(
      "source_lines",
      [](const std::string &path, const std::vector<uint64_t> &addresses) {
        std::vector<std::tuple<std::string, unsigned, unsigned>> lines;
        for (const metal::SourceLine &line :
             bindings::unwrap(metal::sourceLines(path, addresses)))
          lines.emplace_back(line.file, line.line, line.column);
        return lines;
      },
      nb::arg("path"), nb::arg("addresses"),
      "(file, line, column) of code in a shared object.");
}
