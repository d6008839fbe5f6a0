// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// External modules and declarations of composites from Python values.

#include "Bindings.h"

#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Program/Outline.h"
#include "corten/Support/Limits.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace corten;

[[noreturn]] static void refuse(nb::handle value) {
  std::string message =
      "Unsupported value in a composite's attributes: " +
      nb::cast<std::string>(nb::repr(value)) + " of type " +
      nb::cast<std::string>(nb::object(value.type().attr("__name__")));
  throw nb::type_error(message.c_str());
}

static AttributeValue::Dictionary dictionaryOf(nb::handle value);

/// Exactly the kinds that have one meaning in a declaration. A bool is tested
/// before the int that it also is.
static AttributeValue valueOf(nb::handle value) {
  if (nb::isinstance<nb::bool_>(value))
    return {nb::cast<bool>(value)};
  if (nb::isinstance<nb::int_>(value)) {
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow)
      refuse(value);
    return {static_cast<int64_t>(number)};
  }
  if (nb::isinstance<nb::float_>(value))
    return {nb::cast<double>(value)};
  if (nb::isinstance<nb::str>(value))
    return {nb::cast<std::string>(value)};
  if (nb::isinstance<nb::list>(value)) {
    AttributeValue::List list;
    for (nb::handle element : nb::borrow<nb::list>(value))
      list.push_back(valueOf(element));
    return {std::move(list)};
  }
  if (nb::isinstance<nb::dict>(value))
    return {dictionaryOf(value)};
  refuse(value);
}

static AttributeValue::Dictionary dictionaryOf(nb::handle value) {
  AttributeValue::Dictionary entries;
  for (auto [key, element] : nb::borrow<nb::dict>(value)) {
    if (!nb::isinstance<nb::str>(key))
      refuse(value);
    entries.emplace_back(nb::cast<std::string>(key), valueOf(element));
  }
  return entries;
}

void corten::bindings::bindModules(nb::module_ &module) {
  module.attr("BOUNDARY_FILE") =
      nb::str(kBoundaryFile.data(), kBoundaryFile.size());
  module.attr("MARK_NAMESPACE") =
      nb::str(kMarkNamespace.data(), kMarkNamespace.size());
  module.attr("WEIGHT_ALIGNMENT") = kWeightAlignment;

  nb::class_<CompositeDeclaration>(module, "CompositeDeclaration",
                                   "An operation that compilers know by name.")
      .def(
          "__init__",
          [](CompositeDeclaration *self, std::string name,
             std::vector<std::string> inputs, std::vector<std::string> outputs,
             const nb::dict &attributes) {
            new (self) CompositeDeclaration{std::move(name), std::move(inputs),
                                            std::move(outputs),
                                            dictionaryOf(attributes)};
          },
          nb::arg("name"), nb::arg("input_names"), nb::arg("output_names"),
          nb::arg("attributes"),
          "Raises TypeError for an attribute that has no equivalent.")
      .def("text", &declarationText, "As it is written in a program.");

  nb::class_<ExternalModule>(module, "ExternalModule",
                             "A module whose calls become graphs.")
      .def(nb::init<std::string, std::string,
                    std::optional<CompositeDeclaration>>(),
           nb::arg("path"), nb::arg("symbol"), nb::arg("composite").none());
}
