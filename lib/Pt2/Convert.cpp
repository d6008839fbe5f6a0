// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Pt2/Convert.h"

#include "corten/Pt2/Pt2.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <optional>

using namespace corten;

llvm::Expected<std::unique_ptr<Program>>
corten::readPt2(const Pt2File &file, const Pt2EntryPoint &entryPoint,
                NamedWeights *named, bool needsData) {
  std::string model = entryPoint.model;
  if (model.empty() && file.models().size() == 1)
    model = file.models().front();
  if (!llvm::is_contained(file.models(), model))
    return llvm::createStringError(
        "'" + entryPoint.file + "' has the programs " +
        llvm::join(file.models(), ", ") +
        (model.empty() ? ": say which one, as in " + entryPoint.file + ":" +
                             file.models().front()
                       : ", and no '" + model + "'"));
  llvm::Expected<std::unique_ptr<Program>> program = file.read(
      model,
      [](const Operator &op) { return hasLowering(op.nameSpace, op.name); },
      named, needsData);
  if (!program)
    return llvm::createStringError("'" + entryPoint.file +
                                   "': " + llvm::toString(program.takeError()));
  if (llvm::Error error =
          checkSupported(**program, entryPoint.name, Refusal::Read))
    return error;
  return program;
}

llvm::Expected<std::unique_ptr<Program>>
corten::readPt2(const Pt2EntryPoint &entryPoint) {
  llvm::Expected<Pt2File> file = Pt2File::open(entryPoint.file);
  if (!file)
    return file.takeError();
  return readPt2(*file, entryPoint);
}

llvm::Expected<std::unique_ptr<ConvertedModule>>
corten::convertPt2(llvm::ArrayRef<Pt2EntryPoint> entryPoints,
                   const ConversionOptions &options,
                   const WeightSource &weights) {
  if (entryPoints.empty())
    return llvm::createStringError("no program to convert");
  llvm::Expected<std::optional<NamedWeights>> named = openWeights(weights);
  if (!named)
    return named.takeError();
  llvm::StringSet<> names;
  llvm::StringMap<Pt2File> files;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<EntryPoint> entries;
  for (const Pt2EntryPoint &entryPoint : entryPoints) {
    if (!names.insert(entryPoint.name).second)
      return llvm::createStringError("two entry points are called '" +
                                     entryPoint.name + "'");
    auto file = files.find(entryPoint.file);
    if (file == files.end()) {
      llvm::Expected<Pt2File> opened = Pt2File::open(entryPoint.file);
      if (!opened)
        return opened.takeError();
      file = files.try_emplace(entryPoint.file, std::move(*opened)).first;
    }
    llvm::Expected<std::unique_ptr<Program>> program =
        readPt2(file->second, entryPoint, *named ? &**named : nullptr);
    if (!program)
      return program.takeError();
    programs.push_back(std::move(*program));
    entries.push_back({programs.back().get(), entryPoint.name,
                       entryPoint.inputNames, entryPoint.outputNames,
                       entryPoint.stateNames});
  }
  if (*named)
    if (llvm::Error error = (*named)->checkAllKnown())
      return error;
  return convert(entries, options);
}
