// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folders that weights are taken from.

#include "Bindings.h"
#include "Errors.h"
#include "TorchTensors.h"
#include "Weights.h"

#include "corten/Program/Weights.h"
#include "corten/Pt2/Safetensors.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <sys/mman.h>
#include <system_error>

namespace fs = llvm::sys::fs;
namespace nb = nanobind;
using namespace corten;
using llvm::StringRef;

/// A file that can be written to without changing it: a page that is written to
/// becomes the process's own, all others stay those of the file. Nothing is set
/// aside for them, so that it may be larger than memory.
static llvm::Expected<SharedBytes> mapForChange(StringRef path) {
  llvm::Expected<fs::file_t> file = fs::openNativeFileForRead(path);
  if (!file)
    return file.takeError();
  fs::file_status status;
  std::error_code code = fs::status(*file, status);
  size_t size = status.getSize();
  void *memory = MAP_FAILED;
  if (!code) {
    memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_NORESERVE, *file, 0);
    if (memory == MAP_FAILED)
      code = {errno, std::generic_category()};
  }
  // Nothing was written that closing could lose.
  (void)fs::closeFile(*file);
  if (code)
    return llvm::errorCodeToError(code);
  std::shared_ptr<const void> owner(
      memory, [size](void *held) { ::munmap(held, size); });
  return SharedBytes{{static_cast<const char *>(memory), size},
                     std::move(owner)};
}

namespace {
/// The weights of a program that torch is to run.
class PyProgramWeights {
public:
  explicit PyProgramWeights(const NamedWeights &folder)
      : named(folder), weights(&named) {}
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
    const SharedBytes &file = mapped(tensor->file);
    size_t size = tensor->bytes.data.size();
    if (tensor->offset + size > file.data.size())
      throw nb::value_error(
          ("'" + tensor->file + "' has become shorter").c_str());
    auto owner = std::make_unique<std::shared_ptr<const void>>(file.owner);
    nb::capsule keeper(owner.get(), [](void *owner) noexcept {
      delete static_cast<std::shared_ptr<const void> *>(owner);
    });
    owner.release();
    nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>> data(
        const_cast<char *>(file.data.data()) + tensor->offset, {size}, keeper);
    return nb::make_tuple(scalarTypeName(tensor->dtype).str(), tensor->shape,
                          data);
  }

  void check() const { bindings::unwrap(weights.check()); }

private:
  const SharedBytes &mapped(const std::string &file) {
    auto [entry, isNew] = files.try_emplace(file);
    if (isNew) {
      llvm::SmallString<256> path(named.path());
      llvm::sys::path::append(path, file);
      llvm::Expected<SharedBytes> mapping = mapForChange(path);
      if (!mapping)
        throw nb::value_error(
            ("'" + path + "': " + llvm::toString(mapping.takeError()))
                .str()
                .c_str());
      entry->second = std::move(*mapping);
    }
    return entry->second;
  }

  NamedWeights named;
  ProgramWeights weights;
  /// By their names.
  llvm::StringMap<SharedBytes> files;
};
} // namespace

void corten::bindings::bindWeights(nb::module_ &module) {
  nb::class_<NamedWeights>(
      module, "SafetensorsFolder",
      "The tensors of a folder, which are mapped, and what is tied to them.");
  module.def(
      "check_all_known",
      [](const std::vector<std::pair<const NamedWeights *,
                                     std::vector<std::string>>> &programs) {
        std::optional<NamedWeights> all;
        for (const auto &[folder, names] : programs) {
          NamedWeights named(*folder);
          for (const std::string &name : names)
            named.know(name);
          if (all)
            all->add(named);
          else
            all = std::move(named);
        }
        if (all)
          unwrap(all->checkAllKnown());
      },
      nb::arg("programs"),
      "Takes the folder of each program, all the same, and names of its "
      "tensors. Raises ValueError if the folder has others, or if one is said "
      "to be tied that no program has.");
  module.def(
      "open_safetensors",
      [](const std::string &path, const TiedPairs &tied) {
        NamedWeights named(unwrap(openSafetensors(path)));
        for (const auto &[name, stored] : tied)
          named.tie(name, stored);
        return named;
      },
      nb::arg("path"), nb::arg("tied"),
      "Raises ValueError for a folder that cannot be read or trusted.");
  nb::class_<PyProgramWeights>(
      module, "ProgramWeights",
      "The weights of one program that come from a folder.")
      .def(nb::init<const NamedWeights &>(), nb::arg("folder"))
      .def("know", &PyProgramWeights::know, nb::arg("name"), nb::arg("tensor"),
           nb::arg("has_data"),
           "The program has a tensor of this name. To be said of all before "
           "one is taken.")
      .def(
          "take", &PyProgramWeights::take, nb::arg("name"), nb::arg("dtype"),
          nb::arg("shape"), nb::arg("is_state"), nb::arg("has_data"),
          "Type, shape and bytes of a weight, or None for one that does not "
          "come from the folder, or is missing or wrong: check() says so. The "
          "bytes lie in the mapped file, wherever they begin there, and can be "
          "written to, which does not change it.")
      .def("check", &PyProgramWeights::check,
           "Raises ValueError if a weight was missing or wrong.");
  module.def(
      "without_data", [](const std::string &name) { return withoutData(name); },
      nb::arg("name"), "What is said of a weight that is nowhere.");
}
