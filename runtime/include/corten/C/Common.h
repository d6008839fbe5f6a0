/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the C interfaces of Corten have in common: see corten/C/Engine.h, which
 * runs models, and corten/C/Corten.h, which makes and changes them.
 *
 * Handles are opaque. A function that can fail returns an error, which the
 * caller frees, or NULL; what it was to give out is then left untouched.
 * Strings are UTF-8 and end in a zero. Nothing aborts the process, and nothing
 * is printed.
 *
 * Structures with a member `size` grow at the end in later releases: set it to
 * sizeof, and members that a library does not know are left alone.
 */

#ifndef CORTEN_C_COMMON_H
#define CORTEN_C_COMMON_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CORTEN_EXPORT __attribute__((visibility("default")))
#else
#define CORTEN_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): this is C. */

/** The release of the library that is loaded: "0.1.0". */
CORTEN_EXPORT const char *cortenVersion(void);

/** Why something failed. */
typedef struct CortenError CortenError;

/**
 * One line, but for what lists all that cannot be converted or compiled; lives
 * as long as the error.
 */
CORTEN_EXPORT const char *cortenErrorMessage(const CortenError *error);
/** Takes NULL, too. */
CORTEN_EXPORT void cortenErrorFree(CortenError *error);

/** The sides of an entry point. */
typedef enum CortenRole {
  CORTEN_INPUT = 0,
  CORTEN_OUTPUT = 1,
  /** What the program changes in place. */
  CORTEN_STATE = 2
} CortenRole;

/** A size that is not known, or that has no limit. */
#define CORTEN_UNKNOWN INT64_MIN

typedef struct CortenDimension {
  /** CORTEN_UNKNOWN for one that is known only when the program runs. */
  int64_t size;
  /** The sizes that it may then have; CORTEN_UNKNOWN where nothing is said. */
  int64_t min;
  int64_t max;
} CortenDimension;

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CORTEN_C_COMMON_H */
