// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page that shows a program.

#include "Bindings.h"
#include "WithoutGil.h"

#include "corten/Handover/Receive.h"
#include "corten/View/View.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace corten;

static nb::bytes viewPage(const ReceivedModule &module, std::string title,
                          std::optional<OperationValues> errors,
                          std::optional<OperationValues> times) {
  std::string page;
  {
    corten::bindings::WithoutGil unlock;
    llvm::raw_string_ostream stream(page);
    writeView(*module.module,
              {std::move(title), std::move(errors), std::move(times)}, stream);
  }
  return nb::bytes(page.data(), page.size());
}

void corten::bindings::bindView(nb::module_ &module) {
  module.def("view_page", &viewPage, nb::arg("module"), nb::arg("title"),
             nb::arg("errors").none(), nb::arg("times").none(),
             "The page as UTF-8.");
}
