// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opened programs, for the package corten. Data crosses as JSON, which is what
// the command line prints.

#include "Bindings.h"

#include "corten/Inspect/Frequency.h"
#include "corten/Inspect/Model.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

namespace nb = nanobind;
using namespace corten;

/// The value, or ValueError with the reason why there is none.
template <typename T> static T unwrap(llvm::Expected<T> result) {
  if (!result)
    throw nb::value_error(llvm::toString(result.takeError()).c_str());
  return std::move(*result);
}

static std::string text(llvm::json::Value value) {
  return llvm::formatv("{0}", value).str();
}

void corten::bindings::bindInspect(nb::module_ &module) {
  using Release = nb::call_guard<nb::gil_scoped_release>;

  nb::class_<Model>(module, "Model", "A program that was opened.")
      .def_static(
          "open",
          [](const std::string &path) { return unwrap(Model::open(path)); },
          nb::arg("path"), Release(),
          "Raises ValueError for what is no asset and no program.")
      .def_prop_ro("path", &Model::path)
      .def(
          "info", [](Model &self) { return text(infoJson(self.info())); },
          Release(), "JSON.")
      .def(
          "ops",
          [](Model &self, bool collapseComposites) {
            return text(frequencyJson(
                {{self.path(), self.operations(collapseComposites),
                  self.info().composites}}));
          },
          nb::arg("collapse_composites"), Release(), "JSON.")
      .def(
          "text",
          [](Model &self, std::string graph, bool locations, bool generic) {
            return unwrap(self.text({std::move(graph), locations, generic}));
          },
          nb::arg("graph"), nb::arg("locations"), nb::arg("generic"), Release(),
          "Raises ValueError if there is no such graph.")
      .def(
          "doctor",
          [](Model &self) {
            return text(findingsJson(self.path(), self.examine()));
          },
          Release(), "JSON.")
      .def("strip", &Model::stripDebugInfo, Release())
      .def(
          "save",
          [](Model &self, const std::string &path) {
            if (llvm::Error error = self.save(path))
              throw nb::value_error(llvm::toString(std::move(error)).c_str());
          },
          nb::arg("path"), Release(),
          "Raises ValueError if the asset cannot be written.");

  module.def(
      "examine_path",
      [](const std::string &path) {
        return text(findingsJson(path, unwrap(examinePath(path))));
      },
      nb::arg("path"), Release(),
      "JSON. Raises ValueError for what is no asset and no program.");
}
