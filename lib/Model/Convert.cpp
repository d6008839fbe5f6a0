// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Model/Convert.h"

#include "corten/Conversion/AtenToCoreAI/Attach.h"
#include "corten/Inspect/Archive.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

using namespace corten;

/// "FILE.pt2:PROGRAM" is one of several programs in a file.
static void setFile(llvm::StringRef path, Pt2EntryPoint &entry) {
  auto [file, program] = path.rsplit(':');
  if (isArchivePath(file) && !llvm::sys::fs::exists(path)) {
    entry.file = file.str();
    entry.model = program.str();
  } else {
    entry.file = path.str();
  }
}

/// Nothing where it is gone.
static std::vector<std::string> currentFolder() {
  llvm::SmallString<256> path;
  if (llvm::sys::fs::current_path(path))
    return {};
  // The root ends in a slash already.
  return {path == "/" ? "/" : (path + "/").str()};
}

Pt2EntryPoint corten::entryPointOf(const ProgramFile &file) {
  Pt2EntryPoint entry;
  setFile(file.path, entry);
  entry.name = file.name;
  entry.inputNames = file.inputNames;
  entry.outputNames = file.outputNames;
  entry.stateNames = file.stateNames;
  return entry;
}

llvm::Expected<ConvertedFiles>
corten::convertFiles(const std::vector<ProgramFile> &files,
                     const ConvertFilesOptions &options) {
  std::vector<Pt2EntryPoint> entryPoints;
  entryPoints.reserve(files.size());
  for (const ProgramFile &file : files)
    entryPoints.push_back(entryPointOf(file));
  ConversionOptions conversion;
  conversion.debugLocations = !options.release;
  conversion.sourcePaths = options.sourcePaths;
  if (options.sourcePaths == SourcePaths::Relative)
    conversion.sourceRoots = currentFolder();
  conversion.assertions = options.assertions;
  conversion.progress = options.progress;
  llvm::Expected<std::unique_ptr<ConvertedModule>> converted =
      convertPt2(entryPoints, conversion, options.weights);
  if (!converted)
    return converted.takeError();
  attachLocations(**converted);
  attachWeights(**converted);

  ConvertedFiles result;
  result.warnings = std::move((*converted)->warnings);
  result.model =
      Model::adopt(std::move((*converted)->context),
                   std::move((*converted)->module), files.front().path);
  if (options.optimize)
    if (llvm::Error error = result.model->optimize())
      return error;
  return result;
}
