// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads of a kernel as fibers: stacks that one thread of the system switches
// between. A switch saves the registers that a call preserves and takes some
// nanoseconds; the system is not asked.

#ifndef CORTEN_TOOLS_METALCHECK_FIBER_H
#define CORTEN_TOOLS_METALCHECK_FIBER_H

#include <cstddef>

namespace corten::check {

/// The stacks of all threads of a group, with a page between two that nothing
/// may touch. They are used again by the next group.
class Stacks {
public:
  explicit Stacks(size_t count);
  ~Stacks();
  Stacks(const Stacks &) = delete;
  Stacks &operator=(const Stacks &) = delete;

  /// The end of a stack, where it begins to grow.
  char *top(size_t index) const { return memory + (index + 1) * kStride; }
  /// Whether the address is in the page below a stack.
  bool isOverflow(const void *address) const;

private:
  static constexpr size_t kGuard = 1 << 16;
  static constexpr size_t kStride = (1 << 18) + kGuard;
  char *memory;
  size_t count;
};

/// A flow of control that is not running.
struct Fiber {
  void *stackPointer = nullptr;
};

/// Makes a fiber that calls `entry`, which must not return.
Fiber makeFiber(char *stackTop, void (*entry)());

/// Goes on with `to`; comes back when somebody switches to `from`.
void switchFiber(Fiber &from, const Fiber &to);

} // namespace corten::check

#endif // CORTEN_TOOLS_METALCHECK_FIBER_H
