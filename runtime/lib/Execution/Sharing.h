// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that states share until they write to it. What a state has when it is
// forked goes to a file that exists in memory only, and the state and its forks
// map it privately: the system copies the pages that one of them writes to, and
// no others. What has been written since goes to another file once it is much;
// before, each fork copies it. Pages of zeros are in no file.

#ifndef CORTEN_RUNTIME_LIB_EXECUTION_SHARING_H
#define CORTEN_RUNTIME_LIB_EXECUTION_SHARING_H

#include "corten/Runtime/Memory.h"

#include <cstddef>
#include <map>
#include <memory>
#include <span>

namespace corten::runtime::execution {

struct StateData;

/// Whole pages of a state.
struct PageRange {
  size_t begin = 0;
  size_t end = 0;

  size_t bytes() const { return end - begin; }
};

/// Some pages as a state had them at some time, one after the other.
class Image {
public:
  /// Nothing where the system has no such files, or the process enough of them,
  /// or where there is no memory.
  static std::shared_ptr<const Image>
  make(const char *data, std::span<const PageRange> ranges, MemoryPool &pool);
  ~Image();
  Image(const Image &) = delete;
  Image &operator=(const Image &) = delete;

  const char *data() const { return view.data(); }
  /// Maps a part over pages that are there already; if that fails, they are
  /// what they were.
  bool mapOver(char *pages, size_t bytes, size_t offset) const;

private:
  Image(int file, Memory view);

  int file;
  Memory view;
};

/// One of the mappings that a process may have, which are not many.
class Mapping {
public:
  Mapping() { ++count; }
  Mapping(const Mapping &) { ++count; }
  Mapping &operator=(const Mapping &) = default;
  ~Mapping() { --count; }

  static bool isOneLeft();

private:
  static std::atomic<size_t> count;
};

/// Pages of a state that came from an image. Some have been written to since,
/// if the state is changed.
struct SharedPart {
  size_t bytes = 0;
  std::shared_ptr<const Image> image;
  size_t offset = 0;
  Mapping mapping = {};
};

/// By where they begin; none is within another.
using SharedParts = std::map<size_t, SharedPart>;

/// Sees to it that forks have something to share, if the system lets them and
/// it is worth it.
void freeze(StateData &state);

/// Some bytes of one state for another. Pages that came from an image are
/// mapped where places allow it, and the others are copied.
void share(const StateData &from, size_t offset, size_t bytes, StateData &to,
           size_t place);

/// Makes all of a state zero, with new pages; false if it has to be written.
bool renew(StateData &state);

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_SHARING_H
