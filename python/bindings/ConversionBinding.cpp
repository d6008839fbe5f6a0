// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"

#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Handover/Handover.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace corten;

namespace {

using Bytes = nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>>;

std::string str(llvm::StringRef text) { return text.str(); }

/// The memory of a resource as a NumPy array of bytes. No copy; the array keeps
/// the weight's owner alive.
Bytes bytesOf(const Resource &resource) {
  TensorView view = alignedResource(resource.data);
  auto *owner = new std::shared_ptr<const void>(view.owner);
  nb::capsule capsule(owner, [](void *held) noexcept {
    delete static_cast<std::shared_ptr<const void> *>(held);
  });
  return Bytes(view.data, {view.bytes}, capsule);
}

std::unique_ptr<ConvertedModule>
convertEntryPoints(const std::vector<EntryPoint> &entryPoints, bool debug) {
  std::string error;
  std::unique_ptr<ConvertedModule> module;
  {
    nb::gil_scoped_release unlock;
    module = convert(entryPoints, {.debugLocations = debug}, error);
  }
  if (!module)
    throw nb::value_error(error.c_str());
  return module;
}

nb::list shapeOf(const ValueInfo &info, const Program &program) {
  nb::list sizes;
  for (Size size : info.sizes) {
    if (size.isDynamic())
      sizes.append(str(program.symbols[size.symbol()].expression));
    else
      sizes.append(size.get());
  }
  return sizes;
}

/// [(printed name, namespace, [(file, line, function, module path, class,
/// dtype, shape of the first tensor operand)])]
nb::list unsupported(const Program &program) {
  nb::list result;
  for (const UnsupportedOperator &entry : findUnsupported(program)) {
    nb::list uses;
    for (const UnsupportedUse &use : entry.uses) {
      SourceLocation source = use.node->source();
      const ValueInfo *operand = nullptr;
      for (const Argument &argument : use.node->arguments)
        if (!operand && argument.isValue() &&
            argument.asNode()->info().isTensor())
          operand = &argument.asNode()->info();
      uses.append(nb::make_tuple(
          str(source.file), source.line, str(source.function),
          str(use.node->modulePath), str(use.node->moduleClass),
          operand ? str(scalarTypeName(operand->dtype)) : std::string(),
          operand ? nb::object(shapeOf(*operand, program)) : nb::none()));
    }
    result.append(nb::make_tuple(entry.op->printedName(),
                                 str(entry.op->nameSpace), uses));
  }
  return result;
}

} // namespace

void corten::bindings::bindConversion(nb::module_ &module) {
  nb::class_<EntryPoint>(module, "EntryPoint",
                         "A program under the name it gets in the module.")
      .def(
          "__init__",
          [](EntryPoint *self, const Program &program, std::string name,
             std::vector<std::string> inputs, std::vector<std::string> outputs,
             std::vector<std::string> states) {
            new (self) EntryPoint{&program, std::move(name), std::move(inputs),
                                  std::move(outputs), std::move(states)};
          },
          nb::keep_alive<1, 2>(), nb::arg("program"), nb::arg("name"),
          nb::arg("input_names"), nb::arg("output_names"),
          nb::arg("state_names"));

  nb::class_<ConvertedModule>(module, "ConvertedModule",
                              "A verified module in the coreai dialect.")
      .def(
          "bytecode",
          [](const ConvertedModule &self) {
            std::string bytes = moduleBytecode(self);
            return nb::bytes(bytes.data(), bytes.size());
          },
          "MLIR bytecode without weight data.")
      .def(
          "text",
          [](const ConvertedModule &self, bool generic) {
            return moduleText(self, generic);
          },
          nb::arg("generic") = false)
      .def(
          "resources",
          [](const ConvertedModule &self) {
            nb::list result;
            for (const Resource &resource : self.resources)
              result.append(nb::make_tuple(resource.key, resource.name,
                                           bytesOf(resource)));
            return result;
          },
          "(key, name, bytes) of every constant whose data is not in the "
          "module. The "
          "arrays are views of the weights and keep them alive.");

  module.def("convert", &convertEntryPoints, nb::arg("entry_points"),
             nb::arg("debug"),
             "Converts all entry points into one module. Raises ValueError.");
  module.def("unsupported", &unsupported, nb::arg("program"));
  module.def(
      "has_lowering",
      [](std::string nameSpace, std::string name) {
        return hasLowering(nameSpace, name);
      },
      nb::arg("namespace"), nb::arg("name"));
  module.def("supported_operators", [] {
    nb::list result;
    for (const SupportedOperator &entry : supportedOperators())
      result.append(nb::make_tuple(str(entry.name), str(entry.family)));
    return result;
  });
}
