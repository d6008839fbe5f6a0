// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Metal kernels as C++ for the CPU. The text that is made here needs the
// headers in lib/Metal/Library and an installed clang; the program
// corten-metal-check runs what comes out.

#ifndef CORTEN_METAL_CHECK_H
#define CORTEN_METAL_CHECK_H

#include "corten/Metal/Kernel.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace corten::metal {

/// Names of the parts of a kernel in messages of the compiler and in line
/// tables.
inline constexpr llvm::StringRef kBodyPart = "src";
inline constexpr llvm::StringRef kHelperPart = "helper_src";
inline constexpr llvm::StringRef kSourcePart = "kernel_source";

/// Turns Metal into C++ where headers and macros cannot: attributes vanish,
/// threadgroup variables become references to storage that the group shares,
/// literals of half become casts. Lines stay where they are. `part` is for
/// messages; `numShared` counts variables over all parts.
llvm::Expected<std::string>
rewriteMetal(llvm::StringRef source, llvm::StringRef part, unsigned &numShared);

/// A translation unit that runs one thread of the kernel. Fails if the kernel
/// uses what cannot be had on a CPU, and says what that is and where.
llvm::Expected<std::string> checkSource(const Kernel &kernel,
                                        llvm::ArrayRef<Operand> inputs,
                                        llvm::ArrayRef<Operand> results);

/// A kernel of a program, as C++ for the CPU.
struct Translation {
  /// A translation unit that runs one thread. Messages of the compiler have the
  /// lines of the kernel's source, as of a file `kSourcePart`.
  std::string source;
  /// Names of the parameters that are buffers, by slot.
  std::vector<std::string> buffers;
};

/// The same for the whole source of a kernel, of which only the name is known.
llvm::Expected<Translation> translateSource(llvm::StringRef name,
                                            llvm::StringRef source);

struct SourceLine {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

/// The lines that code of a shared object comes from, by its debug information;
/// line 0 where there is none.
llvm::Expected<std::vector<SourceLine>>
sourceLines(llvm::StringRef path, llvm::ArrayRef<uint64_t> addresses);

} // namespace corten::metal

#endif // CORTEN_METAL_CHECK_H
