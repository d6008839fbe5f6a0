// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives arbitrary text to the reader of metadata. What it takes is written
// again, and stays the same from then on.

#include "corten/Asset/Metadata.h"

#include <cstdint>
#include <cstdlib>

using namespace corten;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::Expected<AssetMetadata> metadata =
      parseMetadata({reinterpret_cast<const char *>(data), size});
  if (!metadata) {
    llvm::consumeError(metadata.takeError());
    return 0;
  }
  std::string text = formatMetadata(*metadata);
  llvm::Expected<AssetMetadata> again = parseMetadata(text);
  if (!again || formatMetadata(*again) != text)
    std::abort();
  return 0;
}
