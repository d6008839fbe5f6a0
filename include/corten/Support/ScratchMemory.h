// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where weights go that a conversion has to change: narrowed, packed, gathered
// from a view. They are as large as those that it leaves alone, so they lie in
// a mapped file too, and a ReadWindow keeps them out of memory the same way.

#ifndef CORTEN_SUPPORT_SCRATCHMEMORY_H
#define CORTEN_SUPPORT_SCRATCHMEMORY_H

#include <cstddef>
#include <memory>

namespace corten {

/// What is smaller stays in memory: there may be one for each node of a graph.
inline constexpr size_t kLeastScratch = size_t(128) << 10;

/// Memory for the elements of a tensor that is made here: a file that has no
/// name, in the folder that TMPDIR names or else in /var/tmp. Where that cannot
/// be, or has no room, it is memory like any other. Null if there is none of
/// that either. What nobody wrote to is undefined.
std::shared_ptr<char> allocateScratch(size_t size);

} // namespace corten

#endif // CORTEN_SUPPORT_SCRATCHMEMORY_H
