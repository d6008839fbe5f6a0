// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"
#include "Errors.h"
#include "WithoutGil.h"

#include "corten/Conversion/AtenToCoreAI/CheckEntryPoint.h"
#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Handover/Handover.h"
#include "corten/Inspect/Report.h"
#include "corten/Support/Bytes.h"

#include "llvm/ADT/STLExtras.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <chrono>

namespace nb = nanobind;
using namespace corten;

using Bytes = nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>>;

static std::string str(llvm::StringRef text) { return text.str(); }

/// The memory of a resource as a NumPy array of bytes. No copy; the array keeps
/// the weight's owner alive.
static Bytes bytesOf(const Resource &resource) {
  SharedBytes bytes = alignedWeight(resource.bytes());
  auto *owner = new std::shared_ptr<const void>(bytes.owner);
  nb::capsule capsule(owner, [](void *held) noexcept {
    delete static_cast<std::shared_ptr<const void> *>(held);
  });
  return Bytes(bytes.data.data(), {bytes.data.size()}, capsule);
}

/// Shortest time between two calls into Python.
static constexpr std::chrono::milliseconds kProgressInterval(50);

static std::unique_ptr<ConvertedModule> convertEntryPoints(
    const std::vector<EntryPoint> &entryPoints, bool debug,
    SourcePaths sourcePaths, std::vector<std::string> sourceRoots,
    std::pair<uint64_t, uint64_t> firstIds,
    const std::vector<metal::Kernel> &kernels,
    const std::vector<std::string> &userLowerings, nb::object progress) {
  ConversionOptions options;
  options.debugLocations = debug;
  options.sourcePaths = sourcePaths;
  options.sourceRoots = std::move(sourceRoots);
  options.counters = {firstIds.first, firstIds.second};
  for (const metal::Kernel &kernel : kernels)
    options.kernels[kernel.name + ".default"] = kernel;
  options.userLowerings.insert_range(userLowerings);
  if (!progress.is_none())
    options.progress =
        [&, last = std::chrono::steady_clock::now()](size_t nodes) mutable {
          auto now = std::chrono::steady_clock::now();
          if (now - last < kProgressInterval)
            return;
          last = now;
          nb::gil_scoped_acquire lock;
          progress(nodes);
        };
  auto module = [&] {
    corten::bindings::WithoutGil unlock;
    return convert(entryPoints, options);
  }();
  if (module)
    return std::move(*module);
  bool isTypeError = false;
  std::string message;
  llvm::handleAllErrors(module.takeError(), [&](const ConversionError &error) {
    isTypeError = error.isTypeError;
    message = error.message;
  });
  if (isTypeError)
    throw nb::type_error(message.c_str());
  throw nb::value_error(message.c_str());
}

static OperatorSet operatorSet(bool undecomposed) {
  return undecomposed ? OperatorSet::All : OperatorSet::Decomposed;
}

static void raiseUnsupported(const Program &program,
                             std::string_view entryPoint, Refusal refusal,
                             const std::vector<std::string> &lowerings) {
  llvm::StringSet<> registered;
  registered.insert_range(lowerings);
  bindings::unwrap(
      corten::checkSupported(program, entryPoint, refusal, registered));
}

/// (calls, scopes). A call is (node, where it is, key of its lowering, place of
/// its stand-in, which results the stand-in has, index of its scope, number of
/// values before it); a scope is {name: (position, operation, region or None,
/// number)}.
static nb::tuple userCallsOf(const ConvertedModule &module) {
  UserCallTable table = userCallTable(module);
  nb::list calls, scopes;
  for (auto [call, standIn] :
       llvm::zip_equal(module.userCalls, table.standIns)) {
    nb::list present;
    for (const ValueInfo &info : call.node->results)
      present.append(info.kind != ValueInfo::Kind::None);
    nb::object node = nb::borrow(
        static_cast<PyObject *>(const_cast<void *>(call.node->origin)));
    calls.append(nb::make_tuple(node, describeNode(call.entryPoint, *call.node),
                                call.lowering, standIn, present, call.scope,
                                call.numVisible));
  }
  for (const std::vector<ValuePlace> &places : table.scopes) {
    nb::dict names;
    for (auto [position, place] : llvm::enumerate(places))
      names[place.name.c_str()] =
          nb::make_tuple(position, place.operation, place.region, place.number);
    scopes.append(names);
  }
  return nb::make_tuple(calls, scopes);
}

static nb::dict reportOf(const ConvertedModule &module) {
  ConversionReport report = summarize(module);
  auto counts = [](const std::vector<OpCount> &entries) {
    nb::list result;
    for (const auto &entry : entries)
      result.append(nb::make_tuple(entry.name, entry.count));
    return result;
  };
  nb::list states, weights, dead, departures;
  for (const auto &state : report.states)
    states.append(
        nb::make_tuple(state.entryPoint, state.name, state.type, state.path));
  for (const auto &weight : report.weights)
    weights.append(nb::make_tuple(weight.type, weight.count, weight.bytes));
  for (const auto &input : report.deadInputs)
    dead.append(nb::make_tuple(input.entryPoint, input.name, input.type));
  for (const auto &entry : report.departures)
    departures.append(
        nb::make_tuple(entry.operators, entry.reason, entry.calls));
  nb::list compressed, uncompressed;
  for (const auto &weight : report.compression.compressed)
    compressed.append(nb::make_tuple(weight.name, weight.scheme, weight.type,
                                     weight.elements, weight.bytes,
                                     weight.denseBytes, weight.idealBytes));
  for (const auto &weight : report.compression.uncompressed)
    uncompressed.append(
        nb::make_tuple(weight.name, weight.type, weight.bytes, weight.reason));
  nb::dict result;
  result["compressed"] = compressed;
  result["uncompressed"] = uncompressed;
  result["operations"] = counts(report.operations);
  result["composites"] = counts(report.composites);
  result["states"] = states;
  result["weights"] = weights;
  result["dead_inputs"] = dead;
  result["departures"] = departures;
  result["seconds"] = nb::make_tuple(module.emitSeconds, module.verifySeconds);
  return result;
}

void corten::bindings::bindConversion(nb::module_ &module) {
  nb::class_<ValueNames>(module, "ValueNames",
                         "Names for values: for all, or by what they are.")
      .def(
          "__init__",
          [](ValueNames *self,
             const std::map<std::string, std::string> &byOriginal) {
            new (self) ValueNames();
            for (const auto &[original, name] : byOriginal) {
              self->originals.push_back(original);
              self->names.push_back(name);
            }
          },
          nb::arg("by_original"))
      .def(
          "__init__",
          [](ValueNames *self, std::vector<std::string> names) {
            new (self) ValueNames{std::move(names), {}};
          },
          nb::arg("names"));
  nb::implicitly_convertible<nb::dict, ValueNames>();
  nb::implicitly_convertible<nb::list, ValueNames>();

  nb::class_<EntryPoint>(module, "EntryPoint",
                         "A program under the name it gets in the module.")
      .def(
          "__init__",
          [](EntryPoint *self, const Program &program, std::string name,
             ValueNames inputs, ValueNames outputs, ValueNames states) {
            new (self) EntryPoint{&program, std::move(name), std::move(inputs),
                                  std::move(outputs), std::move(states)};
          },
          nb::keep_alive<1, 2>(), nb::arg("program"), nb::arg("name"),
          nb::arg("input_names"), nb::arg("output_names"),
          nb::arg("state_names"));

  nb::class_<ConvertedModule>(module, "ConvertedModule",
                              "A verified module in the coreai dialect.")
      .def("handover_text", &handoverText,
           "The module as coreai-core is given it: with locations, without "
           "weight data.")
      .def(
          "text",
          [](const ConvertedModule &self, bool generic) {
            return moduleText(self, generic);
          },
          nb::arg("generic") = false)
      .def(
          "resources",
          [](const ConvertedModule &self) {
            nb::list result;
            for (const Resource &resource : self.resources)
              result.append(nb::make_tuple(resource.name, bytesOf(resource)));
            return result;
          },
          "(name, bytes) of every constant whose data is not in the module. "
          "The arrays are views of the weights and keep them alive.")
      .def("resource_uses", &resourceUses,
           "For each graph the resources of the constants at its top, as "
           "places in resources(); -1 for a constant that has none.")
      .def_prop_ro(
          "next_ids",
          [](const ConvertedModule &self) {
            return std::pair(self.counters.nextTorchId,
                             self.counters.nextOperationId);
          },
          "The first free numbers of nodes and of operations.")
      .def_ro("warnings", &ConvertedModule::warnings,
              "What the user should know about the program.")
      .def("user_calls", &userCallsOf,
           "The calls that the user lowers, and the values that they can ask "
           "for by name.")
      .def("report", &reportOf, "What the module holds, counted.");

  module.def(
      "check_names",
      [](const EntryPoint &entry) {
        if (llvm::Error error = checkEntryPoint(entry))
          throw nb::value_error(llvm::toString(std::move(error)).c_str());
      },
      nb::arg("entry_point"),
      "Raises ValueError if the names do not fit the program.");
  nb::enum_<SourcePaths>(module, "SourcePaths")
      .value("PACKAGES", SourcePaths::Packages)
      .value("ABSOLUTE", SourcePaths::Absolute)
      .value("RELATIVE", SourcePaths::Relative)
      .value("HIDDEN", SourcePaths::Hidden);

  module.def("convert", &convertEntryPoints, nb::arg("entry_points"),
             nb::arg("debug"), nb::arg("source_paths"), nb::arg("source_roots"),
             nb::arg("first_ids"), nb::arg("kernels"),
             nb::arg("user_lowerings"), nb::arg("progress").none(),
             "Converts all entry points into one module. Operators among "
             "`user_lowerings` become user calls. `progress` is called "
             "now and then with the number of nodes lowered. Raises "
             "ValueError, or TypeError for an operand that a kernel cannot "
             "take.");
  nb::enum_<Refusal>(module, "Refusal")
      .value("ADDED", Refusal::Added)
      .value("CONVERTED", Refusal::Converted);
  module.def("check_supported", &raiseUnsupported, nb::arg("program"),
             nb::arg("entrypoint_name"), nb::arg("refusal"),
             nb::arg("lowerings"),
             "Raises ValueError if the program has operators without a "
             "lowering that are due. `lowerings` are those of the user's.");
  module.def(
      "narrow_weights",
      [](const Program &program) {
        nb::list result;
        for (const auto &[path, type] : narrowWeights(program))
          result.append(nb::make_tuple(path, scalarTypeName(type).str()));
        return result;
      },
      nb::arg("program"),
      "(path, type) of the weights that are kept one to the byte and that a "
      "conversion packs.");
  module.def(
      "has_lowering",
      [](const std::string &nameSpace, const std::string &name,
         bool undecomposed) {
        return hasLowering(nameSpace, name, operatorSet(undecomposed));
      },
      nb::arg("namespace"), nb::arg("name"), nb::arg("undecomposed") = false);
  module.def(
      "takes_as_it_is",
      [](const std::string &nameSpace, const std::string &name, bool mutates,
         bool isComposite) {
        return takesAsItIs(nameSpace, name, mutates, isComposite);
      },
      nb::arg("namespace"), nb::arg("name"), nb::arg("mutates"),
      nb::arg("is_composite"),
      "Whether calls of an operator stay as they are in a program that "
      "is not decomposed; torch decomposes the others.");
  module.def(
      "supported_operators",
      [](bool undecomposed) {
        nb::list result;
        for (const SupportedOperator &entry :
             supportedOperators(operatorSet(undecomposed)))
          result.append(nb::make_tuple(str(entry.name), str(entry.family)));
        return result;
      },
      nb::arg("undecomposed") = false);
}
