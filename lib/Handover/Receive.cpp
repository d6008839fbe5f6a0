// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Handover/Receive.h"

#include "corten/Conversion/AtenToCoreAI/Attach.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/Registration.h"
#include "corten/Support/DiagnosticError.h"
#include "corten/Support/Limits.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Parser/Parser.h"

#include "llvm/ADT/StringSet.h"

using namespace corten;
using namespace mlir;

static std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

/// Parses, and returns what was said if it cannot be.
static llvm::Expected<OwningOpRef<ModuleOp>> parse(StringRef text,
                                                   MLIRContext *context) {
  DiagnosticError error(context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
  if (!module)
    return error.take("the program cannot be read");
  return std::move(module);
}

llvm::Expected<std::unique_ptr<ReceivedModule>>
corten::receive(StringRef text) {
  auto received = std::make_unique<ReceivedModule>();
  received->context = makeContext();
  llvm::Expected<OwningOpRef<ModuleOp>> module =
      parse(text, received->context.get());
  if (!module)
    return module.takeError();
  received->module = std::move(*module);
  return received;
}

/// Calls `found` with each weight that `op` itself mentions.
static void
forEachWeight(Operation *op,
              llvm::function_ref<void(DenseResourceElementsHandle)> found) {
  for (NamedAttribute named : op->getAttrs())
    named.getValue().walk([&](Attribute attribute) {
      if (auto dense = dyn_cast<DenseResourceElementsAttr>(attribute))
        found(dense.getRawHandle());
      else if (auto typed = dyn_cast<coreai::TypedResourceAttr>(attribute))
        found(typed.getRawHandle());
    });
}

std::vector<MissingWeight>
corten::missingWeights(const ReceivedModule &received) {
  std::vector<MissingWeight> missing;
  llvm::StringSet<> seen;
  unsigned place = 0;
  ModuleOp module = *received.module;
  module.walk([&](Operation *op) {
    forEachWeight(op, [&](DenseResourceElementsHandle handle) {
      if (!handle.getBlob() && seen.insert(handle.getKey()).second)
        missing.push_back({handle.getKey().str(), place});
    });
    ++place;
  });
  return missing;
}

static void setBlob(ReceivedModule &received, StringRef key,
                    AsmResourceBlob blob) {
  DenseResourceElementsHandle::getManagerInterface(received.context.get())
      .getBlobManager()
      .update(key, std::move(blob));
}

void corten::attachWeight(ReceivedModule &received, StringRef key,
                          ArrayRef<char> data,
                          std::shared_ptr<const void> owner) {
  setBlob(received, key,
          weightBlob({{data.data(), data.size()}, std::move(owner)}));
}

llvm::Error corten::attachWeight(ReceivedModule &received, StringRef key,
                                 StringRef bytecode) {
  std::unique_ptr<MLIRContext> context = makeContext();
  llvm::Expected<OwningOpRef<ModuleOp>> carrier =
      parse(bytecode, context.get());
  if (!carrier)
    return carrier.takeError();
  AsmResourceBlob *blob = nullptr;
  (*carrier)->walk([&](Operation *op) {
    forEachWeight(op, [&](DenseResourceElementsHandle handle) {
      blob = handle.getBlob();
    });
  });
  if (!blob)
    return llvm::createStringError("the weight \"" + key + "\" has no data");
  setBlob(received, key,
          HeapAsmResourceBlob::allocateAndCopyWithAlign(
              blob->getData(), kWeightAlignment, /*dataIsMutable=*/false));
  return llvm::Error::success();
}
