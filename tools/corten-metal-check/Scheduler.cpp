// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Scheduler.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <tuple>

using namespace corten::check;

Scheduler *corten::check::scheduler = nullptr;

static constexpr size_t kSharedLimit = 32768;

Scheduler::Scheduler(KernelFn kernel, const unsigned (&grid)[3],
                     const unsigned (&group)[3], Memory &memory,
                     const std::vector<CortenBuffer> &buffers,
                     Findings &findings)
    : kernel(kernel), memory(memory), buffers(buffers), findings(findings),
      stacks(size_t(group[0]) * group[1] * group[2]),
      threads(size_t(group[0]) * group[1] * group[2]),
      simdgroups((threads.size() + 31) / 32) {
  for (int i = 0; i < 3; ++i) {
    this->grid[i] = grid[i];
    this->group[i] = group[i];
    numGroups[i] = (grid[i] + group[i] - 1) / group[i];
  }
  scheduler = this;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void Scheduler::run(bool descending) {
  stopped = false;
  for (Buffer *buffer : memory.all())
    if (buffer->kind != Buffer::Kind::Input)
      buffer->reset();
    else
      for (Cell &cell : buffer->cells) {
        cell = Cell();
        cell.isInitialized = true;
      }
  unsigned count = numGroups[0] * numGroups[1] * numGroups[2];
  for (unsigned i = 0; i < count; ++i)
    runGroup(descending ? count - 1 - i : i, descending);
}

void Scheduler::startThreads(unsigned index) {
  CortenThread shared{};
  unsigned position[3] = {index % numGroups[0],
                          index / numGroups[0] % numGroups[1],
                          index / numGroups[0] / numGroups[1]};
  for (int i = 0; i < 3; ++i) {
    shared.groupPosition[i] = position[i];
    shared.fullGroupSize[i] = group[i];
    shared.numGroups[i] = numGroups[i];
    shared.gridSize[i] = grid[i];
    // The last group along an axis is smaller where the grid is no multiple.
    shared.groupSize[i] = std::min(group[i], grid[i] - position[i] * group[i]);
  }
  const unsigned *size = shared.groupSize;
  numThreads = size_t(size[0]) * size[1] * size[2];
  for (size_t i = 0; i < numThreads; ++i) {
    Thread &thread = threads[i];
    thread.info = shared;
    unsigned inGroup[3] = {unsigned(i % size[0]),
                           unsigned(i / size[0] % size[1]),
                           unsigned(i / size[0] / size[1])};
    for (int d = 0; d < 3; ++d) {
      thread.info.positionInGroup[d] = inGroup[d];
      thread.info.positionInGrid[d] = position[d] * group[d] + inGroup[d];
    }
    thread.info.indexInGroup = i;
    thread.fiber = makeFiber(stacks.top(i), &enterThread);
    thread.state = State::Ready;
  }
}

void Scheduler::runGroup(unsigned index, bool descending) {
  for (Buffer *buffer : memory.all())
    if (buffer->kind == Buffer::Kind::Threadgroup)
      buffer->reset();
  epoch[kDevice] = epoch[kThreadgroup] = 0;
  for (Simdgroup &simdgroup : simdgroups)
    simdgroup.epoch[kDevice] = simdgroup.epoch[kThreadgroup] = 0;
  clock.group = index + 1;
  startThreads(index);
  while (runReady(descending) || releaseSimdgroups() || releaseBarrier())
    ;
}

bool Scheduler::runReady(bool descending) {
  bool ran = false;
  for (size_t i = 0; i < numThreads; ++i) {
    Thread &thread = threads[descending ? numThreads - 1 - i : i];
    if (thread.state != State::Ready)
      continue;
    ran = true;
    runFiber(thread);
  }
  return ran;
}

void Scheduler::runFiber(Thread &thread) {
  current = &thread;
  clock.thread = thread.info.indexInGroup;
  const Simdgroup &simdgroup = simdgroups[clock.thread / 32];
  for (int space : {kDevice, kThreadgroup}) {
    clock.epoch[space] = epoch[space];
    clock.simdEpoch[space] = simdgroup.epoch[space];
  }
  switchFiber(main, thread.fiber);
  current = nullptr;
}

void Scheduler::enterThread() {
  Scheduler &self = *scheduler;
  self.kernel(&self.current->info, self.buffers.data());
  self.current->state = State::Done;
  switchFiber(self.current->fiber, self.main);
  __builtin_unreachable();
}

void Scheduler::stop() {
  stopped = true;
  current->state = State::Done;
  switchFiber(current->fiber, main);
  __builtin_unreachable();
}

void Scheduler::block(State state, const CortenPlace &place) {
  current->state = state;
  current->place = place;
  switchFiber(current->fiber, main);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

static bool isSamePlace(const CortenPlace &a, const CortenPlace &b) {
  return a.line == b.line && a.column == b.column &&
         std::strcmp(a.file, b.file) == 0;
}

void Scheduler::barrier(unsigned flags, const CortenPlace &place) {
  current->flags = flags;
  block(State::AtBarrier, place);
}

/// Lets all threads that wait go on. Those that are at no barrier have ended.
bool Scheduler::releaseBarrier() {
  Thread *first = nullptr;
  Thread *other = nullptr;
  size_t waiting = 0;
  unsigned flags = ~0u;
  for (size_t i = 0; i < numThreads; ++i) {
    Thread &thread = threads[i];
    if (thread.state != State::AtBarrier)
      continue;
    if (!first)
      first = &thread;
    else if (!other && !isSamePlace(first->place, thread.place))
      other = &thread;
    ++waiting;
    flags &= thread.flags;
    thread.state = State::Ready;
  }
  if (!first)
    return false;
  if (other || (waiting != numThreads && !stopped))
    reportBarrier(waiting, *first, other);
  epoch[kDevice] += (flags & kCortenDevice) != 0;
  epoch[kThreadgroup] += (flags & kCortenThreadgroup) != 0;
  return true;
}

void Scheduler::reportBarrier(size_t waiting, const Thread &first,
                              const Thread *other) {
  Thread thread = first;
  current = &thread;
  if (other)
    report("barrier divergence", "",
           "threads of one group wait at different barriers: at line " +
               std::to_string(first.place.line) + " and at line " +
               std::to_string(other->place.line),
           0, &first.place);
  else
    report("barrier divergence", "",
           std::to_string(waiting) + " of " + std::to_string(numThreads) +
               " threads of the group reach the barrier",
           0, &first.place);
  current = nullptr;
}

void Scheduler::simdBarrier(unsigned flags, const CortenPlace &place) {
  current->flags = flags;
  current->isSimdBarrier = true;
  block(State::AtSimdOperation, place);
}

//===----------------------------------------------------------------------===//
// Simdgroups
//===----------------------------------------------------------------------===//

const unsigned char *Scheduler::exchange(const void *value, unsigned bytes,
                                         unsigned &active,
                                         const CortenPlace &place) {
  unsigned index = current->info.indexInGroup;
  std::memcpy(simdgroups[index / 32].given[index % 32], value, bytes);
  current->isSimdBarrier = false;
  block(State::AtSimdOperation, place);
  active = simdgroups[index / 32].active;
  return simdgroups[index / 32].taken[0];
}

bool Scheduler::releaseSimdgroups() {
  bool released = false;
  for (size_t first = 0; first < numThreads; first += 32) {
    size_t last = std::min(first + 32, numThreads);
    auto isWaiting = [](const Thread &thread) {
      return thread.state == State::AtSimdOperation;
    };
    if (std::ranges::any_of(std::span(threads).subspan(first, last - first),
                            isWaiting)) {
      releaseSimdOperation(first / 32);
      released = true;
    }
  }
  return released;
}

/// Lets the lanes at one operation go on. Where lanes are at several, the
/// earliest in the source comes first: the others have left a loop already.
void Scheduler::releaseSimdOperation(size_t index) {
  Simdgroup &simdgroup = simdgroups[index];
  size_t first = index * 32, last = std::min(first + 32, numThreads);
  auto before = [](const CortenPlace &a, const CortenPlace &b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  };
  const CortenPlace *place = nullptr;
  for (size_t i = first; i < last; ++i)
    if (threads[i].state == State::AtSimdOperation &&
        (!place || before(threads[i].place, *place)))
      place = &threads[i].place;
  CortenPlace chosen = *place;
  simdgroup.active = 0;
  unsigned flags = ~0u;
  bool isBarrier = false;
  for (size_t i = first; i < last; ++i) {
    Thread &thread = threads[i];
    if (thread.state != State::AtSimdOperation ||
        !isSamePlace(thread.place, chosen))
      continue;
    thread.state = State::Ready;
    simdgroup.active |= 1u << (i - first);
    isBarrier = thread.isSimdBarrier;
    flags &= thread.flags;
  }
  if (isBarrier) {
    simdgroup.epoch[kDevice] += (flags & kCortenDevice) != 0;
    simdgroup.epoch[kThreadgroup] += (flags & kCortenThreadgroup) != 0;
  } else {
    std::memcpy(simdgroup.taken, simdgroup.given, sizeof(simdgroup.taken));
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void *Scheduler::shared(const void *declaration, size_t bytes, size_t granule,
                        const char *name) {
  for (Buffer *buffer : memory.all())
    if (buffer->declaration == declaration && buffer->bytes == bytes)
      return buffer->data;
  Buffer buffer;
  buffer.name = name;
  buffer.kind = Buffer::Kind::Threadgroup;
  buffer.bytes = bytes;
  buffer.elementBytes = granule;
  buffer.granule = std::min<size_t>(granule, 4);
  buffer.declaration = declaration;
  sharedBytes += bytes;
  if (sharedBytes > kSharedLimit)
    report("threadgroup memory", name,
           "the group uses " + std::to_string(sharedBytes) +
               " bytes of threadgroup memory; Metal has " +
               std::to_string(kSharedLimit),
           0);
  return memory.add(std::move(buffer)).data;
}

static const char *verb(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read:
    return "reads";
  case AccessKind::Write:
    return "writes";
  default:
    return "atomically accesses";
  }
}

void Scheduler::access(const void *address, size_t bytes, AccessKind kind,
                       uintptr_t pc) {
  lastPc = pc;
  Buffer *buffer = memory.find(address);
  if (!buffer || !current)
    return;
  ptrdiff_t offset = static_cast<const char *>(address) - buffer->data;
  bool isWrite = kind == AccessKind::Write || kind >= AccessKind::AtomicWrite;
  if (offset < 0 || offset + bytes > buffer->bytes) {
    size_t elements = buffer->bytes / buffer->elementBytes;
    report("out of bounds", buffer->name,
           std::string(isWrite ? "write" : "read") + " of " +
               std::to_string(bytes) + " bytes at " + buffer->element(offset) +
               ", byte " + std::to_string(offset) + "; '" + buffer->name +
               "' has " + std::to_string(elements) + " elements",
           pc);
    stop();
  }
  if (isWrite && buffer->kind == Buffer::Kind::Input)
    report("write to an input", buffer->name,
           "writes " + buffer->element(offset) + ", which is an input", pc);
  if (offset % buffer->granule != 0 || bytes % buffer->granule != 0)
    buffer->refine();
  Conflict conflict;
  bool isJunk = false;
  size_t from = offset / buffer->granule;
  size_t to = (offset + bytes) / buffer->granule;
  for (size_t i = from; i < to; ++i) {
    Cell &cell = buffer->cells[i];
    isJunk |= !cell.isInitialized && kind != AccessKind::Write &&
              kind != AccessKind::AtomicWrite;
    // Once is enough: the accesses after a read of junk are no news.
    cell.isInitialized |= isJunk;
    if (note(cell, kind, clock, buffer->space(), conflict))
      reportConflict(*buffer, i * buffer->granule, kind, conflict, pc);
  }
  if (isJunk)
    report("uninitialized read", buffer->name,
           "reads " + buffer->element(offset) +
               ", which nothing has been written to",
           pc);
}

std::string Scheduler::describe(const Access &access) const {
  unsigned index = access.group - 1;
  unsigned place[3] = {index % numGroups[0],
                       index / numGroups[0] % numGroups[1],
                       index / numGroups[0] / numGroups[1]};
  unsigned size[2] = {std::min(group[0], grid[0] - place[0] * group[0]),
                      std::min(group[1], grid[1] - place[1] * group[1])};
  unsigned inGroup[3] = {access.thread % size[0],
                         access.thread / size[0] % size[1],
                         access.thread / size[0] / size[1]};
  std::string text = "thread (";
  for (int i = 0; i < 3; ++i)
    text += (i ? ", " : "") + std::to_string(place[i] * group[i] + inGroup[i]);
  return text + ")";
}

void Scheduler::reportConflict(const Buffer &buffer, ptrdiff_t offset,
                               AccessKind kind, const Conflict &conflict,
                               uintptr_t pc) {
  Access now{clock.group, clock.thread};
  std::string who =
      conflict.other.group == now.group && conflict.other.thread == now.thread
          ? "others"
          : describe(conflict.other);
  bool sameGroup = conflict.other.group == now.group;
  report("race", buffer.name,
         describe(now) + " " + verb(kind) + " " + buffer.element(offset) +
             ", which " + who + " " + verb(conflict.otherKind) +
             (sameGroup ? ", with no barrier between them that orders "
                        : ", in another group: nothing orders ") +
             (!sameGroup                       ? "the two"
              : buffer.space() == kThreadgroup ? "threadgroup memory"
                                               : "device memory"),
         pc);
}

void Scheduler::report(const char *kind, const std::string &buffer,
                       std::string message, uintptr_t pc,
                       const CortenPlace *place) {
  Finding finding;
  finding.kind = kind;
  finding.buffer = buffer;
  finding.message = std::move(message);
  finding.pc = pc;
  if (place) {
    finding.file = place->file;
    finding.line = place->line;
    finding.column = place->column;
  }
  if (current) {
    finding.hasThread = true;
    std::copy_n(current->info.positionInGrid, 3, finding.thread);
    std::copy_n(current->info.groupPosition, 3, finding.group);
  }
  findings.add(std::move(finding));
}
