// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opened programs, for the package corten. Data crosses as JSON, which is what
// the command line prints.

#include "Bindings.h"
#include "Errors.h"
#include "KeepAlive.h"
#include "Weights.h"
#include "WithoutGil.h"

#include "corten/Handover/Handover.h"
#include "corten/Inspect/Archive.h"
#include "corten/Model/Compare.h"
#include "corten/Model/Convert.h"
#include "corten/Model/Model.h"
#include "corten/Model/Ops.h"
#include "corten/Support/Bytes.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace corten;

static std::string text(llvm::json::Value value) {
  return llvm::formatv("{0}", value).str();
}

/// What Python knows the value as; the type, shape and bytes of a tensor.
static nb::object toPython(const Pt2Example &example) {
  switch (example.kind) {
  case Pt2Example::Kind::None:
    return nb::none();
  case Pt2Example::Kind::Bool:
    return nb::bool_(example.integer != 0);
  case Pt2Example::Kind::Int:
    return nb::int_(example.integer);
  case Pt2Example::Kind::Float:
    return nb::float_(example.floating);
  case Pt2Example::Kind::String:
  case Pt2Example::Kind::Object:
    return nb::str(example.text.data(), example.text.size());
  case Pt2Example::Kind::Tensor:
    break;
  }
  // The copy must be made while the elements live.
  Pt2Example::Data data = bindings::unwrap(example.data());
  return nb::make_tuple(scalarTypeName(example.dtype).str(), example.shape,
                        nb::bytes(data.bytes.data(), data.bytes.size()));
}

static nb::list examplesOf(const ArchiveInfo &archive,
                           const std::string &name) {
  auto program =
      llvm::find_if(archive.programs, [&](const SavedProgramInfo &candidate) {
        return candidate.interface.name == name;
      });
  if (program == archive.programs.end())
    throw nb::value_error(
        (archive.path + " has no program '" + name + "'").c_str());
  if (program->examplesProblem)
    throw nb::value_error(
        (archive.path + ": " + *program->examplesProblem).c_str());
  nb::list result;
  for (const NamedExample &example : program->examples)
    result.append(nb::make_tuple(example.input, example.value.path,
                                 example.value.kind == Pt2Example::Kind::Tensor,
                                 toPython(example.value)));
  return result;
}

/// (text, weights); a weight is (place of the operation, name of the attribute,
/// key, bytes). The bytes are views, which keep the model alive.
static nb::tuple handOverOf(const nb::object &self) {
  HandedModule handed = handOver(nb::cast<Model &>(self).module());
  nb::list weights;
  for (const HandedWeight &weight : handed.weights) {
    SharedBytes bytes = alignedWeight(
        {{weight.data.data(), weight.data.size()}, bindings::keepAlive(self)});
    auto owner = std::make_unique<std::shared_ptr<const void>>(bytes.owner);
    nb::capsule keeper(owner.get(), [](void *held) noexcept {
      delete static_cast<std::shared_ptr<const void> *>(held);
    });
    owner.release();
    nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>> data(
        bytes.data.data(), {bytes.data.size()}, keeper);
    weights.append(
        nb::make_tuple(weight.operation, weight.attribute, weight.key, data));
  }
  return nb::make_tuple(nb::bytes(handed.text.data(), handed.text.size()),
                        weights);
}

void corten::bindings::bindInspect(nb::module_ &module) {
  // Only for what makes a model: with one, the lock keeps a second thread off
  // it.
  using Release = nb::call_guard<corten::bindings::WithoutGil>;

  nb::enum_<ValueRole>(module, "ValueRole")
      .value("INPUT", ValueRole::Input)
      .value("OUTPUT", ValueRole::Output)
      .value("STATE", ValueRole::State);

  nb::class_<Model>(module, "Model", "A program that was opened.")
      .def_static(
          "open",
          [](const std::string &path) {
            return bindings::unwrap(Model::open(path));
          },
          nb::arg("path"), Release(),
          "Raises ValueError for what is no asset and no program.")
      .def_prop_ro("path", &Model::path)
      .def(
          "info", [](Model &self) { return text(infoJson(self.info())); },
          "JSON.")
      .def(
          "ops",
          [](Model &self, bool collapseComposites) {
            return text(OpReport::make(self, collapseComposites).json());
          },
          nb::arg("collapse_composites"), "JSON.")
      .def(
          "text",
          [](Model &self, std::string graph, bool locations, bool generic) {
            return bindings::unwrap(
                self.text({std::move(graph), locations, generic}));
          },
          nb::arg("graph"), nb::arg("locations"), nb::arg("generic"),
          "Raises ValueError if there is no such graph.")
      .def(
          "hand_over", &handOverOf,
          "The program for coreai-core's parser, and its weights: the place "
          "of the operation, in the order of a walk that visits an operation "
          "after what it contains, the name of the attribute, its key, and the "
          "bytes, which are views of the model's.")
      .def(
          "doctor",
          [](Model &self) {
            return text(findingsJson(self.path(), self.examine()));
          },
          "JSON.")
      .def(
          "page",
          [](Model &self, const std::string &overlay) {
            std::string page;
            llvm::raw_string_ostream os(page);
            bindings::unwrap(self.writePage(os, overlay));
            return page;
          },
          nb::arg("overlay"),
          "Raises ValueError if the overlay cannot be read.")
      .def("strip", &Model::stripDebugInfo)
      .def(
          "optimize", [](Model &self) { bindings::unwrap(self.optimize()); },
          Release(), "Raises ValueError if the program cannot be optimized.")
      .def(
          "set_metadata",
          [](Model &self, const std::optional<std::string> &author,
             const std::optional<std::string> &license,
             const std::optional<std::string> &description,
             const std::optional<std::string> &creatorDefined) {
            AssetMetadata &metadata = self.metadata();
            if (creatorDefined)
              bindings::unwrap(setCreatorDefined(*creatorDefined, metadata));
            metadata.author = author.value_or(metadata.author);
            metadata.license = license.value_or(metadata.license);
            metadata.description = description.value_or(metadata.description);
          },
          nb::arg("author").none(), nb::arg("license").none(),
          nb::arg("description").none(), nb::arg("creator_defined").none(),
          "The last is JSON. Raises ValueError if it is not.")
      .def(
          "rename_values",
          [](Model &self, const std::string &entryPoint, ValueRole role,
             const ValueNames &names) {
            bindings::unwrap(self.renameValues(entryPoint, role, names));
          },
          nb::arg("entry_point"), nb::arg("role"), nb::arg("names"),
          "Raises ValueError for what is not there, and for names that do not "
          "fit.")
      .def(
          "rename_entry_point",
          [](Model &self, const std::string &from, const std::string &to) {
            bindings::unwrap(self.renameEntryPoint(from, to));
          },
          nb::arg("old"), nb::arg("new"), "Raises ValueError.")
      .def(
          "keep_entry_points",
          [](Model &self, const std::vector<std::string> &names) {
            bindings::unwrap(self.keepEntryPoints(names));
          },
          nb::arg("names"), "Raises ValueError.")
      .def(
          "save",
          [](Model &self, const std::string &path, bool hash, bool force) {
            bindings::unwrap(self.save(path, {hash, force}));
          },
          nb::arg("path"), nb::arg("hash"), nb::arg("force"),
          "Raises ValueError if the asset cannot be written.");

  nb::class_<ArchiveInfo>(module, "Archive", "What a .pt2 file holds.")
      .def_static(
          "open",
          [](const std::string &path) {
            return bindings::unwrap(describeArchive(path));
          },
          nb::arg("path"), Release(),
          "Raises ValueError for what is no archive of torch.export.save.")
      .def_ro("path", &ArchiveInfo::path)
      .def(
          "info",
          [](const ArchiveInfo &self) { return text(archiveJson(self)); },
          "JSON.")
      .def("examples", &examplesOf, nb::arg("program"),
           "For each input its name, its place in the call, whether it is a "
           "tensor, and the value. Raises ValueError if they cannot be read.");

  nb::class_<ProgramFile>(module, "ProgramFile",
                          "A .pt2 file, and what its entry point is called.")
      .def(nb::init<std::string, std::string, ValueNames, ValueNames,
                    ValueNames>(),
           nb::arg("path"), nb::arg("name"), nb::arg("input_names"),
           nb::arg("output_names"), nb::arg("state_names"));

  module.def(
      "convert_files",
      [](const std::vector<ProgramFile> &files, bool release, bool optimize,
         std::string weights, const TiedPairs &tied, SourcePaths sourcePaths) {
        ConvertFilesOptions options;
        options.sourcePaths = sourcePaths;
        options.release = release;
        options.optimize = optimize;
        options.weights = weightSource(std::move(weights), tied);
        ConvertedFiles converted =
            bindings::unwrap(convertFiles(files, options));
        return std::pair(std::move(converted.model),
                         std::move(converted.warnings));
      },
      nb::arg("files"), nb::arg("release"), nb::arg("optimize"),
      nb::arg("weights"), nb::arg("tied"), nb::arg("source_paths"), Release(),
      "A model, and warnings. Raises ValueError for what cannot be read or "
      "converted.");

  module.def(
      "merge_models",
      [](const std::vector<Model *> &models) {
        return bindings::unwrap(Model::merge(models));
      },
      nb::arg("models"), "Raises ValueError if they do not fit together.");

  module.def(
      "compare_models",
      [](Model &first, Model &second, std::string graph, bool weights,
         bool names) {
        return text(
            bindings::unwrap(
                Comparison::make(first, second,
                                 {std::move(graph), weights, names, {}}))
                .json());
      },
      nb::arg("first"), nb::arg("second"), nb::arg("graph"), nb::arg("weights"),
      nb::arg("names"),
      "JSON. Raises ValueError if a model has no such graph.");

  module.def(
      "examine_path",
      [](const std::string &path) {
        return text(findingsJson(path, bindings::unwrap(examinePath(path))));
      },
      nb::arg("path"), Release(),
      "JSON. Raises ValueError for what is no asset and no program.");
}
