// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts a program that is given as JSON and prints the module. For tests,
// and for work on a lowering without Python and without torch.

#include "ShortProgram.h"

#include "GraphReader.h"

#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Handover/Handover.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace corten;
using llvm::StringRef;

static llvm::cl::opt<bool>
    keepAssertions("assertions",
                   llvm::cl::desc("keep what programs say that has to hold, as "
                                  "for the engine"));

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

/// Converts the program that a file of a test has.
static llvm::Expected<std::unique_ptr<ConvertedModule>>
convertText(StringRef text) {
  llvm::Expected<WrittenProgram> written = spellOut(withoutComments(text));
  if (!written)
    return written.takeError();
  constexpr size_t kMaxWeightBytes = size_t{1} << 28;
  llvm::Expected<std::unique_ptr<Program>> program =
      pt2::readGraph(written->json, kMaxWeightBytes, [](const Operator &op) {
        return hasLowering(op.nameSpace, op.name);
      });
  if (!program)
    return program.takeError();
  if (llvm::Error error =
          checkSupported(**program, written->name, Refusal::Read))
    return error;
  EntryPoint entryPoint;
  entryPoint.program = program->get();
  entryPoint.name = written->name;
  ConversionOptions options;
  options.assertions = keepAssertions;
  return convert(entryPoint, options);
}

/// Registers a translation of programs, by the way in which the module is
/// printed.
static void addTranslation(StringRef name, StringRef description,
                           void (*print)(const ConvertedModule &,
                                         llvm::raw_ostream &)) {
  mlir::TranslateRegistration(
      name, description,
      [print](const std::shared_ptr<llvm::SourceMgr> &sources,
              llvm::raw_ostream &output, mlir::MLIRContext *) {
        StringRef text =
            sources->getMemoryBuffer(sources->getMainFileID())->getBuffer();
        llvm::Expected<std::unique_ptr<ConvertedModule>> converted =
            convertText(text);
        if (!converted) {
          llvm::WithColor::error()
              << llvm::toString(converted.takeError()) << '\n';
          return mlir::failure();
        }
        print(**converted, output);
        return mlir::success();
      });
}

int main(int argc, char **argv) {
  addTranslation(
      "program-to-coreai", "convert a program that is given as JSON",
      [](const ConvertedModule &converted, llvm::raw_ostream &output) {
        converted.module.get().print(output);
        output << '\n';
      });
  addTranslation(
      "program-to-handover",
      "convert a program, and print what coreai-core is given: the text, with "
      "locations, and the weights that it names",
      [](const ConvertedModule &converted, llvm::raw_ostream &output) {
        for (const Resource &resource : converted.resources)
          output << "// resource " << resource.key << ": " << resource.name
                 << '\n';
        output << handoverText(converted);
      });
  return mlir::failed(mlir::mlirTranslateMain(
      argc, argv, "Translations from and to Core AI programs\n"));
}
