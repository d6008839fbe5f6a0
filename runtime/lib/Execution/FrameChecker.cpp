// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FrameChecker.h"

#include <algorithm>
#include <map>
#include <set>

using namespace corten::runtime;
using namespace corten::runtime::execution;

template <typename T> static size_t sizeOf(const T *list) {
  return list ? list->size() : 0;
}

template <typename List> static auto at(const List *list, size_t index) {
  return list->Get(flatbuffers::uoffset_t(index));
}

namespace {
/// Who wrote the bytes of some memory last.
class Ledger {
public:
  struct Entry {
    int64_t end;
    /// A buffer; -1: scratch.
    int32_t owner;
    int32_t step;
  };

  void write(int64_t begin, int64_t end, int32_t owner, int32_t step) {
    if (begin >= end)
      return;
    split(begin);
    split(end);
    entries.erase(entries.lower_bound(begin), entries.lower_bound(end));
    entries[begin] = {end, owner, step};
  }

  /// The first entry in these bytes that is of another owner, or of a step
  /// behind the first `version`; `end` at the first byte that nobody wrote.
  /// Nothing if there is none.
  std::optional<Entry> findOther(int64_t begin, int64_t end, int32_t owner,
                                 int32_t version) const {
    auto it = entries.upper_bound(begin);
    if (it != entries.begin())
      --it;
    for (int64_t next = begin; next < end; ++it) {
      while (it != entries.end() && it->second.end <= next)
        ++it;
      if (it == entries.end() || it->first > next)
        return Entry{next, kNobody, -1};
      if (it->second.owner != owner || it->second.step >= version)
        return it->second;
      next = it->second.end;
    }
    return std::nullopt;
  }

  static constexpr int32_t kNobody = -2;

private:
  void split(int64_t place) {
    auto it = entries.lower_bound(place);
    if (it == entries.begin())
      return;
    --it;
    if (it->second.end <= place)
      return;
    Entry rest = it->second;
    it->second.end = place;
    entries[place] = rest;
  }

  std::map<int64_t, Entry> entries;
};

class FrameChecker {
public:
  FrameChecker(const plan::Plan &plan, const plan::Block &block,
               const FrameLayout &layout)
      : plan(plan), block(block), layout(layout) {}

  Error run() {
    int32_t numSteps = int32_t(sizeOf(block.steps()));
    for (size_t i = 0; i != sizeOf(block.inputs()); ++i)
      if (auto bytes = bytesOf(at(block.inputs(), i)))
        ledgers[bytes->space].write(bytes->begin, bytes->end, bytes->owner, -1);
    readElements(-1);
    for (int32_t i = 0; i != numSteps && message.empty(); ++i) {
      checkStep(i);
      checkBeside(i);
      readElements(i);
    }
    for (size_t i = 0; i != sizeOf(block.outputs()); ++i)
      read(at(block.outputs(), i), numSteps);
    if (message.empty())
      return Error::success();
    return Error("memory is planned wrongly: " + message +
                 "; please report this");
  }

private:
  struct Bytes {
    int32_t owner;
    int32_t space;
    int64_t begin;
    int64_t end;
  };

  const plan::Buffer &bufferOf(const plan::Block &of, int32_t value) const {
    return *at(of.buffers(), size_t(at(of.values(), size_t(value))->buffer()));
  }
  std::optional<Bytes> bytesOf(int32_t value) const;
  void read(int32_t value, int32_t step);
  void readElements(int32_t step);
  void checkStep(int32_t index);
  /// What a step touches, by bytes; `value` -1: its scratch.
  struct Touch {
    Bytes bytes;
    int32_t value;
    bool writes;
  };
  std::vector<Touch> touchesOf(int32_t index) const;
  void addReads(int32_t value, std::vector<Touch> &touches) const;
  bool meet(const Touch &a, const Touch &b) const;
  /// With the steps before it that run at the same time.
  void checkBeside(int32_t index);
  /// Inputs of a block whose memory a value of it may lie in.
  std::set<int32_t> inputsBehind(const plan::Block &of, int32_t value) const;
  /// Inputs of a step whose memory its output may lie in.
  std::set<int32_t> inputsBehind(const plan::Step &step, size_t output) const;
  std::set<int32_t> inputsBehindLoop(const plan::Step &step,
                                     size_t output) const;
  /// The step of a block, and its output, that a returned buffer comes from.
  static std::pair<const plan::Step *, size_t>
  definitionOf(const plan::Block &of, int32_t buffer);

  const plan::Plan &plan;
  const plan::Block &block;
  const FrameLayout &layout;
  std::map<int32_t, Ledger> ledgers;
  std::string message;
};
} // namespace

std::optional<FrameChecker::Bytes> FrameChecker::bytesOf(int32_t value) const {
  const FrameLayout::Extent &extent = layout.values[size_t(value)];
  int32_t buffer = at(block.values(), size_t(value))->buffer();
  const FrameLayout::Place &place = layout.buffers[size_t(buffer)];
  if (place.space == -1 || !extent.isKnown || extent.begin == extent.end)
    return std::nullopt;
  return Bytes{buffer, place.space, place.begin + extent.begin,
               place.begin + extent.end};
}

void FrameChecker::read(int32_t value, int32_t step) {
  int32_t index = at(block.values(), size_t(value))->buffer();
  if (bufferOf(block, value).storage() == plan::Storage::Returned) {
    // It may lie where something lies that a block was given.
    auto [from, output] = definitionOf(block, index);
    if (!from)
      return;
    for (int32_t input : inputsBehind(*from, output))
      read(at(from->inputs(), size_t(input)), step);
    return;
  }
  std::optional<Bytes> bytes = bytesOf(value);
  if (!bytes)
    return;
  int32_t version = at(block.values(), size_t(value))->version();
  auto other =
      ledgers[bytes->space].findOther(bytes->begin, bytes->end, bytes->owner,
                                      version == -1 ? INT32_MAX : version);
  if (!other || !message.empty())
    return;
  message = "step " + std::to_string(step) + " reads value " +
            std::to_string(value) + " of buffer " + std::to_string(index);
  if (other->owner == Ledger::kNobody)
    message += ", which nobody has written";
  else if (other->owner == index)
    message += " as it was after " + std::to_string(version) +
               " steps, but step " + std::to_string(other->step) +
               " wrote to it since";
  else
    message += ", over which step " + std::to_string(other->step) + " wrote " +
               (other->owner == -1 ? std::string("its scratch")
                                   : "buffer " + std::to_string(other->owner));
}

void FrameChecker::readElements(int32_t step) {
  for (size_t i = 0; i != sizeOf(block.symbols()); ++i) {
    const plan::Symbol *symbol = at(block.symbols(), i);
    if (symbol->source() == plan::SymbolSource::Element &&
        symbol->step() == step)
      read(symbol->index(), step);
  }
}

void FrameChecker::checkStep(int32_t index) {
  const plan::Step &step = *at(block.steps(), size_t(index));
  std::vector<Bytes> reads;
  for (size_t i = 0; i != sizeOf(step.inputs()); ++i) {
    int32_t value = at(step.inputs(), i);
    if (value == -1)
      continue;
    read(value, index);
    if (auto bytes = bytesOf(value))
      reads.push_back(*bytes);
  }
  std::vector<Bytes> writes;
  for (size_t i = 0; i != sizeOf(step.outputs()); ++i)
    if (auto bytes = bytesOf(at(step.outputs(), i)))
      writes.push_back(*bytes);
  const FrameLayout::Place &scratch = layout.scratch[size_t(index)];
  if (scratch.space != -1)
    writes.push_back(
        {-1, scratch.space, scratch.begin, scratch.begin + scratch.bytes});
  // What a step reads is there until it has ended.
  for (size_t i = 0; i != writes.size(); ++i) {
    auto meets = [&](const Bytes &other) {
      return other.owner != writes[i].owner && other.space == writes[i].space &&
             other.begin < writes[i].end && writes[i].begin < other.end;
    };
    if (message.empty() &&
        (std::ranges::any_of(reads, meets) ||
         std::any_of(writes.begin(), writes.begin() + int64_t(i), meets)))
      message = "two operands of step " + std::to_string(index) +
                " lie in the same place";
  }
  for (const Bytes &bytes : writes)
    ledgers[bytes.space].write(bytes.begin, bytes.end, bytes.owner, index);
}

//===----------------------------------------------------------------------===//
// Steps that run at the same time
//===----------------------------------------------------------------------===//

void FrameChecker::addReads(int32_t value, std::vector<Touch> &touches) const {
  if (bufferOf(block, value).storage() == plan::Storage::Returned) {
    auto [from, output] =
        definitionOf(block, at(block.values(), size_t(value))->buffer());
    if (from)
      for (int32_t input : inputsBehind(*from, output))
        addReads(at(from->inputs(), size_t(input)), touches);
    return;
  }
  if (auto bytes = bytesOf(value))
    touches.push_back({*bytes, value, false});
}

std::vector<FrameChecker::Touch> FrameChecker::touchesOf(int32_t index) const {
  const plan::Step &step = *at(block.steps(), size_t(index));
  std::vector<Touch> result;
  for (size_t i = 0; i != sizeOf(step.inputs()); ++i)
    if (at(step.inputs(), i) != -1)
      addReads(at(step.inputs(), i), result);
  for (size_t i = 0; i != sizeOf(step.outputs()); ++i)
    if (auto bytes = bytesOf(at(step.outputs(), i)))
      result.push_back({*bytes, at(step.outputs(), i), true});
  const FrameLayout::Place &scratch = layout.scratch[size_t(index)];
  if (scratch.space != -1)
    result.push_back(
        {{-1, scratch.space, scratch.begin, scratch.begin + scratch.bytes},
         -1,
         true});
  return result;
}

/// The bytes of a touch as ranges in ascending order.
static std::vector<std::pair<int64_t, int64_t>>
rangesOf(const FrameLayout &layout, int32_t value, int64_t begin, int64_t end) {
  const Tensor *tensor =
      value == -1 ? nullptr : layout.values[size_t(value)].tensor;
  if (!tensor)
    return {{begin, end}};
  const FrameLayout::Extent &extent = layout.values[size_t(value)];
  auto width = int64_t(byteSize(tensor->type));
  std::vector<std::pair<int64_t, int64_t>> result;
  for (int64_t i = 0; i != tensor->size(); ++i) {
    int64_t place = begin - extent.begin + extent.first;
    int64_t rest = i;
    for (int axis = tensor->rank; axis-- > 0;) {
      place += rest % tensor->extents[size_t(axis)] *
               tensor->steps[size_t(axis)] * width;
      rest /= tensor->extents[size_t(axis)];
    }
    if (!result.empty() && result.back().second == place)
      result.back().second += width;
    else
      result.emplace_back(place, place + width);
  }
  std::ranges::sort(result);
  return result;
}

bool FrameChecker::meet(const Touch &a, const Touch &b) const {
  if ((!a.writes && !b.writes) || a.bytes.space != b.bytes.space ||
      a.bytes.end <= b.bytes.begin || b.bytes.end <= a.bytes.begin)
    return false;
  auto rangesOfA = rangesOf(layout, a.value, a.bytes.begin, a.bytes.end);
  auto rangesOfB = rangesOf(layout, b.value, b.bytes.begin, b.bytes.end);
  auto ofB = rangesOfB.begin();
  for (const auto &[begin, end] : rangesOfA) {
    while (ofB != rangesOfB.end() && ofB->second <= begin)
      ++ofB;
    if (ofB != rangesOfB.end() && ofB->first < end)
      return true;
  }
  return false;
}

void FrameChecker::checkBeside(int32_t index) {
  if (layout.beside.empty() || layout.beside[size_t(index)].group == -1)
    return;
  const FrameLayout::Beside &own = layout.beside[size_t(index)];
  std::vector<Touch> touches = touchesOf(index);
  for (int32_t before = index; before-- > 0;) {
    const FrameLayout::Beside &other = layout.beside[size_t(before)];
    if (other.group != own.group)
      return;
    if (other.strand == own.strand)
      continue;
    for (const Touch &a : touchesOf(before))
      for (const Touch &b : touches)
        if (message.empty() && meet(a, b))
          message = "steps " + std::to_string(before) + " and " +
                    std::to_string(index) +
                    " run side by side, but touch the same memory";
  }
}

//===----------------------------------------------------------------------===//
// What control flow returns
//===----------------------------------------------------------------------===//

std::pair<const plan::Step *, size_t>
FrameChecker::definitionOf(const plan::Block &of, int32_t buffer) {
  for (size_t i = 0; i != sizeOf(of.steps()); ++i) {
    const plan::Step *step = at(of.steps(), i);
    for (size_t o = 0; o != sizeOf(step->outputs()); ++o)
      if (at(of.values(), size_t(at(step->outputs(), o)))->buffer() == buffer)
        return {step, o};
  }
  return {nullptr, 0};
}

std::set<int32_t> FrameChecker::inputsBehind(const plan::Block &of,
                                             int32_t value) const {
  const plan::Buffer &buffer = bufferOf(of, value);
  if (buffer.storage() == plan::Storage::Input)
    return {buffer.index()};
  if (buffer.storage() != plan::Storage::Returned)
    return {};
  auto [step, output] =
      definitionOf(of, at(of.values(), size_t(value))->buffer());
  std::set<int32_t> result;
  if (step)
    for (int32_t input : inputsBehind(*step, output))
      result.merge(inputsBehind(of, at(step->inputs(), size_t(input))));
  return result;
}

std::set<int32_t> FrameChecker::inputsBehind(const plan::Step &step,
                                             size_t output) const {
  if (step.kind() == plan::StepKind::While)
    return inputsBehindLoop(step, output);
  int32_t shift = step.kind() == plan::StepKind::If ? 1 : 0;
  std::set<int32_t> result;
  for (size_t i = 0; i != sizeOf(step.blocks()); ++i) {
    const plan::Block &called =
        *at(plan.blocks(), size_t(at(step.blocks(), i)));
    for (int32_t input : inputsBehind(called, at(called.outputs(), output)))
      result.insert(input + shift);
  }
  return result;
}

std::set<int32_t> FrameChecker::inputsBehindLoop(const plan::Step &step,
                                                 size_t output) const {
  const plan::Block &condition =
      *at(plan.blocks(), size_t(at(step.blocks(), 0)));
  const plan::Block &body = *at(plan.blocks(), size_t(at(step.blocks(), 1)));
  auto numCarried = int32_t(sizeOf(body.outputs()));
  auto numHanded = int32_t(sizeOf(step.outputs()));
  std::set<int32_t> result;
  std::set<int32_t> seen;
  // Outputs of the condition, back through the body that led to them.
  std::vector<int32_t> open = {int32_t(output)};
  while (!open.empty()) {
    int32_t handed = open.back();
    open.pop_back();
    if (!seen.insert(handed).second)
      continue;
    for (int32_t given :
         inputsBehind(condition, at(condition.outputs(), size_t(handed) + 1))) {
      result.insert(given);
      if (given >= numCarried)
        continue;
      for (int32_t source :
           inputsBehind(body, at(body.outputs(), size_t(given))))
        if (source < numHanded)
          open.push_back(source);
        else
          result.insert(source - numHanded + numCarried);
    }
  }
  return result;
}

Error execution::checkFrame(const plan::Plan &plan, size_t block,
                            const FrameLayout &layout) {
  return FrameChecker(plan, *at(plan.blocks(), block), layout).run();
}
