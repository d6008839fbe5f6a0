/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * run PLAN [FILE...]: what the functions of a plan take and give. With a file
 * of raw elements for each input of main, runs it and writes the first output,
 * raw, to standard output.
 */

#include "corten/C/Engine.h"

#include <stdio.h>
#include <stdlib.h>

/* Says what went wrong, if anything. */
static int report(CortenError *error) {
  if (!error)
    return 0;
  fprintf(stderr, "run: %s\n", cortenErrorMessage(error));
  cortenErrorFree(error);
  return 1;
}

static void describe(const CortenFunction *function) {
  static const char *const roles[] = {"input", "output", "state"};
  CortenParameter parameter;
  size_t i;
  int role;
  parameter.size = sizeof(parameter);
  printf("%s\n", cortenFunctionName(function));
  for (role = 0; role < 3; ++role)
    for (i = 0; i < cortenFunctionParameterCount(function, (CortenRole)role);
         ++i)
      if (!report(cortenFunctionParameter(function, (CortenRole)role, i,
                                          &parameter)))
        printf("  %s %s: %s\n", roles[role], parameter.name,
               parameter.description);
}

/* Sets an input to the elements of a file, which the caller frees. An axis that
 * is not fixed is as long as the file says; there may be one. */
static void *setInput(CortenCall *call, const CortenFunction *function,
                      size_t number, const char *path) {
  CortenParameter parameter;
  CortenTensor tensor = {0};
  int64_t shape[16], *open = NULL, known = 1;
  void *data = NULL;
  size_t axis, width;
  long bytes;
  FILE *file;
  parameter.size = sizeof(parameter);
  if (report(
          cortenFunctionParameter(function, CORTEN_INPUT, number, &parameter)))
    return NULL;
  file = fopen(path, "rb");
  if (!file) {
    perror(path);
    return NULL;
  }
  fseek(file, 0, SEEK_END);
  bytes = ftell(file);
  rewind(file);
  data = malloc(bytes > 0 ? (size_t)bytes : 1);
  if (data && fread(data, 1, (size_t)bytes, file) == (size_t)bytes) {
    width = cortenElementTypeSize(parameter.elementType);
    for (axis = 0; axis < parameter.rank; ++axis) {
      shape[axis] = parameter.shape[axis].size;
      if (shape[axis] == CORTEN_UNKNOWN)
        open = &shape[axis];
      else
        known *= shape[axis];
    }
    if (open)
      *open = (int64_t)((size_t)bytes / width) / (known ? known : 1);
    tensor.size = sizeof(tensor);
    tensor.data = data;
    tensor.elementType = parameter.elementType;
    tensor.rank = parameter.rank;
    tensor.shape = shape;
    if ((size_t)(known * (open ? *open : 1)) * width != (size_t)bytes) {
      fprintf(stderr, "run: %s: %ld bytes are no %s\n", path, bytes,
              parameter.description);
    } else if (!report(cortenCallSetInputAt(call, number, &tensor))) {
      fclose(file);
      return data;
    }
  }
  fclose(file);
  free(data);
  return NULL;
}

static int run(CortenEngine *engine, char **files, size_t count) {
  const CortenFunction *function = cortenEngineFindFunction(engine, "main");
  void *inputs[16] = {0};
  CortenCall *call = NULL;
  CortenTensor output;
  int64_t elements = 1;
  size_t i;
  int failed = report(cortenCallCreate(function, &call));
  for (i = 0; !failed && i < count && i < 16; ++i) {
    inputs[i] = setInput(call, function, i, files[i]);
    failed = !inputs[i];
  }
  output.size = sizeof(output);
  failed = failed || report(cortenCallRun(call)) ||
           report(cortenCallOutput(call, 0, &output));
  if (!failed) {
    for (i = 0; i < output.rank; ++i)
      elements *= output.shape[i];
    fwrite(output.data, cortenElementTypeSize(output.elementType),
           (size_t)elements, stdout);
  }
  cortenCallFree(call);
  for (i = 0; i < 16; ++i)
    free(inputs[i]);
  return failed ? 2 : 0;
}

int main(int argc, char **argv) {
  CortenEngine *engine = NULL;
  CortenLoadOptions options = {0};
  size_t i;
  int status = 0;
  if (argc < 2) {
    fprintf(stderr, "usage: run PLAN [FILE...]\n");
    return 2;
  }
  options.size = sizeof(options);
  options.threads = 1;
  if (report(cortenEngineLoad(argv[1], &options, &engine)))
    return 2;
  if (argc > 2)
    status = run(engine, argv + 2, (size_t)argc - 2);
  else
    for (i = 0; i < cortenEngineFunctionCount(engine); ++i)
      describe(cortenEngineFunction(engine, i));
  cortenEngineFree(engine);
  return status;
}
