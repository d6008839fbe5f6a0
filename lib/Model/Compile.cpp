// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "State.h"
#include "corten/Compiler/Compiler.h"
#include "corten/Inspect/Info.h"
#include "corten/Model/Engine.h"
#include "corten/Support/Table.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace corten;
using namespace mlir;

/// Where the program of an asset is, from wherever the plan is used.
static std::string programPath(StringRef folder) {
  SmallString<256> path(folder);
  llvm::sys::path::append(path, "main.mlirb");
  (void)llvm::sys::fs::make_absolute(path);
  return std::string(path);
}

/// Weights stay in the asset, if there is one.
static CompileOptions optionsFor(const std::optional<Asset> &asset,
                                 Precision precision) {
  CompileOptions options;
  options.precision = precision;
  if (asset) {
    StringRef bytes = asset->bytecode();
    options.weightFile = ArrayRef(bytes.data(), bytes.size());
    options.weightPath = programPath(asset->path());
  }
  return options;
}

llvm::Expected<std::string> Model::compile(bool isSelfContained,
                                           Precision precision) {
  CompileOptions options;
  options.precision = precision;
  if (!isSelfContained)
    options = optionsFor(state->asset, precision);
  llvm::Expected<std::string> plan = compileProgram(*state->module, options);
  if (!plan)
    return llvm::createStringError(path() + ": " +
                                   llvm::toString(plan.takeError()));
  return plan;
}

/// The inputs and the states of a function.
static std::vector<runtime::Parameter>
parametersOf(const runtime::Function &function) {
  std::vector<runtime::Parameter> all(function.inputs().begin(),
                                      function.inputs().end());
  all.insert(all.end(), function.states().begin(), function.states().end());
  return all;
}

static bool fits(const runtime::Parameter &parameter, ArrayRef<int64_t> shape) {
  return parameter.axes.size() == shape.size() &&
         llvm::all_of(llvm::zip(parameter.axes, shape), [](const auto &pair) {
           const auto &[axis, extent] = pair;
           return extent >= axis.low && extent <= axis.high;
         });
}

/// That there are inputs or states of these names and shapes.
static llvm::Error checkShapes(const runtime::Model &model,
                               const NamedShapes &shapes) {
  for (const auto &[name, shape] : shapes) {
    SmallVector<std::string> names;
    std::string wanted;
    bool isFitting = false;
    for (const runtime::Function &function : model.functions())
      for (const runtime::Parameter &parameter : parametersOf(function)) {
        if (!llvm::is_contained(names, parameter.name))
          names.push_back(parameter.name);
        if (parameter.name != name)
          continue;
        wanted = parameter.describe();
        isFitting |= fits(parameter, shape);
      }
    if (wanted.empty())
      return llvm::createStringError("--shape: no input or state is called '" +
                                     name + "'; there are " +
                                     llvm::join(names, ", "));
    if (!isFitting)
      return llvm::createStringError("--shape: '" + name + "' is " + wanted +
                                     ", and cannot have another shape");
  }
  return llvm::Error::success();
}

/// What calls are made with; nothing if `shapes` does not say it.
static std::optional<std::vector<std::vector<int64_t>>>
shapesFor(const runtime::Function &function, const NamedShapes &shapes) {
  std::vector<std::vector<int64_t>> result;
  for (const runtime::Parameter &parameter : parametersOf(function)) {
    auto given = llvm::find_if(shapes, [&](const auto &entry) {
      return entry.first == parameter.name;
    });
    if (given != shapes.end()) {
      if (!fits(parameter, given->second))
        return std::nullopt;
      result.push_back(given->second);
      continue;
    }
    std::vector<int64_t> &shape = result.emplace_back();
    for (const runtime::Axis &axis : parameter.axes) {
      if (!axis.isFixed())
        return std::nullopt;
      shape.push_back(axis.low);
    }
  }
  return result;
}

/// What a call of each function takes, where sizes are known.
static llvm::Error explainMemory(const runtime::Model &model,
                                 const NamedShapes &given,
                                 llvm::raw_ostream &out) {
  if (llvm::Error error = checkShapes(model, given))
    return error;
  Table table(
      {"function", ">arena", ">without sharing", ">least possible", ">steps"});
  for (const runtime::Function &function : model.functions()) {
    auto shapes = shapesFor(function, given);
    if (!shapes) {
      table.add(
          {function.name(), "depends on the inputs: say --shape", "", "", ""});
      continue;
    }
    runtime::Expected<runtime::FrameReport> report =
        model.report(function, *shapes);
    if (!report && !given.empty())
      return llvm::createStringError(report.takeError().message());
    if (!report) {
      table.add({function.name(), report.takeError().message(), "", "", ""});
      continue;
    }
    table.add({function.name(), describeBytes(uint64_t(report->arenaBytes)),
               describeBytes(uint64_t(report->tensorBytes)),
               describeBytes(uint64_t(report->lowerBound)),
               std::to_string(report->numSteps)});
  }
  table.printPlain(out, 2);
  return llvm::Error::success();
}

llvm::Error Model::explainPlan(llvm::raw_ostream &out, Precision precision,
                               const NamedShapes &shapes) {
  loadCompilerDialects(state->context);
  StageTimes times;
  OwningOpRef<ModuleOp> plans;
  {
    DiagnosticError error(&state->context, DiagnosticError::Place::Shown);
    FailureOr<OwningOpRef<ModuleOp>> planned =
        planProgram(*state->module, precision, &times);
    if (failed(planned))
      return inProgram(path(), error);
    plans = std::move(*planned);
  }
  llvm::Expected<std::string> plan =
      writePlanFile(*plans, optionsFor(state->asset, precision), &times);
  auto start = std::chrono::steady_clock::now();
  llvm::Expected<std::shared_ptr<runtime::Model>> model =
      loadPlan(std::move(plan), {});
  std::chrono::duration<double, std::milli> loading =
      std::chrono::steady_clock::now() - start;
  if (!model)
    return llvm::createStringError(path() + ": " +
                                   llvm::toString(model.takeError()));
  times.emplace_back("load and pack weights", loading.count());
  corten::explainPlan(*plans, times, out);
  out << '\n';
  return explainMemory(**model, shapes, out);
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
