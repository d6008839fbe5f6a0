// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checking mode of a frame. Memory that belongs to no tensor has a pattern
// that is NaN in every float. Around each tensor lie bytes that nobody may
// change, and that spoil whatever is computed from them; where the address
// sanitizer is there, it reports whoever touches them.

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
  /// After a run, whether it failed or not: its memory may go to others.
  void leave();

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
