/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * corten-bench-calls PLAN [THREADS]: how long a call takes from C,
 * with inputs of zeros, the shortest that it takes. Of a model that does next
 * to nothing this is what a call costs.
 */

#include "corten/C/Engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kRounds = 201, kCalls = 2000, kMaxInputs = 16, kMaxRank = 16 };

static int report(CortenError *error) {
  if (!error)
    return 0;
  fprintf(stderr, "corten-bench-calls: %s\n", cortenErrorMessage(error));
  cortenErrorFree(error);
  return 1;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void print(const char *what, double *times) {
  qsort(times, kRounds, sizeof(double), compare);
  printf("%-28s median %7.1f ns   p10 %7.1f   p90 %7.1f\n", what,
         times[kRounds / 2], times[kRounds / 10], times[kRounds * 9 / 10]);
}

typedef struct Inputs {
  CortenTensor tensors[kMaxInputs];
  int64_t shapes[kMaxInputs][kMaxRank];
  size_t count;
} Inputs;

/* The shortest inputs, all zeros. */
static int makeInputs(const CortenFunction *function, Inputs *inputs) {
  size_t i, axis;
  inputs->count = cortenFunctionParameterCount(function, CORTEN_INPUT);
  if (inputs->count > kMaxInputs)
    inputs->count = kMaxInputs;
  for (i = 0; i < inputs->count; ++i) {
    CortenTensor *tensor = &inputs->tensors[i];
    size_t elements = 1;
    CortenParameter parameter;
    parameter.size = sizeof(parameter);
    if (report(cortenFunctionParameter(function, CORTEN_INPUT, i, &parameter)))
      return 1;
    for (axis = 0; axis < parameter.rank; ++axis) {
      const CortenDimension *dim = &parameter.shape[axis];
      int64_t extent = dim->size != CORTEN_UNKNOWN ? dim->size : dim->min;
      inputs->shapes[i][axis] = extent < 1 ? 1 : extent;
      elements *= (size_t)inputs->shapes[i][axis];
    }
    tensor->size = sizeof(*tensor);
    tensor->data =
        calloc(elements, cortenElementTypeSize(parameter.elementType));
    tensor->elementType = parameter.elementType;
    tensor->rank = parameter.rank;
    tensor->shape = inputs->shapes[i];
    tensor->strides = NULL;
  }
  return 0;
}

static int setInputs(CortenCall *call, const Inputs *inputs) {
  size_t i;
  for (i = 0; i < inputs->count; ++i)
    if (report(cortenCallSetInputAt(call, i, &inputs->tensors[i])))
      return 1;
  return 0;
}

static int setStates(CortenCall *call, const CortenEngine *engine,
                     const CortenFunction *function) {
  size_t i;
  for (i = 0; i < cortenFunctionParameterCount(function, CORTEN_STATE); ++i) {
    CortenParameter parameter;
    CortenState *state = NULL;
    int failed;
    parameter.size = sizeof(parameter);
    failed =
        report(
            cortenFunctionParameter(function, CORTEN_STATE, i, &parameter)) ||
        report(cortenStateCreate(engine, parameter.name, NULL, 0, &state)) ||
        report(cortenCallSetState(call, parameter.name, state));
    cortenStateFree(state);
    if (failed)
      return 1;
  }
  return 0;
}

static int measure(CortenCall *call, const Inputs *inputs) {
  static double alone[kRounds], whole[kRounds];
  CortenTensor output;
  int round, i;
  output.size = sizeof(output);
  for (round = 0; round < kRounds; ++round) {
    double start = now();
    for (i = 0; i < kCalls; ++i)
      if (report(cortenCallRun(call)))
        return 1;
    alone[round] = (now() - start) / kCalls;
    start = now();
    for (i = 0; i < kCalls; ++i)
      if (setInputs(call, inputs) || report(cortenCallRun(call)) ||
          report(cortenCallOutput(call, 0, &output)))
        return 1;
    whole[round] = (now() - start) / kCalls;
  }
  print("run", alone);
  print("set inputs, run, get output", whole);
  return 0;
}

int main(int argc, char **argv) {
  static Inputs inputs;
  CortenEngine *engine = NULL;
  CortenCall *call = NULL;
  CortenLoadOptions options = {0};
  const CortenFunction *function;
  size_t i;
  int failed;
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "usage: corten-bench-calls PLAN [THREADS]\n");
    return 2;
  }
  options.size = sizeof(options);
  options.threads = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 1;
  if (report(cortenEngineLoad(argv[1], &options, &engine)))
    return 2;
  function = cortenEngineFunction(engine, 0);
  failed = report(cortenCallCreate(function, &call)) ||
           makeInputs(function, &inputs) || setInputs(call, &inputs) ||
           setStates(call, engine, function) || measure(call, &inputs);
  cortenCallFree(call);
  cortenEngineFree(engine);
  for (i = 0; i < inputs.count; ++i)
    free(inputs.tensors[i].data);
  return failed ? 2 : 0;
}
