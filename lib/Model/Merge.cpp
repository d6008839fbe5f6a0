// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several programs in one.

#include "State.h"
#include "corten/Asset/Translation.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Support/EqualBytes.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace corten;
using namespace mlir;

namespace {
/// Weights of equal content, which are stored once.
class SharedWeights {
public:
  /// Lets constants refer to weights that were seen before.
  void share(ModuleOp module);

private:
  /// One that has these bytes: the given one if it is the first.
  DenseResourceElementsHandle find(DenseResourceElementsHandle weight);

  /// Weights may be larger than memory.
  ReadWindow window;
  EqualBytes contents{window};
  /// By the number that it gives them.
  SmallVector<DenseResourceElementsHandle> weights;
};
} // namespace

DenseResourceElementsHandle
SharedWeights::find(DenseResourceElementsHandle weight) {
  size_t place = contents.find(
      /*kind=*/nullptr, llvm::toStringRef(weight.getBlob()->getData()));
  if (place == weights.size())
    weights.push_back(weight);
  return weights[place];
}

void SharedWeights::share(ModuleOp module) {
  module.walk([&](coreai::ConstantOp constant) {
    auto value = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
    if (!value || !value.getRawHandle().getBlob())
      return;
    DenseResourceElementsHandle weight = find(value.getRawHandle());
    if (weight != value.getRawHandle())
      constant->setAttr(
          constant.getValueAttrName(),
          DenseResourceElementsAttr::get(value.getType(), weight));
  });
}

/// The constants of a program that are weights, in order.
static SmallVector<aicode::ResourceHandle> weights(aicode::AssetOp code) {
  SmallVector<aicode::ResourceHandle> result;
  code->walk([&](aicode::ConstantV1Op constant) {
    if (auto resource = dyn_cast<aicode::ResourceAttr>(constant.getValue()))
      result.push_back(resource.getHandle());
  });
  return result;
}

/// The same program in another context. Its weights stay where they are, as
/// long as the context of `code` lives.
static llvm::Expected<OwningOpRef<aicode::AssetOp>>
copyTo(MLIRContext &context, aicode::AssetOp code) {
  std::string bytes;
  {
    llvm::raw_string_ostream stream(bytes);
    BytecodeWriterConfig config;
    config.setElideResourceDataFlag();
    if (failed(writeBytecodeToFile(code, stream, config)))
      return llvm::createStringError("the program has no form in bytecode");
  }
  auto buffer = std::make_shared<std::string>(std::move(bytes));
  llvm::Expected<OwningOpRef<aicode::AssetOp>> copy =
      readCode(*buffer, buffer, context);
  if (!copy)
    return copy.takeError();
  auto &manager = aicode::ResourceHandle::getManagerInterface(&context);
  // Keys that are taken have become others.
  for (auto [from, to] : llvm::zip_equal(weights(code), weights(**copy)))
    if (const AsmResourceBlob *blob = from.getBlob(); blob && !to.getBlob())
      manager.update(to.getKey(), UnmanagedAsmResourceBlob::allocateWithAlign(
                                      blob->getData(), blob->getDataAlignment(),
                                      /*deleter=*/{}, /*dataIsMutable=*/false));
  return copy;
}

/// Moves what is in `from` to the end of `to`. Private graphs get other names
/// where theirs are taken.
static llvm::Error append(ModuleOp to, ModuleOp from) {
  for (auto graph : from.getOps<coreai::GraphOp>()) {
    Operation *other = SymbolTable::lookupSymbolIn(to, graph.getSymName());
    if (!other)
      continue;
    auto known = dyn_cast<coreai::GraphOp>(other);
    if (graph.isPublic() && known && known.isPublic())
      return llvm::createStringError("two entry points are called '" +
                                     graph.getSymName() +
                                     "': rename one of them");
    coreai::GraphOp changed = graph.isPublic() && known ? known : graph;
    // Different from what both have.
    std::string name = changed.getSymName().str();
    do
      name = distinctSymbol(to, name);
    while (SymbolTable::lookupSymbolIn(from, name));
    renameSymbol(changed, name);
  }
  to.getBody()->getOperations().splice(to.getBody()->end(),
                                       from.getBody()->getOperations());
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Model>>
Model::merge(llvm::ArrayRef<Model *> models) {
  if (models.empty())
    return llvm::createStringError("no program to merge");
  auto merged = std::make_unique<State>(models.front()->path());
  merged->metadata = models.front()->state->metadata;
  SharedWeights weights;
  for (Model *model : models) {
    State &from = *model->state;
    DiagnosticError error(&from.context, DiagnosticError::Place::Shown);
    OwningOpRef<aicode::AssetOp> exported;
    if (!from.code) {
      FailureOr<OwningOpRef<aicode::AssetOp>> code =
          exportProgram(*from.module);
      if (failed(code))
        return inProgram(from.path, error);
      exported = std::move(*code);
    }
    llvm::Expected<OwningOpRef<aicode::AssetOp>> code =
        copyTo(merged->context, from.code ? *from.code : *exported);
    if (!code)
      return code.takeError();
    if (!merged->module) {
      if (llvm::Error error = merged->import(std::move(*code), from.owned))
        return error;
      weights.share(*merged->module);
      continue;
    }
    DiagnosticError failure(&merged->context, DiagnosticError::Place::Shown);
    FailureOr<OwningOpRef<ModuleOp>> module = importProgram(**code, from.owned);
    if (failed(module))
      return inProgram(from.path, failure);
    weights.share(**module);
    if (llvm::Error error = append(*merged->module, **module))
      return error;
  }
  if (llvm::Error error = merged->updateCode())
    return error;
  return std::unique_ptr<Model>(new Model(std::move(merged)));
}
