// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Pt2/Convert.h"

#include "SchemaTable.h"
#include "corten/Pt2/Pt2.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <optional>

using namespace corten;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Operators without a lowering
//===----------------------------------------------------------------------===//

/// Whether torch takes the operator out of a program that it decomposes. Of the
/// higher-order ones that is only so for regions without gradients or with
/// automatic casts; what a user's operator writes becomes a value, the operator
/// stays.
static bool isDecomposed(const Operator &op) {
  if (op.nameSpace == "higher_order")
    return op.name.starts_with("wrap_with_");
  return op.nameSpace == "aten" && (op.mutates || pt2::isDecomposed(op.name));
}

/// Torch may leave a write in a branch or the body of a loop as it is.
static bool isNestedWrite(const UnsupportedOperator &entry) {
  return entry.op->mutates &&
         llvm::any_of(entry.uses, [](const auto &use) { return use.isNested; });
}

/// What to do about operators without a lowering.
static std::string remedies(llvm::ArrayRef<UnsupportedOperator> found) {
  std::vector<std::string> decomposed, others;
  for (const UnsupportedOperator &entry : found)
    (isDecomposed(*entry.op) ? decomposed : others)
        .push_back(entry.op->printedName());
  std::string text;
  if (!decomposed.empty())
    text += "\nFix: only torch can decompose " + llvm::join(decomposed, ", ") +
            ": call run_decompositions(coreai_torch.get_decomp_table()) before "
            "saving the program.";
  if (llvm::any_of(found, isNestedWrite))
    text +=
        "\nA write inside cond or while_loop that is still there then cannot "
        "be decomposed: return the new value, and copy_() it to its place "
        "after the call.";
  if (!others.empty())
    text += "\nFix: no decomposition replaces " + llvm::join(others, ", ") +
            ": change the model, or convert it in Python, where TorchConverter "
            "takes lowerings (register_torch_lowering) and Metal kernels "
            "(register_custom_kernels).";
  return text;
}

static llvm::Error checkSupported(const Program &program, StringRef name) {
  std::vector<UnsupportedOperator> found = findUnsupported(program);
  if (found.empty())
    return llvm::Error::success();
  auto names = llvm::map_range(found, [](const UnsupportedOperator &entry) {
    return entry.op->printedName();
  });
  std::string message = (name + ": " + Twine(found.size()) +
                         (found.size() == 1 ? " operator has no lowering: "
                                            : " operators have no lowering: ") +
                         llvm::join(names, ", "))
                            .str();
  constexpr size_t kShownUses = 4;
  for (const UnsupportedOperator &entry : found) {
    message +=
        ("\n  " + entry.op->printedName() + ", " + Twine(entry.uses.size()) +
         (entry.uses.size() == 1 ? " use" : " uses"))
            .str();
    for (const UnsupportedUse &use :
         llvm::ArrayRef(entry.uses).take_front(kShownUses))
      message += describeNode(name, *use.node);
  }
  return llvm::createStringError(message + remedies(found));
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

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
      [](const Operator &op) {
        return !op.mutates && hasLowering(op.nameSpace, op.name);
      },
      named, needsData);
  if (!program)
    return llvm::createStringError("'" + entryPoint.file +
                                   "': " + llvm::toString(program.takeError()));
  if (llvm::Error error = checkSupported(**program, entryPoint.name))
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
  llvm::Expected<std::optional<NamedWeights>> named =
      NamedWeights::open(weights);
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
