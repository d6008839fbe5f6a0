// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a call has written to its states before it is over. Most writes come
// last, when nothing can fail any more; those that are made where a state lies,
// because a copy of all of it would take longer, are remembered: the elements
// that they replace are few.

#ifndef CORTEN_RUNTIME_LIB_EXECUTION_UNDO_H
#define CORTEN_RUNTIME_LIB_EXECUTION_UNDO_H

#include "corten/Runtime/Kernel.h"

#include <vector>

namespace corten::runtime::execution {

class Undo {
public:
  /// To be called before something is written to memory that is not the call's
  /// own.
  void remember(const Tensor &target);
  /// Of what is replaced at some places only: as ScatterNd takes both.
  Error remember(const Tensor &target, const Tensor &places,
                 const Tensor &elements);
  /// Brings back all elements, the last ones first.
  void takeBack();
  void forget() { count = 0; }

private:
  struct Write {
    Tensor target;
    /// Where in the target the elements are, if not everywhere.
    Tensor places;
    Tensor elements;
    bool isScattered = false;
    // Memory that later calls use again.
    std::vector<std::byte> placesMemory;
    std::vector<std::byte> elementsMemory;
  };

  Write &next();

  std::vector<Write> writes;
  size_t count = 0;
};

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_UNDO_H
