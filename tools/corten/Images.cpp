// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Images.h"

#include "corten/Support/Bytes.h"

#include "llvm/Support/Path.h"

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdio>

// It wants FILE and size_t to be there.
#include <jpeglib.h>
#include <png.h>

using namespace corten;
using namespace corten::tool;
using llvm::StringRef;

/// More than a camera has; beyond it sizes would not fit into memory.
static constexpr uint64_t kMaxPixels = uint64_t(1) << 30;

namespace {
/// Pixels as files have them.
struct Pixels {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> bytes;
};
} // namespace

static llvm::Error tooLarge() {
  return llvm::createStringError("the image has more than 2^30 pixels");
}

static llvm::Expected<Pixels> readPng(StringRef file, int64_t channels) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, file.data(), file.size()))
    return llvm::createStringError(StringRef(image.message));
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  if (uint64_t(image.width) * image.height > kMaxPixels) {
    png_image_free(&image);
    return tooLarge();
  }
  Pixels pixels = {image.width, image.height, {}};
  pixels.bytes.resize(PNG_IMAGE_SIZE(image));
  // What is transparent is black.
  png_color background = {0, 0, 0};
  if (!png_image_finish_read(&image, &background, pixels.bytes.data(), 0,
                             nullptr))
    return llvm::createStringError(StringRef(image.message));
  return pixels;
}

namespace {
/// The library ends the process on errors, unless it is led elsewhere.
struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX];
};
} // namespace

static void leaveJpeg(j_common_ptr state) {
  auto *errors = reinterpret_cast<JpegErrors *>(state->err);
  errors->manager.format_message(state, errors->message);
  std::longjmp(errors->back, 1);
}

static void ignoreWarning(j_common_ptr, int) {}

/// Nothing in here has a destructor: errors jump out of it. False: see
/// `errors`.
static bool decodeJpeg(StringRef file, int64_t channels,
                       jpeg_decompress_struct &state, JpegErrors &errors,
                       Pixels &pixels, bool &isTooLarge) {
  state.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = leaveJpeg;
  errors.manager.emit_message = ignoreWarning;
  if (setjmp(errors.back))
    return false;
  jpeg_create_decompress(&state);
  jpeg_mem_src(&state, reinterpret_cast<const unsigned char *>(file.data()),
               static_cast<unsigned long>(file.size()));
  jpeg_read_header(&state, TRUE);
  state.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&state);
  isTooLarge = uint64_t(state.output_width) * state.output_height > kMaxPixels;
  if (isTooLarge)
    return true;
  pixels.width = state.output_width;
  pixels.height = state.output_height;
  size_t row = size_t(pixels.width) * size_t(channels);
  pixels.bytes.resize(row * size_t(pixels.height));
  while (state.output_scanline < state.output_height) {
    JSAMPROW line = pixels.bytes.data() + row * state.output_scanline;
    jpeg_read_scanlines(&state, &line, 1);
  }
  jpeg_finish_decompress(&state);
  return true;
}

static llvm::Expected<Pixels> readJpeg(StringRef file, int64_t channels) {
  jpeg_decompress_struct state = {};
  JpegErrors errors = {};
  Pixels pixels;
  bool isTooLarge = false;
  bool isRead = decodeJpeg(file, channels, state, errors, pixels, isTooLarge);
  jpeg_destroy_decompress(&state);
  if (!isRead)
    return llvm::createStringError(StringRef(errors.message));
  if (isTooLarge)
    return tooLarge();
  return pixels;
}

bool tool::isImagePath(StringRef path) {
  StringRef extension = llvm::sys::path::extension(path);
  return extension.equals_insensitive(".png") ||
         extension.equals_insensitive(".jpg") ||
         extension.equals_insensitive(".jpeg");
}

llvm::Expected<Image> tool::readImage(StringRef path, int64_t channels) {
  llvm::Expected<SharedBytes> file = mapFile(path);
  if (!file)
    return llvm::createStringError(path + ": " +
                                   llvm::toString(file.takeError()));
  bool isPng = file->data.starts_with("\x89PNG");
  llvm::Expected<Pixels> pixels =
      isPng ? readPng(file->data, channels) : readJpeg(file->data, channels);
  if (!pixels)
    return llvm::createStringError(path + ": no image that can be read: " +
                                   llvm::toString(pixels.takeError()));
  Image image = {pixels->width, pixels->height, channels, {}};
  image.elements.reserve(pixels->bytes.size());
  for (uint8_t byte : pixels->bytes)
    image.elements.push_back(float(byte) / 255.0f);
  return image;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

namespace {
/// What one new pixel is made of.
struct Taps {
  int64_t first = 0;
  std::vector<float> weights;
};
} // namespace

/// A triangle as wide as two pixels of the coarser side.
static std::vector<Taps> tapsOf(int64_t from, int64_t to) {
  double scale = double(from) / double(to);
  double radius = std::max(scale, 1.0);
  std::vector<Taps> result(static_cast<size_t>(to));
  for (int64_t i = 0; i != to; ++i) {
    double center = (double(i) + 0.5) * scale;
    auto first = std::max<int64_t>(std::lround(center - radius), 0);
    auto last = std::min<int64_t>(std::lround(center + radius), from);
    Taps &taps = result[size_t(i)];
    taps.first = first;
    double sum = 0;
    std::vector<double> weights;
    for (int64_t j = first; j < last; ++j) {
      double distance = std::abs(double(j) + 0.5 - center) / radius;
      weights.push_back(std::max(1.0 - distance, 0.0));
      sum += weights.back();
    }
    for (double weight : weights)
      taps.weights.push_back(float(weight / sum));
  }
  return result;
}

/// Applies taps along the middle one of three axes.
static std::vector<float> along(const std::vector<float> &elements,
                                int64_t outer, int64_t extent, int64_t inner,
                                const std::vector<Taps> &taps) {
  std::vector<float> result(size_t(outer * inner) * taps.size());
  float *to = result.data();
  for (int64_t i = 0; i != outer; ++i)
    for (const Taps &tap : taps)
      for (int64_t k = 0; k != inner; ++k) {
        const float *from =
            elements.data() + (i * extent + tap.first) * inner + k;
        float sum = 0;
        for (float weight : tap.weights) {
          sum += weight * *from;
          from += inner;
        }
        *to++ = sum;
      }
  return result;
}

Image Image::resized(int64_t newHeight, int64_t newWidth) const {
  Image result = {newWidth, newHeight, channels, elements};
  if (newWidth != width)
    result.elements = along(result.elements, height, width, channels,
                            tapsOf(width, newWidth));
  if (newHeight != height)
    result.elements = along(result.elements, 1, height, newWidth * channels,
                            tapsOf(height, newHeight));
  return result;
}
