// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Model/Convert.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Handover/Receive.h"
#include "corten/Inspect/Archive.h"
#include "corten/Pt2/Convert.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"

using namespace corten;

/// Gives each weight its data, under its name in the model: the conversion only
/// numbers them. Names that occur twice get a number, in the order of the
/// program, which is what the Python package arrives at.
static void attachWeights(llvm::ArrayRef<Resource> resources,
                          ReceivedModule &program) {
  auto &manager = mlir::DenseResourceElementsHandle::getManagerInterface(
      program.context.get());
  llvm::StringMap<const Resource *> byKey;
  for (const Resource &resource : resources)
    byKey[resource.key] = &resource;
  llvm::DenseMap<mlir::Attribute, mlir::Attribute> attached;
  (*program.module)->walk([&](coreai::ConstantOp op) {
    auto numbered =
        llvm::dyn_cast<mlir::DenseResourceElementsAttr>(op.getValue());
    if (!numbered)
      return;
    mlir::Attribute &named = attached[numbered];
    if (!named) {
      const Resource &resource = *byKey.at(numbered.getRawHandle().getKey());
      mlir::DenseResourceElementsHandle handle = manager.insert(resource.name);
      attachWeight(
          program, handle.getKey(),
          {static_cast<const char *>(resource.data.data), resource.data.bytes},
          resource.data.owner);
      named = mlir::DenseResourceElementsAttr::get(numbered.getType(), handle);
    }
    op->setAttr(op.getValueAttrName(), named);
  });
}

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

llvm::Expected<ConvertedFiles>
corten::convertFiles(const std::vector<ProgramFile> &files,
                     const ConvertFilesOptions &options) {
  std::vector<Pt2EntryPoint> entryPoints;
  for (const ProgramFile &file : files) {
    Pt2EntryPoint &entry = entryPoints.emplace_back();
    setFile(file.path, entry);
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
  attachWeights((*converted)->resources, program);
  result.model = Model::adopt(std::move(program), files.front().path);
  return result;
}
