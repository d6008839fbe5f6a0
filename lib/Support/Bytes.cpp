// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/Bytes.h"

#include "corten/Support/Limits.h"
#include "corten/Support/ReadWindow.h"
#include "corten/Support/ScratchMemory.h"

#include "llvm/Support/Alignment.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <system_error>

using namespace corten;
namespace fs = llvm::sys::fs;

llvm::Expected<SharedBytes> corten::mapFile(llvm::StringRef path) {
  llvm::Expected<fs::file_t> file = fs::openNativeFileForRead(path);
  if (!file)
    return file.takeError();
  fs::file_status status;
  std::error_code code = fs::status(*file, status);
  if (!code && fs::is_directory(status))
    code = std::make_error_code(std::errc::is_a_directory);
  else if (!code && !fs::is_regular_file(status))
    code = std::make_error_code(std::errc::not_supported);
  size_t size = status.getSize();
  void *memory = nullptr;
  // An empty file cannot be mapped. Shared, so that pages can be given back
  // (ReadWindow.h): in a private mapping the kernel would have to look for
  // pages that were written to.
  if (!code && size > 0) {
    memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, *file, 0);
    if (memory == MAP_FAILED)
      code = {errno, std::generic_category()};
  }
  // Nothing was written that closing could lose.
  (void)fs::closeFile(*file);
  if (code)
    return llvm::errorCodeToError(code);
  if (!memory)
    return SharedBytes();
  std::shared_ptr<const void> owner(
      memory, [size](void *held) { ::munmap(held, size); });
  return SharedBytes{{static_cast<const char *>(memory), size},
                     std::move(owner)};
}

std::shared_ptr<char> corten::allocateElements(size_t size) {
  // As torch has it: for the widest registers.
  constexpr std::align_val_t kAlignment{64};
  static_assert(static_cast<size_t>(kAlignment) % kWeightAlignment == 0);
  auto *memory =
      static_cast<char *>(::operator new(size, kAlignment, std::nothrow));
  if (!memory)
    return nullptr;
  return {memory, [](char *held) { ::operator delete(held, kAlignment); }};
}

SharedBytes corten::alignedWeight(SharedBytes bytes) {
  if (llvm::isAddrAligned(llvm::Align(kElementAlignment), bytes.data.data()))
    return bytes;
  size_t size = bytes.data.size();
  std::shared_ptr<char> copy = allocateScratch(size);
  if (!copy)
    llvm::report_bad_alloc_error("no memory for the copy of a weight");
  ReadWindow window;
  for (size_t at = 0; at < size; at += ReadWindow::kStep) {
    llvm::StringRef step = bytes.data.substr(at, ReadWindow::kStep);
    std::memcpy(copy.get() + at, step.data(), step.size());
    window.passed(step);
    window.passed({copy.get() + at, step.size()});
  }
  // Others that follow have windows of their own.
  if (size >= kLeastScratch)
    window.giveBack();
  return {llvm::StringRef(copy.get(), size), std::move(copy)};
}
