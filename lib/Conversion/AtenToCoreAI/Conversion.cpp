// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Conversion/AtenToCoreAI/Conversion.h"

#include "Table.h"
#include "Walk/ProgramEmitter.h"

#include "corten/Dialect/CoreAI/IR/CoreAIDialect.h"
#include "corten/Dialect/CoreAIX/IR/CoreAIXDialect.h"
#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"
#include "corten/Dialect/Param/IR/ParamDialect.h"
#include "corten/Dialect/Plan/IR/PlanDialect.h"

#include "mlir/IR/Verifier.h"

#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// The check before a conversion
//===----------------------------------------------------------------------===//

std::vector<UnsupportedOperator>
corten::findUnsupported(const Program &program) {
  OperatorSet set =
      program.isDecomposed ? OperatorSet::Decomposed : OperatorSet::All;
  return findUnsupported(program, [&](const Operator &op) {
    return hasLowering(op.nameSpace, op.name, set);
  });
}

llvm::Error corten::checkSupported(const Program &program, StringRef entryPoint,
                                   Refusal refusal,
                                   const llvm::StringSet<> &registered) {
  return refuseUnsupported(program, entryPoint, refusal,
                           findUnsupported(program), registered);
}

//===----------------------------------------------------------------------===//
// The conversion
//===----------------------------------------------------------------------===//

std::string corten::describeNode(StringRef entryPoint, const Node &node) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "\n  entry point '" << entryPoint << "', node '" << node.name
         << "'";
  if (node.callee)
    stream << " (" << node.callee->printedName() << ")";
  if (SourceLocation source = node.source(); source.isKnown()) {
    stream << "\n  at " << source.file << ":" << source.line;
    if (!source.function.empty())
      stream << " in " << source.function;
  }
  if (node.module && !node.module->path.empty())
    stream << "\n  in module " << node.module->path << " ("
           << node.module->className << ")";
  return text;
}

/// Says once that there is no f64: who asked for it may rely on its digits.
/// That integers have 32 bits is checked where their values are known.
static void warnOfDoubles(ArrayRef<EntryPoint> entryPoints,
                          std::vector<std::string> &warnings) {
  auto isDouble = [](const ValueInfo &info) {
    return info.isTensor() && (info.dtype == ScalarType::Float64 ||
                               info.dtype == ScalarType::Complex128);
  };
  const Node *first = nullptr;
  size_t count = 0;
  for (const EntryPoint &entry : entryPoints)
    for (const Node *node : entry.program->main.nodes)
      if (llvm::any_of(node->results, isDouble)) {
        first = first ? first : node;
        ++count;
      }
  if (first)
    warnings.push_back(("'" + first->name + "'" +
                        (count == 1 ? " is"
                                    : " and " + Twine(count - 1) +
                                          (count == 2 ? " other value are"
                                                      : " other values are")) +
                        " float64, which Core AI does not have: float32 takes "
                        "its place, for inputs and outputs too")
                           .str());
}

char ConversionError::ID = 0;

llvm::Expected<std::unique_ptr<ConvertedModule>>
corten::convert(ArrayRef<EntryPoint> entryPoints,
                const ConversionOptions &options) {
  auto result = std::make_unique<ConvertedModule>();
  result->context =
      std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  MLIRContext *context = result->context.get();
  context->loadDialect<coreai::CoreAIDialect, coreaix::CoreAIXDialect,
                       debuginfo::DebugInfoDialect, param::ParamDialect>();

  if (options.assertions)
    context->loadDialect<plan::PlanDialect>();

  result->counters = options.counters;
  result->module = ModuleOp::create(UnknownLoc::get(context));
  ProgramEmitter emitter(*result, options);
  std::string diagnostics;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Warning) {
      result->warnings.push_back(diagnostic.str());
      return success();
    }
    // A lowering that has failed runs to its end on stand-ins; what is wrong
    // with those is of no interest.
    if (emitter.hasFailed())
      return success();
    if (!diagnostics.empty())
      diagnostics += "\n";
    diagnostics += diagnostic.str();
    return success();
  });

  auto start = std::chrono::steady_clock::now();
  auto lap = [&start] {
    auto end = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(end - std::exchange(start, end))
        .count();
  };
  for (const EntryPoint &entry : entryPoints) {
    if (failed(emitter.emitEntryPoint(entry))) {
      if (emitter.currentNode)
        diagnostics += describeNode(entry.name, *emitter.currentNode);
      return llvm::make_error<ConversionError>(diagnostics,
                                               emitter.isTypeError);
    }
  }
  emitter.finish();
  warnOfDoubles(entryPoints, result->warnings);
  result->emitSeconds = lap();
  if (failed(verify(*result->module)))
    return llvm::make_error<ConversionError>(
        "the converted program does not verify: " + diagnostics);
  result->verifySeconds = lap();
  return result;
}
