// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pictures from files.

#ifndef CORTEN_TOOLS_CORTEN_IMAGES_H
#define CORTEN_TOOLS_CORTEN_IMAGES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace corten::tool {

/// Rows of pixels, each with its channels together, from 0 to 1.
struct Image {
  int64_t width = 0;
  int64_t height = 0;
  int64_t channels = 0;
  std::vector<float> elements;

  /// Of another size: the mean of what a pixel covers where it becomes smaller,
  /// linear in between where it becomes larger.
  Image resized(int64_t newHeight, int64_t newWidth) const;
};

/// Whether a file is called like an image that can be read.
bool isImagePath(llvm::StringRef path);

/// Reads a PNG or JPEG file, with 3 channels or, as brightness, with 1.
llvm::Expected<Image> readImage(llvm::StringRef path, int64_t channels);

} // namespace corten::tool

#endif // CORTEN_TOOLS_CORTEN_IMAGES_H
