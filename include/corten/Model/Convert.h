// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From `.pt2` files to a model that can be looked at and written: what
// `corten convert` does, without Python and without torch.

#ifndef CORTEN_MODEL_CONVERT_H
#define CORTEN_MODEL_CONVERT_H

#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Conversion/AtenToCoreAI/ValueNames.h"
#include "corten/Model/Model.h"
#include "corten/Pt2/Convert.h"

#include <functional>

namespace corten {

/// A program that torch.export.save wrote, and what its graph is to be called.
struct ProgramFile {
  /// FILE.pt2, or FILE.pt2:PROGRAM where a file has several programs.
  std::string path;
  /// Of the entry point.
  std::string name = "main";
  ValueNames inputNames;
  ValueNames outputNames;
  /// Of mutated buffers, then of mutated inputs.
  ValueNames stateNames;
};

struct ConvertFilesOptions {
  /// Leave out where ops come from: no files, no lines, no module names.
  bool release = false;
  /// How files of the user's program are shown; those that are shown relative
  /// begin in the current folder, or where packages are installed.
  SourcePaths sourcePaths = SourcePaths::Packages;
  /// Bring the program into its simplest form; see Model::optimize().
  bool optimize = false;
  /// Keep what the programs say that has to hold (`torch._check`): for a model
  /// that goes to the engine, and into no asset.
  bool assertions = false;
  /// Where the weights are, if not in the programs.
  WeightSource weights;
  /// Told now and then how many nodes have been converted.
  std::function<void(size_t)> progress;
};

/// The program that a file stands for, as its reader takes it.
Pt2EntryPoint entryPointOf(const ProgramFile &file);

/// A converted model, and what the user should know about it all the same.
struct ConvertedFiles {
  std::unique_ptr<Model> model;
  std::vector<std::string> warnings;
};

/// Converts all programs into one model, each an entry point. Weights stay in
/// the files, which are mapped. The error lists everything that cannot be
/// converted, with the lines of the user's code.
llvm::Expected<ConvertedFiles>
convertFiles(const std::vector<ProgramFile> &files,
             const ConvertFilesOptions &options = {});

} // namespace corten

#endif // CORTEN_MODEL_CONVERT_H
