/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The C interface of the engine: load a model, look at its functions, call
 * them. corten/C/Common.h says how errors and structures work.
 *
 *   cortenEngineLoad("model.cplan", NULL, &engine);
 *   cortenCallCreate(cortenEngineFindFunction(engine, "main"), &call);
 *   cortenCallSetInput(call, "x", &x);
 *   cortenCallRun(call);
 *   cortenCallOutput(call, 0, &y);
 *
 * An engine and its functions may be used by any number of threads at once; a
 * call, an array and a state by one at a time. Each thread has calls of its
 * own; cortenCallCancel is for others. Two calls that run with the same state
 * at a time are an error of the second one, not a race.
 */

#ifndef CORTEN_C_ENGINE_H
#define CORTEN_C_ENGINE_H

#include "corten/C/Common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): this is C. */

/*===------------------------------------------------------------------------===
 * Tensors
 *===----------------------------------------------------------------------===*/

/** What tensors are made of; each element has whole bytes. */
typedef enum CortenElementType {
  CORTEN_BOOL = 0,
  CORTEN_SI8 = 1,
  CORTEN_SI16 = 2,
  CORTEN_SI32 = 3,
  CORTEN_SI64 = 4,
  CORTEN_UI8 = 5,
  CORTEN_UI16 = 6,
  CORTEN_UI32 = 7,
  CORTEN_UI64 = 8,
  CORTEN_F16 = 9,
  CORTEN_BF16 = 10,
  CORTEN_F32 = 11,
  CORTEN_F64 = 12,
  /** Two floats. */
  CORTEN_C64 = 13,
  CORTEN_F8E4M3FN = 14,
  CORTEN_F8E5M2 = 15,
  CORTEN_F8E8M0FNU = 16,
  CORTEN_F4E2M1FN = 17,
  CORTEN_SI2 = 18,
  CORTEN_SI4 = 19,
  CORTEN_UI1 = 20,
  CORTEN_UI2 = 21,
  CORTEN_UI3 = 22,
  CORTEN_UI4 = 23,
  CORTEN_UI6 = 24
} CortenElementType;

/** "f32"; NULL if there is none with this number. */
CORTEN_EXPORT const char *cortenElementTypeName(CortenElementType type);
/** How many bytes an element has; 0 if there is no such type. */
CORTEN_EXPORT size_t cortenElementTypeSize(CortenElementType type);

/** A view of memory that somebody else owns. */
typedef struct CortenTensor {
  size_t size; /**< sizeof(CortenTensor) */
  void *data;
  CortenElementType elementType;
  /** At most 16. */
  size_t rank;
  const int64_t *shape;
  /**
   * How many elements lie between neighbours along each axis; 0 repeats, and a
   * negative one goes backwards from `data`. NULL: row-major without gaps.
   */
  const int64_t *strides;
} CortenTensor;

/*===------------------------------------------------------------------------===
 * Models that run
 *===----------------------------------------------------------------------===*/

/** A model that is loaded. */
typedef struct CortenEngine CortenEngine;
/** A function of it, which lives as long as its engine. */
typedef struct CortenFunction CortenFunction;

typedef struct CortenLoadOptions {
  size_t size; /**< sizeof(CortenLoadOptions) */
  /** How many threads work, with the caller's; 0: as many as may run. */
  int threads;
  /** For how many sets of sizes preparations are kept; 0: as many as usual. */
  int frames;
  /** How many bytes calls may have at once; 0: any number. */
  uint64_t memoryLimit;
  /** Not 0: look after every step for writes outside of its results. */
  int check;
  /** Where the asset of a plan is, if not where it was; may be NULL. */
  const char *asset;
  /**
   * What products are computed in where a program is compiled: "bf16", "int8",
   * or NULL: as it says. "fast_math", alone or after a comma, allows forms of
   * convolutions that lose up to a digit. A plan has its own.
   */
  const char *precision;
  /**
   * A folder of safetensors files that the weights of a program (NAME.pt2) are
   * in, by name; NULL if it has its own.
   */
  const char *weights;
  /**
   * Weights that the folder has under another name only, because the model ties
   * them, and those names: two arrays of `tiedCount`.
   */
  const char *const *tiedNames;
  const char *const *tiedStored;
  size_t tiedCount;
} CortenLoadOptions;

/**
 * Loads a plan (NAME.cplan). libcorten also loads an asset (NAME.aimodel), a
 * program as MLIR text and a program of torch.export.save (NAME.pt2), which are
 * compiled on the way; the message of the error then lists what cannot be, on
 * several lines. `options` may be NULL.
 */
CORTEN_EXPORT CortenError *cortenEngineLoad(const char *path,
                                            const CortenLoadOptions *options,
                                            CortenEngine **engine);
/**
 * Loads a plan in memory, which must stay until the engine, its calls, arrays
 * and states are freed.
 */
CORTEN_EXPORT CortenError *
cortenEngineLoadPlan(const void *plan, size_t byteCount,
                     const CortenLoadOptions *options, CortenEngine **engine);
/** Calls, arrays and states of it may be used on. Takes NULL, too. */
CORTEN_EXPORT void cortenEngineFree(CortenEngine *engine);

/** What the user should know about the model all the same. */
CORTEN_EXPORT size_t cortenEngineWarningCount(const CortenEngine *engine);
/** Lives as long as the engine. NULL if there is none with this number. */
CORTEN_EXPORT const char *cortenEngineWarning(const CortenEngine *engine,
                                              size_t number);
/** Gives idle memory back to the system. */
CORTEN_EXPORT void cortenEngineTrim(const CortenEngine *engine);

CORTEN_EXPORT size_t cortenEngineFunctionCount(const CortenEngine *engine);
/** NULL if there is none with this number. */
CORTEN_EXPORT const CortenFunction *
cortenEngineFunction(const CortenEngine *engine, size_t number);
/** NULL if there is none of this name. */
CORTEN_EXPORT const CortenFunction *
cortenEngineFindFunction(const CortenEngine *engine, const char *name);

/** An input, output or state. What it points to lives as long as the engine. */
typedef struct CortenParameter {
  size_t size; /**< sizeof(CortenParameter) */
  const char *name;
  CortenElementType elementType;
  size_t rank;
  const CortenDimension *shape;
  /** For each axis the name, or the expression, of its size; NULL if fixed. */
  const char *const *symbols;
  /** All of it for a reader: "f32[n, 3]". */
  const char *description;
} CortenParameter;

CORTEN_EXPORT const char *cortenFunctionName(const CortenFunction *function);
/** 0 if there is no such role. */
CORTEN_EXPORT size_t
cortenFunctionParameterCount(const CortenFunction *function, CortenRole role);
/** Fills in `parameter`, whose `size` must be set. Fails on a wrong number. */
CORTEN_EXPORT CortenError *
cortenFunctionParameter(const CortenFunction *function, CortenRole role,
                        size_t number, CortenParameter *parameter);

/*===------------------------------------------------------------------------===
 * States
 *===----------------------------------------------------------------------===*/

/** What a model remembers between calls. */
typedef struct CortenState CortenState;

/**
 * Makes a state, all zeros. Functions that name the same state can be called
 * with the same one. `shape` has a size for each axis; NULL where all of them
 * are fixed.
 */
CORTEN_EXPORT CortenError *cortenStateCreate(const CortenEngine *engine,
                                             const char *name,
                                             const int64_t *shape, size_t rank,
                                             CortenState **state);
/** Calls that it is set in keep it. Takes NULL, too. */
CORTEN_EXPORT void cortenStateFree(CortenState *state);
/** Lives as long as the state. */
CORTEN_EXPORT const char *cortenStateName(const CortenState *state);
/** All zeros again. Fails while a call runs with it. */
CORTEN_EXPORT CortenError *cortenStateReset(CortenState *state);
/**
 * Fills in `tensor`, whose `size` must be set: a view of the state, as long as
 * it lives, for reading while no call runs with it.
 */
CORTEN_EXPORT void cortenStateRead(const CortenState *state,
                                   CortenTensor *tensor);
/** Takes over elements of the same type and shape. Fails while a call runs. */
CORTEN_EXPORT CortenError *cortenStateWrite(CortenState *state,
                                            const CortenTensor *tensor);
/** One of its own with the same contents. Fails while a call runs with it. */
CORTEN_EXPORT CortenError *cortenStateFork(const CortenState *state,
                                           CortenState **fork);

/*===------------------------------------------------------------------------===
 * Calls
 *===----------------------------------------------------------------------===*/

/**
 * Arguments and results of a function. Used again, it allocates nothing once it
 * has seen the sizes.
 */
typedef struct CortenCall CortenCall;

CORTEN_EXPORT CortenError *cortenCallCreate(const CortenFunction *function,
                                            CortenCall **call);
/** Takes NULL, too. */
CORTEN_EXPORT void cortenCallFree(CortenCall *call);
/** Forgets arguments and results, to be used for something else. */
CORTEN_EXPORT void cortenCallReset(CortenCall *call);

/**
 * Sets an input for this run and all later ones. Only the elements are
 * borrowed, until another input is set: `tensor` and its shape may go.
 */
CORTEN_EXPORT CortenError *cortenCallSetInput(CortenCall *call,
                                              const char *name,
                                              const CortenTensor *tensor);
CORTEN_EXPORT CortenError *cortenCallSetInputAt(CortenCall *call, size_t number,
                                                const CortenTensor *tensor);
/** The call keeps the state, also when the caller frees it. */
CORTEN_EXPORT CortenError *
cortenCallSetState(CortenCall *call, const char *name, CortenState *state);
/** Where a result is put; it has to have the result's type and shape. */
CORTEN_EXPORT CortenError *cortenCallSetOutput(CortenCall *call,
                                               const char *name,
                                               const CortenTensor *tensor);
CORTEN_EXPORT CortenError *cortenCallSetOutputAt(CortenCall *call,
                                                 size_t number,
                                                 const CortenTensor *tensor);

/**
 * Runs the function. If it fails, results are gone, states are as they were,
 * and the call can be used on.
 */
CORTEN_EXPORT CortenError *cortenCallRun(CortenCall *call);
/**
 * Ends the run that is under way, or else the next one, before its next step:
 * it fails. Any thread may do that as long as the call is not freed.
 */
CORTEN_EXPORT void cortenCallCancel(CortenCall *call);
/** Not 0 if the last run failed because of that. */
CORTEN_EXPORT int cortenCallWasCancelled(const CortenCall *call);

/**
 * Fills in `tensor`, whose `size` must be set: a view of a result of the last
 * run, until the call is run again, reset or freed. Its strides are set.
 */
CORTEN_EXPORT CortenError *
cortenCallOutput(const CortenCall *call, size_t number, CortenTensor *tensor);

/** A result that lives on its own. */
typedef struct CortenArray CortenArray;

/** Holds on to a result: later runs put theirs elsewhere. */
CORTEN_EXPORT CortenError *cortenCallKeepOutput(const CortenCall *call,
                                                size_t number,
                                                CortenArray **array);
/** Fills in `tensor`, whose `size` must be set. */
CORTEN_EXPORT void cortenArrayTensor(const CortenArray *array,
                                     CortenTensor *tensor);
/** Takes NULL, too. */
CORTEN_EXPORT void cortenArrayFree(CortenArray *array);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CORTEN_C_ENGINE_H */
