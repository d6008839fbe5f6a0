// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Model/Ops.h"

#include "corten/Inspect/Archive.h"
#include "corten/Inspect/OpCount.h"
#include "corten/Model/Model.h"
#include "mlir/IR/BuiltinOps.h"

using namespace corten;
namespace json = llvm::json;

struct OpReport::State {
  std::vector<NamedOpCounts> files;
};

OpReport::OpReport(std::unique_ptr<State> state) : state(std::move(state)) {}
OpReport::~OpReport() = default;
OpReport::OpReport(OpReport &&) noexcept = default;
OpReport &OpReport::operator=(OpReport &&) noexcept = default;

static OpCounts countModel(Model &model, bool collapseComposites) {
  return countOps(model.module(), collapseComposites
                                      ? CompositeCalls::Collapsed
                                      : CompositeCalls::Invocations);
}

/// The programs of an archive, each under its own name if there are several.
static llvm::Error countArchive(const std::string &path,
                                std::vector<NamedOpCounts> &files) {
  llvm::Expected<Pt2File> archive = Pt2File::open(path);
  if (!archive)
    return archive.takeError();
  for (const std::string &name : archive->models()) {
    llvm::Expected<std::unique_ptr<Program>> program =
        archive->read(name, nullptr, nullptr, /*needsData=*/false);
    if (!program)
      return program.takeError();
    files.push_back({archive->models().size() > 1
                         ? (llvm::Twine(path) + ":" + name).str()
                         : path,
                     countOps(**program)});
  }
  return llvm::Error::success();
}

llvm::Expected<OpReport> OpReport::make(const std::vector<std::string> &paths,
                                        bool collapseComposites) {
  auto state = std::make_unique<State>();
  for (const std::string &path : paths) {
    if (isArchivePath(path)) {
      if (llvm::Error error = countArchive(path, state->files))
        return error;
      continue;
    }
    llvm::Expected<std::unique_ptr<Model>> model = Model::open(path);
    if (!model)
      return model.takeError();
    state->files.push_back({path, countModel(**model, collapseComposites)});
  }
  return OpReport(std::move(state));
}

OpReport OpReport::make(Model &model, bool collapseComposites) {
  auto state = std::make_unique<State>();
  state->files.push_back({model.path(), countModel(model, collapseComposites)});
  return OpReport(std::move(state));
}

void OpReport::print(llvm::raw_ostream &os) const {
  if (state->files.size() == 2) {
    printOpCounts(state->files[0], state->files[1], os);
    return;
  }
  for (const NamedOpCounts &file : state->files) {
    if (state->files.size() > 1)
      os << file.path << "\n\n";
    printOpCounts(file.counts, os);
    if (&file != &state->files.back())
      os << '\n';
  }
}

json::Object OpReport::json() const {
  json::Array files;
  for (const NamedOpCounts &file : state->files) {
    json::Value counts = toJson(file.counts);
    (*counts.getAsObject())["path"] = json::fixUTF8(file.path);
    files.push_back(std::move(counts));
  }
  return json::Object{{"files", std::move(files)}};
}
