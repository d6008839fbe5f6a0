// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "State.h"
#include "corten/Compiler/Compiler.h"
#include "corten/Inspect/Info.h"
#include "corten/Model/Engine.h"
#include "corten/Support/Table.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using namespace mlir;

/// Where the program of an asset is, from wherever the plan is used.
static std::string programPath(StringRef folder) {
  SmallString<256> path(folder);
  llvm::sys::path::append(path, "main.mlirb");
  (void)llvm::sys::fs::make_absolute(path);
  return std::string(path);
}

llvm::Expected<std::string> Model::compile(bool isSelfContained,
                                           Precision precision) {
  CompileOptions options;
  options.precision = precision;
  if (state->asset && !isSelfContained) {
    StringRef bytes = state->asset->bytecode();
    options.weightFile = ArrayRef(bytes.data(), bytes.size());
    options.weightPath = programPath(state->asset->path());
  }
  llvm::Expected<std::string> plan = compileProgram(*state->module, options);
  if (!plan)
    return llvm::createStringError(path() + ": " +
                                   llvm::toString(plan.takeError()));
  return plan;
}

/// What a call of each function takes, where sizes are known.
static void explainMemory(const runtime::Model &model, llvm::raw_ostream &out) {
  Table table(
      {"function", ">arena", ">without sharing", ">least possible", ">steps"});
  for (const runtime::Function &function : model.functions()) {
    std::vector<std::vector<int64_t>> shapes;
    bool isFixed = true;
    for (const auto &parameters : {function.inputs(), function.states()})
      for (const runtime::Parameter &parameter : parameters) {
        std::vector<int64_t> &shape = shapes.emplace_back();
        for (const runtime::Axis &axis : parameter.axes) {
          isFixed &= axis.isFixed();
          shape.push_back(axis.low);
        }
      }
    runtime::Expected<runtime::FrameReport> report =
        model.report(function, shapes);
    if (!isFixed || !report) {
      table.add({function.name(), "depends on the inputs", "", "", ""});
      continue;
    }
    table.add({function.name(), describeBytes(uint64_t(report->arenaBytes)),
               describeBytes(uint64_t(report->tensorBytes)),
               describeBytes(uint64_t(report->lowerBound)),
               std::to_string(report->numSteps)});
  }
  table.printPlain(out, 2);
}

llvm::Error Model::explainPlan(llvm::raw_ostream &out, Precision precision) {
  loadCompilerDialects(state->context);
  DiagnosticError error(&state->context, DiagnosticError::Place::Shown);
  StageTimes times;
  FailureOr<OwningOpRef<ModuleOp>> plans =
      planProgram(*state->module, precision, &times);
  if (failed(plans))
    return inProgram(path(), error);
  corten::explainPlan(**plans, times, out);
  llvm::Expected<std::shared_ptr<runtime::Model>> model =
      loadPlan(compile(/*isSelfContained=*/false, precision), {});
  if (!model)
    return model.takeError();
  out << '\n';
  explainMemory(**model, out);
  return llvm::Error::success();
}

llvm::Expected<std::string> Model::planText(Precision precision) {
  loadCompilerDialects(state->context);
  DiagnosticError error(&state->context, DiagnosticError::Place::Shown);
  FailureOr<OwningOpRef<ModuleOp>> plans =
      planProgram(*state->module, precision);
  if (failed(plans))
    return inProgram(path(), error);
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(16).elideLargeResourceString(16);
  (*plans)->print(os, flags);
  return text;
}
