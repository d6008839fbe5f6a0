// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Guards.h"

#include "../Core/Sanitizers.h"
#include "Engine.h"
#include "FrameChecker.h"
#include "Layout.h"

#include <algorithm>
#include <cstring>

#if CORTEN_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes)
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes)
#endif

using namespace corten::runtime;
using namespace corten::runtime::execution;

/// NaN as f64, f32, f16, bf16 and as both f8; -1 as an integer.
static constexpr int kPoison = 0xFF;

/// What lies around tensors, at an even or an odd address: NaN as f64, f32, f16
/// and bf16 for who reads too far, large as an integer, and not the poison.
static constexpr unsigned char kMarker[] = {0xFE, 0x7F};

static unsigned char markerAt(const char *place) {
  return kMarker[reinterpret_cast<uintptr_t>(place) % 2];
}

static void mark(char *begin) {
  for (char *place = begin; place != begin + Guards::kMargin; ++place)
    *place = static_cast<char>(markerAt(place));
  ASAN_POISON_MEMORY_REGION(begin, Guards::kMargin);
}

__attribute__((no_sanitize("address"))) static bool
isMarked(const char *begin) {
  for (const char *place = begin; place != begin + Guards::kMargin; ++place)
    if (static_cast<unsigned char>(*place) != markerAt(place))
      return false;
  return true;
}

/// Makes a tensor and what is around it memory like any other.
static void expose(char *data, int64_t bytes) {
  ASAN_UNPOISON_MEMORY_REGION(data - Guards::kMargin,
                              bytes + 2 * Guards::kMargin);
}

Guards::Guards(Frame &frame) : frame(frame) {
  std::vector<std::pair<int32_t, int32_t>> births;
  for (size_t i = 0; i != frame.block.buffers.size(); ++i) {
    const Buffer &buffer = frame.block.buffers[i];
    bool hasMemory = buffer.storage == plan::Storage::Arena ||
                     buffer.storage == plan::Storage::Output;
    if (hasMemory && buffer.isTouched())
      births.emplace_back(std::max(buffer.first, 0), int32_t(i));
  }
  bornAt = Lists::group(frame.block.steps.size() + 1, births);
}

Error Guards::checkLayout() const {
  const Block &block = frame.block;
  FrameLayout layout;
  layout.buffers.resize(block.buffers.size());
  layout.scratch.resize(block.steps.size());
  layout.values.resize(block.values.size());
  auto isLaidOut = [&](int32_t stage) {
    return frame.stages[size_t(stage)].isLaidOut;
  };
  for (size_t i = 0; i != block.buffers.size(); ++i) {
    const Buffer &buffer = block.buffers[i];
    if (!isLaidOut(buffer.stage) || !buffer.isTouched())
      continue;
    if (buffer.storage == plan::Storage::Arena)
      layout.buffers[i] = {buffer.stage, frame.offsets[i], frame.bytes[i]};
    // Each input and output in memory of its own.
    if (buffer.storage == plan::Storage::Input ||
        buffer.storage == plan::Storage::Output)
      layout.buffers[i] = {int32_t(frame.stages.size() + i), 0, frame.bytes[i]};
  }
  for (size_t i = 0; i != block.steps.size(); ++i)
    if (isLaidOut(block.steps[i].stage) && frame.scratchBytes[i] != 0)
      layout.scratch[i] = {block.steps[i].stage,
                           frame.offsets[block.buffers.size() + i],
                           frame.scratchBytes[i]};
  for (size_t i = 0; i != block.values.size(); ++i)
    if (isLaidOut(block.values[i].stage))
      if (auto hull = hullOf(frame.values[i]))
        layout.values[i] = {frame.byteOffsets[i] + hull->first,
                            frame.byteOffsets[i] + hull->second, true,
                            &frame.values[i], frame.byteOffsets[i]};
  layout.beside.resize(block.steps.size());
  const Groups &groups = frame.groups;
  for (size_t i = 0; i != groups.size(); ++i) {
    int32_t number = 0;
    for (const Strand &strand : groups.strandsOf(groups[i])) {
      for (int32_t step : groups.stepsOf(strand))
        layout.beside[size_t(step)] = {int32_t(i), number};
      ++number;
    }
  }
  const Engine &engine = frame.engine;
  return checkFrame(*engine.source,
                    size_t(&block - engine.program.blocks.data()), layout);
}

void Guards::enterStage(size_t stage) {
  if (Memory &memory = frame.stages[stage].memory)
    std::memset(memory.data(), kPoison,
                size_t(frame.stages[stage].sizes.planned));
}

void Guards::guard(char *data, int64_t bytes, int32_t buffer, int32_t last) {
  mark(data - kMargin);
  std::memset(data, kPoison, size_t(bytes));
  mark(data + bytes);
  live.push_back({data, bytes, buffer, last});
}

void Guards::beginStep(size_t step) {
  const Block &block = frame.block;
  for (int32_t index : bornAt[step]) {
    const Buffer &buffer = block.buffers[size_t(index)];
    bool isOurs =
        buffer.storage == plan::Storage::Arena || frame.memories[size_t(index)];
    if (isOurs && frame.bytes[size_t(index)] != 0)
      guard(static_cast<char *>(frame.bases[size_t(index)]),
            frame.bytes[size_t(index)], index, buffer.last);
  }
  if (int64_t bytes = frame.scratchBytes[step])
    guard(frame.stages[size_t(block.steps[step].stage)].base +
              frame.offsets[block.buffers.size() + step],
          bytes, -1, int32_t(step));
}

Error Guards::endStep(size_t step) {
  for (const Guarded &guarded : live)
    if (!isMarked(guarded.data - kMargin) ||
        !isMarked(guarded.data + guarded.bytes))
      return Error(guarded.buffer == -1
                       ? std::string("wrote outside of its scratch memory")
                       : "wrote outside of its results, beside buffer " +
                             std::to_string(guarded.buffer));
  std::erase_if(live, [&](const Guarded &guarded) {
    if (guarded.last > int32_t(step))
      return false;
    expose(guarded.data, guarded.bytes);
    std::memset(guarded.data - kMargin, kPoison,
                size_t(guarded.bytes + 2 * kMargin));
    return true;
  });
  return Error::success();
}

void Guards::leave() {
  for (const Guarded &guarded : live)
    expose(guarded.data, guarded.bytes);
  live.clear();
}
