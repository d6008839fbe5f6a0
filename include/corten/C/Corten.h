/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The C interface of Corten: open, inspect, convert and write Core AI programs.
 * corten/C/Common.h says how errors and structures work; corten/C/Engine.h runs
 * models. Different models and archives may be used by different threads at a
 * time, each by one.
 */

#ifndef CORTEN_C_CORTEN_H
#define CORTEN_C_CORTEN_H

#include "corten/C/Common.h"
#include "corten/Version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): this is C. */

/** Frees a string that a function gave out; takes NULL, too. */
CORTEN_EXPORT void cortenStringFree(char *string);

/*===------------------------------------------------------------------------===
 * Models
 *===----------------------------------------------------------------------===*/

/** A program with the memory that it lies in. */
typedef struct CortenModel CortenModel;

/**
 * Opens an asset (a folder NAME.aimodel), the program of one (a file
 * main.mlirb), or a program as MLIR text. The weights of an asset are mapped,
 * not read.
 */
CORTEN_EXPORT CortenError *cortenModelOpen(const char *path,
                                           CortenModel **model);
/** Takes NULL, too. */
CORTEN_EXPORT void cortenModelFree(CortenModel *model);

/** Everything that `corten info --json` prints. Free the string. */
CORTEN_EXPORT CortenError *cortenModelInfoJson(CortenModel *model, char **json);

/** How a program is printed; see cortenModelText. */
typedef struct CortenPrintOptions {
  size_t size; /**< sizeof(CortenPrintOptions) */
  /** The graph to print; NULL for all. */
  const char *graph;
  /** Not 0: with debug locations. */
  int locations;
  /** Not 0: in the form that every MLIR reads. */
  int generic;
} CortenPrintOptions;

/**
 * The program as MLIR text; weights are named, not printed. `options` may be
 * NULL. Free the string.
 */
CORTEN_EXPORT CortenError *cortenModelText(CortenModel *model,
                                           const CortenPrintOptions *options,
                                           char **text);

/** Removes source lines and module names. Ops keep their numbers. */
CORTEN_EXPORT CortenError *cortenModelStrip(CortenModel *model);

/**
 * Brings the program into its simplest form: constants computed, what is the
 * same computed once, transposes, reshapes and casts merged. What it computes,
 * its interface, its composites and its weights stay as they are.
 */
CORTEN_EXPORT CortenError *cortenModelOptimize(CortenModel *model);

/** What an asset says about itself; see cortenModelSetMetadata. */
typedef struct CortenMetadata {
  size_t size; /**< sizeof(CortenMetadata) */
  /** NULL leaves what is there. */
  const char *author;
  const char *license;
  const char *description;
  /** Whatever the author wants to say besides: a JSON object. */
  const char *creatorDefined;
} CortenMetadata;

/** Says what assets that are written of this model tell about it. */
CORTEN_EXPORT CortenError *
cortenModelSetMetadata(CortenModel *model, const CortenMetadata *metadata);

/** How an asset is written; see cortenModelSave. */
typedef struct CortenSaveOptions {
  size_t size; /**< sizeof(CortenSaveOptions) */
  /** Not 0: without main.hash, which takes longer to make than to write. */
  int withoutHash;
  /** Not 0: replaces also what is no asset. */
  int force;
} CortenSaveOptions;

/**
 * Writes the asset `path`, which has to end in .aimodel. It replaces an asset
 * that is there in one step, when all of it is on the disk; after a failure
 * everything is as it was. `options` may be NULL.
 */
CORTEN_EXPORT CortenError *cortenModelSave(CortenModel *model, const char *path,
                                           const CortenSaveOptions *options);

/*===------------------------------------------------------------------------===
 * Conversion
 *===----------------------------------------------------------------------===*/

/** A program that torch.export.save wrote; it becomes one entry point. */
typedef struct CortenProgramFile {
  size_t size; /**< sizeof(CortenProgramFile) */
  /** FILE.pt2, or FILE.pt2:PROGRAM where a file has several programs. */
  const char *path;
  /** Of the entry point; NULL for "main". */
  const char *name;
  /** Names for the values, in order; none keeps those of the program. */
  const char *const *inputNames;
  size_t inputNameCount;
  const char *const *outputNames;
  size_t outputNameCount;
  /** Of mutated buffers, then of mutated inputs. */
  const char *const *stateNames;
  size_t stateNameCount;
  /**
   * Not NULL: the values that get the names above, as many; others keep theirs.
   * They are called as in the program; a state that is a buffer, by its path.
   */
  const char *const *inputOriginals;
  const char *const *outputOriginals;
  const char *const *stateOriginals;
} CortenProgramFile;

/** How debug information shows the files of the user's program. */
typedef enum CortenSourcePaths {
  /** Those of installed packages as "torch/nn/...", the others as they are. */
  CORTEN_SOURCE_PACKAGES = 0,
  CORTEN_SOURCE_ABSOLUTE = 1,
  /** Below the current folder or where packages are, else the name alone. */
  CORTEN_SOURCE_RELATIVE = 2,
  /** Neither files nor lines. */
  CORTEN_SOURCE_HIDDEN = 3
} CortenSourcePaths;

typedef struct CortenConvertOptions {
  size_t size; /**< sizeof(CortenConvertOptions) */
  /** Not 0: leave out source files, lines and module names. */
  int release;
  /**
   * A folder of safetensors files that the weights are in, by name; NULL if the
   * programs have their own.
   */
  const char *weights;
  /** Not 0: bring the program into its simplest form; cortenModelOptimize. */
  int optimize;
  /**
   * Weights that the folder has under another name only, because the model ties
   * them, and those names: two arrays of `tiedCount`.
   */
  const char *const *tiedNames;
  const char *const *tiedStored;
  size_t tiedCount;
  CortenSourcePaths sourcePaths;
} CortenConvertOptions;

/**
 * Converts programs to one model, without Python and torch. `files` is an array
 * of `count` pointers; `options` may be NULL. The message of the error lists
 * everything that cannot be converted, on several lines. Weights stay in the
 * files, which are mapped until the model is freed.
 */
CORTEN_EXPORT CortenError *cortenConvert(const CortenProgramFile *const *files,
                                         size_t count,
                                         const CortenConvertOptions *options,
                                         CortenModel **model);

/** What the user should know about a conversion all the same. */
CORTEN_EXPORT size_t cortenModelWarningCount(const CortenModel *model);
/** Lives as long as the model. NULL if there is none with this number. */
CORTEN_EXPORT const char *cortenModelWarning(const CortenModel *model,
                                             size_t number);

/*===------------------------------------------------------------------------===
 * Archives
 *===----------------------------------------------------------------------===*/

/** A file NAME.pt2 of torch.export.save. */
typedef struct CortenArchive CortenArchive;

/**
 * Reads the programs of an archive; weights are mapped. Also opens one whose
 * programs cannot be converted.
 */
CORTEN_EXPORT CortenError *cortenArchiveOpen(const char *path,
                                             CortenArchive **archive);
/** Takes NULL, too. */
CORTEN_EXPORT void cortenArchiveFree(CortenArchive *archive);

/** Everything that `corten info --json` prints of it. Free the string. */
CORTEN_EXPORT CortenError *cortenArchiveInfoJson(const CortenArchive *archive,
                                                 char **json);

CORTEN_EXPORT size_t cortenArchiveProgramCount(const CortenArchive *archive);
/** NULL if there is none with this number. */
CORTEN_EXPORT const char *cortenArchiveProgramName(const CortenArchive *archive,
                                                   size_t program);

/**
 * A value that a program was exported with. What it points to lives as long as
 * the archive.
 */
typedef struct CortenExample {
  size_t size; /**< sizeof(CortenExample) */
  /** The input that it is for; NULL for a plain value of Python's. */
  const char *input;
  /** Where it stands in the call: "args[0]", "kwargs['mask']". */
  const char *path;
  /** Of a tensor, as torch calls it ("float32"); else NULL. */
  const char *elementType;
  const int64_t *shape;
  size_t rank;
  /** The elements of a tensor in row-major order. */
  const void *data;
  size_t byteCount;
} CortenExample;

/** 0 if there is no such program, or it was saved without. */
CORTEN_EXPORT size_t cortenArchiveExampleCount(const CortenArchive *archive,
                                               size_t program);
/**
 * Fills in `example`, whose `size` must be set. Fails on a wrong number, and on
 * a tensor that the file does not hold in full.
 */
CORTEN_EXPORT CortenError *cortenArchiveExample(CortenArchive *archive,
                                                size_t program, size_t number,
                                                CortenExample *example);

/*===------------------------------------------------------------------------===
 * Entry points
 *===----------------------------------------------------------------------===*/

typedef enum CortenValueKind {
  CORTEN_TENSOR = 0,
  CORTEN_IMAGE = 1,
  CORTEN_OTHER = 2
} CortenValueKind;

/** An input, output or state. What it points to lives as long as the model. */
typedef struct CortenValue {
  size_t size; /**< sizeof(CortenValue) */
  const char *name;
  CortenValueKind kind;
  /** "f32"; of an image its pixel format. */
  const char *elementType;
  const CortenDimension *shape;
  size_t rank;
} CortenValue;

CORTEN_EXPORT size_t cortenModelEntryPointCount(CortenModel *model);
/** NULL if there is none with this number. */
CORTEN_EXPORT const char *cortenModelEntryPointName(CortenModel *model,
                                                    size_t entryPoint);
/** 0 if there is no such entry point. */
CORTEN_EXPORT size_t cortenModelValueCount(CortenModel *model,
                                           size_t entryPoint, CortenRole role);
/** Fills in `value`, whose `size` must be set. Fails on a wrong number. */
CORTEN_EXPORT CortenError *cortenModelValue(CortenModel *model,
                                            size_t entryPoint, CortenRole role,
                                            size_t number, CortenValue *value);

/*===------------------------------------------------------------------------===
 * Editing
 *
 * What an entry point or a value of the model was called before may not be used
 * afterwards. After a failure the model is as it was.
 *===----------------------------------------------------------------------===*/

/**
 * Gives values of an entry point other names. `originals` are what `count` of
 * them are called; NULL for all of them, in order.
 */
CORTEN_EXPORT CortenError *
cortenModelRenameValues(CortenModel *model, const char *entryPoint,
                        CortenRole role, const char *const *originals,
                        const char *const *names, size_t count);
CORTEN_EXPORT CortenError *cortenModelRenameEntryPoint(CortenModel *model,
                                                       const char *from,
                                                       const char *to);
/** Removes all other entry points, and what only they need. */
CORTEN_EXPORT CortenError *cortenModelExtract(CortenModel *model,
                                              const char *const *entryPoints,
                                              size_t count);
/**
 * One model with the entry points of several, which must not be called the
 * same. It has the metadata of the first, and needs none of them afterwards.
 */
CORTEN_EXPORT CortenError *cortenMerge(CortenModel *const *models, size_t count,
                                       CortenModel **merged);

/*===------------------------------------------------------------------------===
 * Findings
 *===----------------------------------------------------------------------===*/

typedef enum CortenSeverity {
  /** A loader refuses the asset, or a process ends on it. */
  CORTEN_ERROR = 0,
  /** Numbers can be wrong, or something leaves the house. */
  CORTEN_WARNING = 1,
  /** Bytes that nobody needs. */
  CORTEN_NOTE = 2
} CortenSeverity;

/** A known trap that a model runs into; see `corten doctor`. */
typedef struct CortenFinding {
  size_t size; /**< sizeof(CortenFinding) */
  CortenSeverity severity;
  /** Its name, which stays the same in later releases. */
  const char *check;
  const char *place;
  const char *detail;
  const char *reason;
  const char *remedy;
} CortenFinding;

/** What `corten doctor` finds. */
typedef struct CortenFindings CortenFindings;

/**
 * Examines the asset or program at `path`, also one that cannot be opened
 * because loaders refuse its version. Free the findings.
 */
CORTEN_EXPORT CortenError *cortenExamine(const char *path,
                                         CortenFindings **findings);
CORTEN_EXPORT size_t cortenFindingsCount(const CortenFindings *findings);
/** Fills in `finding`, whose `size` must be set; it lives as long as the list.
 * The worst comes first. Fails on a wrong number. */
CORTEN_EXPORT CortenError *cortenFindingsGet(const CortenFindings *findings,
                                             size_t number,
                                             CortenFinding *finding);
/** Takes NULL, too. */
CORTEN_EXPORT void cortenFindingsFree(CortenFindings *findings);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CORTEN_C_CORTEN_H */
