// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arrays.h"

#include "Images.h"

#include "corten/Runtime/Kernel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace corten;
using namespace corten::tool;
using llvm::StringRef;
using runtime::ElementType;
using runtime::Parameter;
using runtime::Tensor;

Owned::Owned(ElementType type, llvm::ArrayRef<int64_t> shape)
    : tensor(type, nullptr, shape) {
  memory.reset(static_cast<char *>(std::aligned_alloc(
                   runtime::kMemoryAlignment,
                   llvm::alignTo(std::max<size_t>(numBytes(), 1),
                                 runtime::kMemoryAlignment))),
               std::free);
  if (!memory)
    llvm::report_bad_alloc_error("no memory for a tensor");
  tensor.data = memory.get();
}

size_t Owned::numBytes() const {
  return size_t(tensor.size()) * runtime::byteSize(tensor.type);
}

/// A tensor with elements of another type.
static runtime::Error cast(const Tensor &from, Tensor &to) {
  return runtime::call(runtime::PortableKernel::Cast,
                       {{&from, 1}, {&to, 1}, {}});
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// The element type that NumPy writes so.
static std::optional<ElementType> fromNumpy(StringRef type) {
  return llvm::StringSwitch<std::optional<ElementType>>(type)
      .Case("b1", ElementType::Bool)
      .Case("i1", ElementType::SI8)
      .Case("i2", ElementType::SI16)
      .Case("i4", ElementType::SI32)
      .Case("i8", ElementType::SI64)
      .Case("u1", ElementType::UI8)
      .Case("u2", ElementType::UI16)
      .Case("u4", ElementType::UI32)
      .Case("u8", ElementType::UI64)
      .Case("f2", ElementType::F16)
      .Case("f4", ElementType::F32)
      .Case("f8", ElementType::F64)
      .Case("c8", ElementType::C64)
      .Default(std::nullopt);
}

/// What NumPy calls an element type; bytes where it has no name for it.
static StringRef toNumpy(ElementType type) {
  switch (type) {
  case ElementType::Bool:
    return "|b1";
  case ElementType::SI8:
    return "|i1";
  case ElementType::SI16:
    return "<i2";
  case ElementType::SI32:
    return "<i4";
  case ElementType::SI64:
    return "<i8";
  case ElementType::UI16:
  case ElementType::BF16:
    return "<u2";
  case ElementType::UI32:
    return "<u4";
  case ElementType::UI64:
    return "<u8";
  case ElementType::F16:
    return "<f2";
  case ElementType::F32:
    return "<f4";
  case ElementType::F64:
    return "<f8";
  case ElementType::C64:
    return "<c8";
  default:
    return "|u1";
  }
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// That a file does not fit.
static llvm::Error mismatch(StringRef where, const Parameter &parameter,
                            const llvm::Twine &what) {
  return llvm::createStringError(where + ": " + what + "; " + parameter.name +
                                 " is " + parameter.describe());
}

llvm::Expected<Owned> tool::convert(const Tensor &from, StringRef where,
                                    const Parameter &parameter) {
  Owned result(parameter.type, from.shape());
  if (runtime::Error error = cast(from, result.tensor))
    return mismatch(where, parameter, error.message());
  return result;
}

llvm::Expected<Owned> tool::convert(const NpyArray &array, StringRef where,
                                    const Parameter &parameter) {
  std::optional<ElementType> type = fromNumpy(array.type);
  if (array.type == "u2" && parameter.type == ElementType::BF16)
    type = ElementType::BF16;
  if (!type)
    return mismatch(where, parameter, "elements of the type " + array.type);
  if (array.shape.size() > size_t(runtime::kMaxRank))
    return mismatch(where, parameter, "too many axes");
  Tensor from(*type, const_cast<char *>(array.elements.data.data()),
              array.shape);
  if (from.size() < 0 || array.elements.data.size() / runtime::byteSize(*type) <
                             size_t(from.size()))
    return mismatch(where, parameter, "the file ends before its elements do");
  if (array.isFortranOrder) {
    int64_t next = 1;
    for (int axis = 0; axis != from.rank; ++axis) {
      from.steps[axis] = next;
      next *= from.extents[axis];
    }
  }
  return convert(from, where, parameter);
}

/// The array of an archive that is meant for the parameter.
static llvm::Expected<Owned> readFromArchive(StringRef path,
                                             const Parameter &parameter) {
  auto arrays = readNpz(path);
  if (!arrays)
    return arrays.takeError();
  for (const auto &[name, array] : *arrays)
    if (name == parameter.name || arrays->size() == 1)
      return convert(array, (path + ": " + name).str(), parameter);
  std::string names = llvm::join(llvm::make_first_range(*arrays), ", ");
  return mismatch(path, parameter,
                  "there is no array " + parameter.name + ", but " +
                      (names.empty() ? std::string("none") : names));
}

/// Elements as they lie in memory, one after the other. One axis that is not
/// known is as long as the file makes it.
static llvm::Expected<Owned> readRaw(StringRef path, StringRef given,
                                     const Parameter &parameter) {
  llvm::Expected<SharedBytes> file = mapFile(path);
  if (!file)
    return llvm::createStringError(path + ": " +
                                   llvm::toString(file.takeError()));
  llvm::Expected<std::vector<int64_t>> shape = shapeFor(parameter, given);
  if (!shape)
    return shape.takeError();
  size_t width = runtime::byteSize(parameter.type);
  size_t known = width;
  std::optional<size_t> open;
  unsigned numOpen = 0;
  for (auto [index, axis] : llvm::enumerate(parameter.axes)) {
    if (given.empty() && !axis.isFixed()) {
      open = index;
      ++numOpen;
    } else {
      known *= size_t((*shape)[index]);
    }
  }
  if (numOpen > 1)
    return mismatch(path, parameter,
                    "elements without a shape: say it with --shape");
  if (open)
    (*shape)[*open] = known ? int64_t(file->data.size() / known) : 0;
  Owned result(parameter.type, *shape);
  if (result.numBytes() != file->data.size())
    return mismatch(path, parameter,
                    llvm::Twine(file->data.size()) + " bytes, and " +
                        llvm::Twine(result.numBytes()) + " are needed for " +
                        result.tensor.describe());
  if (!file->data.empty())
    std::memcpy(result.memory.get(), file->data.data(), file->data.size());
  return result;
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

namespace {
/// Which axes of a parameter are those of an image.
struct ImageAxes {
  size_t channels;
  size_t height;
  size_t width;
};
} // namespace

static std::optional<ImageAxes> imageAxes(const Parameter &parameter) {
  size_t rank = parameter.axes.size();
  if (rank < 3 || rank > 4)
    return std::nullopt;
  auto isChannels = [&](size_t axis) {
    const runtime::Axis &extent = parameter.axes[axis];
    return extent.isFixed() && (extent.low == 1 || extent.low == 3);
  };
  if (rank == 4 && parameter.axes[0].isFixed() && parameter.axes[0].low != 1)
    return std::nullopt;
  if (isChannels(rank - 3))
    return ImageAxes{rank - 3, rank - 2, rank - 1};
  if (isChannels(rank - 1))
    return ImageAxes{rank - 1, rank - 3, rank - 2};
  return std::nullopt;
}

/// The number for a channel of a list that may have one for all.
static llvm::Expected<double> forChannel(const std::vector<double> &list,
                                         size_t channel, size_t channels,
                                         double otherwise) {
  if (list.empty())
    return otherwise;
  if (list.size() != 1 && list.size() != channels)
    return llvm::createStringError(
        "--mean and --std take one number, or one for each of " +
        llvm::Twine(channels) + " channels, not " + llvm::Twine(list.size()));
  return list[list.size() == 1 ? 0 : channel];
}

static llvm::Expected<Owned> readImageInput(const InputSource &source,
                                            const Parameter &parameter,
                                            const ImageOptions &options) {
  StringRef path = source.text;
  std::optional<ImageAxes> axes = imageAxes(parameter);
  if (!axes)
    return mismatch(path, parameter,
                    "an image is [1, 3, H, W], [1, H, W, 3], or has one "
                    "channel");
  size_t channels = size_t(parameter.axes[axes->channels].low);
  llvm::Expected<Image> image = readImage(path, int64_t(channels));
  if (!image)
    return image.takeError();
  llvm::Expected<std::vector<int64_t>> shape =
      shapeFor(parameter, source.shape);
  if (!shape)
    return shape.takeError();
  if (source.shape.empty()) {
    if (!parameter.axes[axes->height].isFixed())
      (*shape)[axes->height] = image->height;
    if (!parameter.axes[axes->width].isFixed())
      (*shape)[axes->width] = image->width;
  }
  for (auto [index, extent] : llvm::enumerate(*shape))
    if (extent < 1 || (shape->size() == 4 && index == 0 && extent != 1))
      return mismatch(path, parameter, "one image is given");
  Image fitted = image->resized((*shape)[axes->height], (*shape)[axes->width]);
  bool isFloat = runtime::isFloat(parameter.type);
  for (size_t channel = 0; channel != channels; ++channel) {
    auto mean = forChannel(options.mean, channel, channels, 0);
    if (!mean)
      return mean.takeError();
    auto deviation = forChannel(options.deviation, channel, channels, 1);
    if (!deviation)
      return deviation.takeError();
    for (size_t i = channel; i < fitted.elements.size(); i += channels) {
      float &element = fitted.elements[i];
      // Whole numbers are as files have them.
      element = isFloat ? float((double(element) - *mean) / *deviation)
                        : std::nearbyint(element * 255.0f);
    }
  }
  // Its axes are height, width, channels.
  Tensor view(ElementType::F32, fitted.elements.data(), *shape);
  view.steps[axes->channels] = 1;
  view.steps[axes->width] = int64_t(channels);
  view.steps[axes->height] = int64_t(channels) * fitted.width;
  Owned result(parameter.type, *shape);
  if (runtime::Error error = cast(view, result.tensor))
    return mismatch(path, parameter, error.message());
  return result;
}

llvm::Expected<Owned> tool::readInput(const InputSource &source,
                                      const Parameter &parameter,
                                      const ImageOptions &images) {
  StringRef text = source.text;
  if (text.consume_front("raw:"))
    return readRaw(text, source.shape, parameter);
  if (text.ends_with(".npz"))
    return readFromArchive(text, parameter);
  if (isImagePath(text))
    return readImageInput(source, parameter, images);
  llvm::Expected<NpyArray> array = readNpy(text);
  if (!array)
    return array.takeError();
  return convert(*array, text, parameter);
}

Owned tool::randomInput(const Parameter &parameter,
                        llvm::ArrayRef<int64_t> shape, std::mt19937 &random) {
  Owned result(parameter.type, shape);
  std::vector<float> elements(size_t(result.tensor.size()));
  std::normal_distribution<float> normal;
  for (float &element : elements)
    element =
        runtime::isFloat(parameter.type) || parameter.type == ElementType::C64
            ? normal(random)
            : float(random() % 2);
  Tensor numbers(ElementType::F32, elements.data(), shape);
  // Every type has zero and one.
  if (cast(numbers, result.tensor))
    std::memset(result.memory.get(), 0, result.numBytes());
  return result;
}

llvm::Expected<std::vector<int64_t>> tool::shapeFor(const Parameter &parameter,
                                                    StringRef given) {
  std::vector<int64_t> shape;
  llvm::SmallVector<StringRef> extents;
  given.split(extents, ',', -1, false);
  for (auto [index, axis] : llvm::enumerate(parameter.axes)) {
    int64_t extent = axis.isFixed() ? axis.low : std::max<int64_t>(axis.low, 1);
    if (index < extents.size() &&
        extents[index].trim().getAsInteger(10, extent))
      return llvm::createStringError("--shape: " + given + " is no shape");
    if (extent < 0)
      return llvm::createStringError("--shape: " + given + " is no shape");
    shape.push_back(extent);
  }
  if (!extents.empty() && extents.size() != parameter.axes.size())
    return llvm::createStringError("--shape: " + given + " does not fit " +
                                   parameter.describe());
  return shape;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// Without gaps.
static llvm::Expected<Owned> denseCopy(const Tensor &tensor) {
  Owned result(tensor.type, tensor.shape());
  if (runtime::Error error =
          runtime::call(runtime::PortableKernel::Copy,
                        {{&tensor, 1}, {&result.tensor, 1}, {}}))
    return llvm::createStringError(error.message());
  return result;
}

static llvm::ArrayRef<char> bytesOf(const Owned &owned) {
  return {owned.memory.get(), owned.numBytes()};
}

llvm::Error tool::writeArchive(llvm::ArrayRef<NamedTensor> tensors,
                               StringRef path) {
  std::vector<Owned> copies;
  std::vector<NpyContent> arrays;
  for (const NamedTensor &named : tensors) {
    llvm::Expected<Owned> dense = denseCopy(named.tensor);
    if (!dense)
      return dense.takeError();
    arrays.push_back(
        {named.name.str(),
         toNumpy(named.tensor.type).str(),
         {named.tensor.shape().begin(), named.tensor.shape().end()},
         bytesOf(*dense)});
    copies.push_back(std::move(*dense));
  }
  return llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    writeNpz(os, arrays);
    return llvm::Error::success();
  });
}

llvm::Error tool::writeTensor(const Tensor &tensor, StringRef path) {
  llvm::Expected<Owned> dense = denseCopy(tensor);
  if (!dense)
    return dense.takeError();
  bool isRaw = path.consume_front("raw:");
  return llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    if (isRaw)
      os.write(bytesOf(*dense).data(), dense->numBytes());
    else
      writeNpy(os, toNumpy(tensor.type), dense->tensor.shape(),
               bytesOf(*dense));
    return llvm::Error::success();
  });
}

std::vector<double> tool::numbersOf(const Tensor &tensor) {
  Tensor from = tensor;
  if (tensor.type == ElementType::C64) {
    // Two floats each.
    from.type = ElementType::F32;
    for (int64_t &step : from.steps)
      step *= 2;
    from.extents[from.rank] = 2;
    from.steps[from.rank] = 1;
    ++from.rank;
  }
  std::vector<double> numbers(size_t(from.size()));
  Tensor wide(ElementType::F64, numbers.data(), from.shape());
  // There is a cast from every real type.
  if (runtime::Error error = cast(from, wide))
    numbers.clear();
  return numbers;
}
