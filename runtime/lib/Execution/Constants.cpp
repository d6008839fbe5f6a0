// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where constants are: in the mapped asset, in the plan, or in what is computed
// from those when the plan is loaded.

#include "../Portable/Portable.h"
#include "Engine.h"
#include "Layout.h"

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
               ". Say where it is with LoadOptions::assetPath, or compile it "
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

Error Engine::prepare() {
  const Block &block = program.blocks[size_t(program.prepare)];
  for (int32_t output : block.outputs)
    if (block.values[size_t(output)].stage != 0)
      return Error("the plan is wrong: a constant has no fixed size; compile "
                   "the model again");
  Expected<Frame *> taken = takeFrame(block, {});
  if (!taken)
    return taken.takeError();
  Frame &frame = **taken;
  // All results in one piece, each where it will stay.
  std::vector<size_t> places;
  std::vector<size_t> sizes;
  std::vector<bool> isDirect;
  size_t total = 0;
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
  prepared = weights->take(total);
  Error error;
  if (!prepared)
    error = outOfMemory(*this, int64_t(total));
  std::vector<char *> targets;
  for (size_t i = 0; i != places.size() && !error; ++i)
    targets.push_back(isDirect[i] ? prepared.data() + places[i] : nullptr);
  // Weights are not to be in memory twice.
  StepObserver observer = [this](const StepEvent &event) {
    for (const Tensor &tensor : event.inputs)
      if (tensor.data && tensor.isContiguous())
        dropAssetPages(tensor.data,
                       size_t(tensor.size()) * byteSize(tensor.type));
  };
  if (!error) {
    Run run = {options.stepLimit, &observer};
    error = frame.run(run, {}, targets);
  }
  for (size_t i = 0; i != places.size() && !error; ++i) {
    Tensor to(frame.output(i).type, prepared.data() + places[i],
              frame.output(i).shape());
    if (!isDirect[i])
      portable::copyElements(frame.output(i), to);
  }
  giveBack(&frame);
  if (error)
    return error;
  for (size_t i = 0; i != constants.size(); ++i)
    if (program.constants[i].source == plan::ConstantSource::Prepared) {
      size_t output = size_t(program.constants[i].offset);
      constants[i] = {prepared.data() + places[output], sizes[output]};
    }
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
