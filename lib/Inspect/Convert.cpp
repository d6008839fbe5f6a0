// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Inspect/Convert.h"

#include "corten/Handover/Receive.h"
#include "corten/Pt2/Convert.h"

using namespace corten;

llvm::Expected<ConvertedFiles>
corten::convertFiles(const std::vector<ProgramFile> &files,
                     const ConvertFilesOptions &options) {
  std::vector<Pt2EntryPoint> entryPoints;
  for (const ProgramFile &file : files) {
    Pt2EntryPoint &entry = entryPoints.emplace_back();
    entry.file = file.path;
    entry.name = file.name;
    entry.inputNames = file.inputNames;
    entry.outputNames = file.outputNames;
    entry.stateNames = file.stateNames;
  }
  ConversionOptions conversion;
  conversion.debugLocations = !options.release;
  conversion.progress = options.progress;
  llvm::Expected<std::unique_ptr<ConvertedModule>> converted =
      convertPt2(entryPoints, conversion);
  if (!converted)
    return converted.takeError();
  if (llvm::Error error = attachLocations(**converted))
    return error;

  ConvertedFiles result;
  result.warnings = std::move((*converted)->warnings);
  ReceivedModule program{std::move((*converted)->context),
                         std::move((*converted)->module)};
  for (const Resource &resource : (*converted)->resources)
    attachWeight(
        program, resource.key,
        {static_cast<const char *>(resource.data.data), resource.data.bytes},
        resource.data.owner);
  result.model = Model::adopt(std::move(program), files.front().path);
  return result;
}
