// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a saved program was exported with, as arguments for what it has been
// converted to.

#ifndef CORTEN_INSPECT_EXAMPLES_H
#define CORTEN_INSPECT_EXAMPLES_H

#include "corten/Pt2/Convert.h"
#include "corten/Pt2/Pt2.h"

namespace corten {

/// Elements in row-major order, and what they are for.
struct ExampleTensor {
  /// "args[0]", or the path of a buffer.
  std::string source;
  ScalarType dtype = ScalarType::Float32;
  std::vector<int64_t> shape;
  Pt2Example::Data data;
  /// Not if the program was exported on the meta device.
  bool hasData = true;
};

/// Arguments of a graph, in its order.
struct ExampleCall {
  std::vector<ExampleTensor> inputs;
  /// What buffers and inputs that are written to hold before the call.
  std::vector<ExampleTensor> states;
};

/// The call that a program was exported with. `weights` says where its weights
/// are, if not in the file. Fails if the file has no example inputs, or some
/// that are not numbers and tensors.
llvm::Expected<ExampleCall> readExampleCall(const Pt2EntryPoint &entryPoint,
                                            const WeightSource &weights);

} // namespace corten

#endif // CORTEN_INSPECT_EXAMPLES_H
