// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts a program that is given as JSON and prints the module. For tests,
// and for work on a lowering without Python and without torch.

#include "ShortProgram.h"

#include "GraphReader.h"

#include "corten/Conversion/AtenToCoreAI/Conversion.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"

#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace corten;
using llvm::StringRef;

/// The program without the lines of the test around it.
static std::string withoutComments(StringRef text) {
  std::string kept;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (!line.ltrim().starts_with("//"))
      kept += line;
    // Errors of the parser count lines.
    kept += '\n';
    text = rest;
  }
  return kept;
}

static llvm::Error translate(StringRef text, llvm::raw_ostream &output) {
  llvm::Expected<WrittenProgram> written = spellOut(withoutComments(text));
  if (!written)
    return written.takeError();
  constexpr size_t kMaxWeightBytes = size_t{1} << 28;
  llvm::Expected<std::unique_ptr<Program>> program =
      pt2::readGraph(written->json, kMaxWeightBytes, [](const Operator &op) {
        return !op.mutates && hasLowering(op.nameSpace, op.name);
      });
  if (!program)
    return program.takeError();
  for (const UnsupportedOperator &found : findUnsupported(**program))
    return llvm::createStringError("no lowering for " +
                                   found.op->printedName());
  EntryPoint entryPoint;
  entryPoint.program = program->get();
  entryPoint.name = written->name;
  ConversionError error;
  std::unique_ptr<ConvertedModule> converted =
      convert(entryPoint, ConversionOptions(), error);
  if (!converted)
    return llvm::createStringError(error.message);
  converted->module->print(output);
  output << '\n';
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  mlir::TranslateRegistration toCoreAI(
      "program-to-coreai", "convert a program that is given as JSON",
      [](const std::shared_ptr<llvm::SourceMgr> &sources,
         llvm::raw_ostream &output, mlir::MLIRContext *) {
        StringRef text =
            sources->getMemoryBuffer(sources->getMainFileID())->getBuffer();
        if (llvm::Error error = translate(text, output)) {
          llvm::WithColor::error() << llvm::toString(std::move(error)) << '\n';
          return mlir::failure();
        }
        return mlir::success();
      });
  return mlir::failed(mlir::mlirTranslateMain(
      argc, argv, "Translations from and to Core AI programs\n"));
}
