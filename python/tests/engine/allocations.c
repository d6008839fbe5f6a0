/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * PLAN THREADS: how often loading a plan and ten calls of its first function,
 * after three others, ask the C library or the system for memory. Inputs are
 * zeros, outputs are given.
 */

#define _GNU_SOURCE

#include "corten/C/Engine.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kMaxTensors = 64, kMaxRank = 16, kBefore = 3, kCalls = 10 };

static atomic_long allocations;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
  ++allocations;
  return __libc_realloc(old, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **result, size_t alignment, size_t bytes) {
  ++allocations;
  *result = __libc_memalign(alignment, bytes);
  return *result ? 0 : ENOMEM;
}
void *mmap(void *address, size_t bytes, int protection, int flags, int file,
           off_t offset) {
  ++allocations;
  return (void *)syscall(SYS_mmap, address, bytes, protection, flags, file,
                         offset);
}

static void check(CortenError *error) {
  if (!error)
    return;
  fprintf(stderr, "%s\n", cortenErrorMessage(error));
  exit(1);
}

typedef struct Tensors {
  CortenTensor tensors[kMaxTensors];
  int64_t shapes[kMaxTensors][kMaxRank];
  size_t count;
} Tensors;

/* Zeros for all parameters of a role, whose extents are known. */
static void make(const CortenFunction *function, CortenRole role,
                 Tensors *made) {
  made->count = cortenFunctionParameterCount(function, role);
  if (made->count > kMaxTensors)
    exit(1);
  for (size_t i = 0; i != made->count; ++i) {
    CortenTensor *tensor = &made->tensors[i];
    CortenParameter parameter = {.size = sizeof(parameter)};
    check(cortenFunctionParameter(function, role, i, &parameter));
    size_t elements = 1;
    for (size_t axis = 0; axis != parameter.rank; ++axis) {
      made->shapes[i][axis] = parameter.shape[axis].size;
      elements *= (size_t)parameter.shape[axis].size;
    }
    tensor->size = sizeof(*tensor);
    tensor->data =
        calloc(elements, cortenElementTypeSize(parameter.elementType));
    tensor->elementType = parameter.elementType;
    tensor->rank = parameter.rank;
    tensor->shape = made->shapes[i];
  }
}

static void run(CortenCall *call, const Tensors *inputs,
                const Tensors *outputs) {
  for (size_t i = 0; i != inputs->count; ++i)
    check(cortenCallSetInputAt(call, i, &inputs->tensors[i]));
  for (size_t i = 0; i != outputs->count; ++i)
    check(cortenCallSetOutputAt(call, i, &outputs->tensors[i]));
  check(cortenCallRun(call));
}

int main(int argc, char **argv) {
  static Tensors inputs, outputs;
  CortenLoadOptions options = {.size = sizeof(options)};
  CortenEngine *engine = NULL;
  CortenCall *call = NULL;
  if (argc != 3)
    return 2;
  options.threads = atoi(argv[2]);
  long start = allocations;
  check(cortenEngineLoad(argv[1], &options, &engine));
  const CortenFunction *function = cortenEngineFunction(engine, 0);
  check(cortenCallCreate(function, &call));
  long loaded = allocations - start;
  make(function, CORTEN_INPUT, &inputs);
  make(function, CORTEN_OUTPUT, &outputs);
  for (int i = 0; i != kBefore; ++i)
    run(call, &inputs, &outputs);
  start = allocations;
  for (int i = 0; i != kCalls; ++i)
    run(call, &inputs, &outputs);
  printf("%ld %ld\n", loaded, allocations - start);
  cortenCallFree(call);
  cortenEngineFree(engine);
  return 0;
}
