// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checking mode of a frame. Memory that belongs to no tensor has a pattern
// that is NaN in every float, and around each tensor lie bytes that nobody may
// change.

#ifndef CORTEN_RUNTIME_LIB_EXECUTION_GUARDS_H
#define CORTEN_RUNTIME_LIB_EXECUTION_GUARDS_H

#include "Frame.h"

namespace corten::runtime::execution {

class Guards {
public:
  /// Bytes before and after each tensor.
  static constexpr int64_t kMargin = 64;

  explicit Guards(Frame &frame);

  /// Has the second checker look at what was laid out.
  Error checkLayout() const;
  void enterStage(size_t stage);
  void beginStep(size_t step);
  Error endStep(size_t step);

private:
  struct Guarded {
    char *data;
    int64_t bytes;
    int32_t buffer;
    int32_t last;
  };
  void guard(char *data, int64_t bytes, int32_t buffer, int32_t last);

  Frame &frame;
  /// Buffers by the step that touches them first.
  Lists bornAt;
  std::vector<Guarded> live;
};

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_GUARDS_H
