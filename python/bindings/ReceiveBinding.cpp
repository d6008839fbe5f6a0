// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of coreai-core's as modules of ours.

#include "Bindings.h"
#include "KeepAlive.h"
#include "WithoutGil.h"

#include "corten/Handover/Receive.h"

#include "llvm/Support/raw_ostream.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace corten;

using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig>;

static std::unique_ptr<ReceivedModule> receiveText(const nb::bytes &text) {
  llvm::Expected<std::unique_ptr<ReceivedModule>> received = [&] {
    corten::bindings::WithoutGil unlock;
    return receive({text.c_str(), text.size()});
  }();
  if (!received)
    throw nb::value_error(llvm::toString(received.takeError()).c_str());
  return std::move(*received);
}

static void attachView(ReceivedModule &self, std::string_view key,
                       nb::object array) {
  auto view = nb::cast<Bytes>(array);
  // The context lets go of the array in whichever thread it ends.
  attachWeight(self, key,
               {reinterpret_cast<const char *>(view.data()), view.nbytes()},
               bindings::keepAlive(std::move(array)));
}

static void attachBytecode(ReceivedModule &self, std::string_view key,
                           const nb::bytes &bytecode) {
  if (llvm::Error error =
          attachWeight(self, key, {bytecode.c_str(), bytecode.size()}))
    throw nb::value_error(llvm::toString(std::move(error)).c_str());
}

void corten::bindings::bindReceive(nb::module_ &module) {
  nb::class_<ReceivedModule>(module, "ReceivedModule",
                             "A program of coreai-core's in a context of ours.")
      .def(
          "missing_weights",
          [](const ReceivedModule &self) {
            std::vector<std::pair<std::string, unsigned>> result;
            for (const MissingWeight &weight : missingWeights(self))
              result.emplace_back(weight.key, weight.operation);
            return result;
          },
          "(key, place) of every weight without data. The place is that of an "
          "operation that mentions it, in the order of a walk that visits an "
          "operation after what it contains.")
      .def("attach_view", &attachView, nb::arg("key"), nb::arg("array"),
           "Gives a weight its data, an array of bytes. No copy; the array is "
           "kept alive.")
      .def("attach_bytecode", &attachBytecode, nb::arg("key"),
           nb::arg("bytecode"),
           "Gives a weight its data, taken from a module that has no other.")
      .def(
          "text",
          [](const ReceivedModule &self, bool locations) {
            std::string text;
            llvm::raw_string_ostream stream(text);
            mlir::OpPrintingFlags flags;
            flags.enableDebugInfo(locations).assumeVerified();
            self.module.get()->print(stream, flags);
            return text;
          },
          nb::arg("locations") = false);

  module.def("receive", &receiveText, nb::arg("text"),
             "Reads the text of a program. Raises ValueError.");
}
