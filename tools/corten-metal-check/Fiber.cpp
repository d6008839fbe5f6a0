// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fiber.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace corten::check;

// NOLINTNEXTLINE(readability-identifier-naming): a name in assembly.
extern "C" void corten_switch(void **from, void *to);

// Pushes what a call preserves, changes stacks, and pops it there.
#if defined(__x86_64__)
asm(R"(
.text
.type corten_switch, @function
.hidden corten_switch
.globl corten_switch
corten_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size corten_switch, . - corten_switch
)");
/// Words below the return address of a new fiber.
static constexpr size_t kSaved = 6;
static constexpr size_t kReturn = 6;
/// A function finds its stack as a call leaves it: 8 bytes off a multiple of
/// 16, once the return address is popped.
static constexpr size_t kFrame = 8;
#elif defined(__aarch64__)
asm(R"(
.text
.type corten_switch, %function
.hidden corten_switch
.globl corten_switch
corten_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x2, sp
  str x2, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size corten_switch, . - corten_switch
)");
static constexpr size_t kSaved = 20;
static constexpr size_t kReturn = 11;
static constexpr size_t kFrame = 20;
#else
#error "no fiber switch for this processor"
#endif

Stacks::Stacks(size_t count) : count(count) {
  void *mapped = mmap(nullptr, count * kStride, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    std::perror("corten-metal-check: stacks");
    std::exit(3);
  }
  memory = static_cast<char *>(mapped);
  for (size_t i = 0; i < count; ++i)
    mprotect(memory + i * kStride, kGuard, PROT_NONE);
}

Stacks::~Stacks() { munmap(memory, count * kStride); }

bool Stacks::isOverflow(const void *address) const {
  const char *at = static_cast<const char *>(address);
  return at >= memory && at < memory + count * kStride &&
         static_cast<size_t>(at - memory) % kStride < kGuard;
}

Fiber corten::check::makeFiber(char *stackTop, void (*entry)()) {
  auto *words = reinterpret_cast<uintptr_t *>(stackTop) - kFrame;
  std::memset(words, 0, kFrame * sizeof(uintptr_t));
  static_assert(kSaved <= kFrame && kReturn < kFrame);
  words[kReturn] = reinterpret_cast<uintptr_t>(entry);
  return {words};
}

void corten::check::switchFiber(Fiber &from, const Fiber &to) {
  corten_switch(&from.stackPointer, to.stackPointer);
}
