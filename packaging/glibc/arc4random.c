// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// glibc has this from 2.36 on, and Debian's LLVM and libstdc++ take seeds from
// it: the one function for which wheels would not run on systems with 2.35.

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t bits = 0;
  // Interrupted only while the kernel has no randomness yet. Without any, glibc
  // ends the process as well.
  while (getrandom(&bits, sizeof bits, 0) != sizeof bits)
    if (errno != EINTR)
      abort();
  return bits;
}
