// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles translated kernels with an installed clang, keeps what came out, and
// runs it in a process of its own.
//
//   COREAI_TORCH_CLANG   the compiler, if not one of the usual names
//   COREAI_TORCH_CACHE   where compiled kernels are kept
//   CORTEN_METAL         a folder with corten-metal-check and the headers,
//                        `metal/*.h`; otherwise beside what this code is in

#ifndef CORTEN_METAL_COMPILE_H
#define CORTEN_METAL_COMPILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace corten::metal {

/// What the compiler says about a kernel.
struct CompileError {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
  std::string message;
};

/// A shared object, or what is wrong with the source.
struct CompiledKernel {
  std::string path;
  std::vector<CompileError> errors;
};

/// Compiles what checkSource() or translateSource() wrote, unless that was done
/// before. Fails if there is no compiler, or if it fails in another way.
llvm::Expected<CompiledKernel> compileKernel(llvm::StringRef source);

/// A kernel of a program, compiled.
struct BuiltKernel {
  std::string path;
  /// Names of the buffers, by slot.
  std::vector<std::string> buffers;
};

/// Translates and compiles the source that a program has for a kernel. The
/// error names it and, if its source is at fault, the line.
llvm::Expected<BuiltKernel> buildKernel(llvm::StringRef name,
                                        llvm::StringRef source);

/// The program that runs compiled kernels.
llvm::Expected<std::string> kernelRunner();

/// An input or a result of a run. Its elements lie in row-major order.
struct KernelBuffer {
  std::string name;
  unsigned elementBytes = 0;
  /// Outermost first.
  llvm::ArrayRef<int64_t> shape;
  /// Of a result, it is written.
  char *data = nullptr;
  bool isResult = false;

  size_t bytes() const;
};

/// One run of a kernel.
struct KernelLaunch {
  std::string path;
  int64_t grid[3] = {1, 1, 1};
  int64_t group[3] = {1, 1, 1};
  unsigned seconds = 600;
  llvm::ArrayRef<KernelBuffer> buffers;
};

/// Runs all threads, with every access to memory watched, in a process that can
/// do nothing else: no files, no network. Fails if the kernel does what Metal
/// does not define, and says what and in which line of `kSourcePart`.
llvm::Error runKernel(const KernelLaunch &launch);

} // namespace corten::metal

#endif // CORTEN_METAL_COMPILE_H
