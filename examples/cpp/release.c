/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * release IN OUT: writes an asset that says nothing about its source.
 */

#include "corten/C/Corten.h"

#include <stdio.h>

/* Says what went wrong, if anything. */
static int report(CortenError *error) {
  if (!error)
    return 0;
  fprintf(stderr, "release: %s\n", cortenErrorMessage(error));
  cortenErrorFree(error);
  return 1;
}

int main(int argc, char **argv) {
  CortenModel *model = NULL;
  int failed;
  if (argc != 3) {
    fprintf(stderr, "usage: release IN OUT\n");
    return 2;
  }
  if (report(cortenModelOpen(argv[1], &model)))
    return 2;
  failed = report(cortenModelStrip(model)) ||
           report(cortenModelSave(model, argv[2], NULL));
  cortenModelFree(model);
  return failed ? 2 : 0;
}
