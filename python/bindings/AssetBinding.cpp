// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs written as assets.

#include "Bindings.h"

#include "corten/Asset/Asset.h"
#include "corten/Handover/Receive.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace corten;

static void save(const ReceivedModule &received, const std::string &path,
                 const std::string &metadata, bool hash) {
  nb::gil_scoped_release unlock;
  llvm::Expected<AssetMetadata> parsed = parseMetadata(metadata);
  llvm::Error error =
      parsed ? writeProgram(*received.module, *parsed, path, {hash})
             : parsed.takeError();
  if (error)
    throw std::runtime_error(llvm::toString(std::move(error)));
}

void corten::bindings::bindAsset(nb::module_ &module) {
  module.def("save_asset", &save, nb::arg("received"), nb::arg("path"),
             nb::arg("metadata"), nb::arg("hash"),
             "Writes a program as an asset; metadata is the text of its "
             "metadata.json. Raises RuntimeError, and leaves what was there.");
}
