// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python objects that own memory which C++ refers to.

#ifndef CORTEN_PYTHON_BINDINGS_KEEPALIVE_H
#define CORTEN_PYTHON_BINDINGS_KEEPALIVE_H

#include <nanobind/nanobind.h>

#include <memory>

namespace corten::bindings {

/// Keeps a Python object alive from C++ memory that may be freed without the
/// interpreter lock held, in any thread, or after the interpreter is gone.
inline std::shared_ptr<const void> keepAlive(nanobind::object object) {
  return {object.release().ptr(), [](const void *held) {
            if (!Py_IsInitialized())
              return;
            nanobind::gil_scoped_acquire lock;
            Py_DECREF(static_cast<PyObject *>(const_cast<void *>(held)));
          }};
}

} // namespace corten::bindings

#endif // CORTEN_PYTHON_BINDINGS_KEEPALIVE_H
