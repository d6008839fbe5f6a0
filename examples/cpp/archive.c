/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * archive FILE.pt2: what its programs were exported with.
 */

#include "corten/C/Corten.h"

#include <stdio.h>

/* Says what went wrong, if anything. */
static int report(CortenError *error) {
  if (!error)
    return 0;
  fprintf(stderr, "archive: %s\n", cortenErrorMessage(error));
  cortenErrorFree(error);
  return 1;
}

static void print(const CortenExample *example) {
  size_t i;
  printf("  %s", example->path);
  if (example->input)
    printf(" for %s", example->input);
  if (example->elementType) {
    printf(": %s[", example->elementType);
    for (i = 0; i < example->rank; ++i)
      printf("%s%lld", i ? ", " : "", (long long)example->shape[i]);
    printf("], %zu bytes", example->byteCount);
  }
  printf("\n");
}

int main(int argc, char **argv) {
  CortenArchive *archive = NULL;
  size_t program, number;
  int failed = 0;
  if (argc != 2) {
    fprintf(stderr, "usage: archive FILE.pt2\n");
    return 2;
  }
  if (report(cortenArchiveOpen(argv[1], &archive)))
    return 2;
  for (program = 0; program < cortenArchiveProgramCount(archive); ++program) {
    printf("%s\n", cortenArchiveProgramName(archive, program));
    for (number = 0; number < cortenArchiveExampleCount(archive, program);
         ++number) {
      CortenExample example;
      example.size = sizeof(example);
      if (report(cortenArchiveExample(archive, program, number, &example)))
        failed = 1;
      else
        print(&example);
    }
  }
  cortenArchiveFree(archive);
  return failed ? 2 : 0;
}
