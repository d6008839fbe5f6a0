// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"
#include "Errors.h"
#include "WithoutGil.h"

#include "corten/Pt2/Convert.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace corten;

static std::unique_ptr<ConvertedModule>
convertFiles(const std::vector<Pt2EntryPoint> &entryPoints, bool debug,
             SourcePaths sourcePaths, std::vector<std::string> sourceRoots) {
  ConversionOptions options;
  options.debugLocations = debug;
  options.sourcePaths = sourcePaths;
  options.sourceRoots = std::move(sourceRoots);
  llvm::Expected<std::unique_ptr<ConvertedModule>> module = [&] {
    corten::bindings::WithoutGil unlock;
    return convertPt2(entryPoints, options);
  }();
  return bindings::unwrap(std::move(module));
}

void corten::bindings::bindPt2(nb::module_ &module) {
  nb::class_<Pt2EntryPoint>(module, "Pt2EntryPoint",
                            "A program in a .pt2 file under the name it gets "
                            "in the module.")
      .def(
          "__init__",
          [](Pt2EntryPoint *self, std::string file, std::string name,
             std::string model, ValueNames inputs, ValueNames outputs,
             ValueNames states) {
            new (self) Pt2EntryPoint{std::move(file),    std::move(name),
                                     std::move(model),   std::move(inputs),
                                     std::move(outputs), std::move(states)};
          },
          nb::arg("file"), nb::arg("name") = "main", nb::arg("model") = "",
          nb::arg("input_names") = ValueNames(),
          nb::arg("output_names") = ValueNames(),
          nb::arg("state_names") = ValueNames());
  module.def(
      "read_pt2",
      [](const Pt2EntryPoint &entryPoint) -> std::shared_ptr<const Program> {
        return bindings::unwrap(readPt2(entryPoint));
      },
      nb::arg("entry_point"),
      "Reads one program of a .pt2 file. Raises ValueError for a file that "
      "cannot be read or converted.");
  module.def("convert_pt2", &convertFiles, nb::arg("entry_points"),
             nb::arg("debug") = true,
             nb::arg("source_paths") = SourcePaths::Packages,
             nb::arg("source_roots") = std::vector<std::string>(),
             "Converts programs of .pt2 files into one module, without torch. "
             "Raises ValueError.");
}
