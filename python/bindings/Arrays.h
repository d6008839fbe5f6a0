// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of the engine as arrays of Python's, and the other way round, without
// copies, but for arrays that no protocol can describe.

#ifndef CORTEN_PYTHON_BINDINGS_ARRAYS_H
#define CORTEN_PYTHON_BINDINGS_ARRAYS_H

#include "corten/Runtime/Tensor.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>

namespace corten::bindings {

/// As numpy and torch call it: `float32`.
const char *dtypeName(runtime::ElementType type);

/// `float32[2, 3]`.
std::string describe(const runtime::Tensor &tensor);

/// An array of somebody else's, or a copy, which lives as long as this does.
struct Borrowed {
  runtime::Tensor tensor;
  nanobind::ndarray<nanobind::ro> array;
};

/// Whoever has DLPack or the buffer protocol. Bits stand for the types that
/// only DLPack has: unsigned integers of their width are taken for them where
/// `wanted` is such a type. `what` names it in the TypeError that says why it
/// cannot be taken.
Borrowed borrow(nanobind::handle object, runtime::ElementType wanted,
                bool isWritable, const std::string &what);

/// The capsule of the protocol; `owner` keeps the memory.
nanobind::object toDlpack(const runtime::Tensor &tensor, bool isReadOnly,
                          nanobind::handle owner,
                          const nanobind::kwargs &options);

/// The buffer protocol of an object that has such a tensor.
int getBuffer(const runtime::Tensor &tensor, bool isReadOnly, PyObject *owner,
              Py_buffer *view, int flags);
void releaseBuffer(PyObject *owner, Py_buffer *view);

} // namespace corten::bindings

#endif // CORTEN_PYTHON_BINDINGS_ARRAYS_H
