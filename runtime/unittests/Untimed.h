// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where times say nothing about the runtime, as in an emulator.

#ifndef CORTEN_RUNTIME_UNITTESTS_UNTIMED_H
#define CORTEN_RUNTIME_UNITTESTS_UNTIMED_H

#include <cstdlib>

namespace corten::runtime {

/// Why times are not to be compared with numbers here, which CORTEN_UNTIMED
/// says; null if they are.
inline const char *whyUntimed() { return std::getenv("CORTEN_UNTIMED"); }

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_UNITTESTS_UNTIMED_H
