// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"

#include "corten/Metal/Kernel.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace corten;

namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

metal::Kernel describeKernel(
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

} // namespace

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
          nb::arg("templates"));
}
