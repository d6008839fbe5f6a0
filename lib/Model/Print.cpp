// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs as text.

#include "State.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/ADT/ScopeExit.h"

using namespace corten;
using namespace mlir;

/// Where the model has what an op was made for: the path of a module, else the
/// node of the exported program; "" if the program does not say.
static StringRef originOf(Operation *op) {
  auto location = dyn_cast<debuginfo::DebugLocationAttr>(op->getLoc());
  StringRef node;
  for (debuginfo::MetadataAttr fact :
       location ? location.getMetadata()
                : ArrayRef<debuginfo::MetadataAttr>()) {
    if (fact.getName() == "module_path")
      if (auto path = dyn_cast<StringAttr>(fact.getData()))
        return path.getValue();
    if (fact.getName() != "sources")
      continue;
    auto sources = dyn_cast<ArrayAttr>(fact.getData());
    auto source = sources && !sources.empty()
                      ? dyn_cast<DictionaryAttr>(sources[0])
                      : DictionaryAttr();
    auto names = source ? source.getAs<ArrayAttr>("identifiers") : ArrayAttr();
    auto name =
        names && !names.empty() ? dyn_cast<StringAttr>(names[0]) : StringAttr();
    node = name ? name.getValue() : StringRef();
  }
  return node;
}

/// Gives the constants that `flags` elide a name to print: they have none of
/// their own, as small weights stand in the program itself.
void Model::State::nameConstants(const OpPrintingFlags &flags) {
  if (!constantNames.empty())
    return;
  auto &manager = DenseResourceElementsHandle::getManagerInterface(&context);
  module->walk([&](coreai::ConstantOp op) {
    auto value = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!value || !flags.shouldElideElementsAttr(value))
      return;
    StringRef origin = originOf(op);
    // The manager makes names distinct.
    constantNames[op] = DenseResourceElementsAttr::get(
        value.getType(),
        manager.insert(origin.empty() ? "constant"
                                      : ("constant_of_" + origin).str()));
  });
}

llvm::Expected<std::string> Model::text(const PrintOptions &options) {
  // Enough for a shape, too little for a weight.
  constexpr int64_t kLargestConstant = 16;
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(kLargestConstant)
      .elideLargeResourceString(kLargestConstant);
  if (options.locations)
    flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  if (options.generic)
    flags.printGenericOpForm();
  state->nameConstants(flags);
  auto exchange = [&] {
    for (auto &[op, value] : state->constantNames) {
      auto constant = cast<coreai::ConstantOp>(op);
      Attribute other = constant.getValue();
      op->setAttr(constant.getValueAttrName(), value);
      value = other;
    }
  };
  exchange();
  llvm::scope_exit restore(exchange);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (options.graph.empty()) {
    state->module->print(os, flags);
    // What is left of the weights when none is printed.
    StringRef program = text;
    program.consume_back("\n{-#\n\n#-}\n");
    text.resize(program.size());
    return text;
  }
  coreai::GraphOp found;
  state->module->walk([&](coreai::GraphOp graph) {
    if (!found && graph.getSymName() == options.graph)
      found = graph;
  });
  if (!found)
    return llvm::createStringError(state->path + ": no graph \"" +
                                   options.graph + "\"");
  found->print(os, flags);
  os << '\n';
  return text;
}
