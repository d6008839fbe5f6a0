// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives arbitrary bytes to the reader of programs in assets. What it takes for
// a program is written again, in both forms, and read back.

#include "corten/Asset/Asset.h"
#include "corten/Asset/Translation.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <cstdlib>
#include <memory>

using namespace corten;
using namespace mlir;

/// A context of its own for every few inputs: what is read stays in it.
static MLIRContext &nextContext() {
  static std::unique_ptr<MLIRContext> current;
  static unsigned uses = 0;
  if (uses++ % 64 == 0) {
    DialectRegistry registry;
    registerAssetDialects(registry);
    current = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    current->loadAllAvailableDialects();
    current->getDiagEngine().registerHandler(
        [](Diagnostic &) { return success(); });
  }
  return *current;
}

/// Bytes in memory of their own, so that reading past their end is noticed.
static std::shared_ptr<llvm::WritableMemoryBuffer> copy(StringRef bytes) {
  std::shared_ptr<llvm::WritableMemoryBuffer> memory =
      llvm::WritableMemoryBuffer::getNewUninitMemBuffer(bytes.size(), "",
                                                        llvm::Align(64));
  llvm::copy(bytes, memory->getBufferStart());
  return memory;
}

/// Reads `bytes`; null if they are no program.
static OwningOpRef<aicode::AssetOp> read(StringRef bytes,
                                         MLIRContext &context) {
  std::shared_ptr<llvm::WritableMemoryBuffer> memory = copy(bytes);
  llvm::Expected<OwningOpRef<aicode::AssetOp>> code = readCode(
      {memory->getBufferStart(), memory->getBufferSize()}, memory, context);
  if (code)
    return std::move(*code);
  llvm::consumeError(code.takeError());
  return {};
}

/// Writes `code` and reads it back, which has to work.
static void check(aicode::AssetOp code) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (llvm::Error error = writeCode(code, stream)) {
    llvm::consumeError(std::move(error));
    return;
  }
  if (!read(bytes, *code.getContext()))
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  OwningOpRef<aicode::AssetOp> code =
      read({reinterpret_cast<const char *>(data), size}, nextContext());
  if (!code)
    return 0;
  check(*code);
  FailureOr<OwningOpRef<ModuleOp>> module = importProgram(*code, nullptr);
  if (failed(module))
    return 0;
  auto exported = exportProgram(**module);
  if (succeeded(exported))
    check(**exported);
  return 0;
}
