// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Model/Model.h"

#include "State.h"
#include "Strip.h"
#include "corten/Asset/Asset.h"
#include "corten/Asset/Translation.h"
#include "corten/Support/DiagnosticError.h"
#include "corten/Support/Limits.h"
#include "corten/Support/Text.h"
#include "corten/View/View.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include <ctime>

using namespace corten;
using namespace mlir;
namespace fs = llvm::sys::fs;

Model::State::State(StringRef path, std::unique_ptr<MLIRContext> given)
    : path(path), owned(given ? std::move(given)
                              : std::make_unique<MLIRContext>(
                                    MLIRContext::Threading::DISABLED)),
      context(*owned) {
  DialectRegistry registry;
  registerAssetDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

Model::Model(std::unique_ptr<State> state) : state(std::move(state)) {}
Model::~Model() = default;

const std::string &Model::path() const { return state->path; }

ModuleOp Model::module() { return *state->module; }

AssetMetadata &Model::metadata() { return state->metadata; }

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

llvm::Error corten::inProgram(StringRef path, DiagnosticError &error) {
  return llvm::createStringError(
      path + ": " + llvm::toString(error.take("the program cannot be read")));
}

/// MLIR's parser calls itself for every bracket and would run out of stack.
static bool isNestedTooDeeply(StringRef text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
    case '"':
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\';
      break;
    case '/':
      if (text.substr(i).starts_with("//"))
        i = std::min(text.find('\n', i), text.size());
      break;
    case '-':
      // An arrow closes nothing.
      i += text.substr(i).starts_with("->");
      break;
    case '(':
    case '[':
    case '{':
    case '<':
      if (++depth > kDeepestNesting)
        return true;
      break;
    case ')':
    case ']':
    case '}':
    case '>':
      depth -= depth > 0;
      break;
    default:
      break;
    }
  }
  return false;
}

std::unique_ptr<Model> Model::adopt(std::unique_ptr<MLIRContext> context,
                                    OwningOpRef<ModuleOp> program,
                                    StringRef path) {
  auto state = std::make_unique<State>(path, std::move(context));
  state->module = std::move(program);
  return std::unique_ptr<Model>(new Model(std::move(state)));
}

llvm::Expected<std::unique_ptr<Model>> Model::open(StringRef path) {
  if (llvm::Error error = checkUtf8("the path", path))
    return error;
  fs::file_status status;
  if (std::error_code code = fs::status(path, status))
    return llvm::createStringError(path + ": " + code.message());
  return fs::is_directory(status) ? openAsset(path) : openFile(path);
}

llvm::Error Model::State::import(OwningOpRef<aicode::AssetOp> read,
                                 std::shared_ptr<void> owner) {
  code = std::move(read);
  DiagnosticError error(&context, DiagnosticError::Place::Shown);
  FailureOr<OwningOpRef<ModuleOp>> imported =
      importProgram(*code, std::move(owner));
  if (failed(imported))
    return inProgram(path, error);
  module = std::move(*imported);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Model>> Model::openAsset(StringRef path) {
  auto state = std::make_unique<State>(path);
  llvm::Expected<Asset> asset = Asset::open(path);
  if (!asset)
    return asset.takeError();
  state->asset = std::move(*asset);
  state->metadata = state->asset->metadata();
  llvm::Expected<OwningOpRef<aicode::AssetOp>> code =
      state->asset->code(state->context);
  if (!code)
    return code.takeError();
  // A copy of the asset keeps the file mapped.
  if (llvm::Error error = state->import(std::move(*code),
                                        std::make_shared<Asset>(*state->asset)))
    return error;
  return std::unique_ptr<Model>(new Model(std::move(state)));
}

llvm::Expected<std::unique_ptr<Model>> Model::openFile(StringRef path) {
  auto state = std::make_unique<State>(path);
  auto read = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!read)
    return llvm::createStringError(path + ": " + read.getError().message());
  std::shared_ptr<llvm::MemoryBuffer> buffer = std::move(*read);
  if (isBytecode(*buffer)) {
    llvm::Expected<OwningOpRef<aicode::AssetOp>> code =
        readCode(buffer->getBuffer(), buffer, state->context);
    if (!code)
      return llvm::createStringError(path + ": " +
                                     llvm::toString(code.takeError()));
    if (llvm::Error error = state->import(std::move(*code), buffer))
      return error;
    return std::unique_ptr<Model>(new Model(std::move(state)));
  }
  // How ZIP archives begin.
  if (buffer->getBuffer().starts_with("PK\x03\x04"))
    return llvm::createStringError(
        path + ": an archive, as torch.export.save writes it, and no asset; "
               "corten convert makes one of it");
  if (isNestedTooDeeply(buffer->getBuffer()))
    return llvm::createStringError(path + ": nested too deeply");
  // Ops without a location get the place in this file; where it lies is
  // nobody's business.
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(buffer->getBuffer(),
                                       llvm::sys::path::filename(path)),
      llvm::SMLoc());
  DiagnosticError error(&state->context, DiagnosticError::Place::Shown);
  state->module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(&state->context));
  if (!state->module)
    return inProgram(path, error);
  if (state->module->getBody()->empty())
    return llvm::createStringError(path + ": no program in it");
  return std::unique_ptr<Model>(new Model(std::move(state)));
}

//===----------------------------------------------------------------------===//
// Looking
//===----------------------------------------------------------------------===//

/// The version that MLIR's bytecode begins with; none if it is no bytecode.
static std::optional<uint64_t> bytecodeVersion(StringRef bytes) {
  // "ML", 0xEF, "R", then a number whose trailing zero bits tell its length;
  // that of all versions so far is one byte.
  if (bytes.size() < 5 || !bytes.starts_with("ML\xEFR") || !(bytes[4] & 1))
    return std::nullopt;
  return static_cast<uint8_t>(bytes[4]) >> 1;
}

static std::optional<uint64_t> dialectVersion(aicode::AssetOp code) {
  auto version =
      dyn_cast_or_null<aicode::WholeAttr>(code.getVersion().value_or(nullptr));
  return version ? std::optional<uint64_t>(version.getValue()) : std::nullopt;
}

/// "2026-04-09T12:00:00Z".
static std::string describeDate(int64_t secondsSince1970) {
  std::time_t time = secondsSince1970;
  std::tm parts{};
  char text[sizeof("-2147483648-12-31T23:59:59Z")];
  if (!gmtime_r(&time, &parts) ||
      !std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts))
    return {};
  return text;
}

ProgramInfo Model::info() {
  ProgramInfo info = describeProgram(*state->module);
  info.path = state->path;
  const AssetMetadata &metadata = state->metadata;
  info.producer = metadata.producer;
  info.author = metadata.author;
  info.license = metadata.license;
  info.description = metadata.description;
  info.creatorDefined = metadata.creatorDefined;
  info.creationDate = metadata.creationDate
                          ? describeDate(*metadata.creationDate)
                          : std::string();
  if (!state->asset)
    return info;
  if (!metadata.assetVersion.empty())
    info.versions.asset = metadata.assetVersion;
  info.versions.bytecode = bytecodeVersion(state->asset->bytecode());
  info.versions.dialect = dialectVersion(*state->code);
  info.fileSize = state->asset->bytecode().size();
  return info;
}

llvm::Error Model::writePage(llvm::raw_ostream &os, StringRef overlay) {
  ViewOptions options;
  options.title =
      llvm::sys::path::filename(StringRef(state->path).rtrim('/')).str();
  if (!overlay.empty())
    if (llvm::Error error = readOverlay(overlay, options))
      return error;
  writeView(*state->module, options, os);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Examining
//===----------------------------------------------------------------------===//

static std::vector<AssetFacts::Resource> resources(aicode::AssetOp code) {
  std::vector<AssetFacts::Resource> result;
  llvm::DenseSet<StringRef> seen;
  code->walk([&](aicode::ConstantV1Op constant) {
    auto resource = dyn_cast<aicode::ResourceAttr>(constant.getValue());
    AsmResourceBlob *blob = resource ? resource.getHandle().getBlob() : nullptr;
    if (blob && seen.insert(resource.getHandle().getKey()).second)
      result.push_back(
          {resource.getHandle().getKey().str(), blob->getDataAlignment()});
  });
  return result;
}

std::vector<Finding> Model::examine() {
  std::vector<Finding> findings;
  if (state->asset) {
    AssetFacts facts;
    facts.path = state->path;
    facts.hasMetadata = !state->asset->metadata().assetVersion.empty();
    Asset::HashState hash = state->asset->checkHash();
    facts.hasHash = hash != Asset::HashState::Missing;
    facts.hashMatches = hash == Asset::HashState::Right;
    facts.bytecodeVersion = bytecodeVersion(state->asset->bytecode());
    facts.dialectVersion = dialectVersion(*state->code);
    facts.resources = resources(*state->code);
    findings = examineAsset(facts);
  }
  std::vector<Finding> more = examineProgram(*state->module);
  findings.insert(findings.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
  sortFindings(findings);
  return findings;
}

llvm::Expected<std::vector<Finding>> corten::examinePath(StringRef path) {
  if (llvm::Error error = checkUtf8("the path", path))
    return error;
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(path);
  if (model)
    return (*model)->examine();
  // What loaders refuse by its version is a finding; the rest is damage.
  auto child = [&](StringRef name) {
    llvm::SmallString<256> file(path);
    llvm::sys::path::append(file, name);
    return llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                       /*RequiresNullTerminator=*/false);
  };
  std::vector<Finding> findings;
  if (auto metadata = child("metadata.json")) {
    llvm::Expected<AssetMetadata> parsed =
        parseMetadata((*metadata)->getBuffer());
    if (!parsed)
      findings.push_back({CheckId::Metadata, "metadata.json",
                          llvm::toString(parsed.takeError())});
  }
  if (auto bytecode = child("main.mlirb")) {
    AssetFacts facts;
    facts.bytecodeVersion = bytecodeVersion((*bytecode)->getBuffer());
    for (Finding &finding : examineAsset(facts))
      if (finding.check == CheckId::BytecodeVersion)
        findings.push_back(std::move(finding));
  }
  if (findings.empty())
    return model.takeError();
  llvm::consumeError(model.takeError());
  sortFindings(findings);
  return findings;
}

//===----------------------------------------------------------------------===//
// Changing and writing
//===----------------------------------------------------------------------===//

void Model::stripDebugInfo() {
  corten::stripDebugInfo(*state->module);
  if (state->code)
    corten::stripDebugInfo(*state->code);
}

llvm::Error Model::State::updateCode() {
  constantNames.clear();
  if (!code)
    return llvm::Error::success();
  DiagnosticError error(&context, DiagnosticError::Place::Shown);
  FailureOr<OwningOpRef<aicode::AssetOp>> exported =
      exportProgram(*module, Simplification::None);
  if (failed(exported))
    return inProgram(path, error);
  code = std::move(*exported);
  return llvm::Error::success();
}

llvm::Error Model::save(StringRef path, SaveOptions options) {
  if (llvm::Error error = checkNames())
    return error;
  AssetMetadata metadata = state->metadata;
  // An asset may have come without.
  completeMetadata(metadata);
  if (state->code)
    return writeAsset(*state->code, metadata, path, std::move(options));
  DiagnosticError error(&state->context, DiagnosticError::Place::Shown);
  FailureOr<OwningOpRef<aicode::AssetOp>> code = exportProgram(*state->module);
  if (failed(code))
    return inProgram(state->path, error);
  return writeAsset(**code, metadata, path, std::move(options));
}
