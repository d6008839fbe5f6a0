// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that several libraries have to agree on.

#ifndef CORTEN_SUPPORT_LIMITS_H
#define CORTEN_SUPPORT_LIMITS_H

#include <cstddef>
#include <cstdint>

namespace corten {

/// Weights start at multiples of it in assets: coreai-core takes no others, and
/// loaders refuse larger ones.
inline constexpr size_t kWeightAlignment = 16;

/// What is read as elements starts at multiples of this in memory, as the
/// widest ones do. Weights that are only written may lie anywhere in a mapped
/// file.
inline constexpr size_t kElementAlignment = 8;

/// A constant of this many elements that are not all the same is a weight, with
/// its data outside the program; one of fewer stands in the program itself.
inline constexpr int64_t kWeightElements = 256;

/// How deep what is read may be nested. Parsers call themselves for each
/// bracket, and no author nests this far. Limits of their own have regions of
/// bytecode, each of which costs MLIR's readers and verifiers more of the stack
/// than a bracket; the JSON of archives, which a branch in a branch nests by
/// eight, and whose parser does not call itself; and the values of pickles,
/// which are arguments of a call.
inline constexpr unsigned kDeepestNesting = 256;

/// What is written or read a little of costs this much of memory. On no machine
/// that we build for is it less.
inline constexpr size_t kPageBytes = 4096;

} // namespace corten

#endif // CORTEN_SUPPORT_LIMITS_H
