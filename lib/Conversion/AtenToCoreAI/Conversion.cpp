// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Conversion/AtenToCoreAI/Conversion.h"

#include "Emitter.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIDialect.h"
#include "corten/Dialect/Param/IR/ParamDialect.h"

#include "mlir/IR/Verifier.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// The check before a conversion
//===----------------------------------------------------------------------===//

static void
collectUnsupported(const Graph &graph,
                   std::map<std::string, UnsupportedOperator> &found) {
  for (const Node *node : graph.nodes) {
    if (node->kind != Node::Kind::Call)
      continue;
    const Operator &op = *node->callee;
    if (!hasLowering(op.nameSpace, op.name)) {
      UnsupportedOperator &entry = found[op.printedName()];
      entry.op = &op;
      entry.uses.push_back({node});
    }
    for (const Argument &argument : node->arguments)
      if (argument.kind() == Argument::Kind::Graph)
        collectUnsupported(*argument.asGraph(), found);
  }
}

std::vector<UnsupportedOperator>
corten::findUnsupported(const Program &program) {
  std::map<std::string, UnsupportedOperator> found;
  collectUnsupported(program.main, found);
  std::vector<UnsupportedOperator> result;
  result.reserve(found.size());
  for (auto &entry : found)
    result.push_back(std::move(entry.second));
  return result;
}

//===----------------------------------------------------------------------===//
// The conversion
//===----------------------------------------------------------------------===//

/// What went wrong, then where it stands in the user's code.
static std::string describeFailure(StringRef entry, const Node *node,
                                   StringRef diagnostics) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (!node) {
    stream << diagnostics;
    return message;
  }
  stream << diagnostics << "\n  entry point '" << entry << "', node '"
         << node->name << "'";
  if (node->callee)
    stream << " (" << node->callee->printedName() << ")";
  if (SourceLocation source = node->source(); source.isKnown()) {
    stream << "\n  at " << source.file << ":" << source.line;
    if (!source.function.empty())
      stream << " in " << source.function;
  }
  if (!node->modulePath.empty())
    stream << "\n  in module " << node->modulePath << " (" << node->moduleClass
           << ")";
  return message;
}

std::unique_ptr<ConvertedModule>
corten::convert(ArrayRef<EntryPoint> entryPoints,
                const ConversionOptions &options, std::string &error) {
  auto result = std::make_unique<ConvertedModule>();
  result->context =
      std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  MLIRContext *context = result->context.get();
  context->loadDialect<coreai::CoreAIDialect, param::ParamDialect>();

  std::string diagnostics;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (!diagnostics.empty())
      diagnostics += "\n";
    diagnostics += diagnostic.str();
    return success();
  });

  result->module = ModuleOp::create(UnknownLoc::get(context));
  Emitter emitter(*result->module, options, result->resources);
  for (const EntryPoint &entry : entryPoints) {
    if (failed(emitter.emitEntryPoint(entry))) {
      error = describeFailure(entry.name, emitter.currentNode, diagnostics);
      return nullptr;
    }
  }
  if (failed(verify(*result->module))) {
    error = "the converted program does not verify: " + diagnostics;
    return nullptr;
  }
  return result;
}
