// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens assets.

#include "BytecodeCheck.h"
#include "corten/Asset/Asset.h"
#include "corten/Asset/Translation.h"
#include "corten/Dialect/Registration.h"
#include "corten/Support/Bytes.h"
#include "corten/Support/DiagnosticError.h"
#include "corten/Support/Digest.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include <system_error>

using namespace corten;
using namespace mlir;
namespace fs = llvm::sys::fs;

/// A mapped file, and the hash that lies beside it.
struct Asset::File {
  SharedBytes program;
  std::optional<std::string> hash;
};

namespace {
/// What MLIR's reader keeps alive for the weights.
struct Source {
  std::shared_ptr<void> owner;
  llvm::SourceMgr manager;
};
} // namespace

void corten::registerAssetDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registry.insert<aicode::AICodeDialect>();
}

static llvm::Error fileError(const llvm::Twine &path, std::error_code code) {
  return llvm::createStringError(path + ": " + code.message());
}

static llvm::Error inFile(StringRef path, llvm::Error error) {
  return llvm::createStringError(path + ": " +
                                 llvm::toString(std::move(error)));
}

static std::string child(StringRef folder, StringRef name) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

llvm::Expected<Asset> Asset::open(StringRef path) {
  // Tools complete names of folders with a slash.
  while (path.size() > 1 && path.ends_with("/"))
    path = path.drop_back();
  fs::file_status status;
  if (std::error_code code = fs::status(path, status))
    return fileError(path, code);
  if (status.type() != fs::file_type::directory_file)
    return llvm::createStringError(path + ": not an asset, which is a folder");
  Asset asset;
  asset.folder = path.str();
  asset.file = std::make_shared<File>();

  std::string program = child(path, "main.mlirb");
  llvm::Expected<SharedBytes> bytes = mapFile(program);
  if (!bytes)
    return inFile(program, bytes.takeError());
  asset.file->program = std::move(*bytes);

  if (auto hash = llvm::MemoryBuffer::getFile(child(path, "main.hash"),
                                              /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false))
    asset.file->hash = (*hash)->getBuffer().str();

  auto metadata = std::make_shared<AssetMetadata>();
  std::string description = child(path, "metadata.json");
  auto text = llvm::MemoryBuffer::getFile(description);
  if (text) {
    llvm::Expected<AssetMetadata> parsed = parseMetadata((*text)->getBuffer());
    if (!parsed)
      return inFile(path, parsed.takeError());
    *metadata = std::move(*parsed);
  } else if (text.getError() == std::errc::no_such_file_or_directory) {
    metadata->assetVersion.clear();
  } else {
    return fileError(description, text.getError());
  }
  asset.properties = std::move(metadata);
  return asset;
}

StringRef Asset::bytecode() const { return file->program.data; }

Asset::HashState Asset::checkHash() const {
  if (!file->hash)
    return HashState::Missing;
  Digest digest =
      sha256({file->program.data.data(), file->program.data.size()});
  StringRef found(reinterpret_cast<const char *>(digest.data()), digest.size());
  return found == *file->hash ? HashState::Right : HashState::Wrong;
}

llvm::Expected<OwningOpRef<aicode::AssetOp>>
corten::readCode(StringRef bytecode, std::shared_ptr<void> owner,
                 MLIRContext &context) {
  if (llvm::Error error = checkBytecode(bytecode))
    return error;
  context.loadDialect<aicode::AICodeDialect>();
  DiagnosticError errors(&context);
  auto source = std::make_shared<Source>();
  source->owner = std::move(owner);
  source->manager.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(bytecode, "main.mlirb",
                                       /*RequiresNullTerminator=*/false),
      llvm::SMLoc());
  Block block;
  ParserConfig config(&context);
  if (failed(readBytecodeFile(
          std::shared_ptr<llvm::SourceMgr>(source, &source->manager), &block,
          config)))
    return errors.take("the program cannot be read");
  auto asset = block.empty() ? aicode::AssetOp()
                             : dyn_cast<aicode::AssetOp>(block.front());
  if (!asset || std::next(block.begin()) != block.end())
    return llvm::createStringError("the file holds no program of an asset");
  asset->remove();
  return OwningOpRef<aicode::AssetOp>(asset);
}

llvm::Expected<OwningOpRef<aicode::AssetOp>>
Asset::code(MLIRContext &context) const {
  llvm::Expected<OwningOpRef<aicode::AssetOp>> result =
      readCode(bytecode(), file, context);
  if (!result)
    return inFile(child(folder, "main.mlirb"), result.takeError());
  return result;
}

llvm::Expected<OwningOpRef<ModuleOp>>
Asset::program(MLIRContext &context) const {
  llvm::Expected<OwningOpRef<aicode::AssetOp>> read = code(context);
  if (!read)
    return read.takeError();
  DialectRegistry registry;
  registerAssetDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  DiagnosticError errors(&context);
  FailureOr<OwningOpRef<ModuleOp>> module = importProgram(read->get(), file);
  if (failed(module))
    return inFile(child(folder, "main.mlirb"),
                  errors.take("the program cannot be read"));
  return std::move(*module);
}
