// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What torch says of a tensor, read from its Python object.

#ifndef CORTEN_PYTHON_BINDINGS_TORCHTENSORS_H
#define CORTEN_PYTHON_BINDINGS_TORCHTENSORS_H

#include "corten/Program/StridedMemory.h"
#include "corten/Program/Weights.h"

#include <nanobind/nanobind.h>

#include <vector>

namespace corten::bindings {

/// Raises ValueError for a dtype that Core AI has no equivalent of.
ScalarType scalarTypeOf(nanobind::handle dtype);

/// What tells a tensor from others. Tensors whose storage torch does not show
/// are like no other. Those without data are known as objects: torch gives all
/// that it loads for the meta device one storage.
TensorIdentity identityOf(nanobind::handle tensor, bool hasData);

/// Where the elements of a tensor lie. One that is on another device is brought
/// to the CPU.
class TensorMemory {
public:
  explicit TensorMemory(nanobind::object tensor);

  /// Keeps the tensor alive; must not outlive this otherwise.
  StridedMemory get() const;
  /// It is a copy: a change of the original will not reach it.
  bool isBroughtHere() const { return isMoved; }

private:
  nanobind::object tensor;
  std::vector<int64_t> shape, strides;
  bool isMoved = false;
};

} // namespace corten::bindings

#endif // CORTEN_PYTHON_BINDINGS_TORCHTENSORS_H
