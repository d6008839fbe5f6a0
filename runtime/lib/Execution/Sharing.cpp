// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sharing.h"

#include "Engine.h"

#include <algorithm>
#include <cstring>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace corten::runtime;
using namespace corten::runtime::execution;

/// As much of a state as that may be copied for each fork, in parts of what it
/// shares: beyond, it pays to make a new image.
static constexpr size_t kMaxCopiedPart = 8;
/// Mappings cost too: smaller pieces are copied.
static constexpr size_t kLeastPages = 4;
/// So is what would take too many. A process may have 65,530 mappings, each
/// part makes up to two, and others need some.
static constexpr size_t kMaxMappings = 16384;
static constexpr size_t kMaxParts = 2048;
/// Each image is an open file; others need most of those.
static constexpr size_t kMaxFilesPart = 4;

std::atomic<size_t> Mapping::count = 0;
static std::atomic<size_t> numImages = 0;

bool Mapping::isOneLeft() { return count < kMaxMappings; }

static size_t pageSize() {
  static const auto size = size_t(sysconf(_SC_PAGESIZE));
  return size;
}

static size_t wholePages(size_t bytes) {
  return (bytes + pageSize() - 1) / pageSize() * pageSize();
}

static bool isZero(const char *data, size_t bytes) {
  return data[0] == 0 && std::memcmp(data, data + 1, bytes - 1) == 0;
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

[[maybe_unused]] static size_t limitOf(decltype(RLIMIT_NOFILE) what) {
  rlimit limit = {};
  return getrlimit(what, &limit) == 0 ? size_t(limit.rlim_cur) : 0;
}

/// A file without a name; -1 if there can be none.
static int makeFile([[maybe_unused]] size_t bytes) {
#if defined(__linux__)
  // A file that is longer than allowed ends the process.
  if (numImages >= limitOf(RLIMIT_NOFILE) / kMaxFilesPart ||
      bytes > limitOf(RLIMIT_FSIZE))
    return -1;
  int file = memfd_create("corten-state", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, off_t(bytes)) == 0)
    return file;
  if (file >= 0)
    close(file);
#endif
  return -1;
}

/// Writing through a mapping would end the process where memory ends.
static bool writeAll(int file, size_t at, const char *data, size_t bytes) {
  for (size_t done = 0; done != bytes;) {
    ssize_t count = pwrite(file, data + done, bytes - done, off_t(at + done));
    if (count <= 0)
      return false;
    done += size_t(count);
  }
  return true;
}

/// Moves pages that were mapped elsewhere over others. There is no moment at
/// which a thread that reads these finds nothing.
static bool moveOver([[maybe_unused]] char *pages, void *mapped,
                     [[maybe_unused]] size_t bytes) {
  if (mapped == MAP_FAILED)
    return false;
#if defined(__linux__)
  if (mremap(mapped, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, pages) !=
      MAP_FAILED)
    return true;
#endif
  munmap(mapped, bytes);
  return false;
}

Image::Image(int file, Memory view) : file(file), view(std::move(view)) {
  ++numImages;
}

Image::~Image() {
  close(file);
  --numImages;
}

std::shared_ptr<const Image> Image::make(const char *data,
                                         std::span<const PageRange> ranges,
                                         MemoryPool &pool) {
  size_t size = 0;
  for (const PageRange &range : ranges)
    size += range.bytes();
  int file = makeFile(size);
  if (file < 0)
    return nullptr;
  std::shared_ptr<Image> image(new Image(file, pool.takeApart(size)));
  if (!image->view)
    return nullptr;
  size_t at = 0;
  for (const PageRange &range : ranges) {
    if (!writeAll(file, at, data + range.begin, range.bytes()))
      return nullptr;
    at += range.bytes();
  }
  if (!image->mapOver(image->view.data(), size, 0))
    return nullptr;
  // What nobody writes to is the page of the file.
  (void)mprotect(image->view.data(), size, PROT_READ);
  return image;
}

bool Image::mapOver(char *pages, size_t bytes, size_t offset) const {
  return moveOver(pages,
                  mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE,
                       file, off_t(offset)),
                  bytes);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The parts that have some of these bytes.
static std::pair<SharedParts::const_iterator, SharedParts::const_iterator>
partsWithin(const SharedParts &parts, size_t begin, size_t end) {
  auto first = parts.upper_bound(begin);
  if (first != parts.begin()) {
    auto before = std::prev(first);
    if (before->first + before->second.bytes > begin)
      first = before;
  }
  return {first, parts.lower_bound(end)};
}

/// Maps pages of an image over some of a state.
static bool mapPart(StateData &state, const PageRange &range,
                    std::shared_ptr<const Image> image, size_t offset) {
  if (!Mapping::isOneLeft() || state.parts.size() >= 2 * kMaxParts ||
      !image->mapOver(state.memory.data() + range.begin, range.bytes(), offset))
    return false;
  auto [first, last] = partsWithin(state.parts, range.begin, range.end);
  SharedParts rest;
  for (auto it = first; it != last; ++it) {
    const auto &[begin, part] = *it;
    size_t end = begin + part.bytes;
    if (begin < range.begin)
      rest[begin] = {range.begin - begin, part.image, part.offset};
    if (end > range.end)
      rest[range.end] = {end - range.end, part.image,
                         part.offset + (range.end - begin)};
  }
  state.parts.erase(first, last);
  state.parts.merge(rest);
  state.parts[range.begin] = {range.bytes(), std::move(image), offset};
  return true;
}

namespace {
/// Pages that a state has in no image.
struct OwnPages {
  /// Those that are worth a mapping, with what little is between them.
  std::vector<PageRange> ranges;
  size_t bytes = 0;
  /// Whether there are no others.
  bool isAll = true;

  void add(size_t at);
  void leaveSmall();
};
} // namespace

void OwnPages::add(size_t at) {
  size_t end = at + pageSize();
  if (!ranges.empty() && at < ranges.back().end + kLeastPages * pageSize())
    ranges.back().end = end;
  else
    ranges.push_back({at, end});
}

void OwnPages::leaveSmall() {
  isAll = std::erase_if(ranges, [](const PageRange &range) {
            return range.bytes() < kLeastPages * pageSize();
          }) == 0;
  for (const PageRange &range : ranges)
    bytes += range.bytes();
}

static OwnPages findOwn(const StateData &state) {
  OwnPages own;
  const char *data = state.memory.data();
  auto part = state.parts.begin();
  size_t size = wholePages(state.bytes);
  for (size_t at = 0; at != size;) {
    if (part == state.parts.end() || at < part->first) {
      if (!isZero(data + at, pageSize()))
        own.add(at);
      at += pageSize();
      continue;
    }
    size_t end = part->first + part->second.bytes;
    const char *before = part->second.image->data() + part->second.offset;
    for (; state.isChanged && at != end; at += pageSize())
      if (std::memcmp(data + at, before + (at - part->first), pageSize()) != 0)
        own.add(at);
    at = end;
    ++part;
  }
  own.leaveSmall();
  return own;
}

void execution::freeze(StateData &state) {
  if (!state.memory.isApart() || state.isFrozen)
    return;
  OwnPages own = findOwn(state);
  state.isFrozen = true;
  size_t shared = 0;
  for (const auto &[begin, part] : state.parts)
    shared += part.bytes;
  if (own.bytes == 0 || own.bytes <= shared / kMaxCopiedPart)
    return;
  // What has been divided too often becomes one again.
  if (state.parts.size() + own.ranges.size() > kMaxParts)
    own.ranges = {{0, wholePages(state.bytes)}};
  std::shared_ptr<const Image> image =
      Image::make(state.memory.data(), own.ranges, *state.pool);
  if (!image)
    return;
  size_t offset = 0;
  for (const PageRange &range : own.ranges) {
    own.isAll &= mapPart(state, range, image, offset);
    offset += range.bytes();
  }
  state.isChanged &= !own.isAll;
}

bool execution::renew(StateData &state) {
  if (!state.memory.isApart())
    return false;
  size_t size = wholePages(state.bytes);
  if (!moveOver(state.memory.data(),
                mmap(nullptr, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                size))
    return false;
  (void)madvise(state.memory.data(), size, MADV_HUGEPAGE);
  state.parts.clear();
  state.isChanged = false;
  state.isFrozen = false;
  return true;
}

//===----------------------------------------------------------------------===//
// From one state to another
//===----------------------------------------------------------------------===//

namespace {
/// Bytes on their way from one state to another.
class Transfer {
public:
  Transfer(const StateData &from, StateData &to) : from(from), to(to) {}

  void run(size_t offset, size_t bytes, size_t place);

private:
  bool map(const PageRange &range, size_t place, const SharedPart &part,
           size_t within);
  void copy(size_t begin, size_t bytes, size_t place);

  const StateData &from;
  StateData &to;
};
} // namespace

void Transfer::copy(size_t begin, size_t bytes, size_t place) {
  if (bytes == 0)
    return;
  auto [first, last] = partsWithin(to.parts, place, place + bytes);
  to.isChanged |= first != last;
  const char *source = from.memory.data() + begin;
  char *target = to.memory.data() + place;
  if (!to.memory.isApart()) {
    std::memcpy(target, source, bytes);
    return;
  }
  // Pages that nobody has written to take no memory: zeros are left alone where
  // they are already.
  for (size_t done = 0; done != bytes;) {
    size_t count =
        std::min(pageSize() - (place + done) % pageSize(), bytes - done);
    if (!isZero(source + done, count) || !isZero(target + done, count))
      std::memcpy(target + done, source + done, count);
    done += count;
  }
}

/// Whole pages, which are at `within` of the part. Those that are not as they
/// came are copied.
bool Transfer::map(const PageRange &range, size_t place, const SharedPart &part,
                   size_t within) {
  size_t offset = part.offset + within;
  if (!mapPart(to, {place, place + range.bytes()}, part.image, offset))
    return false;
  const char *now = from.memory.data() + range.begin;
  const char *before = part.image->data() + offset;
  for (size_t at = 0; from.isChanged && at != range.bytes(); at += pageSize())
    if (std::memcmp(now + at, before + at, pageSize()) != 0)
      copy(range.begin + at, pageSize(), place + at);
  return true;
}

void Transfer::run(size_t offset, size_t bytes, size_t place) {
  to.isFrozen = false;
  size_t end = offset + bytes;
  size_t done = offset;
  bool canMap =
      to.memory.isApart() && offset % pageSize() == place % pageSize();
  // The last page of a state is nobody else's.
  bool isLast = end == from.bytes && place + bytes == to.bytes;
  size_t limit = isLast ? wholePages(end) : end / pageSize() * pageSize();
  auto [first, last] = partsWithin(from.parts, offset, end);
  for (; canMap && first != last; ++first) {
    const auto &[start, part] = *first;
    PageRange range = {std::max(start, wholePages(done)),
                       std::min(start + part.bytes, limit)};
    if (range.end < range.begin + kLeastPages * pageSize() ||
        !map(range, place + (range.begin - offset), part, range.begin - start))
      continue;
    copy(done, range.begin - done, place + (done - offset));
    done = std::min(range.end, end);
  }
  copy(done, end - done, place + (done - offset));
}

void execution::share(const StateData &from, size_t offset, size_t bytes,
                      StateData &to, size_t place) {
  Transfer(from, to).run(offset, bytes, place);
}
