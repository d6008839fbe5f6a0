// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Other programs.

#ifndef CORTEN_LIB_METAL_PROCESS_H
#define CORTEN_LIB_METAL_PROCESS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace corten::metal {

/// A folder that goes with everything in it.
class ScratchFolder {
public:
  /// In `parent`, or where the system has such things.
  static llvm::Expected<ScratchFolder> make(llvm::StringRef parent = {});
  ScratchFolder(ScratchFolder &&other) noexcept;
  ScratchFolder &operator=(ScratchFolder &&) = delete;
  ~ScratchFolder();

  std::string file(llvm::StringRef name) const;
  llvm::StringRef path() const { return folder; }

private:
  explicit ScratchFolder(llvm::StringRef path) : folder(path) {}
  llvm::SmallString<128> folder;
};

/// What became of a program.
struct Finished {
  int status = 0;
  std::string output;
  std::string errors;
};

/// Runs a program to its end. Nothing if it takes longer than it may. It has no
/// environment variables unless it inherits them.
llvm::Expected<std::optional<Finished>>
runProgram(llvm::ArrayRef<std::string> command, unsigned seconds,
           bool inheritsEnvironment);

} // namespace corten::metal

#endif // CORTEN_LIB_METAL_PROCESS_H
