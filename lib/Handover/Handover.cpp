// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Handover/Handover.h"

#include "mlir/Bytecode/BytecodeWriter.h"

#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace corten;

static constexpr size_t kBlobAlignment = 16;

std::string corten::moduleBytecode(const ConvertedModule &module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  // Writing fails only for bytecode versions that cannot hold the module; none
  // is asked for.
  mlir::LogicalResult written =
      mlir::writeBytecodeToFile(*module.module, stream);
  assert(mlir::succeeded(written) && "current bytecode version refused");
  (void)written;
  return bytes;
}

std::string corten::moduleText(const ConvertedModule &module, bool generic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  if (generic)
    flags.printGenericOpForm();
  // The module was verified when it was made.
  flags.assumeVerified();
  module.module.get()->print(stream, flags);
  return text;
}

TensorView corten::alignedResource(const TensorView &view) {
  if (reinterpret_cast<uintptr_t>(view.data) % kBlobAlignment == 0)
    return view;
  TensorView result = view;
  void *memory =
      std::aligned_alloc(kBlobAlignment, (view.bytes + kBlobAlignment - 1) /
                                             kBlobAlignment * kBlobAlignment);
  std::memcpy(memory, view.data, view.bytes);
  result.data = memory;
  result.owner = std::shared_ptr<const void>(
      memory, [](const void *data) { std::free(const_cast<void *>(data)); });
  return result;
}
