// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes assets: all of it beside the target first, then one rename.

#include "HashedFile.h"
#include "Unfinished.h"
#include "corten/Asset/Asset.h"
#include "corten/Asset/Translation.h"
#include "corten/Support/DiagnosticError.h"
#include "corten/Support/Text.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

using namespace corten;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

/// For failures that change nothing for the caller.
static void ignore(std::error_code) {}

static std::error_code lastError() { return {errno, std::generic_category()}; }

static llvm::Error failure(const llvm::Twine &what, std::error_code code) {
  return llvm::createStringError(what + ": " + code.message());
}

/// Makes the entries of a folder last.
static llvm::Error syncFolder(StringRef path) {
  int descriptor = llvm::sys::RetryAfterSignal(
      -1, ::open, path.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return failure(path, lastError());
  // Some file systems cannot, and need not.
  bool isSynced = ::fsync(descriptor) == 0 || errno == EINVAL;
  std::error_code code = lastError();
  ::close(descriptor);
  return isSynced ? llvm::Error::success() : failure(path, code);
}

static llvm::Error writeSmallFile(const std::string &path, StringRef bytes) {
  llvm::Expected<std::unique_ptr<HashedFile>> file =
      HashedFile::create(path, HashedFile::Hash::None);
  if (!file)
    return file.takeError();
  **file << bytes;
  return (*file)->finish().takeError();
}

/// Makes an empty folder beside `target`.
static llvm::Expected<std::unique_ptr<UnfinishedFolder>>
makeFolderBeside(StringRef target) {
  std::string pattern = unfinishedPattern(target);
  constexpr int kAttempts = 16;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    llvm::SmallString<256> path;
    fs::createUniquePath(pattern, path, /*MakeAbsolute=*/false);
    auto folder = std::make_unique<UnfinishedFolder>(path.str().str());
    if (::mkdir(path.c_str(), 0777) == 0) {
      if (folder->lock())
        return folder;
      continue;
    }
    // The name that the user gave: nobody knows of this folder.
    if (errno != EEXIST)
      return failure(target, lastError());
  }
  return failure(target, std::make_error_code(std::errc::file_exists));
}

/// Whether assets have entries of this name: those that this library writes,
/// what a compiler adds for each kind of device (`main-h16g.odix`,
/// `main-h16g-delegates`), and what a file manager leaves in every folder.
static bool isOfAssets(StringRef name) {
  if (name == "main.mlirb" || name == "main.hash" || name == "metadata.json")
    return true;
  if (name == ".DS_Store" || name.starts_with("._") ||
      name.ends_with(".debuginfo"))
    return true;
  return name.starts_with("main-") &&
         (name.ends_with("-delegates") || name.ends_with(".hash") ||
          name.ends_with(".mlirb") || name.ends_with(".odix"));
}

/// Whether the file is what an asset says about itself: others have files of
/// this name as well.
static bool isMetadataOfAsset(const std::string &path) {
  if (!fs::is_regular_file(path))
    return false;
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> text =
      llvm::MemoryBuffer::getFile(path);
  if (!text)
    return false;
  llvm::Expected<AssetMetadata> metadata = parseMetadata((*text)->getBuffer());
  bool isIt = static_cast<bool>(metadata);
  llvm::consumeError(metadata.takeError());
  return isIt;
}

/// An error unless there is nothing to lose at `target` but an asset, or a part
/// of one.
static llvm::Error checkReplaceable(const std::string &target) {
  auto refuse = [&](const llvm::Twine &what) {
    return llvm::createStringError(target + ": " + what +
                                   "; only force replaces it");
  };
  fs::file_status status;
  if (std::error_code code = fs::status(target, status, /*follow=*/false)) {
    if (status.type() == fs::file_type::file_not_found)
      return llvm::Error::success();
    return failure(target, code);
  }
  if (!fs::is_directory(target))
    return refuse("what is there is no asset");
  std::string foreign;
  std::error_code code;
  bool hasMetadata = false;
  for (fs::directory_iterator entry(target, code), end; !code && entry != end;
       entry.increment(code)) {
    StringRef name = llvm::sys::path::filename(entry->path());
    hasMetadata |= name == "metadata.json";
    // The first in the alphabet, whatever the order of the folder.
    if (!isOfAssets(name) && (foreign.empty() || name < foreign))
      foreign = name.str();
  }
  if (code)
    return failure(target, code);
  bool hasProgram = fs::is_regular_file(target + "/main.mlirb");
  if (!foreign.empty())
    return refuse(hasProgram
                      ? "beside an asset it has " + llvm::json::fixUTF8(foreign)
                      : "what is there is no asset");
  if (!hasProgram && hasMetadata &&
      !isMetadataOfAsset(target + "/metadata.json"))
    return refuse("what is there is no asset");
  return llvm::Error::success();
}

static StringRef withoutSlashes(StringRef path) {
  while (path.size() > 1 && path.ends_with("/"))
    path = path.drop_back();
  return path;
}

llvm::Error corten::checkTarget(StringRef path, bool force) {
  path = withoutSlashes(path);
  if (!path.ends_with(".aimodel"))
    return llvm::createStringError(path +
                                   ": the name of an asset ends in .aimodel");
  if (llvm::Error error = checkUtf8("the path", path))
    return error;
  return force ? llvm::Error::success() : checkReplaceable(path.str());
}

/// Puts `made` in the place of `target`. What was there goes to the place of
/// `made`, or to `aside` where the file system cannot exchange two names.
static llvm::Error replace(const std::string &made, const std::string &target,
                           const std::string &aside) {
  if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, target.c_str(),
                  RENAME_NOREPLACE) == 0)
    return llvm::Error::success();
  if (errno == EEXIST) {
    if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, target.c_str(),
                    RENAME_EXCHANGE) == 0)
      return llvm::Error::success();
  }
  if (errno != EINVAL && errno != ENOSYS)
    return failure(target, lastError());
  // Two steps: between them the target is away, but whole.
  bool isAway = ::rename(target.c_str(), aside.c_str()) == 0;
  if (!isAway && errno != ENOENT)
    return failure(target, lastError());
  if (::rename(made.c_str(), target.c_str()) == 0)
    return llvm::Error::success();
  std::error_code code = lastError();
  if (isAway)
    (void)::rename(aside.c_str(), target.c_str());
  return failure(target, code);
}

llvm::Error corten::writeCode(aicode::AssetOp code, llvm::raw_ostream &stream) {
  // What official files say.
  mlir::BytecodeWriterConfig config("MLIR22.0.0git");
  config.setDesiredBytecodeVersion(6);
  if (mlir::failed(mlir::writeBytecodeToFile(code, stream, config)))
    return llvm::createStringError("the program has no form in bytecode");
  return llvm::Error::success();
}

llvm::Error corten::writeAsset(aicode::AssetOp code,
                               const AssetMetadata &metadata, StringRef path,
                               SaveOptions options) {
  return writeAsset(
      [&](llvm::raw_ostream &stream) { return writeCode(code, stream); },
      metadata, path, std::move(options));
}

llvm::Error corten::writeProgram(mlir::ModuleOp program,
                                 const AssetMetadata &metadata, StringRef path,
                                 SaveOptions options) {
  mlir::FailureOr<mlir::OwningOpRef<aicode::AssetOp>> code = mlir::failure();
  {
    DiagnosticError errors(program.getContext());
    code = exportProgram(program);
    if (mlir::failed(code))
      return errors.take("the program has no form in an asset");
  }
  return writeAsset(**code, metadata, path, std::move(options));
}

llvm::Error
corten::writeAsset(llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write,
                   const AssetMetadata &metadata, StringRef path,
                   SaveOptions options) {
  std::string target = withoutSlashes(path).str();
  if (llvm::Error error = checkTarget(target, options.force))
    return error;
  removeAbandoned(target);
  llvm::Expected<std::unique_ptr<UnfinishedFolder>> made =
      makeFolderBeside(target);
  if (!made)
    return made.takeError();
  const std::string &folder = (*made)->path();
  std::string aside = asideOf(folder);
  // Unfinished work, or what the new asset replaced.
  llvm::scope_exit cleanUp([&] {
    ignore(fs::remove_directories(folder));
    ignore(fs::remove(folder));
    ignore(fs::remove_directories(aside));
    ignore(fs::remove(aside));
  });

  if (llvm::Error error =
          writeSmallFile(folder + "/metadata.json", formatMetadata(metadata)))
    return error;
  {
    llvm::Expected<std::unique_ptr<HashedFile>> program = HashedFile::create(
        folder + "/main.mlirb",
        options.hash ? HashedFile::Hash::Sha256 : HashedFile::Hash::None);
    if (!program)
      return program.takeError();
    (*program)->setProgress(std::move(options.progress));
    if (llvm::Error error = write(**program))
      return error;
    llvm::Expected<std::optional<Digest>> digest = (*program)->finish();
    if (!digest)
      return digest.takeError();
    if (*digest)
      if (llvm::Error error = writeSmallFile(folder + "/main.hash",
                                             llvm::toStringRef(**digest)))
        return error;
  }
  if (llvm::Error error = syncFolder(folder))
    return error;
  if (auto inspect = std::move(options.inspect))
    if (llvm::Error error = inspect(folder))
      return error;
  // Writing takes its time: somebody may have put something there.
  if (llvm::Error error = checkTarget(target, options.force))
    return error;
  if (llvm::Error error = replace(folder, target, aside))
    return error;
  StringRef parent = llvm::sys::path::parent_path(target);
  return syncFolder(parent.empty() ? StringRef(".") : parent);
}
