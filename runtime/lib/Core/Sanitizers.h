// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which sanitizers this is compiled with: GCC and clang say it differently.

#ifndef CORTEN_RUNTIME_LIB_CORE_SANITIZERS_H
#define CORTEN_RUNTIME_LIB_CORE_SANITIZERS_H

#ifdef __has_feature
#define CORTEN_HAS_FEATURE(NAME) __has_feature(NAME)
#else
#define CORTEN_HAS_FEATURE(NAME) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || CORTEN_HAS_FEATURE(address_sanitizer)
#define CORTEN_ADDRESS_SANITIZER 1
#else
#define CORTEN_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || CORTEN_HAS_FEATURE(thread_sanitizer)
#define CORTEN_THREAD_SANITIZER 1
#else
#define CORTEN_THREAD_SANITIZER 0
#endif

/// Which knows no threads after a fork.
inline constexpr bool kHasThreadSanitizer = CORTEN_THREAD_SANITIZER;

#endif // CORTEN_RUNTIME_LIB_CORE_SANITIZERS_H
