// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where constants are: in the mapped asset, in the plan, or in what is computed
// from those when the plan is loaded.

#include "../Portable/Portable.h"
#include "Engine.h"
#include "Layout.h"
#include "PreparedFile.h"

#include "corten/Runtime/PlanFile.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <sys/mman.h>

using namespace corten::runtime;
using namespace corten::runtime::execution;
namespace fs = std::filesystem;

/// Places to look for the asset, the best first.
static std::vector<std::string> placesOf(const Program &program,
                                         const LoadOptions &options,
                                         const std::string &planPath) {
  std::error_code ignored;
  if (!options.assetPath.empty()) {
    fs::path path = options.assetPath;
    if (fs::is_directory(path, ignored))
      path /= fs::path(program.assetPath).filename();
    return {path.string()};
  }
  std::vector<std::string> places;
  if (!planPath.empty() && !program.assetRelativePath.empty())
    places.push_back(
        (fs::path(planPath).parent_path() / program.assetRelativePath)
            .string());
  if (!program.assetPath.empty())
    places.push_back(program.assetPath);
  return places;
}

/// That these are the bytes that the plan was made for.
static Error checkBytes(const Program &program,
                        std::span<const std::byte> bytes,
                        std::optional<int64_t> modified) {
  if (bytes.size() == program.assetBytes &&
      (modified == program.assetModified ||
       digestOf(bytes) == program.assetDigest))
    return Error::success();
  return Error("the asset changed after the plan was made for it: compile it "
               "again, or give the one that it was compiled from");
}

Error Engine::openAsset(const std::string &planPath) {
  if (options.assetBytes.data()) {
    asset = options.assetBytes;
    return checkBytes(program, asset, std::nullopt);
  }
  std::string why;
  for (const std::string &place : placesOf(program, options, planPath)) {
    Expected<MappedFile> file = MappedFile::open(place);
    Error error = file ? checkBytes(program, file->bytes(), file->modified())
                       : file.takeError();
    if (!error) {
      assetFile = std::move(*file);
      asset = assetFile.bytes();
      return Error::success();
    }
    why += (why.empty() ? "" : "; ") + (file ? place + ": " : "") +
           error.message();
  }
  return Error("the plan takes weights from an asset that is not there: " +
               (why.empty() ? "it has no path" : why) +
               ". Say where it is now (--asset, or asset=), or compile it "
               "again");
}

Error Engine::alignConstants() {
  auto isAligned = [](const void *data, size_t alignment) {
    return reinterpret_cast<uintptr_t>(data) % alignment == 0;
  };
  auto forEach = [&](auto &&function) {
    for (size_t i = 0; i != constants.size(); ++i)
      if (constants[i].bytes != 0 &&
          !isAligned(constants[i].data, program.constants[i].alignment))
        function(constants[i]);
  };
  auto roundUp = [](size_t bytes) {
    return (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
  };
  size_t total = 0;
  forEach([&](ConstantMemory &constant) { total += roundUp(constant.bytes); });
  if (total == 0)
    return Error::success();
  aligned = weights->take(total);
  if (!aligned)
    return outOfMemory(*this, int64_t(total));
  char *next = aligned.data();
  forEach([&](ConstantMemory &constant) {
    std::memcpy(next, constant.data, constant.bytes);
    dropAssetPages(constant.data, constant.bytes);
    constant.data = next;
    next += roundUp(constant.bytes);
  });
  aligned.protect();
  return Error::success();
}

void Engine::dropAssetPages(const void *data, size_t bytes) const {
  std::span<const std::byte> file = assetFile.bytes();
  auto begin = reinterpret_cast<uintptr_t>(data);
  auto first = reinterpret_cast<uintptr_t>(file.data());
  if (begin < first || begin - first >= file.size())
    return;
  // Only whole pages.
  constexpr uintptr_t kPage = 4096;
  uintptr_t end = std::min(begin + bytes, first + file.size()) / kPage * kPage;
  begin = (begin + kPage - 1) / kPage * kPage;
  if (begin < end)
    (void)madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

struct Engine::PreparedLayout {
  /// Of each result, in bytes.
  std::vector<size_t> places;
  std::vector<size_t> sizes;
  /// Whether the block writes it there by itself.
  std::vector<bool> isDirect;
  size_t total = 0;

  PreparedLayout(const Block &block, const Frame &frame);
};

/// How many bytes lie between the first element and the end of the last one;
/// weights are transposed views as a rule. 0 where they do not lie in ascending
/// order.
static size_t spanOf(const Tensor &tensor) {
  int64_t last = 0;
  for (size_t axis = 0; axis != tensor.rank; ++axis) {
    if (tensor.extents[axis] == 0 || tensor.steps[axis] < 0)
      return 0;
    last += (tensor.extents[axis] - 1) * tensor.steps[axis];
  }
  return size_t(last + 1) * byteSize(tensor.type);
}

/// All results in one piece, each where it will stay.
Engine::PreparedLayout::PreparedLayout(const Block &block, const Frame &frame) {
  for (size_t i = 0; i != block.outputs.size(); ++i) {
    size_t index = size_t(block.values[size_t(block.outputs[i])].buffer);
    const Buffer &buffer = block.buffers[index];
    const Tensor &tensor = frame.output(i);
    isDirect.push_back(buffer.storage == plan::Storage::Output &&
                       size_t(buffer.index) == i);
    size_t size = isDirect[i] ? size_t(frame.bufferBytes(index))
                              : size_t(tensor.size()) * byteSize(tensor.type);
    places.push_back(total);
    sizes.push_back(size);
    total +=
        (size + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
  }
}

Error Engine::computePrepared(const Block &block, Frame &frame,
                              const PreparedLayout &layout) {
  prepared = weights->take(layout.total);
  if (!prepared)
    return outOfMemory(*this, int64_t(layout.total));
  std::vector<char *> targets;
  for (size_t i = 0; i != layout.places.size(); ++i)
    targets.push_back(layout.isDirect[i] ? prepared.data() + layout.places[i]
                                         : nullptr);
  // Weights are not to be in memory twice.
  StepObserver observer = [this](const StepEvent &event) {
    for (const Tensor &tensor : event.inputs)
      if (tensor.data)
        dropAssetPages(tensor.data, spanOf(tensor));
  };
  Run run = {options.stepLimit, &observer};
  if (Error error = frame.run(run, {}, targets))
    return error;
  for (size_t i = 0; i != layout.places.size(); ++i) {
    Tensor to(frame.output(i).type, prepared.data() + layout.places[i],
              frame.output(i).shape());
    if (!layout.isDirect[i])
      portable::copyElements(frame.output(i), to);
  }
  return Error::success();
}

Error Engine::prepare() {
  const Block &block = program.blocks[size_t(program.prepare)];
  for (int32_t output : block.outputs)
    if (block.values[size_t(output)].stage != 0)
      return Error("the plan is wrong: a constant has no fixed size; compile "
                   "the model again");
  Expected<Frame *> taken = takeFrame(block, {});
  if (!taken)
    return taken.takeError();
  PreparedLayout layout(block, **taken);
  const std::string &path = options.preparedPath;
  PreparedKey key = {planDigest, isa, layout.total};
  auto useFile = [&] {
    std::optional<MappedFile> file = openPrepared(path, key);
    if (file)
      preparedFile = std::move(*file);
    return bool(file);
  };
  bool isKept = !path.empty() && useFile();
  Error error =
      isKept ? Error::success() : computePrepared(block, **taken, layout);
  giveBack(*taken);
  if (error)
    return error;
  if (!isKept && !path.empty() &&
      writePrepared(path, key,
                    std::as_bytes(std::span(prepared.data(), layout.total))) &&
      useFile()) {
    isKept = true;
    prepared.reset();
    weights->trim();
  }
  const char *base =
      isKept
          ? reinterpret_cast<const char *>(preparedBytes(preparedFile).data())
          : prepared.data();
  for (size_t i = 0; i != constants.size(); ++i)
    if (program.constants[i].source == plan::ConstantSource::Prepared) {
      auto output = size_t(program.constants[i].offset);
      constants[i] = {base + layout.places[output], layout.sizes[output]};
    }
  if (prepared)
    prepared.protect();
  // It is not needed again.
  std::lock_guard lock(mutex);
  idle[size_t(program.prepare)].clear();
  arenas->trim();
  return Error::success();
}

Error Engine::loadConstants(const std::string &planPath) {
  auto isFromAsset = [](const Constant &constant) {
    return constant.source == plan::ConstantSource::Asset;
  };
  if (std::ranges::any_of(program.constants, isFromAsset))
    if (Error error = openAsset(planPath))
      return error;
  for (size_t i = 0; i != constants.size(); ++i) {
    const Constant &constant = program.constants[i];
    if (constant.source == plan::ConstantSource::Prepared)
      continue;
    std::span<const std::byte> from =
        isFromAsset(constant) ? asset : program.data;
    constants[i] = {from.data() + constant.offset, size_t(constant.bytes)};
  }
  if (Error error = alignConstants())
    return error;
  return program.prepare == -1 ? Error::success() : prepare();
}
