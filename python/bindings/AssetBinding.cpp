// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs written as assets.

#include "Bindings.h"
#include "WithoutGil.h"

#include "corten/Asset/Asset.h"
#include "corten/Asset/Translation.h"
#include "corten/Handover/Receive.h"
#include "llvm/Support/raw_ostream.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace corten;

static void save(const ReceivedModule &received, const std::string &path,
                 const std::string &metadata, bool hash, bool force) {
  corten::bindings::WithoutGil unlock;
  llvm::Expected<AssetMetadata> parsed = parseMetadata(metadata);
  if (!parsed)
    throw std::runtime_error(llvm::toString(parsed.takeError()));
  completeMetadata(*parsed);
  if (llvm::Error error =
          writeProgram(*received.module, *parsed, path, {hash, force}))
    throw std::runtime_error(llvm::toString(std::move(error)));
}

/// The bytes that `write` gives to a stream.
static nb::bytes
bytesOf(llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  std::string bytes;
  {
    corten::bindings::WithoutGil unlock;
    llvm::raw_string_ostream stream(bytes);
    if (llvm::Error error = write(stream))
      throw std::runtime_error(llvm::toString(std::move(error)));
  }
  return nb::bytes(bytes.data(), bytes.size());
}

static llvm::Error writeBytecode(mlir::ModuleOp program,
                                 Simplification simplification,
                                 llvm::raw_ostream &stream) {
  mlir::FailureOr<mlir::OwningOpRef<aicode::AssetOp>> code =
      exportProgram(program, simplification);
  if (mlir::failed(code))
    return llvm::createStringError("the program has no form in an asset");
  return writeCode(**code, stream);
}

/// The program of the asset at `path` in bytecode again: what was read, or what
/// the program that it stands for is exported to.
static llvm::Error rewrite(const std::string &path, bool throughProgram,
                           llvm::raw_ostream &stream) {
  llvm::Expected<Asset> asset = Asset::open(path);
  if (!asset)
    return asset.takeError();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  if (!throughProgram) {
    llvm::Expected<mlir::OwningOpRef<aicode::AssetOp>> code =
        asset->code(context);
    return code ? writeCode(**code, stream) : code.takeError();
  }
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> program =
      asset->program(context);
  if (!program)
    return program.takeError();
  return writeBytecode(**program, Simplification::None, stream);
}

static std::string codeText(const nb::bytes &bytecode, bool locations) {
  std::string text;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  // The bytes are the caller's, and nothing of them outlives the call.
  llvm::Expected<mlir::OwningOpRef<aicode::AssetOp>> code =
      readCode({bytecode.c_str(), bytecode.size()}, nullptr, context);
  if (!code)
    throw std::runtime_error(llvm::toString(code.takeError()));
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(locations).elideLargeResourceString(
      /*largeResourceLimit=*/0);
  (*code)->print(stream, flags);
  return text;
}

void corten::bindings::bindAsset(nb::module_ &module) {
  module.def("save_asset", &save, nb::arg("received"), nb::arg("path"),
             nb::arg("metadata"), nb::arg("hash"), nb::arg("force"),
             "Writes a program as an asset; metadata is the text of its "
             "metadata.json. Raises RuntimeError, and leaves what was there.");
  module.def(
      "check_target",
      [](const std::string &path, bool force) {
        if (llvm::Error error = checkTarget(path, force))
          throw std::runtime_error(llvm::toString(std::move(error)));
      },
      nb::arg("path"), nb::arg("force"),
      "Raises RuntimeError if save_asset() would for what is at the path.");
  module.def(
      "asset_bytecode",
      [](const ReceivedModule &received, bool simplified) {
        return bytesOf([&](llvm::raw_ostream &stream) {
          return writeBytecode(*received.module,
                               simplified ? Simplification::Official
                                          : Simplification::None,
                               stream);
        });
      },
      nb::arg("received"), nb::arg("simplified") = true,
      "The bytecode that save_asset() writes, or one in which every op is "
      "there. Raises RuntimeError.");
  module.def(
      "rewrite_asset",
      [](const std::string &path, bool throughProgram) {
        return bytesOf([&](llvm::raw_ostream &stream) {
          return rewrite(path, throughProgram, stream);
        });
      },
      nb::arg("path"), nb::arg("through_program"),
      "The bytecode of an asset, read and written again: as it lies "
      "there, or by way of the program that it stands for. Raises "
      "RuntimeError.");
  module.def("code_text", &codeText, nb::arg("bytecode"),
             nb::arg("locations") = true,
             "The bytecode of an asset as text, without weights. Raises "
             "RuntimeError.");
}
