// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folders that weights are taken from.

#include "Bindings.h"
#include "Errors.h"
#include "TorchTensors.h"

#include "corten/Program/Weights.h"
#include "corten/Pt2/Safetensors.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <map>

namespace nb = nanobind;
using namespace corten;
using llvm::StringRef;

namespace {
/// The weights of a program that torch is to run.
class PyProgramWeights {
public:
  PyProgramWeights(std::shared_ptr<TensorFolder> folder,
                   const std::map<std::string, std::string> &tied)
      : named(std::move(folder), /*takesTies=*/true), weights(&named) {
    for (const auto &[name, stored] : tied)
      named.tie(name, stored);
  }
  PyProgramWeights(const PyProgramWeights &) = delete;
  PyProgramWeights &operator=(const PyProgramWeights &) = delete;

  void know(const std::string &name, nb::handle tensor, bool hasData) {
    weights.know(name, bindings::identityOf(tensor, hasData));
  }

  /// None, or (type, shape, bytes).
  nb::object take(const std::string &name, nb::handle dtype,
                  const std::vector<int64_t> &shape, bool isState,
                  bool hasData) {
    if (!weights.isFromFolder(name, isState, hasData))
      return nb::none();
    const TensorFolder::Tensor *tensor =
        weights.take(name, bindings::scalarTypeOf(dtype), shape, isState);
    if (!tensor)
      return nb::none();
    auto owner =
        std::make_unique<std::shared_ptr<const void>>(tensor->bytes.owner);
    nb::capsule keeper(owner.get(), [](void *owner) noexcept {
      delete static_cast<std::shared_ptr<const void> *>(owner);
    });
    owner.release();
    nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>> data(
        tensor->bytes.data.data(), {tensor->bytes.data.size()}, keeper);
    return nb::make_tuple(scalarTypeName(tensor->dtype).str(), tensor->shape,
                          data);
  }

  void check() const { bindings::unwrap(weights.check()); }

private:
  NamedWeights named;
  ProgramWeights weights;
};
} // namespace

void corten::bindings::bindWeights(nb::module_ &module) {
  nb::class_<TensorFolder>(module, "SafetensorsFolder",
                           "The tensors of a folder, which are mapped.")
      .def(
          "check_known",
          [](std::shared_ptr<TensorFolder> self,
             const std::vector<std::string> &names) {
            NamedWeights named(std::move(self));
            for (const std::string &name : names)
              named.know(name);
            unwrap(named.checkAllKnown());
          },
          nb::arg("names"),
          "Raises ValueError if the folder has others than `names`.");
  module.def(
      "open_safetensors",
      [](const std::string &path) {
        return std::const_pointer_cast<TensorFolder>(
            unwrap(openSafetensors(path)));
      },
      nb::arg("path"),
      "Raises ValueError for a folder that cannot be read or trusted.");
  nb::class_<PyProgramWeights>(
      module, "ProgramWeights",
      "The weights of one program that come from a folder.")
      .def(nb::init<std::shared_ptr<TensorFolder>,
                    const std::map<std::string, std::string> &>(),
           nb::arg("folder"), nb::arg("tied"))
      .def("know", &PyProgramWeights::know, nb::arg("name"), nb::arg("tensor"),
           nb::arg("has_data"),
           "The program has a tensor of this name. To be said of all before "
           "one is taken.")
      .def("take", &PyProgramWeights::take, nb::arg("name"), nb::arg("dtype"),
           nb::arg("shape"), nb::arg("is_state"), nb::arg("has_data"),
           "Type, shape and bytes of a weight, or None for one that does not "
           "come from the folder, or is missing or wrong: check() says so. The "
           "bytes are a view of the file.")
      .def("check", &PyProgramWeights::check,
           "Raises ValueError if a weight was missing or wrong.");
  module.def(
      "without_data", [](const std::string &name) { return withoutData(name); },
      nb::arg("name"), "What is said of a weight that is nowhere.");
}
