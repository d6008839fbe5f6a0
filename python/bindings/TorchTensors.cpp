// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TorchTensors.h"

#include "KeepAlive.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace corten;
using llvm::StringRef;

static std::string nameOf(nb::handle dtype) {
  return nb::cast<std::string>(nb::str(dtype));
}

ScalarType bindings::scalarTypeOf(nb::handle dtype) {
  std::string name = nameOf(dtype);
  std::optional<ScalarType> type = scalarTypeFromName(name);
  if (!type)
    throw nb::value_error(
        ("Core AI has no equivalent of the dtype " + name).c_str());
  return *type;
}

static std::vector<int64_t> numbers(const nb::object &list) {
  return nb::cast<std::vector<int64_t>>(list);
}

TensorIdentity bindings::identityOf(nb::handle tensor, bool hasData) {
  TensorIdentity identity;
  // Nothing has to be known of a tensor that no program uses.
  std::optional<ScalarType> type =
      scalarTypeFromName(nameOf(tensor.attr("dtype")));
  if (!type)
    return identity;
  try {
    std::vector<int64_t> shape = numbers(tensor.attr("shape"));
    std::vector<int64_t> strides = numbers(tensor.attr("stride")());
    identity.dtype = *type;
    identity.offset = nb::cast<int64_t>(tensor.attr("storage_offset")());
    identity.shape.assign(shape.begin(), shape.end());
    identity.strides.assign(strides.begin(), strides.end());
    identity.storage = tensor.ptr();
    if (hasData) {
      auto storage =
          nb::cast<uintptr_t>(tensor.attr("untyped_storage")().attr("_cdata"));
      // NOLINTNEXTLINE(performance-no-int-to-ptr): torch has addresses as ints.
      identity.storage = reinterpret_cast<const void *>(storage);
    }
  } catch (nb::python_error &) {
    // Sparse tensors have none, and wrappers do not show theirs.
    identity.storage = nullptr;
  }
  return identity;
}

bindings::TensorMemory::TensorMemory(nb::object given)
    : tensor(std::move(given)) {
  isMoved = !nb::cast<bool>(tensor.attr("is_cpu"));
  if (isMoved)
    tensor = tensor.attr("cpu")();
  shape = numbers(tensor.attr("shape"));
  strides = numbers(tensor.attr("stride")());
}

StridedMemory bindings::TensorMemory::get() const {
  nb::object storage = tensor.attr("untyped_storage")();
  auto address = nb::cast<uintptr_t>(storage.attr("data_ptr")());
  StridedMemory memory;
  memory.shape = shape;
  memory.strides = strides;
  memory.offset = nb::cast<int64_t>(tensor.attr("storage_offset")());
  memory.elementBytes = nb::cast<size_t>(tensor.attr("itemsize"));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): torch gives addresses as ints.
  memory.storage.data = StringRef(reinterpret_cast<const char *>(address),
                                  nb::cast<size_t>(storage.attr("nbytes")()));
  memory.storage.owner = keepAlive(tensor);
  return memory;
}
